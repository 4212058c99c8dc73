//! How often one caller may do what costs the host work.

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::Arc,
};

use crate::{buckets::Buckets, method::Method, principal::Principal, rate::Rate};

/// The option `rate_limits`, with what is kept for it.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    calls: Option<Arc<Buckets<Account>>>,
    completions: Option<Arc<Buckets<Account>>>,
    subscriptions: Option<Arc<Buckets<Account>>>,
}

/// What has a rate of its own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Rated {
    Calls,
    Completions,
    Subscriptions,
}

/// Whom a rate counts against.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Account {
    /// Somebody whom the host or an access token names.
    Principal(Principal),
    /// Nobody in particular, at this address: of IPv6 the network of 64 bits that one site has.
    Address(IpAddr),
    /// Nobody in particular, at the other end of this pipe.
    Pipe(u64),
    /// Nobody in particular, and nowhere: a Unix-domain socket.
    Unknown,
}

impl Rates {
    /// Rates of calls, completions and subscriptions; none where there is no limit.
    pub fn new(
        calls: Option<Rate>,
        completions: Option<Rate>,
        subscriptions: Option<Rate>,
    ) -> Self {
        let buckets = |rate: Option<Rate>| rate.map(|rate| Arc::new(Buckets::new(rate)));
        Self {
            calls: buckets(calls),
            completions: buckets(completions),
            subscriptions: buckets(subscriptions),
        }
    }

    pub(crate) fn of(&self, rated: Rated) -> Option<&Arc<Buckets<Account>>> {
        match rated {
            Rated::Calls => self.calls.as_ref(),
            Rated::Completions => self.completions.as_ref(),
            Rated::Subscriptions => self.subscriptions.as_ref(),
        }
    }
}

impl Rated {
    /// What runs a handler, and what is told of changes later on; all else costs the host nothing.
    pub(crate) fn by(method: Method) -> Option<Self> {
        match method {
            Method::ToolsCall | Method::ResourcesRead | Method::PromptsGet => Some(Self::Calls),
            Method::Complete => Some(Self::Completions),
            Method::Listen | Method::ResourcesSubscribe => Some(Self::Subscriptions),
            _ => None,
        }
    }

    pub(crate) fn option(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Completions => "completions",
            Self::Subscriptions => "subscriptions",
        }
    }
}

impl Account {
    /// Whoever is at an address, as far as there is one.
    pub fn at(address: Option<IpAddr>) -> Self {
        match address.map(|address| address.to_canonical()) {
            None => Self::Unknown,
            Some(IpAddr::V6(address)) => {
                let network = address.to_bits() & SITE;
                Self::Address(Ipv6Addr::from_bits(network).into())
            }
            Some(address) => Self::Address(address),
        }
    }
}

/// The first 64 bits of an IPv6 address: whoever has one has all with the same (RFC 6177).
const SITE: u128 = !(u64::MAX as u128);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_ipv6_stands_for_its_network() {
        let account = |text: &str| Account::at(Some(text.parse().unwrap()));
        assert_eq!(account("2001:db8:0:1::1"), account("2001:db8:0:1:ffff::2"));
        assert_ne!(account("2001:db8:0:1::1"), account("2001:db8:0:2::1"));
        assert_eq!(account("::ffff:192.0.2.1"), account("192.0.2.1"));
        assert_ne!(account("192.0.2.1"), account("192.0.2.2"));
        assert_eq!(Account::at(None), Account::Unknown);
    }
}

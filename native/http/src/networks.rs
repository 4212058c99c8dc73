//! Peers that are believed what they tell of others.

use std::net::IpAddr;

use mcp_protocol::Peer;

/// Networks in the notation of RFC 4632 §3.1, and whether the peers of a Unix-domain socket count.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Networks {
    networks: Vec<Network>,
    unix: bool,
}

/// The addresses that share the first bits of one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Network {
    first: u128,
    mask: u128,
}

impl Networks {
    /// Reads addresses and networks such as `10.0.0.0/8`, `2001:db8::/32` and `127.0.0.1`. The word `unix` stands for
    /// every peer of a Unix-domain socket.
    ///
    /// # Errors
    /// The first text that is none of these, or has bits beyond its length.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, &'a str> {
        let mut networks = Self::default();
        for text in texts {
            match text {
                "unix" => networks.unix = true,
                _ => networks.networks.push(Network::parse(text).ok_or(text)?),
            }
        }
        Ok(networks)
    }

    /// Whether `peer` is one of them.
    pub fn contain(&self, peer: Peer) -> bool {
        match peer {
            Peer::Unix => self.unix,
            Peer::Tcp(address) => {
                let bits = bits(address.ip());
                let mut networks = self.networks.iter();
                networks.any(|network| bits & network.mask == network.first)
            }
        }
    }
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let bound = if address.is_ipv4() { 32 } else { 128 };
        let length = match length {
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().ok().filter(|length| *length <= bound)?
            }
            Some(_) => return None,
            None => bound,
        };
        // An IPv4 address is the end of a mapped one.
        let mask = u128::MAX.checked_shl(bound - length).unwrap_or_default();
        let first = bits(address);
        (first & mask == first).then_some(Self { first, mask })
    }
}

/// As a number, IPv4 in its mapped form (RFC 4291 §2.5.5.2), in which a listener on both meets it too.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    fn peer(address: &str) -> Peer {
        Peer::Tcp(SocketAddr::new(address.parse().unwrap(), 1))
    }

    #[test]
    fn contain_what_shares_their_bits() {
        for (network, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.0"),
            ("127.0.0.1", "127.0.0.1", "127.0.0.2"),
            ("192.0.2.128/25", "192.0.2.200", "192.0.2.127"),
            ("0.0.0.0/0", "203.0.113.9", "2001:db8::1"),
            ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::"),
            ("::1", "::1", "::2"),
            ("10.0.0.0/8", "::ffff:10.0.0.1", "::10.0.0.1"),
            ("::ffff:10.0.0.0/104", "10.0.0.1", "11.0.0.1"),
        ] {
            let networks = Networks::parse([network]).unwrap();
            assert!(networks.contain(peer(inside)), "{network} {inside}");
            assert!(!networks.contain(peer(outside)), "{network} {outside}");
            assert!(!networks.contain(Peer::Unix));
        }
        let everybody = Networks::parse(["::/0"]).unwrap();
        assert!(everybody.contain(peer("2001:db8::1")) && everybody.contain(peer("10.0.0.1")));
        assert!(Networks::parse(["unix"]).unwrap().contain(Peer::Unix));
        assert!(!Networks::default().contain(peer("127.0.0.1")));
    }

    #[test]
    fn are_written_in_one_way() {
        for wrong in [
            "",
            "10.0.0.0/33",
            "10.0.0.1/8",
            "::1/64",
            "::/129",
            "10.0.0.0/",
            "10.0.0.0/+8",
            "10.0/8",
            "a",
            "/8",
            "Unix",
            "10.0.0.0/8 ",
        ] {
            assert_eq!(Networks::parse(["::1", wrong]), Err(wrong));
        }
    }
}

//! The decision over a request's head.

use std::sync::Arc;

use crate::{
    binding::{self, Binding},
    claims,
    config::{Config, Dpop},
    credentials::{Credentials, Head, Scheme},
    introspection::{Inquiry, Judged},
    key_set::Keys,
    proof::{self, Proof},
    reason::Reason,
    token::{self, Unverified, Verified},
};

/// What becomes of a request.
#[derive(Debug)]
pub enum Decision {
    /// The sender is who the token says; revocation, principal and replay are still to be asked for.
    Accept(Accepted),
    /// The issuer is to be asked for its keys; then decide again from the start.
    NeedKeys {
        /// Which of the configured issuers.
        issuer: usize,
        /// The key that the token names.
        kid: Option<String>,
    },
    /// The issuer is to be asked about the token; then decide again from the start, with what is known by then.
    Inquire(Inquiry),
    /// Answer this.
    Refuse(Refused),
}

/// Who sends a request.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// What the token says.
    pub facts: Verified,
    /// What ties it to the sender.
    pub binding: Binding,
    /// What must not have been seen before; claimed last, so that nobody burns another's proof.
    pub replay: Option<Replay>,
    /// Whether the answer should bring the next nonce along.
    pub renews_nonce: bool,
}

/// One use of a proof.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Replay {
    /// SHA-256 over the key's thumbprint and the proof's id.
    pub key: String,
    /// For how many seconds it must be remembered.
    pub ttl_s: u64,
}

/// Why a request is refused, and the scheme it used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Refused {
    /// Why.
    pub reason: Reason,
    /// The scheme of the request's credentials, if they had one that is served.
    pub scheme: Scheme,
}

/// Decides from the head alone whether a request is its sender's. `now` is in seconds of the wall clock.
///
/// Checks stand in this order: where the credentials are, the proof, the token, what the token is bound to.
pub fn check(head: &Head<'_>, config: &Config, keys: &Keys, now: u64) -> Decision {
    match Credentials::read(head, config) {
        Ok(credentials) => credentials.check(head, config, keys, None, now),
        Err(reason) => Decision::Refuse(Refused::early(reason, head)),
    }
}

impl Refused {
    /// A refusal because something of ours is out of order.
    pub fn unavailable(scheme: Scheme) -> Self {
        let reason = Reason::KeySourceUnavailable;
        Self { reason, scheme }
    }

    /// A refusal before the credentials were read.
    pub fn early(reason: Reason, head: &Head<'_>) -> Self {
        let names_dpop = |value: &&[u8]| {
            value
                .get(..4)
                .is_some_and(|name| name.eq_ignore_ascii_case(b"dpop"))
        };
        let scheme = match head.authorization.iter().any(names_dpop) {
            true => Scheme::Dpop,
            false => Scheme::Bearer,
        };
        Self { reason, scheme }
    }
}

impl Credentials<'_> {
    /// The decision over these credentials. A token that is `known` by its [digest](Self::digest) is not verified again;
    /// its times, its proof and what it is bound to are.
    pub fn check(
        &self,
        head: &Head<'_>,
        config: &Config,
        keys: &Keys,
        known: Option<Judged>,
        now: u64,
    ) -> Decision {
        let outcome = self.accept(head, config, keys, known, now);
        match outcome {
            Ok(accepted) => Decision::Accept(accepted),
            Err(Unverified::NeedKeys { issuer, kid }) => Decision::NeedKeys { issuer, kid },
            Err(Unverified::Inquire) => Decision::Inquire(Inquiry::about(self)),
            Err(Unverified::Refused(reason)) => Decision::Refuse(Refused {
                reason,
                scheme: self.scheme,
            }),
        }
    }

    fn accept(
        &self,
        head: &Head<'_>,
        config: &Config,
        keys: &Keys,
        known: Option<Judged>,
        now: u64,
    ) -> Result<Accepted, Unverified> {
        let proof = match self.proof {
            Some(proof) => Some(proof::check(proof, self.digest(), head, config, now)?),
            None => None,
        };
        let facts = match known {
            Some(judged) => {
                let facts = judged?;
                claims::check_times(&facts, config, now)?;
                facts
            }
            None => Arc::new(token::verify(self.token, config, keys, now)?),
        };
        let dpop: Dpop = config.settings().dpop;
        let binding = binding::check(&facts, proof.as_ref(), head.certificate.as_ref(), dpop)?;
        Ok(Accepted {
            facts,
            binding,
            renews_nonce: proof.as_ref().is_some_and(|proof| proof.renews_nonce),
            replay: proof.map(Proof::into_replay),
        })
    }
}

impl Proof {
    fn into_replay(self) -> Replay {
        Replay {
            key: self.replay_key,
            ttl_s: proof::REPLAY_TTL_S,
        }
    }
}

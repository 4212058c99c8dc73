//! `DPoP` nonces (RFC 9449 §8) that any node checks without having seen them before.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::{base64url, secret::Secret};

/// Makes and checks nonces: `0x01 || issued_at || MAC`, the time in seconds as eight octets.
#[derive(Clone, Debug)]
pub struct Nonces {
    /// The newest makes nonces, all check them, so that secrets rotate without a break.
    secrets: Vec<Secret>,
}

impl Nonces {
    /// With these secrets, newest first.
    pub fn new(secrets: Vec<Secret>) -> Self {
        Self { secrets }
    }

    /// A nonce of this second.
    pub fn issue(&self, now: u64) -> Option<String> {
        let mac = tag(self.secrets.first()?, now).finalize().into_bytes();
        let mut nonce = vec![VERSION];
        nonce.extend(now.to_be_bytes());
        nonce.extend(&mac[..TAG_OCTETS]);
        Some(base64url::encode(&nonce))
    }

    /// How many seconds ago `nonce` was made, when it is ours and may be used now. Takes the same time whatever its
    /// tag holds.
    pub(crate) fn age(&self, nonce: &str, now: u64) -> Option<i64> {
        let octets = base64url::decode(nonce)?;
        let (version, rest) = octets.split_first()?;
        let (issued_at, mac) = rest.split_first_chunk::<8>()?;
        let issued_at = u64::from_be_bytes(*issued_at);
        let ours = *version == VERSION
            && mac.len() == TAG_OCTETS
            && self
                .secrets
                .iter()
                .any(|secret| tag(secret, issued_at).verify_truncated_left(mac).is_ok());
        let age = i64::try_from(i128::from(now) - i128::from(issued_at)).ok()?;
        (ours && (-MAX_AHEAD_S..=MAX_AGE_S).contains(&age)).then_some(age)
    }
}

fn tag(secret: &Secret, issued_at: u64) -> Hmac<Sha256> {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(secret.bytes())
        .expect("HMAC takes keys of any length");
    mac.update(b"beammcp-dpop-nonce-v1");
    mac.update(&issued_at.to_be_bytes());
    mac
}

/// From this age on an answer brings the next nonce along.
pub(crate) const RENEW_AGE_S: i64 = 150;

const MAX_AGE_S: i64 = 300;
const MAX_AHEAD_S: i64 = 30;
const VERSION: u8 = 1;
const TAG_OCTETS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000;

    fn nonces(secrets: &[u8]) -> Nonces {
        let secrets = secrets.iter().map(|byte| Secret::new(vec![*byte; 32]));
        Nonces::new(secrets.collect())
    }

    #[test]
    fn lives_five_minutes() {
        let nonce = nonces(&[1]).issue(NOW).unwrap();
        assert_eq!(nonce.len(), 34);
        assert_eq!(nonces(&[1]).age(&nonce, NOW), Some(0));
        assert_eq!(nonces(&[1]).age(&nonce, NOW + 300), Some(300));
        assert_eq!(nonces(&[1]).age(&nonce, NOW + 301), None);
        assert_eq!(nonces(&[1]).age(&nonce, NOW - 30), Some(-30));
        assert_eq!(nonces(&[1]).age(&nonce, NOW - 31), None);
    }

    #[test]
    fn secrets_rotate() {
        let old = nonces(&[1]).issue(NOW).unwrap();
        assert_eq!(nonces(&[2, 1]).age(&old, NOW), Some(0));
        assert_eq!(nonces(&[2]).age(&old, NOW), None);
        assert_eq!(nonces(&[]).issue(NOW), None);
    }

    #[test]
    fn nothing_else_is_a_nonce() {
        let nonce = nonces(&[1]).issue(NOW).unwrap();
        for text in [
            "",
            "AQ",
            &nonce[..33],
            &format!("{nonce}A"),
            &format!("B{}", &nonce[1..]),
        ] {
            assert_eq!(nonces(&[1]).age(text, NOW), None, "{text}");
        }
    }
}

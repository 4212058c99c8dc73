//! How an identifier is told that is personal: enough to find the same one again.

use sha2::{Digest, Sha256};

/// The first 8 hexadecimal digits of SHA-256.
pub fn fingerprint(identifier: &[u8]) -> String {
    let digest = Sha256::digest(identifier);
    digest[..4]
        .iter()
        .map(|octet| format!("{octet:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_start_of_the_digest() {
        assert_eq!(fingerprint(b"abc"), "ba7816bf");
    }
}

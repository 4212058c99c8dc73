//! How an identifier is told that is personal: enough to find the same one again.

use sha2::{Digest, Sha256};

/// The first 8 hexadecimal digits of SHA-256.
pub fn fingerprint(identifier: &[u8]) -> String {
    let digest = Sha256::digest(identifier);
    let start = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    format!("{start:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_start_of_the_digest() {
        assert_eq!(fingerprint(b"abc"), "ba7816bf");
    }
}

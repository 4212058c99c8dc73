//! Bytes that nobody is to see.

use std::fmt;

use zeroize::Zeroizing;

/// A secret: overwritten when dropped, and never shown.
#[derive(Clone)]
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Takes the bytes over.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The bytes, for whoever it is meant for.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Shows nothing, not even the length.
impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(..)")
    }
}

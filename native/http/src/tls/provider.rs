//! What does the cryptography of TLS, named so that no other crate's feature can choose another one.

use std::sync::{Arc, OnceLock};

use tokio_rustls::rustls::crypto::{CryptoProvider, ring};

/// ring, as for access tokens.
pub(super) fn shared() -> Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    Arc::clone(PROVIDER.get_or_init(|| Arc::new(ring::default_provider())))
}

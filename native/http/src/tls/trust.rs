//! Whom a fetch over TLS believes.

use std::{
    fmt,
    path::Path,
    sync::{Arc, OnceLock},
};

use tokio_rustls::rustls::{
    ClientConfig, RootCertStore,
    version::{TLS12, TLS13},
};

use super::{TlsFault, pem, provider};

/// The authorities whose certificates a server may have.
#[derive(Clone)]
pub struct Trust(Arc<ClientConfig>);

impl Trust {
    /// Those of a file in PEM, and nobody else.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn of_file(path: &Path) -> Result<Self, TlsFault> {
        pem::roots(path).map(Self::new)
    }

    /// Those of the system, read once: they are many. `None` when it has none.
    pub(crate) fn system() -> Option<Self> {
        static SYSTEM: OnceLock<Trust> = OnceLock::new();
        if let Some(trust) = SYSTEM.get() {
            return Some(trust.clone());
        }
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        // What is missing now may be there the next time.
        (!roots.is_empty()).then(|| SYSTEM.get_or_init(|| Self::new(roots)).clone())
    }

    pub(crate) fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.0)
    }

    fn new(roots: RootCertStore) -> Self {
        let config = ClientConfig::builder_with_provider(provider::shared())
            .with_protocol_versions(&[&TLS13, &TLS12])
            .expect("the provider has suites of both versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self(Arc::new(config))
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Trust")
    }
}

//! TLS of a listener: what it shows, what it asks of clients, and the handshake (RFC 8446, RFC 5246).

mod clients;
mod fault;
mod pem;
mod provider;
mod trust;

use std::{
    fmt, io,
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
};

use mcp_auth::Certificate;
use mcp_protocol::{Tls, TlsVersion};
use tokio::{sync::Semaphore, task::spawn_blocking};
use tokio_rustls::{
    LazyConfigAcceptor,
    rustls::{
        ProtocolVersion, ServerConfig, ServerConnection,
        server::Acceptor,
        sign::SingleCertAndKey,
        version::{TLS12, TLS13},
    },
    server::TlsStream,
};

use crate::{connection::Stream, detect::Protocol};

pub use clients::ClientCertificates;
pub use fault::TlsFault;
pub use trust::Trust;

/// The files that a listener's TLS is made of, all in PEM, and what it asks of clients.
#[derive(Clone, Debug)]
pub struct TlsOptions {
    /// The certificate, then those that lead from it to a root.
    pub certfile: PathBuf,
    /// Its private key.
    pub keyfile: PathBuf,
    /// Whether clients show a certificate.
    pub client_certificates: ClientCertificates,
    /// Who must have issued it. `None` admits any: whose it is tells its thumbprint.
    pub cacertfile: Option<PathBuf>,
}

/// The TLS of a listener: versions 1.2 and 1.3, ALPN `h2` and `http/1.1`.
pub struct TlsServer {
    options: TlsOptions,
    config: RwLock<Arc<ServerConfig>>,
    signing: Arc<Semaphore>,
}

/// A connection after its handshake.
pub(crate) struct Secured<S> {
    pub(crate) stream: TlsStream<S>,
    pub(crate) facts: Tls,
    /// What ALPN settled on, if the client speaks ALPN (RFC 7301).
    pub(crate) protocol: Option<Protocol>,
}

impl TlsServer {
    /// Reads the files.
    ///
    /// # Errors
    /// Which of them cannot be used, and why.
    pub fn new(options: TlsOptions) -> Result<Self, TlsFault> {
        Ok(Self {
            config: RwLock::new(options.read()?),
            options,
            signing: Arc::new(Semaphore::new(MAX_SIGNING)),
        })
    }

    /// Reads the files again, for connections to come; those that are open go on, and nobody resumes an older session.
    ///
    /// # Errors
    /// Which of them cannot be used, and why; then nothing changes.
    pub fn reload(&self) -> Result<(), TlsFault> {
        let config = self.options.read()?;
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = config;
        Ok(())
    }

    /// The handshake. Has no deadline of its own: whoever awaits it must set one.
    ///
    /// What costs a signature is done on a thread that serves no sockets, and for few connections at a time, so that a
    /// flood of handshakes keeps no request waiting. Nobody holds such a place while it waits for its peer.
    pub(crate) async fn accept<S: Stream>(&self, stream: S) -> io::Result<Secured<S>> {
        let hello = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
        let signing = Arc::clone(&self.signing).acquire_owned().await;
        let config = self.config();
        let signed = spawn_blocking(move || {
            let _place = signing;
            hello.into_stream(config)
        });
        let stream = signed.await.map_err(io::Error::other)?.await?;
        let session = stream.get_ref().1;
        Ok(Secured {
            facts: facts(session),
            protocol: session.alpn_protocol().map(protocol),
            stream,
        })
    }

    fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl TlsOptions {
    fn read(&self) -> Result<Arc<ServerConfig>, TlsFault> {
        let identity = pem::identity(&self.certfile, &self.keyfile)?;
        let clients = self
            .client_certificates
            .verifier(self.cacertfile.as_deref())?;
        let mut config = ServerConfig::builder_with_provider(provider::shared())
            .with_protocol_versions(&[&TLS13, &TLS12])
            .expect("the provider has suites of both versions")
            .with_client_cert_verifier(clients)
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(identity)));
        config.alpn_protocols = vec![H2.to_vec(), HTTP_1_1.to_vec()];
        Ok(Arc::new(config))
    }
}

fn facts(session: &ServerConnection) -> Tls {
    let chain = session.peer_certificates().unwrap_or_default();
    Tls {
        version: match session.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => TlsVersion::V1_3,
            _ => TlsVersion::V1_2,
        },
        certificate: chain.first().map(|leaf| Certificate::from_der(leaf)),
    }
}

fn protocol(name: &[u8]) -> Protocol {
    match name == H2 {
        true => Protocol::Http2,
        false => Protocol::Http1,
    }
}

/// Shows where the files are, never what is in them.
impl fmt::Debug for TlsServer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "TlsServer({:?})", self.options)
    }
}

const H2: &[u8] = b"h2";
const HTTP_1_1: &[u8] = b"http/1.1";

/// Handshakes of one listener that are signed at a time.
const MAX_SIGNING: usize = 2;

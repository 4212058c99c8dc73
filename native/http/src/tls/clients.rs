//! What a listener asks of clients' certificates (RFC 8705 §7.2).

use std::{path::Path, sync::Arc};

use tokio_rustls::rustls::{
    DigitallySignedStruct, DistinguishedName, Error, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, UnixTime},
    server::{
        NoClientAuth, ParsedCertificate, WebPkiClientVerifier,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
};

use super::{TlsFault, pem, provider};

/// Whether clients show a certificate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ClientCertificates {
    /// They are not asked.
    Off,
    /// They are asked, and served without.
    Requested,
    /// Without, the handshake fails.
    Required,
}

/// Admits every certificate whose key the client has: a token that is bound to one names its thumbprint.
#[derive(Debug)]
struct AnyCertificate {
    algorithms: WebPkiSupportedAlgorithms,
    mandatory: bool,
}

impl ClientCertificates {
    pub(super) fn verifier(
        self,
        cacertfile: Option<&Path>,
    ) -> Result<Arc<dyn ClientCertVerifier>, TlsFault> {
        let mandatory = match self {
            Self::Off => return Ok(Arc::new(NoClientAuth)),
            Self::Requested => false,
            Self::Required => true,
        };
        let Some(path) = cacertfile else {
            return Ok(Arc::new(AnyCertificate {
                algorithms: provider::shared().signature_verification_algorithms,
                mandatory,
            }));
        };
        let roots = Arc::new(pem::roots(path)?);
        let builder = WebPkiClientVerifier::builder_with_provider(roots, provider::shared());
        let builder = match mandatory {
            true => builder,
            false => builder.allow_unauthenticated(),
        };
        let verifier = builder.build();
        verifier.map_err(|error| TlsFault::new("cacertfile", path, error))
    }
}

impl ClientCertVerifier for AnyCertificate {
    fn client_auth_mandatory(&self) -> bool {
        self.mandatory
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        ParsedCertificate::try_from(end_entity).map(|_| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

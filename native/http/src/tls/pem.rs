//! Reads certificates and private keys (RFC 7468).

use std::{fs, path::Path};

use tokio_rustls::rustls::{
    Error, InconsistentKeys, RootCertStore,
    crypto::ring::sign::any_supported_type,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    sign::CertifiedKey,
};
use zeroize::{Zeroize, Zeroizing};

use super::TlsFault;

/// A certificate with its chain and key, which must belong together.
pub(super) fn identity(certfile: &Path, keyfile: &Path) -> Result<CertifiedKey, TlsFault> {
    let chain = certificates("certfile", certfile)?;
    let mut key = private_key(keyfile)?;
    let signing = any_supported_type(&key);
    key.zeroize();
    let signing = signing.map_err(|_| {
        let reason = "the key is none of RSA (2,048 bits or more), P-256, P-384 and Ed25519";
        TlsFault::new("keyfile", keyfile, reason)
    })?;
    let identity = CertifiedKey::new(chain, signing);
    match identity.keys_match() {
        Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(identity),
        Err(Error::InconsistentKeys(_)) => {
            let reason = format!(
                "the key is not that of the certificate in {}",
                certfile.display()
            );
            Err(TlsFault::new("keyfile", keyfile, reason))
        }
        Err(error) => Err(TlsFault::new("certfile", certfile, error)),
    }
}

/// Those whose certificates are believed.
pub(super) fn roots(path: &Path) -> Result<RootCertStore, TlsFault> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates("cacertfile", path)? {
        roots
            .add(certificate)
            .map_err(|error| TlsFault::new("cacertfile", path, error))?;
    }
    Ok(roots)
}

fn certificates(
    option: &'static str,
    path: &Path,
) -> Result<Vec<CertificateDer<'static>>, TlsFault> {
    let bytes = fs::read(path).map_err(|error| TlsFault::new(option, path, error))?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&bytes)
        .collect::<Result<_, _>>()
        .map_err(|_| TlsFault::new(option, path, "it is no PEM text"))?;
    match certificates.is_empty() {
        true => Err(TlsFault::new(
            option,
            path,
            "it holds no certificate in PEM (-----BEGIN CERTIFICATE-----)",
        )),
        false => Ok(certificates),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsFault> {
    let bytes = fs::read(path).map_err(|error| TlsFault::new("keyfile", path, error))?;
    let bytes = Zeroizing::new(bytes);
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|_| {
        let encrypted = bytes.windows(ENCRYPTED.len()).any(|bytes| bytes == ENCRYPTED);
        let reason = match encrypted {
            true => "the key is encrypted, and nobody is asked for its password: decrypt it with `openssl pkey`",
            false => "it holds no private key in PEM (PKCS#8, PKCS#1 or SEC1)",
        };
        TlsFault::new("keyfile", path, reason)
    })
}

const ENCRYPTED: &[u8] = b"ENCRYPTED";

//! Certificates of an authority that exists for a test, in files that go with it.

use std::{
    env, fs,
    path::PathBuf,
    process,
    sync::atomic::{AtomicU32, Ordering},
};

use mcp_http::{ClientCertificates, TlsOptions};
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, date_time_ymd,
};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// An authority with a folder for what it issues.
pub struct Authority {
    folder: PathBuf,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate with its key, issued or self-signed.
pub struct Identity {
    certificate: Certificate,
    key: KeyPair,
}

impl Authority {
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("mcp-http-tls-{}-{number}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let key = KeyPair::generate().unwrap();
        let mut params = params(&format!("authority-{number}"));
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = params.self_signed(&key).unwrap();
        fs::write(folder.join("root.pem"), root.pem()).unwrap();
        Self {
            folder,
            issuer: Issuer::new(params, key),
        }
    }

    /// The file with its own certificate.
    pub fn root(&self) -> PathBuf {
        self.folder.join("root.pem")
    }

    /// A certificate for a host, or for a client.
    pub fn issue(&self, name: &str) -> Identity {
        self.issue_as(name, |_| ())
    }

    /// One whose time is over.
    pub fn issue_expired(&self, name: &str) -> Identity {
        self.issue_as(name, |params| params.not_after = date_time_ymd(2020, 1, 1))
    }

    fn issue_as(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Identity {
        let key = KeyPair::generate().unwrap();
        let mut params = params(name);
        change(&mut params);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Identity { certificate, key }
    }

    /// Puts text into a file of the folder.
    pub fn write(&self, file: &str, text: &str) -> PathBuf {
        let path = self.folder.join(file);
        fs::write(&path, text).unwrap();
        path
    }

    /// The options of a listener that shows `identity`.
    pub fn options(&self, identity: &Identity) -> TlsOptions {
        TlsOptions {
            certfile: self.write("cert.pem", &identity.certificate.pem()),
            keyfile: self.write("key.pem", &identity.key.serialize_pem()),
            client_certificates: ClientCertificates::Off,
            cacertfile: None,
        }
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Identity {
    pub fn self_signed(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let certificate = params(name).self_signed(&key).unwrap();
        Self { certificate, key }
    }

    pub fn certificate(&self) -> CertificateDer<'static> {
        self.certificate.der().clone()
    }

    pub fn key_pem(&self) -> String {
        self.key.serialize_pem()
    }

    pub fn key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::try_from(self.key.serialize_der()).unwrap()
    }
}

fn params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new([name.to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.extended_key_usages = vec![
        ExtendedKeyUsagePurpose::ServerAuth,
        ExtendedKeyUsagePurpose::ClientAuth,
    ];
    params
}

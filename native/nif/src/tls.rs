//! TLS as terms: what a listener shows its clients, and whom a fetch believes. Made of files before anything starts.

use std::{path::PathBuf, sync::Arc};

use mcp_http::{ClientCertificates, TlsFault, TlsOptions, TlsServer, Trust};
use mcp_protocol::{Tls, TlsVersion};
use rustler::{Atom, Encoder, Env, Resource, ResourceArc, Term, types::atom};

use crate::{atoms, fault::Fault, options::Options};

/// The TLS of a listener as a term.
pub(crate) struct TlsHandle(Arc<TlsServer>);

/// Trusted authorities as a term.
pub(crate) struct TrustHandle(Trust);

#[rustler::resource_impl]
impl Resource for TlsHandle {}

#[rustler::resource_impl]
impl Resource for TrustHandle {}

impl TlsHandle {
    pub(crate) fn server(&self) -> Arc<TlsServer> {
        Arc::clone(&self.0)
    }
}

impl TrustHandle {
    pub(crate) fn trust(&self) -> Trust {
        self.0.clone()
    }
}

/// `tls_new/1`
#[rustler::nif(schedule = "DirtyIo")]
fn tls_new<'a>(env: Env<'a>, options: Term<'a>) -> Term<'a> {
    match server(Options(options)) {
        Ok(server) => (atom::ok(), ResourceArc::new(TlsHandle(Arc::new(server)))).encode(env),
        Err(fault) => fault.encode(env),
    }
}

/// `tls_reload/1`
#[rustler::nif(schedule = "DirtyIo")]
fn tls_reload<'a>(env: Env<'a>, handle: &'a TlsHandle) -> Term<'a> {
    match handle.0.reload() {
        Ok(()) => atom::ok().encode(env),
        Err(fault) => wrong(&fault).encode(env),
    }
}

/// `trust_new/1`
#[rustler::nif(schedule = "DirtyIo")]
fn trust_new<'a>(env: Env<'a>, cacertfile: &str) -> Term<'a> {
    match Trust::of_file(cacertfile.as_ref()) {
        Ok(trust) => (atom::ok(), ResourceArc::new(TrustHandle(trust))).encode(env),
        Err(fault) => wrong(&fault).encode(env),
    }
}

/// The `tls` of `%BeamMCP.Request{}`.
pub(crate) fn facts<'a>(env: Env<'a>, tls: Option<&Tls>) -> Term<'a> {
    let Some(tls) = tls else {
        return atom::nil().encode(env);
    };
    let version = match tls.version {
        TlsVersion::V1_2 => atoms::tlsv1_2(),
        TlsVersion::V1_3 => atoms::tlsv1_3(),
    };
    let certificate = tls.certificate.as_ref();
    let thumbprint = certificate.and_then(|certificate| certificate.thumbprint());
    let members = [
        (atoms::client_thumbprint(), thumbprint.encode(env)),
        (atoms::version(), version.encode(env)),
    ];
    Term::map_from_pairs(env, &members).expect("the keys differ")
}

fn server(options: Options<'_>) -> Result<TlsServer, Fault> {
    let path = |key| options.get::<&str>(key).map(PathBuf::from);
    let cacertfile: Option<&str> = options.get(atoms::cacertfile())?;
    let files = TlsOptions {
        certfile: path(atoms::certfile())?,
        keyfile: path(atoms::keyfile())?,
        client_certificates: client_certificates(options.get(atoms::client_certificates())?),
        cacertfile: cacertfile.map(PathBuf::from),
    };
    TlsServer::new(files).map_err(|fault| wrong(&fault))
}

fn client_certificates(atom: Atom) -> ClientCertificates {
    if atom == atoms::required() {
        return ClientCertificates::Required;
    }
    match atom == atoms::requested() {
        true => ClientCertificates::Requested,
        false => ClientCertificates::Off,
    }
}

/// Begins with the option that names the file.
fn wrong(fault: &TlsFault) -> Fault {
    Fault::new(atoms::tls(), fault.to_string())
}

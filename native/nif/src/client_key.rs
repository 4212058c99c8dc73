//! The private key by which this server says who it is, as a term: read before anything starts, never seen by the BEAM again.

use std::sync::Arc;

use mcp_auth::ClientKey;
use rustler::{Binary, Encoder, Env, Resource, ResourceArc, Term, types::atom};

use crate::{atoms, fault::Fault};

/// A key as a term.
pub(crate) struct ClientKeyHandle(Arc<ClientKey>);

impl ClientKeyHandle {
    pub(crate) fn key(&self) -> Arc<ClientKey> {
        Arc::clone(&self.0)
    }
}

#[rustler::resource_impl]
impl Resource for ClientKeyHandle {}

/// `client_key_new/3`: reads PEM text.
#[rustler::nif(schedule = "DirtyCpu")]
fn client_key_new<'a>(
    env: Env<'a>,
    pem: Binary<'a>,
    algorithm: Option<&str>,
    kid: Option<&str>,
) -> Term<'a> {
    match ClientKey::parse(&pem, algorithm, kid) {
        Ok(key) => (atom::ok(), ResourceArc::new(ClientKeyHandle(Arc::new(key)))).encode(env),
        Err(error) => Fault::new(atoms::config(), error.to_string()).encode(env),
    }
}

//! Who a token names, as handlers and hooks see it.

use std::sync::Arc;

use bytes::Bytes;
use mcp_auth::{Binding, Facts};
use mcp_json::Document;
use mcp_protocol::{Identity, Principal};
use rustler::{Encoder, Env, OwnedEnv, Term, types::atom};

use crate::{
    atoms,
    decode::{CHECKED, Decoder},
};

/// The principal `{issuer, subject, client_id}` with the token's scopes, claims and binding, in the form that
/// `BeamMCP.Identity` gives an identity of the host's own.
pub(crate) fn of(facts: &Facts, binding: Binding) -> Identity {
    let term = OwnedEnv::new().run(|env| {
        let principal = (&*facts.issuer, &*facts.subject, facts.client_id.as_deref());
        let known = (
            principal,
            scopes(facts),
            claims(env, facts),
            word(binding),
            atom::nil(),
        );
        Bytes::copy_from_slice(&known.encode(env).to_binary())
    });
    Identity {
        principal: Principal::new(&facts.binding_key(None)),
        scopes: Some(Arc::new(facts.scopes.clone())),
        term,
    }
}

/// The fields of `%BeamMCP.TokenFacts{}`.
pub(crate) fn facts<'a>(env: Env<'a>, facts: &Facts, binding: Binding) -> Term<'a> {
    let members = [
        (atoms::acr(), facts.acr.as_deref().encode(env)),
        (atoms::audience(), facts.audience.encode(env)),
        (atoms::auth_time(), facts.auth_time.encode(env)),
        (atoms::binding(), word(binding).encode(env)),
        (atoms::claims(), claims(env, facts)),
        (atoms::client_id(), facts.client_id.as_deref().encode(env)),
        (
            atoms::expires_at(),
            facts
                .expires_at
                .is_finite()
                .then_some(facts.expires_at)
                .encode(env),
        ),
        (atoms::issued_at(), facts.issued_at.encode(env)),
        (atoms::issuer(), facts.issuer.encode(env)),
        (atoms::jti(), facts.jti.as_deref().encode(env)),
        (atoms::not_before(), facts.not_before.encode(env)),
        (atoms::scopes(), scopes(facts).encode(env)),
        (atoms::subject(), facts.subject.encode(env)),
    ];
    Term::map_from_pairs(env, &members).expect("the keys differ")
}

fn scopes(facts: &Facts) -> Vec<&str> {
    facts.scopes.iter().collect()
}

fn claims<'a>(env: Env<'a>, facts: &Facts) -> Term<'a> {
    match Document::parse(Bytes::copy_from_slice(&facts.claims), &CHECKED) {
        Ok(document) => Decoder::new(env).value(document.root()),
        Err(_) => atom::nil().to_term(env),
    }
}

/// The word of a binding.
pub(crate) fn word(binding: Binding) -> rustler::Atom {
    match binding {
        Binding::Bearer => atoms::bearer(),
        Binding::Dpop => atoms::dpop(),
        Binding::Mtls => atoms::mtls(),
        Binding::DpopAndMtls => atoms::dpop_mtls(),
    }
}

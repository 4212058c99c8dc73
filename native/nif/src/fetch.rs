//! Fetching for a process, which gets what came as a message.

use mcp_http::{Fetch, Fetched, fetch};
use rustler::{Atom, Encoder, Env, LocalPid, OwnedEnv, Term, types::atom};

use crate::{atoms, decode::binary, tls::TrustHandle, workers};

/// `fetch/5`: `pid` gets `{:beam_mcp, :fetched, ref, {:ok, status, max_age_s | nil, body} | {:error, text}}`.
#[rustler::nif(name = "fetch")]
fn fetch_for(
    url: String,
    allow_private: bool,
    trust: Option<&TrustHandle>,
    pid: LocalPid,
    reference: Term<'_>,
) -> Atom {
    let message = OwnedEnv::new();
    let reference = message.save(reference);
    let request = Fetch {
        url,
        allow_private,
        form: None,
        trust: trust.map(TrustHandle::trust),
    };
    workers::spawn(async move {
        let outcome = fetch(request).await;
        let mut message = message;
        // Nobody is told when the one who asked is gone.
        let _ = message.send_and_clear(&pid, |env| {
            let outcome = match outcome {
                Ok(fetched) => answer(env, &fetched),
                Err(error) => (atom::error(), error.to_string()).encode(env),
            };
            (
                atoms::beam_mcp(),
                atoms::fetched(),
                reference.load(env),
                outcome,
            )
                .encode(env)
        });
    });
    atom::ok()
}

fn answer<'a>(env: Env<'a>, fetched: &Fetched) -> Term<'a> {
    let body = binary(env, &fetched.body);
    (atom::ok(), fetched.status, fetched.max_age_s, body).encode(env)
}

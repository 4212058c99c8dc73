//! Asking an issuer about a token for a process, which learns whether there was an answer and never what it says.

use mcp_auth::Inquiry;
use rustler::{Atom, Encoder, Env, LocalPid, OwnedEnv, Resource, ResourceArc, Term, types::atom};

use crate::{atoms, guard::GuardHandle, workers};

/// A token on its way to its issuer, as a term: it never leaves the native library.
pub(crate) struct InquiryHandle(Inquiry);

impl InquiryHandle {
    pub(crate) fn new(inquiry: Inquiry) -> ResourceArc<Self> {
        ResourceArc::new(Self(inquiry))
    }
}

#[rustler::resource_impl]
impl Resource for InquiryHandle {}

/// `introspect/4`: `pid` gets `{:beam_mcp, :introspected, ref, :ok | {:error, text}}`.
#[rustler::nif]
fn introspect(
    guard: &GuardHandle,
    inquiry: ResourceArc<InquiryHandle>,
    pid: LocalPid,
    reference: Term<'_>,
) -> Atom {
    let guard = guard.guard();
    let message = OwnedEnv::new();
    let reference = message.save(reference);
    workers::spawn(async move {
        let outcome = guard.introspect(&inquiry.0).await;
        let mut message = message;
        // Nobody is told when the one who asked is gone.
        let _ = message.send_and_clear(&pid, |env: Env<'_>| {
            let outcome = match outcome {
                Ok(()) => atom::ok().encode(env),
                Err(error) => (atom::error(), error.to_string()).encode(env),
            };
            (
                atoms::beam_mcp(),
                atoms::introspected(),
                reference.load(env),
                outcome,
            )
                .encode(env)
        });
    });
    atom::ok()
}

/// `introspected/2`: what the issuer said of a token, as long as that counts: `:active`, `{:refused, reason}`, else `:unknown`.
#[rustler::nif]
fn introspected<'a>(
    env: Env<'a>,
    guard: &'a GuardHandle,
    inquiry: ResourceArc<InquiryHandle>,
) -> Term<'a> {
    match guard.guard().introspected(&inquiry.0) {
        Some(Ok(())) => atoms::active().encode(env),
        Some(Err(reason)) => (atoms::refused(), reason.word()).encode(env),
        None => atoms::unknown().encode(env),
    }
}

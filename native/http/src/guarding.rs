//! From a request's credentials to the core's decision over it.

use std::sync::Arc;

use mcp_auth::{
    Accepted, Challenge, Clause, Decision, Operation, Reason, Refetch, Refused, Scheme, Scope,
    SignIn, Wanted,
};
use mcp_driver::{Host, ask};
use mcp_protocol::{
    Ask, Authorized, Code, Error, Grant, Headers, Identity, Input, Question, RequestHead, Shared,
    Single, Unanswered,
};

use crate::guard::{Checked, Guard};

/// Whether the sender of `head` may go on, and as whom. `hook` names the host's hooks of the endpoint.
pub(crate) async fn admit<H: Host>(
    host: &Arc<H>,
    guard: &Arc<Guard>,
    hook: u64,
    head: Arc<RequestHead>,
) -> Input {
    let mut checked = guard.check(&head, None).await;
    if let Decision::NeedKeys { issuer, .. } = checked.decision {
        let asked = ask_for_keys(host, hook, issuer).await;
        checked = guard.check(&head, Some((issuer, asked))).await;
    }
    let Checked { decision, identity } = checked;
    let accepted = match decision {
        Decision::Accept(accepted) => Arc::new(accepted),
        Decision::Refuse(refused) => return refuse(host, guard, &head, refused),
        // The issuer was asked, so that this is no answer any more.
        Decision::NeedKeys { .. } => {
            return refuse(host, guard, &head, Refused::unavailable(Scheme::Bearer));
        }
    };
    let identity = identity.unwrap_or_else(|| {
        let identity = host.identify(&accepted.facts, accepted.binding);
        guard.remember(&head, &accepted, &identity);
        identity
    });
    let settling = guard.settles() || accepted.replay.is_some();
    let settled = match settling {
        true => settle(host, hook, &head, &accepted).await,
        false => Input::Authorized(Authorized::Settled),
    };
    match settled {
        Input::Authorized(Authorized::Settled) => grant(guard, &accepted, identity),
        Input::Authorized(Authorized::Accept(Some(identity))) => grant(guard, &accepted, identity),
        Input::Authorized(Authorized::Unsettled(reason)) => {
            let scheme = accepted.binding.scheme();
            refuse(host, guard, &head, Refused { reason, scheme })
        }
        Input::Unanswered(Unanswered::Deadline | Unanswered::Failed) => {
            let scheme = accepted.binding.scheme();
            refuse(host, guard, &head, Refused::unavailable(scheme))
        }
        other => other,
    }
}

/// Has the host ask an issuer for newer keys; it decides whether that is worth it.
async fn ask_for_keys<H: Host>(host: &Arc<H>, hook: u64, issuer: usize) -> Refetch {
    let question = Question {
        ask: Ask::Keys { hook, issuer },
        timeout_ms: KEYS_TIMEOUT_MS,
    };
    match ask(host, question).await {
        Input::Done => Refetch::Done,
        _ => Refetch::Failed,
    }
}

async fn settle<H: Host>(
    host: &Arc<H>,
    hook: u64,
    head: &Arc<RequestHead>,
    accepted: &Arc<Accepted>,
) -> Input {
    let question = Question {
        ask: Ask::Settle {
            hook,
            head: Arc::clone(head),
            accepted: Arc::clone(accepted),
        },
        timeout_ms: host.shared().config.hook_timeout_ms,
    };
    ask(host, question).await
}

fn grant(guard: &Guard, accepted: &Accepted, identity: Identity) -> Input {
    let mut headers = Headers::new();
    if accepted.renews_nonce
        && let Some(nonce) = guard.fresh_nonce()
    {
        headers.push((NONCE, nonce.into()));
    }
    let leeway_s = f64::from(guard.config().settings().leeway_s);
    Input::Authorized(Authorized::Grant(Box::new(Grant {
        identity,
        ends_ms: ((accepted.facts.expires_at + leeway_s) * 1_000.0) as u64,
        headers,
        resource: Arc::clone(guard.config()),
        scheme: accepted.binding.scheme(),
        sign_in: SignIn::of(&accepted.facts),
        again: guard.settles().then(|| {
            Arc::new(Accepted {
                replay: None,
                ..accepted.clone()
            })
        }),
    })))
}

/// The answer to a refused request: the table of reasons says which.
fn refuse<H: Host>(host: &Arc<H>, guard: &Guard, head: &RequestHead, refused: Refused) -> Input {
    let Refused { reason, scheme } = refused;
    let scope = match reason.suggests_scope() {
        true => suggested(head, &host.shared()),
        false => Clause::new(),
    };
    let scope: Vec<_> = scope.iter().map(Scope::as_str).collect();
    let challenge = Challenge {
        config: guard.config(),
        reason,
        scheme,
        wanted: &Wanted {
            scope: Some(scope.join(" ")),
            ..Wanted::default()
        },
    };
    let lines = challenge.lines().into_iter();
    let mut headers: Headers = lines.map(|line| (CHALLENGE, line.into())).collect();
    headers.push(("cache-control", "no-store".into()));
    if reason.brings_nonce()
        && let Some(nonce) = guard.fresh_nonce()
    {
        headers.push((NONCE, nonce.into()));
    }
    Input::Authorized(Authorized::Refuse(error(reason), headers))
}

/// Scopes for a client to ask for. What it says it wants is believed for that: it can only choose among the scopes of
/// the configuration.
fn suggested(head: &RequestHead, shared: &Shared) -> Clause {
    let gates = &shared.config.scopes.gates;
    let method = match head.single("mcp-method") {
        Single::Value(value) => str::from_utf8(value).ok(),
        _ => None,
    };
    match method.filter(|method| shared.offers(method)) {
        Some(method) => gates.gate(Operation::Method(method)),
        None => gates.basics(|method| shared.offers(method)),
    }
}

fn error(reason: Reason) -> Error {
    let (code, message) = match reason.status() {
        400 => (Code::MalformedCredentials, "Malformed credentials"),
        401 => (Code::Unauthorized, "Unauthorized"),
        403 => (Code::Forbidden, "Forbidden"),
        429 => (Code::PrincipalBusy, "Too many failed attempts: retry later"),
        _ => (Code::Busy, "Unavailable: retry later"),
    };
    let error = Error::new(code, reason.word(), message);
    match reason.retry_after_s() {
        Some(seconds) => error.with_retry_after(seconds),
        None => error,
    }
}

/// Longer than a fetch takes.
const KEYS_TIMEOUT_MS: u64 = 15_000;

const CHALLENGE: &str = "www-authenticate";
const NONCE: &str = "dpop-nonce";

//! From a request's credentials to the core's decision over it.

use std::{sync::Arc, time::Instant};

use mcp_auth::{
    Accepted, Challenge, Clause, Decision, Inquiry, Operation, Reason, Refetch, Refused, Scheme,
    Scope, SignIn, Wanted,
};
use mcp_driver::{Event, Host, ask, now};
use mcp_protocol::{
    Ask, Authorized, Code, Error, Grant, Headers, Identity, Input, Now, Question, RequestHead,
    Shared, Single, Stage, Unanswered, Verdict,
};

use crate::guard::{Checked, Guard};

/// Whether the sender of `head` may go on, and as whom. `hook` names the host's hooks of the endpoint.
pub(crate) async fn admit<H: Host>(
    host: &Arc<H>,
    guard: &Arc<Guard>,
    hook: u64,
    head: Arc<RequestHead>,
) -> Input {
    let began = now();
    let visit = Visit {
        host,
        guard,
        hook,
        head,
        timed: host.shared().config.tells_decisions.then(Instant::now),
    };
    if let Err(retry_after_s) = guard.admits(&visit.head, began) {
        return visit.too_many_failures(retry_after_s);
    }
    match visit.verify(began).await {
        Ok(admitted) => visit.settle(admitted).await,
        Err(refused) => visit.refuse(refused, None),
    }
}

/// A sender with the right token.
struct Admitted {
    accepted: Arc<Accepted>,
    /// Absent until somebody came in with the token.
    identity: Option<Identity>,
    /// See [`Checked::clears`].
    clears: u64,
}

/// A sender on the way in.
struct Visit<'a, H> {
    host: &'a Arc<H>,
    guard: &'a Arc<Guard>,
    hook: u64,
    head: Arc<RequestHead>,
    /// Since when it takes, where somebody wants to know.
    timed: Option<Instant>,
}

impl<H: Host> Visit<'_, H> {
    /// Whose the token is, with the identity that is known of it already.
    async fn verify(&self, began: Now) -> Result<Admitted, Refused> {
        let checked = self.check(began).await;
        match checked.decision {
            Decision::Accept(accepted) => Ok(Admitted {
                accepted: Arc::new(accepted),
                identity: checked.identity,
                clears: checked.clears,
            }),
            Decision::Refuse(refused) => Err(refused),
            // The issuer was asked, so that these are no answers any more.
            Decision::NeedKeys { .. } => Err(Refused::unavailable(Scheme::Bearer)),
            Decision::Inquire(_) => Err(Refused {
                reason: Reason::IntrospectionUnavailable,
                scheme: Scheme::Bearer,
            }),
        }
    }

    /// Decides, and once more if an issuer had to be asked.
    async fn check(&self, began: Now) -> Checked {
        let checked = self.guard.check(&self.head, None, began).await;
        let asked = match checked.decision {
            Decision::NeedKeys { issuer, .. } => Some((issuer, self.ask_for_keys(issuer).await)),
            Decision::Inquire(inquiry) => {
                self.introspect(inquiry).await;
                None
            }
            _ => return checked,
        };
        self.guard.check(&self.head, asked, now()).await
    }

    /// Has the host ask an issuer for newer keys; it decides whether that is worth it.
    async fn ask_for_keys(&self, issuer: usize) -> Refetch {
        let hook = self.hook;
        match self.ask(Ask::Keys { hook, issuer }, KEYS_TIMEOUT_MS).await {
            Input::Done => Refetch::Done,
            _ => Refetch::Failed,
        }
    }

    /// Has the host ask the issuer about a token, or wait for the answer that is under way.
    async fn introspect(&self, inquiry: Inquiry) {
        let hook = self.hook;
        let ask = Ask::Introspect { hook, inquiry };
        // What came of it is known by the token, or is not.
        let _ = self.ask(ask, INTROSPECTION_TIMEOUT_MS).await;
    }

    /// Asks the host for all that only it knows of the sender.
    async fn settle(&self, admitted: Admitted) -> Input {
        let Admitted {
            accepted,
            identity,
            clears,
        } = admitted;
        let identity = identity.unwrap_or_else(|| {
            let identity = self.host.identify(&accepted.facts, accepted.binding);
            let head = &self.head;
            self.guard.remember(head, &accepted, &identity, clears);
            identity
        });
        let scheme = accepted.binding.scheme();
        match self.settled(&accepted).await {
            Input::Authorized(Authorized::Settled) => self.grant(&accepted, identity),
            Input::Authorized(Authorized::Accept(Some(identity))) => {
                self.grant(&accepted, identity)
            }
            Input::Authorized(Authorized::Unsettled(reason)) => {
                self.refuse(Refused { reason, scheme }, Some(&accepted))
            }
            Input::Unanswered(Unanswered::Deadline | Unanswered::Failed) => {
                self.refuse(Refused::unavailable(scheme), Some(&accepted))
            }
            other => other,
        }
    }

    async fn settled(&self, accepted: &Arc<Accepted>) -> Input {
        if !self.guard.settles() && accepted.replay.is_none() {
            return Input::Authorized(Authorized::Settled);
        }
        let ask = Ask::Settle {
            hook: self.hook,
            head: Arc::clone(&self.head),
            accepted: Arc::clone(accepted),
        };
        self.ask(ask, self.host.shared().config.hook_timeout_ms)
            .await
    }

    async fn ask(&self, ask_for: Ask, timeout_ms: u64) -> Input {
        let question = Question {
            ask: ask_for,
            timeout_ms,
        };
        ask(self.host, question).await
    }

    fn grant(&self, accepted: &Accepted, identity: Identity) -> Input {
        self.record(None, Some(accepted), Some(&identity));
        let guard = self.guard;
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
            token: Some((Arc::clone(&accepted.facts), accepted.binding)),
            again: guard.settles().then(|| {
                Arc::new(Accepted {
                    replay: None,
                    ..accepted.clone()
                })
            }),
        })))
    }

    /// The answer to a refused request: the table of reasons says which.
    fn refuse(&self, refused: Refused, accepted: Option<&Accepted>) -> Input {
        let Refused { reason, scheme } = refused;
        self.guard.note(&self.head, reason);
        self.record(Some(reason), accepted, None);
        let scope = match reason.suggests_scope() {
            true => suggested(&self.head, &self.host.shared()),
            false => Clause::new(),
        };
        let scope: Vec<_> = scope.iter().map(Scope::as_str).collect();
        let challenge = Challenge {
            config: self.guard.config(),
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
            && let Some(nonce) = self.guard.fresh_nonce()
        {
            headers.push((NONCE, nonce.into()));
        }
        Input::Authorized(Authorized::Refuse(error(reason), headers))
    }

    /// The answer to an address that failed too often, whatever it shows now.
    fn too_many_failures(&self, retry_after_s: u64) -> Input {
        let reason = Reason::TooManyFailures;
        self.record(Some(reason), None, None);
        let error = error(reason).with_retry_after(retry_after_s);
        let headers = vec![("cache-control", "no-store".into())];
        Input::Authorized(Authorized::Refuse(error, headers))
    }

    /// Tells of the decision, where somebody wants to know.
    fn record(
        &self,
        reason: Option<Reason>,
        accepted: Option<&Accepted>,
        identity: Option<&Identity>,
    ) {
        if let Some(began) = self.timed {
            self.host.record(Event::Decision(Box::new(Verdict {
                at_ms: now().wall_ms,
                reason: reason.map(Reason::word),
                principal: identity.map(|identity| identity.principal.clone()),
                token: accepted.map(|accepted| (Arc::clone(&accepted.facts), accepted.binding)),
                stage: Stage::Sender {
                    duration_us: Some(began.elapsed().as_micros() as u64),
                },
            })));
        }
    }
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
        Some(method) => gates.gate(Operation::Method(method)).into_owned(),
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
const INTROSPECTION_TIMEOUT_MS: u64 = 7_000;

const CHALLENGE: &str = "www-authenticate";
const NONCE: &str = "dpop-nonce";

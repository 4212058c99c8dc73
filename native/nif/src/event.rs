//! Events as terms: `{name, measurements, metadata}`.

use mcp_auth::{Denial, Scope, fingerprint};
use mcp_driver::Event;
use mcp_protocol::{Method, Revision, Stage, Summary, Verdict};
use rustler::{Atom, Encoder, Env, LocalPid, Term, types::atom};

use crate::{address, atoms, identity, instance::InstanceHandle, timing};

/// `events_to/2`
#[rustler::nif]
fn events_to(env: Env<'_>, handle: &InstanceHandle, pid: LocalPid) -> Atom {
    let _time = timing::measure("events_to");
    handle.instance().ring.drain_by(pid);
    tell_of_more(env, handle);
    atom::ok()
}

/// `events/2`
#[rustler::nif]
fn events<'a>(env: Env<'a>, handle: &'a InstanceHandle, max: usize) -> Term<'a> {
    let _time = timing::measure("events");
    let ring = &handle.instance().ring;
    let taken = ring.take(max.min(MAX_EVENTS));
    let terms: Vec<Term<'a>> = taken.iter().map(|event| encode(env, event)).collect();
    tell_of_more(env, handle);
    (terms, ring.dropped()).encode(env)
}

/// Events that one call turns into terms.
const MAX_EVENTS: usize = 200;

/// The process that drains is told again of events that are left or came in between.
fn tell_of_more(env: Env<'_>, handle: &InstanceHandle) {
    if let Some(drainer) = handle.instance().ring.to_tell() {
        // Whoever replaces a drainer that is gone asks for events by itself.
        let _ = env.send(&drainer, (atoms::beam_mcp(), atoms::events()));
    }
}

fn encode<'a>(env: Env<'a>, event: &Event) -> Term<'a> {
    let nil = atom::nil().encode(env);
    let peer = |peer: &Option<std::net::SocketAddr>| {
        (
            atoms::peer(),
            peer.map_or(nil, |peer| address::encode(env, peer)),
        )
    };
    match event {
        Event::Request {
            summary,
            transport,
            status,
            duration_us,
            request_bytes,
            response_bytes,
        } => {
            let measurements = [
                (atoms::duration_us(), *duration_us),
                (atoms::request_bytes(), *request_bytes as u64),
                (atoms::response_bytes(), *response_bytes as u64),
            ];
            let metadata = summary_members(env, summary)
                .into_iter()
                .chain([
                    (atoms::transport(), (*transport).encode(env)),
                    (atoms::status(), status.encode(env)),
                ])
                .collect();
            row(env, atoms::request(), &measurements, metadata)
        }
        Event::ConnectionOpened { peer: who } => {
            row(env, atoms::connection_open(), &[], vec![peer(who)])
        }
        Event::ConnectionClosed {
            peer: who,
            reason,
            requests,
        } => {
            let metadata = vec![peer(who), (atoms::reason(), (*reason).encode(env))];
            row(
                env,
                atoms::connection_close(),
                &[(atoms::requests(), *requests)],
                metadata,
            )
        }
        Event::ConnectionRefused { peer: who } => row(env, atoms::refused(), &[], vec![peer(who)]),
        Event::Unlisted { option, value } => {
            let metadata = vec![
                (atoms::option(), option.encode(env)),
                (atoms::value(), value.encode(env)),
            ];
            row(env, atoms::unlisted(), &[], metadata)
        }
        Event::Decision(verdict) => decision(env, verdict),
        Event::HostFault {
            definition,
            message,
        } => {
            let metadata = vec![
                (atoms::definition(), definition.as_deref().encode(env)),
                (atoms::message(), message.encode(env)),
            ];
            row(env, atoms::host_fault(), &[], metadata)
        }
    }
}

/// The fields of `%BeamMCP.Decision{}`.
fn decision<'a>(env: Env<'a>, verdict: &Verdict) -> Term<'a> {
    let outcome = match verdict.reason {
        None => atoms::permit(),
        Some(_) => atoms::deny(),
    };
    let principal = verdict.principal.as_ref();
    let facts = verdict.token.as_ref().map(|(facts, _)| facts);
    let client = facts.and_then(|facts| facts.client_id.as_ref());
    let binding = verdict.token.as_ref().map(|(_, binding)| binding);
    let mut metadata = vec![
        (atoms::outcome(), outcome.encode(env)),
        (atoms::reason(), verdict.reason.encode(env)),
        (atoms::at_ms(), verdict.at_ms.encode(env)),
        (
            atoms::principal(),
            principal
                .map(|principal| fingerprint(principal.as_bytes()))
                .encode(env),
        ),
        (
            atoms::issuer(),
            facts.map(|facts| &*facts.issuer).encode(env),
        ),
        (
            atoms::client(),
            client
                .map(|client| fingerprint(client.as_bytes()))
                .encode(env),
        ),
        (
            atoms::binding(),
            binding.map(|binding| identity::word(*binding)).encode(env),
        ),
    ];
    let mut measurements = Vec::new();
    match &verdict.stage {
        Stage::Sender { duration_us } => {
            metadata.push((atoms::stage(), atoms::sender().encode(env)));
            measurements.extend(duration_us.map(|duration_us| (atoms::duration_us(), duration_us)));
        }
        Stage::Operation {
            method,
            definition,
            wanted,
            missing,
            held,
            denial,
        } => {
            let denial = denial.map(|denial| match denial {
                Denial::Challenge => atoms::challenge(),
                Denial::Neutral => atoms::neutral(),
            });
            metadata.extend([
                (atoms::stage(), atoms::operation().encode(env)),
                (atoms::method(), method.map(Method::as_str).encode(env)),
                (atoms::definition(), definition.as_deref().encode(env)),
                (atoms::wanted(), names(wanted).encode(env)),
                (atoms::missing(), names(missing).encode(env)),
                (atoms::denial(), denial.encode(env)),
            ]);
            measurements.push((atoms::held(), *held as u64));
        }
    }
    row(env, atoms::decision(), &measurements, metadata)
}

fn names(clause: &[Scope]) -> Vec<&str> {
    clause.iter().map(Scope::as_str).collect()
}

fn summary_members<'a>(env: Env<'a>, summary: &Summary) -> [(Atom, Term<'a>); 5] {
    [
        (
            atoms::method(),
            summary.method.map(Method::as_str).encode(env),
        ),
        (
            atoms::revision(),
            summary.revision.map(Revision::as_str).encode(env),
        ),
        (
            atoms::definition(),
            summary.definition.as_deref().encode(env),
        ),
        (atoms::code(), summary.code.encode(env)),
        (atoms::refusal(), summary.refusal.encode(env)),
    ]
}

fn row<'a>(
    env: Env<'a>,
    name: Atom,
    measurements: &[(Atom, u64)],
    metadata: Vec<(Atom, Term<'a>)>,
) -> Term<'a> {
    let measurements = Term::map_from_pairs(env, measurements).expect("the keys differ");
    let metadata = Term::map_from_pairs(env, &metadata).expect("the keys differ");
    (name, measurements, metadata).encode(env)
}

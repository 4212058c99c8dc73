//! What is told of decisions over callers, for records.

use std::{collections::BTreeMap, sync::Arc};

use mcp_auth::{Denial, Gates, Scope};
use mcp_protocol::{
    Authorized, Config, Identity, Input, Line, Method, Rate, Rates, Stage, Unanswered, Verdict,
};
use serde_json::{Value, json};

use crate::harness::{MAX_CALLS, Pending, Post, Server, call, identity, legacy, modern, tools};

/// A server whose hook answers so.
fn server(answer: impl Fn() -> Authorized + 'static) -> Server {
    let tells = |config: &mut Config| config.tells_decisions = true;
    let mut server = Server::offering(tools(), tells).at(|endpoint| endpoint.authorize = true);
    server.world.authorize = Box::new(move |_| Input::Authorized(answer()));
    server
}

fn granting(scopes: &'static [&'static str]) -> Server {
    server(move || Authorized::Accept(Some(holding(scopes))))
}

fn holding(scopes: &[&str]) -> Identity {
    let scopes = scopes.iter().filter_map(|scope| Scope::parse(scope));
    Identity {
        scopes: Some(Arc::new(scopes.collect())),
        ..identity("ann")
    }
}

/// The same server with another configuration.
fn set(server: &mut Server, change: impl FnOnce(&mut Config)) {
    let mut config = (*server.shared.config).clone();
    change(&mut config);
    let mut shared = (*server.shared).clone();
    shared.config = config.into();
    server.shared = shared.into();
}

/// What was told of a call.
fn told(server: &mut Server) -> Vec<Verdict> {
    told_of(server, &Post::modern(&call("now", json!({}))))
}

fn told_of(server: &mut Server, post: &Post) -> Vec<Verdict> {
    let pending = server.begin(post);
    told_by(server, pending)
}

fn told_by(server: &mut Server, mut pending: Pending) -> Vec<Verdict> {
    let mut verdicts = pending.exchange.take_verdicts();
    while pending.question().is_some() {
        pending = server.step(pending);
        verdicts.extend(pending.exchange.take_verdicts());
    }
    verdicts
}

#[test]
fn a_hook_that_refuses_is_told_with_its_word() {
    let deny: fn() -> Authorized = || Authorized::Deny;
    let challenge: fn() -> Authorized = || Authorized::Challenge("Basic".into());
    for (answer, word) in [(deny, "forbidden"), (challenge, "unauthenticated")] {
        let [verdict] = &told(&mut server(answer))[..] else {
            panic!("one decision is told");
        };
        assert_eq!(verdict.reason, Some(word));
        assert!(verdict.principal.is_none());
        assert!(matches!(verdict.stage, Stage::Sender { .. }));
    }
}

#[test]
fn both_decisions_over_a_request_are_told_in_order() {
    let mut server = granting(&["mcp:tools:call", "other"]);
    let [sender, operation] = &told(&mut server)[..] else {
        panic!("two decisions are told");
    };
    assert_eq!((sender.reason, operation.reason), (None, None));
    assert_eq!(sender.at_ms, server.now.wall_ms);
    let principal = operation.principal.as_ref().unwrap();
    assert_eq!(principal.as_bytes(), b"ann");
    let Stage::Operation {
        method,
        wanted,
        missing,
        held,
        denial,
        ..
    } = &operation.stage
    else {
        panic!("the second is over the operation");
    };
    assert_eq!(
        (*method, *held, *denial),
        (Some(Method::ToolsCall), 2, None)
    );
    assert_eq!(wanted, &[Scope::parse("mcp:tools:call").unwrap()]);
    assert!(missing.is_empty());
}

#[test]
fn a_refused_operation_is_told_with_what_it_lacks() {
    let [_, operation] = &told(&mut granting(&["other"]))[..] else {
        panic!("two decisions are told");
    };
    assert_eq!(operation.reason, Some("insufficient_scope"));
    let Stage::Operation {
        missing, denial, ..
    } = &operation.stage
    else {
        panic!("the second is over the operation");
    };
    assert_eq!(missing, &[Scope::parse("mcp:tools:call").unwrap()]);
    assert_eq!(*denial, Some(Denial::Challenge));
}

#[test]
fn nothing_is_kept_where_nobody_wants_to_know() {
    let mut server = granting(&["mcp:tools:call"]);
    set(&mut server, |config| config.tells_decisions = false);
    assert!(told(&mut server).is_empty());
}

fn initialize() -> Value {
    let client = json!({"name": "client", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    legacy("initialize", params)
}

fn needing(scope: &str, config: &mut Config) {
    let (map, none) = (BTreeMap::new(), BTreeMap::new());
    config.scopes.gates = Gates::new(&map, &none, &[scope.to_owned()]).unwrap();
}

#[test]
fn the_handshake_of_an_older_client_is_told_as_any_request() {
    let mut server = granting(&["app.use"]);
    set(&mut server, |config| needing("app.use", config));
    let [_, operation] = &told_of(&mut server, &Post::plain(&initialize()))[..] else {
        panic!("two decisions are told");
    };
    assert_eq!(operation.reason, None);
    let Stage::Operation { method, wanted, .. } = &operation.stage else {
        panic!("the second is over the operation");
    };
    assert_eq!(*method, Some(Method::Initialize));
    assert_eq!(wanted, &[Scope::parse("app.use").unwrap()]);
}

#[test]
fn a_pipe_is_decided_over_and_told_of_in_the_same_way() {
    for (scopes, reason) in [
        (&["app.use"][..], None),
        (&["other"][..], Some("insufficient_scope")),
    ] {
        let mut server = granting(&[]);
        set(&mut server, |config| needing("app.use", config));
        server.pipe.identity = Some(holding(scopes));
        let pending = server.begin_line(Line::Whole(initialize().to_string().into()));
        let [operation] = &told_by(&mut server, pending)[..] else {
            panic!("one decision is told");
        };
        assert_eq!(operation.reason, reason);
        assert_eq!(server.pipe.session.is_some(), reason.is_none());
    }
}

/// The limit that a caller is over, on what.
fn limit_of(verdict: &Verdict) -> (Option<&str>, Option<Method>, Option<&str>) {
    let Stage::Operation {
        method,
        definition,
        denial: None,
        ..
    } = &verdict.stage
    else {
        panic!("a limit is no denial: {verdict:?}");
    };
    (verdict.reason, *method, definition.as_deref())
}

#[test]
fn a_caller_over_its_rate_is_told_whether_scopes_are_looked_at_or_not() {
    let once = Rate {
        count: 1,
        per_ms: 60_000,
    };
    for caller in [
        Some(identity("ann")),
        Some(holding(&["mcp:tools:call"])),
        None,
    ] {
        let mut server = server(move || Authorized::Accept(caller.clone()));
        set(&mut server, |config| {
            config.rates = Rates::new(Some(once), None, None);
        });
        told(&mut server);
        let [sender, refused] = &told(&mut server)[..] else {
            panic!("two decisions are told");
        };
        assert_eq!(sender.reason, None);
        let expected = (Some("rate"), Some(Method::ToolsCall), Some("now"));
        assert_eq!(limit_of(refused), expected);
    }
}

#[test]
fn a_caller_that_has_too_much_running_is_told() {
    let why = Unanswered::PrincipalBusy(MAX_CALLS);
    let mut busy = granting(&["mcp:tools:call"]).handling(move |_| Input::Unanswered(why));
    let [_, permitted, refused] = &told(&mut busy)[..] else {
        panic!("three decisions are told");
    };
    assert_eq!(permitted.reason, None);
    let expected = (Some("principal_busy"), Some(Method::ToolsCall), Some("now"));
    assert_eq!(limit_of(refused), expected);

    let filter = json!({"notifications": {"toolsListChanged": true}});
    let mut server = server(|| Authorized::Accept(Some(identity("ann"))));
    let pending = server.begin(&Post::modern(&modern("subscriptions/listen", filter)));
    let pending = server.until_listening(pending);
    let mut pending = pending.feed(server.now, Input::Unanswered(why));
    let verdicts = pending.exchange.take_verdicts();
    let refused = verdicts.last().expect("the refusal is told");
    let expected = (Some("subscriptions_full"), Some(Method::Listen), None);
    assert_eq!(limit_of(refused), expected);
}

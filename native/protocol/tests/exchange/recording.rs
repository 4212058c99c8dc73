//! What is told of decisions over callers, for records.

use mcp_auth::{Denial, Scope};
use mcp_protocol::{Authorized, Config, Identity, Input, Method, Stage, Verdict};
use serde_json::json;

use crate::harness::{Post, Server, call, identity, tools};

/// A server whose hook answers so.
fn server(answer: impl Fn() -> Authorized + 'static) -> Server {
    let tells = |config: &mut Config| config.tells_decisions = true;
    let mut server = Server::offering(tools(), tells).at(|endpoint| endpoint.authorize = true);
    server.world.authorize = Box::new(move |_| Input::Authorized(answer()));
    server
}

fn granting(scopes: &'static [&'static str]) -> Server {
    server(move || {
        let scopes = scopes.iter().filter_map(|scope| Scope::parse(scope));
        Authorized::Accept(Some(Identity {
            scopes: Some(std::sync::Arc::new(scopes.collect())),
            ..identity("ann")
        }))
    })
}

/// What was told of a call.
fn told(server: &mut Server) -> Vec<Verdict> {
    let mut pending = server.begin(&Post::modern(&call("now", json!({}))));
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
    assert_eq!((*method, *held, *denial), (Method::ToolsCall, 2, None));
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
    let mut config = (*server.shared.config).clone();
    config.tells_decisions = false;
    let mut shared = (*server.shared).clone();
    shared.config = config.into();
    server.shared = shared.into();
    assert!(told(&mut server).is_empty());
}

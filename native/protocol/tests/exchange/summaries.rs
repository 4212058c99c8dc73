//! What telemetry learns of an exchange: method, revision, definition, code, and a word for a refusal.

use mcp_protocol::{Authorized, BodyFault, Input, Method, Revision, Unanswered};
use serde_json::{Value, json};

use crate::harness::{MAX_CALLS, META, Post, Server, call, legacy, modern};

#[test]
fn a_served_call_is_named() {
    let summary = Server::new()
        .post(&Post::modern(&call("now", json!({}))))
        .answer
        .summary;
    assert_eq!(
        (summary.method, summary.revision),
        (Some(Method::ToolsCall), Some(Revision::R20260728))
    );
    assert_eq!(summary.definition.as_deref(), Some("now"));
    assert_eq!(
        (summary.code, summary.refusal, summary.host_fault),
        (None, None, None)
    );
}

/// Names from the wire that are none of the catalog's, or no methods, never reach telemetry.
#[test]
fn what_a_peer_makes_up_is_not_repeated() {
    for message in [call("made-up", json!({})), modern("made/up", json!({}))] {
        let summary = Server::new().line(&message).answer.summary;
        assert_eq!(summary.definition, None);
        assert!(!format!("{summary:?}").contains("made"), "{summary:?}");
    }
}

#[test]
fn refusals_have_words() {
    let list = || Post::request("tools/list");
    for (word, post) in [
        ("framing", list().without("Host")),
        ("path", list().target("/other")),
        ("host", list().set("Host", "evil.example")),
        ("origin", list().set("Origin", "null")),
        ("method", list().verb("GET")),
        ("media_type", list().without("Content-Type")),
        ("not_acceptable", list().set("Accept", "text/html")),
        ("parse", list().body("{")),
        ("shape", list().body("[]")),
        ("id", list().edit(|message| message["id"] = Value::Null)),
        (
            "meta",
            list().edit(|message| message["params"]["_meta"][META[1]] = json!(1)),
        ),
        ("header", list().set("Mcp-Method", "other")),
        ("method", Post::request("none")),
        (
            "cursor",
            list().edit(|message| message["params"]["cursor"] = json!("?")),
        ),
        ("params", Post::modern(&call("none", json!({})))),
        ("arguments", Post::modern(&call("echo", json!({})))),
        ("session", Post::legacy(None, &legacy("ping", json!({})))),
        (
            "session_unknown",
            Post::legacy(Some("none"), &legacy("ping", json!({}))),
        ),
    ] {
        let reply = Server::new().post(&post);
        assert_eq!(reply.answer.summary.refusal, Some(word), "{post:?}");
        assert_eq!(reply.answer.summary.code.map(i64::from), reply.code());
    }
}

/// X28: the log names the option that would admit a peer, and what to put there.
#[test]
fn x28_what_an_option_does_not_list_is_told() {
    for (header, value, option) in [
        ("Host", "evil.example:8080", "allowed_hosts"),
        ("Origin", "https://evil.example", "allowed_origins"),
        ("Origin", "null", "allowed_origins"),
    ] {
        let post = Post::request("tools/list").set(header, value);
        let summary = Server::new().post(&post).answer.summary;
        assert!(!format!("{summary:?}").contains(value));
        let unlisted = summary.unlisted.unwrap();
        assert_eq!(
            (unlisted.option, unlisted.value),
            (option, format!("{value:?}"))
        );
    }
    let refused = Server::new().post(&Post::request("tools/list").target("/other"));
    assert!(refused.answer.summary.unlisted.is_none());
}

#[test]
fn what_the_world_refuses_has_words_too() {
    for (word, fault) in [
        ("body_too_large", BodyFault::TooLarge),
        ("body_timeout", BodyFault::Timeout { limit_ms: 30_000 }),
        ("buffers", BodyFault::NoRoom),
        ("body", BodyFault::Broken),
    ] {
        let mut server = Server::new();
        server.world.body_fault = Some(fault);
        assert_eq!(
            server
                .post(&Post::request("tools/list"))
                .answer
                .summary
                .refusal,
            Some(word)
        );
    }
    for (word, why) in [
        ("busy", Unanswered::Busy(MAX_CALLS)),
        ("principal_busy", Unanswered::PrincipalBusy(MAX_CALLS)),
        ("draining", Unanswered::Draining),
        ("duplicate_id", Unanswered::DuplicateId),
        ("cancelled", Unanswered::Cancelled),
        ("host_fault", Unanswered::Failed),
    ] {
        let mut server = Server::new().handling(move |_| Input::Unanswered(why));
        assert_eq!(
            server.line(&call("now", json!({}))).answer.summary.refusal,
            Some(word)
        );
    }
    for (word, decision) in [
        ("forbidden", Authorized::Deny),
        ("unauthenticated", Authorized::Challenge("Basic".into())),
    ] {
        let mut server = Server::new().at(|endpoint| endpoint.authorize = true);
        let mut decision = Some(decision);
        server.world.authorize = Box::new(move |_| Input::Authorized(decision.take().unwrap()));
        assert_eq!(
            server
                .post(&Post::request("tools/list"))
                .answer
                .summary
                .refusal,
            Some(word)
        );
    }
}

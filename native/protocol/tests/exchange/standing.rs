//! The standing stream of a legacy session: GET (requirements 10).

use std::sync::Arc;

use mcp_protocol::{
    Authorized, Change, EventId, Input, Listing, Owner, Revision, Scope, StreamKind, Unanswered,
};
use serde_json::{Value, json};

use crate::harness::{Pending, Post, Server, admitted, identity, offering_all, session};

fn get(session: &str) -> Post {
    Post::plain(&Value::Null)
        .verb("GET")
        .body("")
        .set("Accept", "text/event-stream")
        .set("MCP-Protocol-Version", "2025-11-25")
        .set("Mcp-Session-Id", session)
}

fn server(revision: Revision) -> Server {
    let mut server = offering_all();
    let mut known = session(None);
    known.revision = revision;
    known.subscriptions = Arc::new(["test://notes".into()].into());
    server.world.sessions.insert("s1".into(), known);
    server
}

fn place() -> EventId {
    EventId {
        kind: StreamKind::Get,
        stream: "a1".into(),
        number: 3,
    }
}

fn opened(server: &mut Server, post: &Post) -> Pending {
    let pending = server.begin(post);
    server.until_listening(pending)
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// LHT-20, LHT-30
#[test]
fn it_tells_of_lists_and_of_what_the_session_subscribed_to() {
    let mut server = server(Revision::R20251125);
    let pending = opened(&mut server, &get("s1"));
    let subscription = pending.subscription();
    assert!(matches!(subscription.owner, Owner::Session(_)) && subscription.is_resumable());
    let notes = Change::resource("test://notes").unwrap();
    for (change, expected) in [
        (
            Change::List(Listing::Tools),
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
        ),
        (
            notes,
            r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://notes"}}"#,
        ),
    ] {
        assert!(subscription.filter.wants(&change, None));
        assert_eq!(
            text(subscription.tell(&change, &place())),
            format!("id: ga1-3\nevent: message\ndata: {expected}\n\n")
        );
    }
    let logo = Change::resource("test://logo").unwrap();
    assert!(!subscription.filter.wants(&logo, None));
}

/// LHT-10, LHT-12: of 2025-11-25 alone.
#[test]
fn the_stream_is_primed_for_resuming() {
    let mut newer = server(Revision::R20251125);
    let opening = opened(&mut newer, &get("s1"))
        .subscription()
        .opening(&place());
    assert_eq!(text(opening.unwrap()), "id: ga1-3\nretry: 1500\ndata: \n\n");
    let mut older = server(Revision::R20250618);
    let post = get("s1").set("MCP-Protocol-Version", "2025-06-18");
    let pending = opened(&mut older, &post);
    assert_eq!(pending.subscription().opening(&place()), None);
}

/// LHT-31
#[test]
fn it_resumes_where_the_client_says() {
    for (header, resumes) in [
        (Some("ga1-3"), Some(place())),
        (Some("something else"), None),
        (None, None),
    ] {
        let post = match header {
            Some(id) => get("s1").set("Last-Event-ID", id),
            None => get("s1"),
        };
        let pending = opened(&mut server(Revision::R20251125), &post);
        assert_eq!(pending.subscription().resumes, resumes);
    }
}

/// LHT-32: the stream of a call is another's, and has no changes.
#[test]
fn the_stream_of_a_call_is_resumed_as_such() {
    let mut server = server(Revision::R20251125);
    let pending = opened(&mut server, &get("s1").set("Last-Event-ID", "pa1-3"));
    let (owner, place) = pending.subscription().resumed_call().unwrap();
    assert_eq!(owner, &Scope::Session("s1".into()));
    assert_eq!((place.kind, place.number), (StreamKind::Post, 3));
    let gone = Input::Unanswered(Unanswered::StreamGone);
    let reply = pending.feed(server.now, gone).reply();
    assert_eq!((reply.answer.status, reply.code()), (400, Some(-32600)));
    assert_eq!(reply.answer.summary.refusal, Some("stream_gone"));
    for other in ["ga1-3", "nonsense"] {
        let pending = opened(&mut server, &get("s1").set("Last-Event-ID", other));
        assert!(pending.subscription().resumed_call().is_none());
    }
}

#[test]
fn it_is_the_sessions_and_the_callers_own() {
    for (post, status) in [
        (get("unknown"), 404),
        (get("s1").without("Mcp-Session-Id"), 400),
        (get("s1").set("Accept", "application/json"), 406),
        (get("s1").set("MCP-Protocol-Version", "2026-07-28"), 405),
        (get("s1").set("MCP-Protocol-Version", "2024-11-05"), 400),
    ] {
        let reply = server(Revision::R20251125).post(&post);
        assert_eq!(reply.answer.status, status, "{post:?}");
    }
    let mut server = server(Revision::R20251125).at(|endpoint| endpoint.authorize = true);
    server.world.authorize =
        Box::new(|_| Input::Authorized(Authorized::Accept(Some(identity("eve")))));
    assert_eq!(server.post(&get("s1")).answer.status, 404, "LHT-45");
}

/// LHT-13: and whoever reads it uses the session.
#[test]
fn it_ends_with_its_session() {
    let mut server = server(Revision::R20251125);
    let pending = opened(&mut server, &get("s1"));
    let uris = Arc::new(["test://logo".into()].into());
    server.world.sessions.get_mut("s1").unwrap().subscriptions = uris;
    let pending = pending.recheck(&mut server);
    assert!(pending.question().unwrap().starts_with("deliver To"));
    server.world.sessions.clear();
    let reply = pending.recheck(&mut server).reply();
    assert_eq!((reply.answer.status, reply.is_silent()), (200, true));
}

/// What a session subscribed to with a wider token is not told to a narrower one.
#[test]
fn a_stream_hears_nothing_that_its_scopes_forbid() {
    let mut server = server(Revision::R20251125).at(|endpoint| endpoint.authorize = true);
    let session = server.world.sessions.get_mut("s1").unwrap();
    session.principal = Some(identity("ann").principal);
    server.world.authorize = Box::new(|_| admitted("ann", &["mcp:tools:read"]));
    let mut pending = opened(&mut server, &get("s1")).recheck(&mut server);
    assert!(pending.question().unwrap().starts_with("deliver To"));
    for (change, told) in [
        (Change::List(Listing::Tools), "deliver Now"),
        (Change::List(Listing::Prompts), "deliver Withheld"),
        (
            Change::resource("test://notes").unwrap(),
            "deliver Withheld",
        ),
    ] {
        pending = pending.permit_change(&mut server, &change);
        assert_eq!(pending.question(), Some(told), "{change:?}");
    }
}

#[test]
fn head_is_not_get() {
    let reply = server(Revision::R20251125).post(&get("s1").verb("HEAD"));
    assert_eq!(reply.answer.status, 405);
    assert_eq!(reply.header("allow"), Some("POST, GET, DELETE, OPTIONS"));
}

#[test]
fn a_pipe_hears_without_asking_once_it_has_a_session() {
    let mut server = offering_all();
    assert!(server.pipe.subscription(&server.shared).is_none());
    server.pipe.session = Some(session(None));
    let (_, subscription) = server.pipe.subscription(&server.shared).unwrap();
    let change = Change::List(Listing::Prompts);
    assert!(subscription.filter.wants(&change, None) && !subscription.is_resumable());
    let line = text(subscription.tell(&change, &place()));
    let message: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        message,
        json!({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"})
    );
}

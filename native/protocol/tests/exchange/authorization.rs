//! The host's hooks before and after the body: accept, deny, challenge, failure, deadline (authorization, section 1).

use mcp_protocol::{Authorized, Input, Unanswered};
use serde_json::{Value, json};

use crate::harness::{MAX_CALLS, Post, Reply, Server, call, identity, text};

fn guarded() -> Server {
    Server::new().at(|endpoint| endpoint.authorize = true)
}

fn guarded_twice() -> Server {
    Server::new().at(|endpoint| {
        endpoint.authorize = true;
        endpoint.authorize_body = true;
    })
}

fn deciding(mut decide: impl FnMut() -> Input + 'static) -> Reply {
    let mut server = guarded();
    server.world.authorize = Box::new(move |_| decide());
    server.post(&Post::modern(&call("now", json!({}))))
}

#[test]
fn accept_carries_the_identity_to_the_handler() {
    let mut server = guarded().handling(|call| {
        let identity = call.context.identity.as_ref();
        text(&format!(
            "{:?}",
            identity.map(|identity| identity.principal.as_bytes().to_vec())
        ))
    });
    let post = Post::modern(&call("now", json!({})));
    assert_eq!(server.post(&post).text(), "None");
    server.world.authorize =
        Box::new(|_| Input::Authorized(Authorized::Accept(Some(identity("a")))));
    assert_eq!(server.post(&post).text(), "Some([97])");
}

#[test]
fn the_hook_sees_the_head_and_no_body() {
    let mut server = guarded();
    server.world.authorize = Box::new(|head| {
        assert_eq!(
            head.values("authorization").collect::<Vec<_>>(),
            [b"Bearer x"]
        );
        Input::Authorized(Authorized::Accept(None))
    });
    let post = Post::modern(&call("now", json!({}))).set("Authorization", "Bearer x");
    let reply = server.post(&post);
    assert_eq!(reply.asked, ["authorize", "body 1048576", "call now {}"]);
}

/// VER-8: refusals of authorization carry a JSON-RPC body too; it tells nothing.
#[test]
fn deny_is_403_and_neutral() {
    let reply = deciding(|| Input::Authorized(Authorized::Deny));
    assert_eq!(reply.refusal(), (403, Some(-32600), None));
    assert_eq!(reply.message(), "Forbidden");
    assert!(!reply.keeps());
}

#[test]
fn challenge_is_401_with_the_hosts_header() {
    let reply =
        deciding(|| Input::Authorized(Authorized::Challenge("Bearer realm=\"mcp\"".into())));
    assert_eq!(reply.refusal(), (401, Some(-32600), None));
    assert_eq!(
        reply.header("www-authenticate"),
        Some("Bearer realm=\"mcp\"")
    );
    assert!(!reply.keeps());
}

#[test]
fn a_hook_that_fails_or_is_late_lets_nobody_in() {
    for (why, status, code) in [
        (Unanswered::Failed, 500, -32603),
        (Unanswered::Deadline, 503, -32603),
        (Unanswered::Busy(MAX_CALLS), 503, -31503),
        (Unanswered::Draining, 503, -31503),
    ] {
        let reply = deciding(move || Input::Unanswered(why));
        assert_eq!(reply.refusal(), (status, Some(code), None), "{why:?}");
        assert!(!reply.keeps() && !reply.called());
    }
}

#[test]
fn questions_have_the_deadlines_of_their_kind() {
    let mut server = guarded();
    let pending = server.begin(&Post::modern(&call("now", json!({}))));
    assert_eq!(pending.timeout_ms(), 5_000);
    let pending = server.until_called(pending);
    assert_eq!(pending.timeout_ms(), 30_000);
}

#[test]
fn authorize_body_sees_the_bytes_as_received_before_anything_decodes_them() {
    let mut server = guarded_twice();
    server.world.authorize_body = Box::new(|_, bytes| {
        assert_eq!(&bytes[..], b"{ not json");
        Input::Authorized(Authorized::Deny)
    });
    let reply = server.post(&Post::request("tools/list").body("{ not json"));
    assert_eq!(
        reply.asked,
        ["authorize", "body 1048576", "authorize_body 10"]
    );
    assert_eq!(reply.refusal(), (403, Some(-32600), None));
    assert!(reply.keeps(), "the body was read");
}

#[test]
fn authorize_body_may_replace_the_identity_or_leave_it() {
    for (named, expected) in [(Some("b"), "b"), (None, "a")] {
        let mut server = guarded_twice().handling(|call| {
            let identity = call.context.identity.as_ref().unwrap();
            text(std::str::from_utf8(&identity.term).unwrap())
        });
        server.world.authorize =
            Box::new(|_| Input::Authorized(Authorized::Accept(Some(identity("a")))));
        server.world.authorize_body =
            Box::new(move |_, _| Input::Authorized(Authorized::Accept(named.map(identity))));
        assert_eq!(
            server.post(&Post::modern(&call("now", json!({})))).text(),
            expected
        );
    }
}

#[test]
fn authorize_body_that_fails_is_500() {
    let mut server = guarded_twice();
    server.world.authorize_body = Box::new(|_, _| Input::Unanswered(Unanswered::Failed));
    let reply = server.post(&Post::request("tools/list"));
    assert_eq!(reply.refusal(), (500, Some(-32603), None));
}

#[test]
fn refusals_before_the_hook_do_not_ask_it() {
    for post in [
        Post::request("tools/list").set("Host", "evil.example"),
        Post::request("tools/list").set("Origin", "null"),
        Post::request("tools/list").verb("PUT"),
    ] {
        assert!(guarded().post(&post).asked.is_empty());
    }
}

#[test]
fn http28_every_request_is_authorized_on_its_own() {
    let mut server = guarded();
    let mut answers = [Authorized::Accept(Some(identity("a"))), Authorized::Deny].into_iter();
    server.world.authorize = Box::new(move |_| Input::Authorized(answers.next().unwrap()));
    let post = Post::request("tools/list");
    assert_eq!(server.post(&post).answer.status, 200);
    assert_eq!(server.post(&post).answer.status, 403);
}

#[test]
fn pipes_are_not_authorized_but_may_have_an_identity() {
    let mut server =
        guarded().handling(|call| text(&format!("{}", call.context.identity.is_some())));
    server.pipe.identity = Some(identity("launcher"));
    let reply = server.line(&call("now", json!({})));
    assert_eq!(
        (reply.text(), reply.asked),
        ("true".into(), vec!["call now {}".into()])
    );
}

#[test]
fn nothing_of_an_identity_is_shown() {
    let identity = identity("alice@example.com");
    assert!(!format!("{identity:?}{:?}", identity.principal).contains("alice"));
    let reply = deciding(|| Input::Authorized(Authorized::Deny));
    assert_eq!(reply.json()["error"].get("data"), None::<&Value>);
}

//! How often one caller may call, complete and subscribe (`rate_limits`).

use mcp_protocol::{Authorized, Config, Input, Rate, Rates};
use serde_json::{Value, json};

use crate::harness::{Post, Server, call, identity, modern, offers, tools};

const TWICE_A_MINUTE: Rate = Rate {
    count: 2,
    per_ms: 60_000,
};

fn server(rates: Rates) -> Server {
    Server::offering(tools(), move |config: &mut Config| config.rates = rates)
}

fn calls() -> Rates {
    Rates::new(Some(TWICE_A_MINUTE), None, None)
}

fn now() -> Post {
    Post::modern(&call("now", json!({})))
}

/// A server whose callers name themselves.
fn naming() -> Server {
    let mut server = server(calls()).at(|endpoint| endpoint.authorize = true);
    server.world.authorize = Box::new(|head| {
        let name = head.values("x-name").next().unwrap_or_default();
        let identity = identity(str::from_utf8(name).unwrap());
        Input::Authorized(Authorized::Accept(Some(identity)))
    });
    server
}

#[test]
fn a_further_call_is_refused_with_its_id_and_when_to_come_back() {
    let mut server = server(calls());
    for _ in 0..2 {
        assert_eq!(server.post(&now()).answer.status, 200);
    }
    server.wait(1_000);
    let reply = server.post(&now());
    assert_eq!(reply.refusal(), (429, Some(-31429), Some(json!(1))));
    assert_eq!(reply.header("retry-after"), Some("29"));
    assert_eq!(
        reply.message(),
        "You ask more often than the server's rate_limits.calls (2 in 60000 ms) allows: retry in 29 s"
    );
    assert_eq!(reply.answer.summary.refusal, Some("rate"));
    server.wait(29_000);
    assert_eq!(server.post(&now()).answer.status, 200);
    assert_eq!(server.post(&now()).answer.status, 429);
}

#[test]
fn a_caller_that_asks_too_often_takes_nothing_from_another() {
    let mut server = naming();
    for _ in 0..100 {
        server.post(&now().set("X-Name", "greedy"));
    }
    assert_eq!(
        server.post(&now().set("X-Name", "greedy")).answer.status,
        429
    );
    for _ in 0..2 {
        assert_eq!(server.post(&now().set("X-Name", "ann")).answer.status, 200);
    }
    assert_eq!(server.post(&now().set("X-Name", "ann")).answer.status, 429);
}

#[test]
fn what_costs_the_host_nothing_has_no_rate() {
    let mut server = server(Rates::new(
        Some(TWICE_A_MINUTE),
        Some(TWICE_A_MINUTE),
        Some(TWICE_A_MINUTE),
    ));
    for _ in 0..10 {
        assert_eq!(server.post(&Post::request("tools/list")).answer.status, 200);
        assert_eq!(
            server.post(&Post::request("server/discover")).answer.status,
            200
        );
    }
}

#[test]
fn each_pipe_has_its_own_and_its_errors_no_http_parts() {
    let mut server = server(calls());
    for _ in 0..2 {
        assert_eq!(server.line(&call("now", json!({}))).code(), None);
    }
    let reply = server.line(&call("now", json!({})));
    assert_eq!(reply.code(), Some(-31429));
    assert_eq!(reply.json()["error"].get("data"), None);
    server.pipe.number = 2;
    assert_eq!(server.line(&call("now", json!({}))).code(), None);
    server.pipe.identity = Some(identity("ann"));
    for _ in 0..2 {
        assert_eq!(server.line(&call("now", json!({}))).code(), None);
    }
    server.pipe.number = 3;
    assert_eq!(server.line(&call("now", json!({}))).code(), Some(-31429));
}

#[test]
fn completions_and_reads_are_told_apart() {
    let rates = Rates::new(Some(TWICE_A_MINUTE), Some(TWICE_A_MINUTE), None);
    let mut server = Server::offering(offers(), |config| config.rates = rates);
    let is_refused = |server: &mut Server, method: &str, params: Value| {
        server.post(&Post::modern(&modern(method, params))).code() == Some(-31429)
    };
    let read = || json!({"uri": "test://none"});
    let complete = || {
        json!({
            "ref": {"type": "ref/prompt", "name": "none"},
            "argument": {"name": "a", "value": "b"},
        })
    };
    for _ in 0..2 {
        assert!(!is_refused(&mut server, "resources/read", read()));
        assert!(!is_refused(&mut server, "completion/complete", complete()));
    }
    assert!(is_refused(&mut server, "resources/read", read()));
    assert!(is_refused(&mut server, "completion/complete", complete()));
    assert!(is_refused(
        &mut server,
        "prompts/get",
        json!({"name": "none"})
    ));
}

#[test]
fn subscriptions_of_both_eras_count() {
    let mut server = server(Rates::new(None, None, Some(TWICE_A_MINUTE)));
    let listen = modern(
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    for _ in 0..2 {
        let pending = server.begin(&Post::modern(&listen));
        server.until_listening(pending);
    }
    let reply = server.post(&Post::modern(&listen));
    assert_eq!(reply.refusal(), (429, Some(-31429), Some(json!(1))));
    let session = crate::harness::session(None);
    server.world.sessions.insert("s1".into(), session);
    let get = Post::plain(&Value::Null)
        .verb("GET")
        .body("")
        .set("Accept", "text/event-stream")
        .set("MCP-Protocol-Version", "2025-11-25")
        .set("Mcp-Session-Id", "s1");
    assert_eq!(server.post(&get).answer.status, 429);
    assert_eq!(server.post(&now()).answer.status, 200);
}

//! Messages of a session whose call runs on another node.

use mcp_protocol::Input;
use serde_json::{Value, json};

use crate::harness::{Post, Server, notification, session};

fn cancel() -> Value {
    notification("notifications/cancelled", json!({"requestId": 7}))
}

fn response() -> Value {
    json!({"jsonrpc": "2.0", "id": "7-0-a", "result": {}})
}

/// A server that knows the session `s1` and runs none of its calls.
fn server(shared_sessions: bool) -> Server {
    let mut server = Server::with(|config| config.shared_sessions = shared_sessions);
    server.world.sessions.insert("s1".into(), session(None));
    server.world.elsewhere = true;
    server
}

#[test]
fn what_no_call_here_is_meant_by_goes_to_the_other_nodes() {
    for message in [cancel(), response()] {
        let reply = server(true).post(&Post::legacy(Some("s1"), &message));
        let relayed = format!("relay {} bytes of session s1", message.to_string().len());
        assert_eq!(reply.asked.last(), Some(&relayed), "{:?}", reply.asked);
        assert_eq!((reply.answer.status, reply.is_silent()), (202, true));
    }
}

#[test]
fn what_a_call_here_is_meant_by_does_not() {
    for message in [cancel(), response()] {
        let mut server = server(true);
        server.world.elsewhere = false;
        let reply = server.post(&Post::legacy(Some("s1"), &message));
        assert!(!reply.asked.iter().any(|asked| asked.starts_with("relay")));
        assert_eq!((reply.answer.status, reply.is_silent()), (202, true));
    }
}

#[test]
fn sessions_of_one_node_and_strangers_are_not_relayed() {
    for message in [cancel(), response()] {
        let reply = server(false).post(&Post::legacy(Some("s1"), &message));
        assert!(!reply.asked.iter().any(|asked| asked.starts_with("relay")));
        assert_eq!(reply.answer.status, 202);

        let reply = server(true).post(&Post::legacy(Some("unknown"), &message));
        assert_eq!(
            reply.asked.last().map(String::as_str),
            Some("fetch session unknown")
        );
        assert_eq!(reply.answer.status, 404);

        let mut server = server(true);
        server.pipe.session = Some(session(None));
        let reply = server.line(&message);
        assert!(!reply.asked.iter().any(|asked| asked.starts_with("relay")));
    }
}

#[test]
fn a_relay_that_cannot_be_is_told() {
    let mut server = server(true);
    let mut pending = server.begin(&Post::legacy(Some("s1"), &response()));
    while !pending
        .question()
        .is_some_and(|asked| asked.starts_with("relay"))
    {
        pending = server.step(pending);
    }
    let late = Input::Unanswered(mcp_protocol::Unanswered::Deadline);
    assert_eq!(pending.feed(server.now, late).reply().answer.status, 503);
}

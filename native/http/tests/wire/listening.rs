//! Streams of changes on the wire.

use std::{sync::mpsc, time::Duration};

use mcp_driver::{Host, SubscriptionLimits};
use mcp_protocol::{Change, Listing};
use serde_json::{Value, json};

use crate::support::{
    Client, Server, Settings, eventually, listen, millis, serve, serve_settled, serve_with,
};

const TOOLS: Change = Change::List(Listing::Tools);

fn tools_alone() -> Value {
    json!({"toolsListChanged": true})
}

/// A client that listens, past its acknowledgement.
fn listening(server: &Server) -> Client {
    let mut client = server.connect();
    client.send(listen(&tools_alone()));
    let head = client.head();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(head.contains("content-type: text/event-stream\r\n"));
    assert!(head.contains("x-accel-buffering: no\r\n"));
    assert!(client.event().unwrap().contains("acknowledged"));
    client
}

/// The method of the next message.
fn heard(client: &mut Client) -> String {
    let event = client.event().unwrap();
    let data = event.strip_prefix("event: message\ndata: ").unwrap();
    let message: Value = serde_json::from_str(data).unwrap();
    message["method"].as_str().unwrap_or("none").to_owned()
}

#[test]
fn a_change_is_an_event_and_silence_is_told_by_comments() {
    let server = serve_with(|options| options.keep_alive = millis(50));
    let mut client = listening(&server);
    assert_eq!(client.event().unwrap(), ":");
    server.host.subscribers().publish(&TOOLS, None);
    loop {
        let event = client.event().unwrap();
        if event != ":" {
            assert!(event.contains("notifications/tools/list_changed"));
            break;
        }
    }
}

/// SUB-11
#[test]
fn a_client_that_closes_is_forgotten() {
    let server = serve();
    let client = listening(&server);
    assert_eq!(server.host.subscribers().streams(), 1);
    drop(client);
    eventually("the stream ends", || server.host.subscribers().is_empty());
    eventually("nothing is left", || server.host.is_idle());
}

/// SUB-14
#[test]
fn draining_ends_streams_with_their_result() {
    let server = serve();
    let mut clients = [listening(&server), listening(&server)];
    let (done, left) = mpsc::channel();
    let limit = Duration::from_secs(5);
    server
        .listener
        .drain(limit, move |count| done.send(count).unwrap());
    for client in &mut clients {
        let last = client.event().unwrap();
        assert!(last.contains(r#""resultType":"complete""#), "{last}");
        assert_eq!(client.event(), None, "the body ends");
        assert!(client.is_closed());
    }
    assert_eq!(left.recv_timeout(limit).unwrap(), 0);
}

/// SUB-17
#[test]
fn one_too_many_is_refused_before_it_is_acknowledged() {
    let one = |settings: &mut Settings| {
        settings.subscriptions = SubscriptionLimits {
            max_subscriptions: 1,
            max_subscriptions_per_principal: 1,
        };
    };
    let server = serve_settled(one, |_| {});
    let _first = listening(&server);
    let response = server.connect().send(listen(&tools_alone())).response();
    assert_eq!(response.status, 200);
    assert!(response.body.contains("-32603"), "{}", response.body);
}

/// A thousand streams stand idle, one client does not read, and five thousand changes come: each of the others hears of
/// the last one, and what is held for all of them is no more than a burst of each.
#[test]
fn a_client_that_does_not_read_harms_nobody() {
    let server = serve();
    let mut clients: Vec<Client> = (0..1_000).map(|_| listening(&server)).collect();
    let mut stalled = Client::connect_with_small_window(server.address());
    stalled.send(listen(&tools_alone()));
    eventually("all listen", || {
        server.host.subscribers().streams() == 1_001
    });
    for _ in 0..5_000 {
        server.host.subscribers().publish(&TOOLS, None);
    }
    for client in &mut clients {
        assert_eq!(heard(client), "notifications/tools/list_changed");
    }
    assert!(server.host.buffers().held() < 1 << 20);
    drop((clients, stalled));
    eventually("all are gone", || server.host.subscribers().is_empty());
    eventually("nothing is left", || server.host.is_idle());
}

/// A stream that waits for a change is not one whose client does not read.
#[test]
fn silence_of_the_server_is_not_the_clients() {
    let server = serve_with(|options| {
        options.idle_timeout = millis(60);
        options.keep_alive = millis(400);
    });
    let mut client = listening(&server);
    assert_eq!(client.event().unwrap(), ":");
    server.host.subscribers().publish(&TOOLS, None);
    assert_eq!(heard(&mut client), "notifications/tools/list_changed");
}

//! Responses that are event streams (D17, HTTP-17): when they begin, what they carry, and peers that do not read them.

use std::{
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;
use hyper::StatusCode;
use mcp_driver::{CancelReason, Event, Host, Sent};
use mcp_http::ListenerOptions;
use mcp_protocol::Notice;
use mcp_testing::{Settings, TestHost, Worker, log, other, progress};
use serde_json::Value;

use crate::{
    http2,
    support::{
        Client, Server, call, eventually, head, millis, post, serve, serve_settled, serve_with,
    },
};

/// A call of `hold` that runs; its client.
fn calling(server: &Server) -> Client {
    let mut client = server.connect();
    client.send(post("hold", "hi"));
    eventually("the call runs", || server.host.held().len() == 1);
    client
}

/// Tells the client of the one call that is held.
fn notify(host: &TestHost, notice: Notice<'_>) -> Sent {
    host.notify(host.held()[0], notice)
}

/// The message of an event.
fn message(event: Option<String>) -> Value {
    let event = event.expect("there is one more event");
    let data = event.strip_prefix("event: message\ndata: ");
    serde_json::from_str(data.expect("a message event")).unwrap()
}

fn accepting(post: &str, accept: &str) -> String {
    post.replace("application/json, text/event-stream", accept)
}

#[test]
fn the_first_message_begins_the_stream() {
    let server = serve();
    let mut client = calling(&server);
    notify(&server.host, progress(1));
    let head = client.head();
    for line in [
        "HTTP/1.1 200 OK\r\n",
        "content-type: text/event-stream\r\n",
        "x-accel-buffering: no\r\n",
        "cache-control: no-cache, no-transform\r\n",
        "transfer-encoding: chunked\r\n",
    ] {
        assert!(head.contains(line), "{head}");
    }
    assert!(!head.contains("content-encoding") && !head.contains("content-length"));
    assert_eq!(message(client.event())["params"]["progress"], 1);
    notify(&server.host, log(b"[1]"));
    assert_eq!(message(client.event())["params"]["data"][0], 1);
    notify(&server.host, other());
    assert_eq!(message(client.event())["method"], "notifications/other");
    server.host.release();
    let answer = message(client.event());
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&1.into(), &"released".into())
    );
    assert_eq!(client.event(), None);
    assert_eq!(client.send(post("echo", "next")).response().status, 200);
    eventually("nothing is left", || server.host.is_idle());
}

#[test]
fn a_call_that_takes_long_begins_the_stream() {
    let server = serve_settled(|settings| settings.config.stream_after_ms = 200, |_| ());
    let started = Instant::now();
    let mut client = calling(&server);
    assert!(client.head().contains("text/event-stream"));
    assert!(started.elapsed() >= millis(190) && started.elapsed() < millis(2_000));
    server.host.release();
    assert_eq!(message(client.event())["id"], 1);
    assert_eq!(client.event(), None);
}

#[test]
fn a_client_that_reads_streams_only_gets_one_at_once() {
    let server = serve();
    let mut client = server.connect();
    client.send(accepting(&post("hold", "hi"), "text/event-stream"));
    assert!(client.head().contains("text/event-stream"));
    eventually("the call runs", || server.host.held().len() == 1);
    server.host.release();
    assert_eq!(message(client.event())["id"], 1);
}

#[test]
fn a_client_that_reads_json_only_gets_no_stream() {
    let server = serve_settled(|settings| settings.config.stream_after_ms = 50, |_| ());
    let mut client = server.connect();
    client.send(accepting(&post("hold", "hi"), "application/json"));
    eventually("the call runs", || server.host.held().len() == 1);
    for notice in [progress(1), log(b"1"), other()] {
        assert_eq!(notify(&server.host, notice), Sent::Done);
    }
    thread::sleep(millis(150));
    server.host.release();
    let response = client.response();
    assert!(response.head.contains("content-type: application/json\r\n"));
    assert!(response.body.contains("released"));
}

#[test]
fn a_quiet_stream_shows_that_it_lives() {
    let server = serve_with(|options| options.keep_alive = millis(50));
    let mut client = calling(&server);
    notify(&server.host, other());
    client.head();
    message(client.event());
    for _ in 0..3 {
        assert_eq!(client.event().as_deref(), Some(":"));
    }
    server.host.release();
    let last = std::iter::from_fn(|| client.event()).last();
    assert_eq!(message(last)["id"], 1);
}

#[test]
fn what_fails_after_the_head_is_an_event() {
    let server = serve();
    let mut client = calling(&server);
    notify(&server.host, other());
    client.head();
    message(client.event());
    let number = server.host.held()[0];
    // Drops the token, as the end of the call's process does.
    server.host.cancel(number, Worker, CancelReason::Gone);
    assert_eq!(message(client.event())["result"]["isError"], true);
    assert_eq!(client.event(), None);
}

#[test]
fn a_request_that_waits_behind_a_stream_is_served_after_it() {
    let server = serve();
    let mut client = calling(&server);
    notify(&server.host, other());
    client.head();
    client.send(post("echo", "behind"));
    message(client.event());
    notify(&server.host, progress(1));
    message(client.event());
    server.host.release();
    message(client.event());
    assert_eq!(client.event(), None);
    assert!(client.response().body.contains("behind"));
}

#[test]
fn http_1_0_gets_a_stream_that_ends_with_its_connection() {
    let server = serve();
    let mut client = server.connect();
    client.send(post("hold", "hi").replace("HTTP/1.1", "HTTP/1.0"));
    eventually("the call runs", || server.host.held().len() == 1);
    notify(&server.host, other());
    assert!(!client.head().contains("transfer-encoding"));
    server.host.release();
    let rest = String::from_utf8(client.rest()).unwrap();
    assert_eq!(rest.matches("event: message\ndata: ").count(), 2);
}

/// HTTP-20
#[test]
fn a_client_that_leaves_cancels_its_call() {
    for half in [false, true] {
        let server = serve();
        let mut client = calling(&server);
        notify(&server.host, other());
        client.head();
        message(client.event());
        if half {
            client.finish();
        } else {
            drop(client);
        }
        eventually("the call is cancelled", || {
            server.host.cancel_reasons() == [CancelReason::Gone]
        });
        eventually("nothing is left", || {
            server.listener.connections() == 0 && server.host.is_idle()
        });
    }
}

/// D8: what waits for a peer that does not read is bounded, others do not notice, and its patience ends.
#[test]
fn a_client_that_does_not_read_is_bounded_and_left() {
    let large = format!("\"{}\"", "a".repeat(50_000));
    // Messages may take half of it, which is more than the system holds of a connection.
    let bound = 16 << 20;
    let server = serve_settled(
        |settings| settings.max_buffered_bytes = bound,
        |options| {
            options.idle_timeout = millis(400);
            options.keep_alive = millis(50);
        },
    );
    let mut client = Client::connect_with_small_window(server.address());
    client.send(post("hold", "hi"));
    eventually("the call runs", || server.host.held().len() == 1);
    for step in 0..2_000 {
        notify(&server.host, progress(step));
        assert_eq!(notify(&server.host, log(large.as_bytes())), Sent::Done);
    }
    assert!(server.host.buffers().held() <= bound);
    assert!(server.host.calls().messages_dropped() > 0);
    eventually("the call is cancelled", || {
        server.host.cancel_reasons() == [CancelReason::Gone]
    });
    eventually("nothing is left", || {
        server.listener.connections() == 0 && server.host.is_idle()
    });
    let reasons = server.host.events();
    assert!(reasons.iter().any(|event| matches!(
        event,
        Event::ConnectionClosed {
            reason: "idle_timeout",
            ..
        }
    )));
}

#[test]
fn others_are_served_while_one_does_not_read() {
    let large = format!("\"{}\"", "a".repeat(50_000));
    let server = serve();
    let mut stalled = Client::connect_with_small_window(server.address());
    stalled.send(post("hold", "hi"));
    eventually("the call runs", || server.host.held().len() == 1);
    let number = server.host.held()[0];
    for _ in 0..15 {
        server.host.notify(number, log(large.as_bytes()));
    }
    let started = Instant::now();
    let mut client = server.connect();
    for _ in 0..50 {
        assert_eq!(client.send(post("echo", "hi")).response().status, 200);
    }
    assert!(started.elapsed() < Duration::from_secs(2));
    assert!(server.host.calls().is_open(number));
}

/// A peer that reads slowly is no peer that does not read.
#[test]
fn a_slow_reader_keeps_its_stream() {
    let large = format!("\"{}\"", "a".repeat(20_000));
    let server = serve_with(|options| options.idle_timeout = millis(300));
    let mut client = calling(&server);
    for _ in 0..8 {
        notify(&server.host, log(large.as_bytes()));
        thread::sleep(millis(100));
    }
    client.head();
    for _ in 0..8 {
        message(client.event());
        thread::sleep(millis(50));
    }
    server.host.release();
    assert_eq!(message(client.event())["id"], 1);
}

#[test]
fn a_drain_lets_a_stream_come_to_its_end() {
    let server = serve();
    let mut client = calling(&server);
    notify(&server.host, other());
    client.head();
    message(client.event());
    let (done, left) = std::sync::mpsc::channel();
    server.listener.drain(Duration::from_secs(5), move |count| {
        done.send(count).unwrap();
    });
    notify(&server.host, progress(1));
    message(client.event());
    server.host.release();
    assert_eq!(message(client.event())["id"], 1);
    assert_eq!(client.event(), None);
    assert!(client.is_closed());
    assert_eq!(left.recv_timeout(Duration::from_secs(1)), Ok(0));
}

#[test]
fn a_stream_is_recorded_when_it_ends() {
    let server = serve();
    let mut client = calling(&server);
    notify(&server.host, other());
    client.head();
    message(client.event());
    let requests = || {
        let events = server.host.events();
        let is_request = |event: &Event| matches!(event, Event::Request { .. });
        events.into_iter().filter(is_request).collect::<Vec<_>>()
    };
    assert!(requests().is_empty());
    server.host.release();
    let last = client.event().unwrap();
    assert_eq!(client.event(), None);
    let [
        Event::Request {
            summary,
            status: 200,
            response_bytes,
            ..
        },
    ] = &requests()[..]
    else {
        panic!("{:?}", requests());
    };
    assert_eq!(summary.definition.as_deref(), Some("hold"));
    assert_eq!(*response_bytes, last.len() + 2);
}

#[test]
fn an_encoded_body_is_refused_before_it_is_read() {
    let server = serve();
    let mut client = server.connect();
    client.send(format!(
        "{}host: localhost\r\ncontent-encoding: gzip\r\ncontent-length: 500\r\n\r\n",
        head("echo")
    ));
    let response = client.response();
    assert_eq!(response.status, 415);
    assert!(response.body.contains("gzip") && response.head.contains("connection: close\r\n"));
    assert!(client.is_closed());
}

/// One HTTP/2 stream: its response's head has come.
struct Stream(h2::RecvStream);

impl Stream {
    /// Calls `hold` and has its response begin with a message.
    async fn begin(server: &Server, client: &h2::client::SendRequest<Bytes>) -> (Self, u64) {
        let before = server.host.held().len();
        let mut client = client.clone().ready().await.unwrap();
        let request = http2::request("hold").body(()).unwrap();
        let (response, mut body) = client.send_request(request, false).unwrap();
        body.send_data(call("hold", "hi").into(), true).unwrap();
        http2::comes_true(|| server.host.held().len() == before + 1).await;
        let number = *server.host.held().last().unwrap();
        server.host.notify(number, other());
        let response = response.await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        (Self(response.into_body()), number)
    }

    /// The next bytes; `None` at the end.
    async fn next(&mut self) -> Option<String> {
        loop {
            let data = self.0.data().await?.unwrap();
            self.0.flow_control().release_capacity(data.len()).unwrap();
            if !data.is_empty() {
                return Some(String::from_utf8(data.to_vec()).unwrap());
            }
        }
    }
}

fn small_windows(options: &mut ListenerOptions) {
    options.idle_timeout = millis(500);
    options.keep_alive = millis(100);
}

fn little_room(settings: &mut Settings) {
    settings.max_buffered_bytes = 4 << 20;
}

#[tokio::test]
async fn http2_carries_streams_side_by_side() {
    let server = serve();
    let client = http2::connect(&server).await;
    let (mut first, first_call) = Stream::begin(&server, &client).await;
    let (mut second, second_call) = Stream::begin(&server, &client).await;
    for stream in [&mut first, &mut second] {
        assert!(stream.next().await.unwrap().contains("notifications/other"));
    }
    for (stream, call, step) in [(&mut second, second_call, 1), (&mut first, first_call, 2)] {
        server.host.notify(call, progress(step));
        let seen = stream.next().await.unwrap();
        assert!(seen.contains(&format!(r#""progress":{step}}}"#)), "{seen}");
    }
    server.host.release();
    for stream in [&mut first, &mut second] {
        let mut last = String::new();
        while let Some(data) = stream.next().await {
            last = data;
        }
        assert!(last.contains("released"), "{last}");
    }
    http2::comes_true(|| server.host.is_idle()).await;
}

#[tokio::test]
async fn http2_a_reset_cancels_the_call_of_its_stream_alone() {
    let server = serve();
    let client = http2::connect(&server).await;
    let (first, first_call) = Stream::begin(&server, &client).await;
    let (mut second, _) = Stream::begin(&server, &client).await;
    drop(first);
    http2::comes_true(|| server.host.cancelled() == [(first_call, CancelReason::Gone)]).await;
    second.next().await.unwrap();
    server.host.release();
    assert!(second.next().await.unwrap().contains("released"));
}

/// A peer that reads the connection and leaves one stream alone is told to go as well.
#[tokio::test]
async fn http2_a_stream_that_is_not_read_ends_the_connection() {
    let large = format!("\"{}\"", "a".repeat(50_000));
    let server = serve_settled(little_room, small_windows);
    let client = http2::connect(&server).await;
    let (_unread, unread_call) = Stream::begin(&server, &client).await;
    for _ in 0..100 {
        server.host.notify(unread_call, log(large.as_bytes()));
    }
    assert!(server.host.buffers().held() <= 4 << 20);
    let (mut read, _) = Stream::begin(&server, &client).await;
    let reading = async { while read.0.data().await.is_some_and(|data| data.is_ok()) {} };
    tokio::time::timeout(Duration::from_secs(5), reading)
        .await
        .expect("the connection ends");
    http2::comes_true(|| server.host.cancelled().len() == 2 && server.host.is_idle()).await;
}

/// A stream that is quiet, or read, may be as old as it likes.
#[tokio::test]
async fn http2_a_stream_that_is_read_lives_on() {
    let server = serve_settled(little_room, small_windows);
    let client = http2::connect(&server).await;
    let (mut stream, _) = Stream::begin(&server, &client).await;
    let started = Instant::now();
    while started.elapsed() < millis(1_500) {
        stream.next().await.unwrap();
    }
    server.host.release();
    let mut last = String::new();
    while let Some(data) = stream.next().await {
        last = data;
    }
    assert!(last.contains("released"), "{last}");
}

//! HTTP/2 with prior knowledge (RFC 9113 §3.3), driven by the `h2` crate.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use crate::support::{Server, call, eventually, millis, serve, serve_with};
use bytes::Bytes;
use h2::{Reason, RecvStream, client::SendRequest};
use hyper::{Request, StatusCode};
use mcp_driver::{CancelReason, Event, Host};
use tokio::io::{AsyncRead, AsyncWrite};

pub async fn connect(server: &Server) -> SendRequest<Bytes> {
    let stream = tokio::net::TcpStream::connect(server.address())
        .await
        .unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    client
}

pub fn request(tool: &str) -> hyper::http::request::Builder {
    Request::post("http://localhost/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool)
}

async fn post(
    client: &SendRequest<Bytes>,
    tool: &str,
    text: &str,
) -> Result<(StatusCode, String), h2::Error> {
    let mut client = client.clone().ready().await?;
    let (response, mut body) = client.send_request(request(tool).body(()).unwrap(), false)?;
    body.send_data(call(tool, text).into(), true)?;
    let response = response.await?;
    let status = response.status();
    Ok((status, read(response.into_body()).await?))
}

/// The status of a call over a stream that both sides know to speak HTTP/2.
pub async fn status_over(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) -> StatusCode {
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    post(&client, "echo", "hi").await.unwrap().0
}

async fn read(mut body: RecvStream) -> Result<String, h2::Error> {
    let mut whole = Vec::new();
    while let Some(data) = body.data().await {
        let data = data?;
        body.flow_control().release_capacity(data.len())?;
        whole.extend_from_slice(&data);
    }
    Ok(String::from_utf8(whole).unwrap())
}

#[tokio::test]
async fn serves_many_streams_of_one_connection() {
    let server = serve();
    let client = connect(&server).await;
    // The client knows how many streams it may open once it has read something.
    post(&client, "echo", "first").await.unwrap();
    let tasks: Vec<_> = (0..200)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move {
                let text = format!("stream {number}.");
                let (status, body) = post(&client, "echo", &text).await.unwrap();
                assert_eq!(status, 200);
                assert!(body.contains(&text));
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(server.listener.connections(), 1);
}

#[tokio::test]
async fn checks_the_authority_as_host() {
    let server = serve();
    let mut client = connect(&server).await.ready().await.unwrap();
    let foreign = request("echo")
        .uri("http://evil.example/mcp")
        .body(())
        .unwrap();
    let (response, _body) = client.send_request(foreign, true).unwrap();
    assert_eq!(response.await.unwrap().status(), 403);
    let doubled = request("echo")
        .header("host", "evil.example")
        .body(())
        .unwrap();
    let (response, _body) = client.send_request(doubled, true).unwrap();
    assert_eq!(response.await.unwrap().status(), 400);
}

#[tokio::test]
async fn resets_the_stream_after_a_refusal_that_left_the_body_unread() {
    let server = serve();
    let mut client = connect(&server).await.ready().await.unwrap();
    let foreign = request("echo")
        .uri("http://evil.example/mcp")
        .body(())
        .unwrap();
    let (response, mut body) = client.send_request(foreign, false).unwrap();
    let response = response.await.unwrap();
    assert_eq!(response.status(), 403);
    assert!(!response.headers().contains_key("connection"));
    assert!(read(response.into_body()).await.unwrap().contains("-32600"));
    let reset = std::future::poll_fn(|cx| body.poll_reset(cx))
        .await
        .unwrap();
    assert_eq!(reset, Reason::NO_ERROR);
    assert_eq!(post(&client, "echo", "hi").await.unwrap().0, 200);
}

#[tokio::test]
async fn refuses_a_body_over_the_limit() {
    let server = serve();
    let client = connect(&server).await;
    let (status, body) = post(&client, "echo", &"a".repeat(20_000)).await.unwrap();
    assert_eq!(status, 413);
    assert!(body.contains("10000"));
}

#[tokio::test]
async fn a_reset_cancels_the_call() {
    let server = serve();
    let mut client = connect(&server).await.ready().await.unwrap();
    let (response, mut body) = client
        .send_request(request("hold").body(()).unwrap(), false)
        .unwrap();
    body.send_data(call("hold", "hi").into(), true).unwrap();
    comes_true(|| server.host.held().len() == 1).await;
    body.send_reset(Reason::CANCEL);
    drop(response);
    comes_true(|| server.host.cancel_reasons() == [CancelReason::Gone]).await;
}

#[test]
fn the_header_deadline_binds_until_the_first_headers() {
    let server = serve_with(|options| options.header_timeout = millis(300));
    for bytes in [
        &b"PRI"[..],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        &handshake(),
    ] {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        let started = Instant::now();
        stream.write_all(bytes).unwrap();
        let mut rest = Vec::new();
        // A reset is a close too.
        let _ = stream.read_to_end(&mut rest);
        assert!(
            started.elapsed() > millis(250) && started.elapsed() < millis(2_000),
            "{bytes:?}"
        );
    }
    eventually("all are closed", || server.listener.connections() == 0);
    let overdue = |event: &Event| {
        matches!(
            event,
            Event::ConnectionClosed {
                reason: "header_timeout",
                ..
            }
        )
    };
    assert_eq!(
        server
            .host
            .events()
            .iter()
            .filter(|event| overdue(event))
            .count(),
        3
    );
}

#[test]
fn pings_do_not_keep_an_unused_connection_open() {
    let server = serve_with(|options| options.header_timeout = millis(300));
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(&handshake()).unwrap();
    let started = Instant::now();
    while stream.write_all(&frame(6, 0, 0, &[0; 8])).is_ok()
        && started.elapsed() < Duration::from_secs(3)
    {
        std::thread::sleep(millis(20));
    }
    assert!(started.elapsed() < millis(2_000));
}

#[tokio::test]
async fn an_idle_connection_is_ended() {
    let server = serve_with(|options| options.idle_timeout = millis(200));
    let client = connect(&server).await;
    assert_eq!(post(&client, "echo", "hi").await.unwrap().0, 200);
    tokio::time::sleep(millis(600)).await;
    assert!(post(&client, "echo", "hi").await.is_err());
    assert_eq!(server.listener.connections(), 0);
}

#[tokio::test]
async fn refuses_streams_over_the_limit() {
    let server = serve_with(|options| options.h2_max_streams = 3);
    let client = connect(&server).await;
    let calls: Vec<_> = (0..10)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { post(&client, "hold", "hi").await })
        })
        .collect();
    tokio::time::sleep(millis(200)).await;
    assert!(server.host.calls().in_flight() <= 3);
    while !calls.iter().all(tokio::task::JoinHandle::is_finished) {
        server.host.release();
        tokio::time::sleep(millis(5)).await;
    }
}

#[tokio::test]
async fn refuses_a_header_list_over_the_limit() {
    let server = serve_with(|options| options.max_header_bytes = 2_000);
    let mut client = connect(&server).await.ready().await.unwrap();
    let large = request("echo")
        .header("x-large", "a".repeat(3_000))
        .body(())
        .unwrap();
    let (response, _body) = client.send_request(large, true).unwrap();
    assert_eq!(response.await.unwrap().status(), 431);
}

#[test]
fn a_flood_of_resets_ends_the_connection() {
    let server = serve_with(|options| options.h2_max_resets = 10);
    let mut flood = handshake();
    for number in 0..200 {
        let stream = 2 * number + 1;
        // POST, http, `/`, and an authority (RFC 7541 appendix A).
        flood.extend(frame(1, 4, stream, b"\x83\x86\x84\x41\x09localhost"));
        flood.extend(frame(3, 0, stream, &[0, 0, 0, 8]));
    }
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(&flood).unwrap();
    let mut answer = Vec::new();
    // A reset is a close too.
    let _ = stream.read_to_end(&mut answer);
    let calm = [0, 0, 0, 11];
    assert!(answer.windows(4).any(|bytes| bytes == calm), "{answer:?}");
    eventually("all is closed", || server.listener.connections() == 0);
}

#[tokio::test]
async fn a_drain_finishes_streams_and_closes() {
    let server = serve();
    let client = connect(&server).await;
    let held = tokio::spawn({
        let client = client.clone();
        async move { post(&client, "hold", "hi").await }
    });
    comes_true(|| server.host.held().len() == 1).await;
    let (done, left) = std::sync::mpsc::channel();
    server.listener.drain(Duration::from_secs(5), move |count| {
        done.send(count).unwrap();
    });
    tokio::time::sleep(millis(50)).await;
    assert!(post(&client, "echo", "new").await.is_err());
    server.host.release();
    assert_eq!(held.await.unwrap().unwrap().0, 200);
    drop(client);
    let left = tokio::task::spawn_blocking(move || left.recv_timeout(Duration::from_secs(2)));
    assert_eq!(left.await.unwrap(), Ok(0));
}

/// Waits until `condition` holds; fails after five seconds.
pub async fn comes_true(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(5);
    while !condition() {
        assert!(Instant::now() < deadline, "not in time");
        tokio::time::sleep(millis(5)).await;
    }
}

/// The preface and an empty SETTINGS frame.
fn handshake() -> Vec<u8> {
    [
        &b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..],
        &frame(4, 0, 0, &[]),
    ]
    .concat()
}

/// A frame (RFC 9113 §4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

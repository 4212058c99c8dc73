//! Every limit, driven over.

use std::{sync::Arc, thread, time::Instant};

use crate::support::{
    Client, Server, call, chunked, endpoint, eventually, head, millis, post, serve, serve_with,
};
use mcp_driver::{Event, Host};

fn close_reasons(server: &Server) -> Vec<&'static str> {
    let events = server.host.events();
    events
        .iter()
        .filter_map(|event| match event {
            Event::ConnectionClosed { reason, .. } => Some(*reason),
            _ => None,
        })
        .collect()
}

fn closes_for(server: &Server, reason: &str) {
    eventually("the connection closes", || {
        !close_reasons(server).is_empty()
    });
    assert_eq!(close_reasons(server), [reason]);
}

#[test]
fn refuses_a_head_over_max_header_bytes() {
    let server = serve_with(|options| options.max_header_bytes = 4_096);
    let mut client = server.connect();
    client.send(format!("{}x-large: {}", head("echo"), "a".repeat(4_000)));
    assert_eq!(client.response().status, 431);
    assert!(client.is_closed());
    let fits = post("echo", "hi").replace(
        "\r\nhost:",
        &format!("\r\nx-large: {}\r\nhost:", "a".repeat(3_000)),
    );
    assert_eq!(server.connect().send(fits).response().status, 200);
}

#[test]
fn refuses_more_header_lines_than_max_headers() {
    let many = |count: usize| {
        post("echo", "hi").replace("\r\nhost:", &("\r\nx-a: 1".repeat(count) + "\r\nhost:"))
    };
    for limit in [20, 100, 300] {
        let server = serve_with(|options| options.max_headers = limit);
        let own = 7;
        assert_eq!(
            server.connect().send(many(limit - own)).response().status,
            200
        );
        let mut client = server.connect();
        assert_eq!(client.send(many(limit - own + 1)).response().status, 431);
        assert!(client.is_closed());
    }
}

#[test]
fn refuses_a_declared_length_over_max_body_bytes_before_reading() {
    let server = serve();
    let mut client = server.connect();
    client.send(format!(
        "{}host: localhost\r\ncontent-length: 10001\r\n\r\n",
        head("echo")
    ));
    let response = client.response();
    assert_eq!(response.status, 413);
    assert!(response.body.contains("10000"));
    assert!(response.head.contains("connection: close\r\n"));
    assert!(client.is_closed());
}

#[test]
fn refuses_chunks_that_add_up_to_more_than_max_body_bytes() {
    let server = serve();
    let mut client = server.connect();
    client.send(chunked("echo", &"a".repeat(20_000), 900));
    assert_eq!(client.response().status, 413);
    assert!(client.is_closed());
    let text = "a".repeat(9_000);
    let response = server
        .connect()
        .send(chunked("echo", &text, 900))
        .response();
    assert_eq!(response.status, 200);
    assert!(response.body.contains(&text));
}

#[test]
fn closes_a_silent_connection_at_the_header_deadline() {
    let server = serve_with(|options| options.header_timeout = millis(200));
    let started = Instant::now();
    assert!(server.connect().is_closed());
    assert!(started.elapsed() >= millis(190) && started.elapsed() < millis(1_000));
    closes_for(&server, "header_timeout");
}

#[test]
fn answers_a_slow_head_with_408_however_steadily_it_comes() {
    let server = serve_with(|options| options.header_timeout = millis(200));
    let started = Instant::now();
    let mut client = server.connect();
    for byte in post("echo", "hi").as_bytes().iter().take(30) {
        if !client.try_send([*byte]) {
            break;
        }
        thread::sleep(millis(10));
    }
    let response = client.response();
    assert_eq!(response.status, 408);
    assert!(response.body.contains("-32600") && response.body.contains("200 ms"));
    assert!(started.elapsed() < millis(1_000));
    closes_for(&server, "header_timeout");
}

#[test]
fn times_a_later_head_from_its_first_byte() {
    let server = serve_with(|options| options.header_timeout = millis(200));
    let mut client = server.connect();
    assert_eq!(client.send(post("echo", "hi")).response().status, 200);
    thread::sleep(millis(400));
    client.send("POST /mcp");
    assert_eq!(client.response().status, 408);
    assert!(client.is_closed());
}

#[test]
fn answers_a_slow_body_with_408() {
    let server = serve_with(|options| options.body_timeout = millis(200));
    let mut client = server.connect();
    client.send(format!(
        "{}host: localhost\r\ncontent-length: 500\r\n\r\n{{",
        head("echo")
    ));
    let response = client.response();
    assert_eq!(response.status, 408);
    assert!(response.body.contains("200 ms"));
    assert!(response.head.contains("connection: close\r\n"));
    assert!(client.is_closed());
}

#[test]
fn closes_a_connection_that_rests_longer_than_idle_timeout() {
    let server = serve_with(|options| options.idle_timeout = millis(1_000));
    let mut client = server.connect();
    for _ in 0..3 {
        assert_eq!(client.send(post("echo", "hi")).response().status, 200);
        thread::sleep(millis(450));
    }
    assert!(client.is_closed());
    closes_for(&server, "idle_timeout");
}

#[test]
fn does_not_count_a_running_call_as_rest() {
    let server = serve_with(|options| {
        options.idle_timeout = millis(100);
        options.header_timeout = millis(100);
    });
    let mut client = server.connect();
    client.send(post("hold", "hi"));
    eventually("the call runs", || server.host.held().len() == 1);
    thread::sleep(millis(400));
    server.host.release();
    assert_eq!(client.response().status, 200);
}

#[test]
fn closes_on_a_client_that_does_not_take_its_answer() {
    let server = serve_with(|options| {
        let mut endpoint = endpoint();
        endpoint.max_body_bytes = 1_000_000;
        options.endpoint = Arc::new(endpoint);
        options.idle_timeout = millis(300);
    });
    let mut client = Client::connect_with_small_window(server.address());
    let request = post("echo", &"a".repeat(900_000));
    // More answers than the system holds for a peer that does not read.
    for _ in 0..8 {
        client.try_send(&request);
    }
    closes_for(&server, "idle_timeout");
    assert!(client.rest().len() < 8 * 900_000);
}

#[test]
fn refuses_connections_over_max_connections() {
    let server = serve_with(|options| options.max_connections = 2);
    let mut first = server.connect();
    let second = server.connect();
    assert_eq!(first.send(post("echo", "hi")).response().status, 200);
    let mut third = server.connect();
    let response = third.response();
    assert_eq!(response.status, 503);
    assert!(response.head.contains("retry-after: 1\r\n"));
    assert!(response.body.contains("-31503"));
    assert!(third.is_closed());
    let refused = |event: &Event| matches!(event, Event::ConnectionRefused { .. });
    assert_eq!(
        server
            .host
            .events()
            .iter()
            .filter(|event| refused(event))
            .count(),
        1
    );
    drop(second);
    eventually("a place is free", || server.listener.connections() == 1);
    assert_eq!(
        server.connect().send(post("echo", "hi")).response().status,
        200
    );
}

#[test]
fn refuses_a_body_that_the_budget_has_no_room_for() {
    let server = serve();
    let mut room = server.host.buffers().reserve();
    assert!(room.grow((1 << 20) - 50));
    let mut client = server.connect();
    let response = client.send(post("echo", "hi")).response();
    assert_eq!(response.status, 503);
    assert!(response.head.contains("retry-after"));
    drop(room);
    assert_eq!(
        server.connect().send(post("echo", "hi")).response().status,
        200
    );
    eventually("all is given back", || server.host.buffers().held() == 0);
}

#[test]
fn refuses_an_answer_that_the_budget_has_no_room_for() {
    let server = serve();
    let mut room = server.host.buffers().reserve();
    // Arguments without a text come back as they are, every quotation mark escaped once more.
    let quotes = "\"".repeat(400);
    let body = call("echo", &quotes).len();
    assert!(room.grow((1 << 20) - body));
    let request = post("echo", &quotes).replace(r#""text":"#, r#""same":"#);
    let response = server.connect().send(request).response();
    assert_eq!(response.status, 503);
    assert!(response.body.contains("-31503") && response.body.contains(r#""id":1"#));
    drop(room);
    eventually("all is given back", || server.host.buffers().held() == 0);
}

#[test]
fn counts_a_body_while_its_call_runs() {
    let server = serve();
    let mut client = server.connect();
    client.send(post("hold", "hi"));
    eventually("the call runs", || server.host.held().len() == 1);
    assert_eq!(server.host.buffers().held(), call("hold", "hi").len());
    server.host.release();
    assert_eq!(client.response().status, 200);
    eventually("all is given back", || server.host.buffers().held() == 0);
}

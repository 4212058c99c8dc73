//! HTTP/1 on the wire, in the order of RFC 9112.

use crate::support::{Response, call, chunked, head, millis, post, serve};
use mcp_driver::Host;

/// What comes back for a head whose lines are the usual ones and `lines`, with the usual body.
fn answer_to(lines: &str) -> Response {
    let body = call("echo", "hi");
    let request = format!("{}{lines}\r\n{body}", head("echo"));
    let server = serve();
    server.connect().send(request).response()
}

#[test]
fn serves_a_request() {
    let server = serve();
    let response = server.connect().send(post("echo", "hello")).response();
    assert_eq!(response.status, 200);
    assert!(response.body.contains("hello"));
    assert!(response.head.contains("content-type: application/json\r\n"));
}

#[test]
fn serves_http_1_0_and_closes() {
    let server = serve();
    let request = post("echo", "old").replace("HTTP/1.1", "HTTP/1.0");
    let mut client = server.connect();
    let response = client.send(request).response();
    assert_eq!(response.status, 200);
    assert!(response.head.starts_with("HTTP/1.0 200"));
    assert!(client.is_closed());
}

#[test]
fn refuses_what_is_no_http() {
    let server = serve();
    for bytes in [
        "\u{1}\u{2}\u{3}\r\n\r\n",
        "POST /mcp HTTP/9.9\r\n\r\n",
        "POST  \r\n\r\n",
    ] {
        let mut client = server.connect();
        let response = client.send(bytes).response();
        assert_eq!(response.status, 400, "{bytes:?}");
        assert!(client.is_closed());
    }
}

#[test]
fn takes_an_absolute_target_that_agrees_with_the_host() {
    let server = serve();
    for (target, status) in [
        ("http://localhost/mcp", 200),
        ("http://evil.example/mcp", 400),
    ] {
        let request = post("echo", "hi").replace("POST /mcp", &format!("POST {target}"));
        assert_eq!(
            server.connect().send(request).response().status,
            status,
            "{target}"
        );
    }
}

#[test]
fn refuses_a_missing_or_repeated_host() {
    let length = format!("content-length: {}\r\n", call("echo", "hi").len());
    assert_eq!(answer_to(&length).status, 400);
    assert_eq!(
        answer_to(&format!("host: localhost\r\n{length}")).status,
        200
    );
    assert_eq!(
        answer_to(&format!("host: localhost\r\nhost: localhost\r\n{length}")).status,
        400
    );
    assert_eq!(
        answer_to(&format!("host: localhost\r\nhost: evil\r\n{length}")).status,
        400
    );
}

#[test]
fn refuses_white_space_before_a_colon() {
    let length = format!("content-length: {}\r\n", call("echo", "hi").len());
    assert_eq!(
        answer_to(&format!("host : localhost\r\n{length}")).status,
        400
    );
    assert_eq!(
        answer_to(&format!("host: localhost\r\nx-a\t: 1\r\n{length}")).status,
        400
    );
}

#[test]
fn refuses_a_folded_line() {
    let length = format!("content-length: {}\r\n", call("echo", "hi").len());
    assert_eq!(
        answer_to(&format!("host: localhost\r\nx-a: 1\r\n 2\r\n{length}")).status,
        400
    );
    assert_eq!(
        answer_to(&format!("host: localhost\r\n{length}\tfolded\r\n")).status,
        400
    );
}

#[test]
fn trims_white_space_around_a_value() {
    let server = serve();
    let request =
        post("echo", "hi").replace("mcp-method: tools/call", "mcp-method: \t tools/call \t");
    assert_eq!(server.connect().send(request).response().status, 200);
}

#[test]
fn sees_every_line_of_a_repeated_header() {
    let server = serve();
    let request = post("echo", "hi").replace("\r\nhost:", "\r\nmcp-method: tools/list\r\nhost:");
    let response = server.connect().send(request).response();
    assert_eq!(response.status, 400);
    assert!(response.body.contains("-32020"));
}

#[test]
fn takes_a_chunked_body() {
    let server = serve();
    let mut client = server.connect();
    for size in [1, 7, 1_000] {
        let response = client.send(chunked("echo", "in pieces", size)).response();
        assert_eq!(response.status, 200);
        assert!(response.body.contains("in pieces"));
    }
}

#[test]
fn takes_a_body_that_comes_late_and_in_pieces() {
    let server = serve();
    let request = post("echo", "slowly");
    let mut client = server.connect();
    for piece in request.as_bytes().chunks(60) {
        client.send(piece);
        std::thread::sleep(millis(2));
    }
    assert_eq!(client.response().status, 200);
}

#[test]
fn refuses_transfer_codings_other_than_one_chunked() {
    for lines in [
        "transfer-encoding: gzip\r\n",
        "transfer-encoding: gzip, chunked\r\n",
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n",
        "transfer-encoding: xchunked\r\n",
    ] {
        let server = serve();
        let body = call("echo", "hi");
        let request = format!(
            "{}host: localhost\r\n{lines}\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
            head("echo"),
            body.len()
        );
        let mut client = server.connect();
        client.send(request);
        // hyper answers what it cannot frame by closing, which serves nothing either.
        assert_ne!(client.status(), Some(200), "{lines:?}");
        assert_eq!(server.host.calls().in_flight(), 0);
    }
}

#[test]
fn serves_at_most_one_request_with_length_beside_transfer_encoding() {
    let server = serve();
    let body = call("echo", "one");
    let smuggled = post("echo", "two");
    let first = format!(
        "{}host: localhost\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        head("echo"),
        body.len()
    );
    let mut client = server.connect();
    client.send(first + &smuggled);
    assert!(client.response().status <= 400);
    assert!(client.is_closed());
}

#[test]
fn refuses_lengths_that_contradict() {
    let server = serve();
    let request = post("echo", "hi").replace(
        "\r\ncontent-length:",
        "\r\ncontent-length: 3\r\ncontent-length:",
    );
    let mut client = server.connect();
    client.send(request);
    assert_ne!(client.status(), Some(200));
    assert!(client.is_closed());
}

#[test]
fn says_continue_only_when_the_body_is_wanted() {
    let server = serve();
    let body = call("echo", "asked first");
    let expecting = |length: usize| {
        format!(
            "{}host: localhost\r\nexpect: 100-continue\r\ncontent-length: {length}\r\n\r\n",
            head("echo")
        )
    };
    let mut client = server.connect();
    client.send(expecting(body.len()));
    assert!(client.head().starts_with("HTTP/1.1 100 "));
    assert_eq!(client.send(&body).response().status, 200);
    assert_eq!(client.send(expecting(1_000_000)).response().status, 413);
    assert!(client.is_closed());
}

#[test]
fn answers_pipelined_requests_in_order() {
    let server = serve();
    let requests: String = (0..40)
        .map(|number| post("echo", &format!("number {number}.")))
        .collect();
    let mut client = server.connect();
    client.send(requests);
    for number in 0..40 {
        let response = client.response();
        assert_eq!(response.status, 200);
        assert!(response.body.contains(&format!("number {number}.")));
    }
}

#[test]
fn closes_when_the_client_asks() {
    let server = serve();
    let mut client = server.connect();
    let request = post("echo", "last").replace("\r\nhost:", "\r\nconnection: close\r\nhost:");
    assert_eq!(client.send(request).response().status, 200);
    assert!(client.is_closed());
}

#[test]
fn lives_on_after_a_refusal_that_read_the_body() {
    let server = serve();
    let mut client = server.connect();
    let broken = post("echo", "hi").replace("\"jsonrpc\"", "\"jsonrpx\"");
    assert_eq!(client.send(broken).response().status, 400);
    assert_eq!(
        client.send(post("echo", "still here")).response().status,
        200
    );
}

#[test]
fn closes_and_says_so_after_a_refusal_that_left_the_body_unread() {
    let server = serve();
    let mut client = server.connect();
    let foreign = post("echo", "hi").replace("host: localhost", "host: evil.example");
    let response = client.send(foreign).response();
    assert_eq!(response.status, 403);
    assert!(response.head.contains("connection: close\r\n"));
    assert!(client.is_closed());
}

#[test]
fn delivers_the_refusal_while_the_client_is_still_sending() {
    let server = serve();
    let mut client = server.connect();
    let head = head("echo").replace("application/json\r\naccept", "text/plain\r\naccept");
    client.send(format!(
        "{head}host: localhost\r\ncontent-length: 2000000\r\n\r\n"
    ));
    for _ in 0..200 {
        if !client.try_send([b'x'; 10_000]) {
            break;
        }
    }
    assert_eq!(client.response().status, 415);
}

#[test]
fn answers_probes_without_a_body() {
    let server = serve();
    for method in ["GET", "HEAD", "PUT", "CONNECT", "BREW"] {
        let mut client = server.connect();
        client.send(format!("{method} /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n"));
        let head = client.head();
        assert!(head.starts_with("HTTP/1.1 4"), "{method}: {head}");
    }
    let preflight = "OPTIONS /mcp HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost\r\n\
                     access-control-request-method: POST\r\n\r\n";
    let response = serve().connect().send(preflight).response();
    assert_eq!(response.status, 204);
}

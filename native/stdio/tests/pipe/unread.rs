//! Clients that do not read what they are answered.

use std::{
    fs::File,
    io::{BufRead, Write},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use mcp_driver::Host;
use mcp_stdio::{End, Pipe, Sink, Source};
use mcp_testing::{call, eventually};
use serde_json::json;

use crate::support::{Client, client, host, hurried, worker};

#[test]
fn closes_although_the_client_does_not_read() {
    let mut client = Client::new(host(1_000, 1 << 28), hurried());
    let line = call(1, "echo", &json!({"a": "b".repeat(300_000)}));
    client.send(&line);
    client.output.fill_buf().unwrap();
    client.pipe.close();
    assert!(matches!(client.end(), End::Fault(_)));
}

#[test]
fn does_not_read_on_from_a_client_that_does_not_read() {
    let mut client = client();
    let input = client.input.take().unwrap();
    rustix::io::ioctl_fionbio(&input, true).unwrap();
    let line = format!("{}\n", call(1, "echo", &json!({"a": "b".repeat(60_000)})));
    let taken = write_while_possible(input, line.as_bytes());
    assert!(taken < 64 << 20, "{taken} bytes were taken in");
    eventually("it comes true", || client.host.calls().in_flight() == 0);
}

/// Writes until nothing is taken for 300 ms.
fn write_while_possible(mut input: File, line: &[u8]) -> usize {
    let (mut taken, mut last) = (0, Instant::now());
    while last.elapsed() < Duration::from_millis(300) && taken < 128 << 20 {
        match input.write(line) {
            Ok(count) => (taken, last) = (taken + count, Instant::now()),
            Err(_) => thread::sleep(Duration::from_millis(5)),
        }
    }
    taken
}

/// The end of input is noticed, and the drain timeout kept, although nobody reads what is answered.
#[test]
fn notices_the_end_of_input_although_the_client_does_not_read() {
    let mut client = Client::new(host(1_000, 1 << 28), hurried());
    for id in 0..60 {
        client.send(&call(id, "echo", &json!({"a": "b".repeat(60_000)})));
    }
    client.input = None;
    assert_gives_up(&client);
}

/// The same when what came before the end is more than is taken in ahead.
#[test]
fn notices_the_end_of_input_behind_lines_that_wait() {
    let mut client = Client::new(host(1_000, 1 << 28), hurried());
    let input = client.input.take().unwrap();
    rustix::io::ioctl_fionbio(&input, true).unwrap();
    let line = format!("{}\n", call(1, "echo", &json!({"a": "b".repeat(60_000)})));
    write_while_possible(input, line.as_bytes());
    assert_gives_up(&client);
}

fn assert_gives_up(client: &Client) {
    let why = "the client does not read its answers".to_owned();
    assert_eq!(client.end(), End::Fault(why));
    eventually("nothing is left", || client.host.is_idle());
}

/// Bytes that nobody reads do not pile up where lines are handed to somebody else.
#[test]
fn hands_on_few_lines_until_they_are_dealt_with() {
    let (lines, written) = std::sync::mpsc::channel();
    let (on_end, ended) = std::sync::mpsc::channel();
    let host = host(1_000, 1 << 24);
    let pipe = Pipe::start(
        Arc::clone(&host),
        &worker(),
        Source::Pushed,
        Sink::Callback(Box::new(move |line| lines.send(line).unwrap())),
        hurried(),
        move |end| on_end.send(end).unwrap(),
    )
    .unwrap();
    for id in 0..40 {
        let line = format!("{}\n", call(id, "echo", &json!({})));
        eventually("there is room", || pipe.push(line.clone()) == Ok(()));
    }
    thread::sleep(Duration::from_millis(200));
    let mut received = written.try_iter().count();
    assert_eq!(received, 16);
    for _ in 0..40 {
        pipe.written();
        received += usize::from(written.recv_timeout(Duration::from_millis(500)).is_ok());
    }
    assert_eq!(received, 40);
    pipe.close();
    assert_eq!(ended.recv_timeout(Duration::from_secs(5)), Ok(End::Input));
    assert!(host.is_idle());
}

#[test]
fn gives_up_on_lines_that_are_never_dealt_with() {
    let (on_end, ended) = std::sync::mpsc::channel();
    let host = host(1_000, 1 << 24);
    let pipe = Pipe::start(
        Arc::clone(&host),
        &worker(),
        Source::Pushed,
        Sink::Callback(Box::new(drop)),
        hurried(),
        move |end| on_end.send(end).unwrap(),
    )
    .unwrap();
    for id in 0..40 {
        let line = format!("{}\n", call(id, "echo", &json!({})));
        eventually("there is room", || pipe.push(line.clone()) == Ok(()));
    }
    pipe.close();
    let ended = ended.recv_timeout(Duration::from_secs(5));
    assert!(matches!(ended, Ok(End::Fault(_))));
    eventually("nothing is left", || host.is_idle());
}

//! Lines, and how a pipe ends, in the order of MCP 2026-07-28 basic/transports/stdio.

use std::{
    fs::File,
    io::{Read, Write},
    os::fd::OwnedFd,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use mcp_driver::{CancelReason, Event, Host};
use mcp_stdio::{Busy, End, Options, Pipe, Sink, Source};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use serde_json::{Value, json};

use mcp_testing::{TestHost, call, cancel, eventually};

use crate::support::{Client, client, held, host, hurried};

#[test]
fn answers_as_calls_finish_and_not_in_the_order_of_lines() {
    let mut client = client();
    client.send(&call(1, "hold", &json!({})));
    client.send(&call(2, "echo", &json!({"a": 1})));
    let second = client.receive();
    assert_eq!(second["id"], 2);
    assert_eq!(second["result"]["content"][0]["text"], r#"{"a":1}"#);
    held(&client, 1);
    client.host.release();
    assert_eq!(client.receive()["id"], 1);
}

#[test]
fn goes_on_after_a_line_that_is_no_message() {
    let mut client = client();
    client.write("{bad\n");
    client.send(&call("a", "echo", &json!({})));
    let refused = client.receive();
    assert_eq!(refused["error"]["code"], -32700);
    assert_eq!(refused.get("id"), None);
    assert_eq!(client.receive()["id"], "a");
}

#[test]
fn recovers_the_id_of_an_over_long_line() {
    let mut client = Client::new(
        host(10, 1 << 20),
        Options {
            max_line_bytes: 1_000,
            ..Options::default()
        },
    );
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":"big","x":"{}"}}"#,
        "y".repeat(100_000)
    );
    client.write(long);
    assert_eq!(client.receive()["id"], "big", "refused before its end came");
    client.write("\n");
    client.send(&call(2, "echo", &json!({})));
    assert_eq!(client.receive()["id"], 2);
}

#[test]
fn serves_a_line_of_exactly_the_limit() {
    let line = call(1, "echo", &json!({"a": "b".repeat(900_000)})).to_string();
    let mut client = Client::new(
        host(10, 1 << 24),
        Options {
            max_line_bytes: line.len(),
            ..Options::default()
        },
    );
    client.write(format!("{line}\r\n{line} \n"));
    let (first, second) = (client.receive(), client.receive());
    let refused = if first.get("error").is_some() {
        first
    } else {
        second
    };
    assert_eq!(refused["id"], 1);
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains(&line.len().to_string())
    );
}

#[test]
fn answers_calls_through_a_flood_of_lines_without_answers() {
    let mut client = client();
    client.send(&call(0, "hold", &json!({})));
    held(&client, 1);
    let mut input = client.input.take().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let flooding = thread::spawn(move || {
        let flood = format!("{}\n", cancel(1)).repeat(1_000);
        while !stopped.load(Ordering::Relaxed) {
            input.write_all(flood.as_bytes()).unwrap();
        }
    });
    client.host.release();
    assert_eq!(client.receive()["id"], 0);
    stop.store(true, Ordering::Relaxed);
    flooding.join().unwrap();
    assert_eq!(client.end(), End::Input);
}

#[test]
fn cancels_a_call_and_sends_nothing_more_for_it() {
    let mut client = client();
    client.send(&call(0, "hold", &json!({})));
    held(&client, 1);
    client.send(&cancel(0));
    client.send(&call(1, "echo", &json!({})));
    assert_eq!(client.receive()["id"], 1);
    assert_eq!(client.host.cancel_reasons(), [CancelReason::Cancelled]);
    client.input = None;
    assert_eq!(client.receive(), Value::Null);
}

#[test]
fn cancels_a_call_whose_line_came_in_the_same_write() {
    let mut client = client();
    let (slow, cancel) = (call(1, "hold", &json!({})), cancel(1));
    client.write(format!("{slow}\n{cancel}\n"));
    client.input = None;
    assert_eq!(client.receive(), Value::Null);
}

#[test]
fn cancels_a_request_that_is_no_call_yet() {
    let mut client = Client::new(
        TestHost::serving(|settings| settings.config.caller_catalog = true),
        Options::default(),
    );
    client.send(&call(1, "echo", &json!({})));
    held(&client, 1);
    client.send(&cancel(1));
    eventually("it comes true", || {
        client.host.cancel_reasons() == [CancelReason::Gone]
    });
    client.input = None;
    assert_eq!(client.receive(), Value::Null);
}

#[test]
fn keeps_the_legacy_session_of_its_pipe() {
    let mut client = client();
    client.send(&json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"},
        },
    }));
    client.send(&json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "echo", "arguments": {}},
    }));
    assert_eq!(client.receive()["result"]["protocolVersion"], "2025-11-25");
    let called = client.receive();
    assert_eq!(called["result"]["content"][0]["text"], "{}");
    assert_eq!(called["result"].get("resultType"), None);
}

#[test]
fn loses_none_of_a_hundred_thousand_lines() {
    let mut client = client();
    let mut input = client.input.take().unwrap();
    let writing = thread::spawn(move || {
        for id in 0..100_000 {
            let line = call(id, "echo", &json!({}));
            input.write_all(format!("{line}\n").as_bytes()).unwrap();
        }
    });
    let mut ids: Vec<u64> = (0..100_000)
        .map(|_| client.receive()["id"].as_u64().unwrap())
        .collect();
    ids.sort_unstable();
    assert!(ids.iter().copied().eq(0..100_000));
    writing.join().unwrap();
    assert_eq!(client.receive(), Value::Null);
    assert_eq!(client.end(), End::Input);
}

#[test]
fn says_busy_when_as_many_calls_run_as_may() {
    let mut client = Client::new(host(1, 1 << 20), Options::default());
    client.send(&call(1, "hold", &json!({})));
    held(&client, 1);
    client.send(&call(2, "echo", &json!({})));
    assert_eq!(client.receive()["error"]["code"], -31503);
    client.send(&cancel(1));
    eventually("it comes true", || client.host.calls().in_flight() == 0);
    client.send(&call(3, "echo", &json!({})));
    assert_eq!(client.receive()["id"], 3);
}

#[test]
fn says_busy_when_lines_in_flight_hold_as_many_bytes_as_may() {
    let mut client = Client::new(host(10, 1_000), Options::default());
    client.send(&call(1, "hold", &json!({"a": "b".repeat(600)})));
    held(&client, 1);
    client.send(&call(2, "echo", &json!({"a": "b".repeat(600)})));
    assert_eq!(client.receive()["error"]["code"], -31503);
    client.send(&cancel(1));
    eventually("it comes true", || client.host.buffers().held() == 0);
}

#[test]
fn lets_running_calls_finish_after_the_input_ended() {
    let mut client = client();
    client.send(&call(1, "hold", &json!({})));
    held(&client, 1);
    client.input = None;
    client.host.release();
    assert_eq!(client.receive()["id"], 1);
    assert_eq!(client.receive(), Value::Null);
    assert_eq!(client.end(), End::Input);
}

#[test]
fn cancels_calls_that_outlive_the_drain_timeout() {
    let mut client = Client::new(host(10, 1 << 20), hurried());
    client.send(&call(1, "hold", &json!({})));
    held(&client, 1);
    client.input = None;
    assert_eq!(client.end(), End::Input);
    assert_eq!(client.host.cancel_reasons(), [CancelReason::Drain]);
    assert_eq!(client.host.calls().in_flight(), 0);
}

#[test]
fn closes_while_the_input_is_open() {
    let mut client = Client::new(host(10, 1 << 20), hurried());
    client.send(&call(1, "echo", &json!({})));
    assert_eq!(client.receive()["id"], 1);
    client.pipe.close();
    assert_eq!(client.end(), End::Input);
    assert_eq!(client.receive(), Value::Null);
}

#[test]
fn leaves_out_a_line_that_closing_cut_off() {
    let mut client = client();
    client.send(&call(1, "echo", &json!({})));
    client.write("{\"jsonrpc\":");
    assert_eq!(client.receive()["id"], 1);
    client.pipe.close();
    assert_eq!(client.receive(), Value::Null);
}

#[test]
fn ends_when_nobody_reads_the_output() {
    let mut client = client();
    let (reader, _) = std::io::pipe().unwrap();
    client.output = std::io::BufReader::new(OwnedFd::from(reader).into());
    client.send(&call(1, "echo", &json!({})));
    assert!(matches!(client.end(), End::Fault(why) if why.contains("writing failed")));
}

#[test]
fn ends_at_exit() {
    let mut client = client();
    client.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
    assert_eq!(client.end(), End::Exit);
    assert_eq!(client.receive(), Value::Null);
}

#[test]
fn serves_over_a_socket_in_non_blocking_mode() {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (theirs, ours) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
    rustix::io::ioctl_fionbio(&ours, false).unwrap();
    let twice = |descriptor: &OwnedFd| descriptor.try_clone().unwrap();
    let theirs = (twice(&theirs), theirs);
    let ours = (twice(&ours), ours);
    let host = host(10, 1 << 24);
    let mut client = Client::over(host, Options::default(), theirs, ours);
    client.send(&call(1, "echo", &json!({"a": "b".repeat(500_000)})));
    assert_eq!(client.receive()["id"], 1);
}

#[test]
fn reads_a_file_to_its_end() {
    let path = std::env::temp_dir().join(format!("mcp-stdio-{}", std::process::id()));
    std::fs::write(&path, call(1, "echo", &json!({})).to_string()).unwrap();
    let (mut ours, theirs) = std::io::pipe().unwrap();
    let (_unused, spare) = std::io::pipe().unwrap();
    let client = Client::over(
        host(10, 1 << 20),
        Options::default(),
        (File::open(&path).unwrap().into(), theirs.into()),
        (spare.into(), File::open("/dev/null").unwrap().into()),
    );
    assert_eq!(client.end(), End::Input);
    let mut written = String::new();
    ours.read_to_string(&mut written).unwrap();
    assert!(written.ends_with('\n') && written.contains(r#""id":1"#));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn serves_lines_that_somebody_else_reads() {
    let host = host(10, 1 << 20);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (lines, written) = std::sync::mpsc::channel();
    let (on_end, ended) = std::sync::mpsc::channel();
    let pipe = Pipe::start(
        host,
        runtime.handle(),
        Source::Pushed,
        Sink::Callback(Box::new(move |line| lines.send(line).unwrap())),
        Options::default(),
        move |end| on_end.send(end).unwrap(),
    )
    .unwrap();
    let line = format!("{}\n", call(1, "echo", &json!({})));
    while pipe.push(line.clone()) == Ok(()) {}
    assert_eq!(pipe.push(line), Err(Busy));
    pipe.close();
    runtime.block_on(async { tokio::time::sleep(Duration::from_millis(200)).await });
    assert_eq!(ended.try_recv(), Ok(End::Input));
    assert!(written.try_iter().all(|line| line.ends_with(b"\n")));
}

#[test]
fn reports_its_exchanges_when_asked_to() {
    let options = Options {
        record_requests: true,
        ..Options::default()
    };
    let mut client = Client::new(host(10, 1 << 20), options);
    client.send(&call(1, "echo", &json!({})));
    client.receive();
    client.input = None;
    client.end();
    let events = client.host.events();
    assert!(matches!(
        &events[..],
        [
            Event::ConnectionOpened { peer: None },
            Event::Request {
                transport: "stdio",
                ..
            },
            Event::ConnectionClosed {
                reason: "done",
                requests: 1,
                ..
            },
        ]
    ));
}

//! What reading costs, beside `serde_json`; run with
//! `cargo test --release -p mcp-json --test speed -- --ignored --nocapture --test-threads 1`.

use std::hint::black_box;
use std::time::Instant;

use bytes::Bytes;
use mcp_json::{Document, Limits};
use serde_json::Value;

/// Bound guarded: well under a microsecond for a body of some 300 bytes.
#[test]
#[ignore = "prints times"]
fn a_small_tools_call() {
    let body = Bytes::from_static(CALL);
    let document = parse(body.clone());
    println!("{} bytes, {} entries", body.len(), document.len());
    report("Document::parse", 100, || parse(body.clone()));
    report("serde_json::Value", 100, || {
        serde_json::from_slice::<Value>(&body).expect("valid")
    });
    report("two members got", 100, || {
        document.root().get("params")?.get("arguments")
    });
}

/// Bound guarded: some 10 ms whatever a body of 1 MiB holds.
#[test]
#[ignore = "prints times"]
fn a_mebibyte() {
    let members = |count| {
        (0..count)
            .map(|key| format!("\"{key}\":0"))
            .collect::<Vec<_>>()
            .join(",")
    };
    let repeat = |part: &str| {
        format!(
            "[{}0]",
            format!("{part},").repeat((1 << 20) / (part.len() + 1))
        )
    };
    for (name, text) in [
        (
            "one string",
            format!("\"{}\"", "lorem ipsum ".repeat(87_000)),
        ),
        ("escapes", format!("\"{}\"", "\\u00e9\\n".repeat(130_000))),
        ("integers", repeat("1")),
        (
            "floats",
            repeat("9007199254740993.000000000000000000000001e5"),
        ),
        ("objects of three", repeat(r#"{"a":1,"b":2,"c":3}"#)),
        ("objects of nine", repeat(&format!("{{{}}}", members(9)))),
        ("100,000 keys", format!("{{{}}}", members(100_000))),
    ] {
        let body = Bytes::from(text);
        report(name, 1, || parse(body.clone()));
    }
}

fn parse(body: Bytes) -> Document {
    Document::parse(body, &Limits::default()).expect("valid")
}

/// Prints the time of one run, from rounds of some runs each.
fn report<T>(name: &str, runs: u32, mut run: impl FnMut() -> T) {
    let mut rounds: Vec<_> = (0..if runs == 1 { 15 } else { 3000 })
        .map(|_| {
            let start = Instant::now();
            for _ in 0..runs {
                black_box(run());
            }
            start.elapsed() / runs
        })
        .collect();
    rounds.sort_unstable();
    println!(
        "{name}: min {:?}, median {:?}",
        rounds[0],
        rounds[rounds.len() / 2]
    );
}

const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"_meta":{"protocolVersion":"2026-07-28","clientInfo":{"name":"probe","version":"1.0.0"}},"name":"echo","arguments":{"text":"the quick brown fox jumps over the lazy dog","count":3,"ratio":0.5,"flag":true,"tags":["a","b","c"]}}}"#;

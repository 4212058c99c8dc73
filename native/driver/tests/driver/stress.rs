//! Many threads at once: every request gets one answer, and the counts return to zero.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use mcp_driver::{CallNumber, Host, Route};
use serde_json::json;
use tokio::runtime::Builder;

use crate::harness::{call, cancel, line, pipe, said, text};
use mcp_testing::TestHost;

const WORKERS: usize = 3;
const CALLS_PER_CLIENT: u64 = 1_500;

/// Deterministic and different for each call.
fn roll(number: CallNumber) -> u64 {
    (number ^ 0x5DEE_CE66).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33
}

/// Replies, replies twice, dies, loses the token, is failed while it replies, or loses its dispatcher.
fn work(host: &Arc<TestHost>, number: CallNumber, delivered: &AtomicUsize) {
    let calls = host.calls();
    let Some(taken) = host.accept(number) else {
        return;
    };
    let count = |reached: bool| delivered.fetch_add(usize::from(reached), Ordering::Relaxed);
    match roll(number) % 8 {
        0 => drop(taken),
        1 => calls.fail(number),
        2 => thread::scope(|scope| {
            scope.spawn(|| calls.fail(number));
            count(taken.token.reply(text("raced")));
        }),
        3 => thread::scope(|scope| {
            let (first, second) = (&taken.token, &taken.token);
            let first = scope.spawn(|| first.reply(text("twice")));
            let second = second.reply(text("twice"));
            let first = first.join().unwrap();
            assert!(!(first && second), "call {number} was answered twice");
            count(first || second);
        }),
        4 if number.is_multiple_of(50) => calls.fail_route(Route(0)),
        _ => {
            count(taken.token.reply(text("once")));
        }
    }
}

/// Sends calls and now and then a cancellation; returns how many texts of tools it got.
fn converse(host: &Arc<TestHost>, number: u64) -> usize {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let pipe = pipe(number, number.is_multiple_of(2).then_some("shared"));
        let mut texts = 0;
        for id in 0..CALLS_PER_CLIENT {
            let answer = line(host, &pipe, &call(json!(id)));
            if id % 5 == 0 {
                tokio::task::yield_now().await;
                line(host, &pipe, &cancel(json!(id))).await.unwrap();
            }
            let said = said(&answer.await.unwrap());
            match said.as_str() {
                "once" | "twice" | "raced" => texts += 1,
                "The tool failed." | "nothing" => (),
                other => panic!("unexpected answer {other}"),
            }
        }
        texts
    })
}

#[test]
fn every_request_is_answered_once_under_threads() {
    let (host, delivered) = (TestHost::new(), AtomicUsize::new(0));
    let (host, delivered) = (&host, &delivered);
    let texts: usize = thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(number) = host.blocking_next() {
                    work(host, number, delivered);
                }
            });
        }
        let clients = [1, 2, 3, 4].map(|number| scope.spawn(move || converse(host, number)));
        let texts = clients.map(|client| client.join().unwrap());
        host.close();
        texts.into_iter().sum()
    });
    // A worker counts its reply when the client has it already, so only now.
    assert_eq!(
        texts,
        delivered.load(Ordering::Relaxed),
        "each reply that was taken arrived"
    );
    assert!(host.is_idle());
}

//! Messages against the end of their call, on threads: what the host was told arrived did arrive, in order, and
//! nothing comes after.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    thread,
    time::Duration,
};

use mcp_driver::{CallNumber, CancelReason, Host, Part, Sent, Served, Stream};
use mcp_protocol::{Amount, Answer, Notice, Unanswered};
use mcp_testing::TestHost;
use serde_json::json;
use tokio::runtime::Builder;

use crate::harness::{arrived_line, call, pipe, said, text};

const ROUNDS: u64 = 300;

/// As many as wait for a client without progress being thinned out.
const STEPS: i64 = 30;

/// How a call ends while it still sends messages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Ending {
    Reply,
    Cancel,
    Deadline,
    Drop,
}

fn progress(step: i64) -> Notice<'static> {
    Notice::Progress {
        progress: Amount::Integer(step),
        total: None,
        message: None,
    }
}

/// Sends all steps; `sent` counts those that were taken.
fn report(host: &TestHost, number: CallNumber, sent: &AtomicI64) {
    for step in 1..=STEPS {
        assert_eq!(host.notify(number, progress(step)), Sent::Done);
        sent.store(step, Ordering::SeqCst);
    }
}

/// Ends the call; how many steps were taken before that began.
fn end(host: &Arc<TestHost>, number: CallNumber, ending: Ending, sent: &AtomicI64) -> i64 {
    let taken = host.accept(number).expect("nobody else takes it");
    while sent.load(Ordering::SeqCst) < (number as i64) % STEPS {
        thread::yield_now();
    }
    let before = sent.load(Ordering::SeqCst);
    match ending {
        Ending::Reply => assert!(taken.token.reply(text("done"))),
        Ending::Cancel => {
            mcp_driver::cancel(host, number, Unanswered::Cancelled, CancelReason::Cancelled);
        }
        Ending::Deadline => {
            mcp_driver::cancel(host, number, Unanswered::Deadline, CancelReason::Deadline);
        }
        Ending::Drop => {}
    }
    drop(taken);
    before
}

/// The steps that arrive, and the answer. Now and then the client takes its time.
async fn read(mut stream: Stream<TestHost>, number: CallNumber) -> (Vec<i64>, Answer) {
    let mut steps = Vec::new();
    loop {
        match stream.next(Duration::MAX, pending()).await {
            Part::Frame(frame, _) => steps.push(step(&frame)),
            Part::Quiet | Part::Break => panic!("it waits for ever"),
            Part::Answer(answer, _) => return (steps, *answer),
        }
        if number.is_multiple_of(3) {
            thread::yield_now();
        }
    }
}

fn step(frame: &[u8]) -> i64 {
    let message: serde_json::Value = serde_json::from_slice(frame).unwrap();
    message["params"]["progress"].as_i64().unwrap()
}

fn round(host: &Arc<TestHost>, round: u64, ending: Ending) {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let sent = AtomicI64::new(0);
    thread::scope(|scope| {
        let served = runtime.block_on(async {
            let message = call(json!(round));
            let served = arrived_line(host, &pipe(1, None), &message).begin(host);
            let number = host.next().await;
            scope.spawn({
                let (host, sent) = (Arc::clone(host), &sent);
                move || report(&host, number, sent)
            });
            let ending = scope.spawn({
                let (host, sent) = (Arc::clone(host), &sent);
                move || end(&host, number, ending, sent)
            });
            (served.await.unwrap(), number, ending)
        });
        let (served, number, before) = served;
        let (steps, answer) = match served {
            Served::Answer(answer, _) => (Vec::new(), answer),
            Served::Stream(stream) => runtime.block_on(read(*stream, number)),
        };
        let before = before.join().unwrap();
        check(ending, before, &steps, &said(&answer));
    });
}

fn check(ending: Ending, before: i64, steps: &[i64], said: &str) {
    assert!(
        steps.iter().copied().eq(1..=steps.len() as i64),
        "{ending:?}: {steps:?}"
    );
    if ending != Ending::Cancel {
        assert!(
            steps.len() as i64 >= before,
            "{ending:?}: {before} {steps:?}"
        );
    }
    let expected = match ending {
        Ending::Reply => "done",
        Ending::Cancel => "nothing",
        Ending::Deadline | Ending::Drop => "The tool failed.",
    };
    assert_eq!(said, expected, "{ending:?}");
}

#[test]
fn messages_race_the_end_of_their_call() {
    let host = TestHost::new();
    for number in 0..ROUNDS {
        for ending in [
            Ending::Reply,
            Ending::Cancel,
            Ending::Deadline,
            Ending::Drop,
        ] {
            round(&host, number, ending);
        }
    }
    assert!(host.is_idle());
    assert_eq!(host.calls().messages_dropped(), 0);
}

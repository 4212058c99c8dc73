//! Messages before the answer (D8, D17): their order, what becomes of them unread, and the call's end in between.

use std::{future::pending, sync::Arc, time::Duration};

use mcp_driver::{Accepted, CancelReason, Host, Part, Sent, Served, Stream};
use mcp_testing::{TestHost, Worker, log, other, progress};
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until};

use crate::harness::{
    CALL_TIMEOUT_MS, arrived_in_session, arrived_line, arrived_modern, call, cancel, endpoint,
    found, legacy_call, line, pipe, read, said, text,
};

const FAILED: &str = "The tool failed.";

/// When a response begins as a stream at the latest.
const STREAM_AFTER_MS: u64 = 5_000;

/// How long the stream of a legacy call is kept for its client.
const KEPT_FOR: Duration = Duration::from_millis(60_001);

/// A modern call by HTTP that was taken, has sent one log message and so become a stream.
async fn streaming(host: &Arc<TestHost>) -> (Box<Stream<TestHost>>, Accepted<Worker>) {
    let served = arrived_modern(host, &endpoint(false)).begin(host);
    let taken = host.taken().await;
    assert_eq!(host.notify(taken.token.number(), log(b"0")), Sent::Done);
    match served.await.unwrap() {
        Served::Stream(mut stream) => {
            stream.open();
            (stream, taken)
        }
        Served::Answer(answer, _) => panic!("answered at once: {answer:?}"),
    }
}

/// The same in the legacy session `s1`.
async fn legacy_streaming(host: &Arc<TestHost>) -> (Box<Stream<TestHost>>, Accepted<Worker>) {
    let served = arrived_in_session(host, "POST", &legacy_call(json!(1))).begin(host);
    host.taken().await.token.reply(found());
    let taken = host.taken().await;
    host.notify(taken.token.number(), log(b"0"));
    match served.await.unwrap() {
        Served::Stream(stream) => (stream, taken),
        Served::Answer(answer, _) => panic!("answered at once: {answer:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn messages_keep_their_order_and_the_answer_is_last() {
    let host = TestHost::new();
    let (stream, taken) = streaming(&host).await;
    let number = taken.token.number();
    for notice in [progress(1), other(), log(b"1"), progress(2)] {
        assert_eq!(host.notify(number, notice), Sent::Done);
    }
    assert!(taken.token.reply(text("done")));
    let (messages, answer) = read(*stream).await;
    let words = ["message", "progress", "other", "message", "progress"];
    assert_eq!(messages.len(), words.len());
    for (message, word) in messages.iter().zip(words) {
        assert!(message.starts_with("event: message\ndata: "), "{message}");
        assert!(
            message.contains(&format!("notifications/{word}")),
            "{message}"
        );
    }
    assert_eq!(said(&answer), "done");
    drop(taken);
    assert!(host.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_long_becomes_a_stream() {
    let host = TestHost::new();
    let start = Instant::now();
    let served = arrived_modern(&host, &endpoint(false)).begin(&host);
    let taken = host.taken().await;
    let Served::Stream(mut stream) = served.await.unwrap() else {
        panic!("it is not answered");
    };
    assert_eq!(start.elapsed().as_millis() as u64, STREAM_AFTER_MS);
    let start = Instant::now();
    let patience = Duration::from_secs(2);
    assert!(matches!(
        stream.next(patience, pending()).await,
        Part::Quiet
    ));
    assert_eq!(start.elapsed(), patience);
    taken.token.reply(text("late"));
    let (messages, answer) = read(*stream).await;
    assert_eq!((messages.len(), said(&answer)), (0, "late".into()));
}

#[tokio::test(start_paused = true)]
async fn a_quick_answer_is_no_stream() {
    let host = TestHost::new();
    let served = arrived_modern(&host, &endpoint(false)).begin(&host);
    let taken = host.taken().await;
    sleep(Duration::from_millis(STREAM_AFTER_MS - 1)).await;
    taken.token.reply(text("in time"));
    assert!(matches!(served.await.unwrap(), Served::Answer(..)));
}

/// PROG-3, PROG-4
#[tokio::test(start_paused = true)]
async fn the_host_is_told_of_its_faults_and_nothing_follows_the_answer() {
    let host = TestHost::new();
    let (stream, taken) = streaming(&host).await;
    let number = taken.token.number();
    assert_eq!(host.notify(number, progress(5)), Sent::Done);
    assert_eq!(host.notify(number, progress(5)), Sent::NotIncreasing);
    taken.token.reply(text("done"));
    assert_eq!(host.notify(number, progress(6)), Sent::Done);
    assert_eq!(host.notify(12_345, progress(1)), Sent::Done, "no such call");
    let (messages, _) = read(*stream).await;
    assert_eq!(messages.len(), 2);
    assert!(host.is_idle() || host.calls().tokens() == 1);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_gets_the_newest_and_costs_little() {
    let host = TestHost::new();
    let (stream, taken) = streaming(&host).await;
    let number = taken.token.number();
    for value in 1..=5_000 {
        assert_eq!(host.notify(number, progress(value)), Sent::Done);
    }
    assert_eq!(host.calls().messages_dropped(), 0, "the newest says all");
    let mut sent = 0;
    while host.notify(number, other()) == Sent::Done {
        sent += 1;
    }
    assert_eq!(host.notify(number, other()), Sent::Busy);
    assert_eq!(host.notify(number, log(b"1")), Sent::Done);
    assert_eq!(host.calls().messages_dropped(), 1);
    assert!(
        host.buffers().held() < 64 * 1024,
        "{}",
        host.buffers().held()
    );
    taken.token.reply(text("done"));
    let (messages, answer) = read(*stream).await;
    let count = |word: &str| {
        messages
            .iter()
            .filter(|message| message.contains(word))
            .count()
    };
    assert_eq!(count("notifications/other"), sent);
    assert!(
        messages
            .iter()
            .any(|message| message.contains(r#""progress":5000}"#))
    );
    assert_eq!(said(&answer), "done");
    drop(taken);
    assert!(host.is_idle());
}

#[tokio::test(start_paused = true)]
async fn the_deadline_is_kept_although_nobody_reads() {
    let host = TestHost::new();
    let start = Instant::now();
    let (stream, taken) = streaming(&host).await;
    sleep_until(start + Duration::from_millis(CALL_TIMEOUT_MS + 1)).await;
    assert_eq!(
        host.cancelled(),
        [(taken.token.number(), CancelReason::Deadline)]
    );
    assert!(!taken.token.reply(text("too late")));
    let (messages, answer) = read(*stream).await;
    assert_eq!((messages.len(), said(&answer)), (1, FAILED.into()));
    assert!(
        answer
            .summary
            .host_fault
            .unwrap()
            .contains("call_timeout_ms")
    );
    drop(taken);
    assert!(host.is_idle());
}

/// HTTP-20
#[tokio::test(start_paused = true)]
async fn a_modern_stream_that_is_dropped_cancels_its_call() {
    let host = TestHost::new();
    let (stream, taken) = streaming(&host).await;
    drop(stream);
    assert_eq!(
        host.cancelled(),
        [(taken.token.number(), CancelReason::Gone)]
    );
    assert_eq!(host.notify(taken.token.number(), other()), Sent::Done);
    assert!(!taken.token.reply(text("too late")));
    drop(taken);
    assert!(host.is_idle());
    sleep(Duration::from_millis(2 * CALL_TIMEOUT_MS)).await;
    assert_eq!(host.cancelled().len(), 1, "its deadline is forgotten");
}

/// LHT-8
#[tokio::test(start_paused = true)]
async fn a_legacy_stream_that_is_dropped_lets_its_call_run() {
    let host = TestHost::new();
    let (stream, taken) = legacy_streaming(&host).await;
    drop(stream);
    let number = taken.token.number();
    for _ in 0..1_000 {
        let sent = host.notify(number, log(b"0"));
        assert_eq!(sent, Sent::Done, "nobody is waited for");
        tokio::task::yield_now().await;
    }
    assert!(host.cancelled().is_empty() && host.calls().is_open(number));
    assert!(taken.token.reply(text("nobody reads this")));
    drop(taken);
    sleep(KEPT_FOR.max(Duration::from_millis(2 * CALL_TIMEOUT_MS))).await;
    assert!(host.cancelled().is_empty() && host.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_legacy_call_left_behind_keeps_its_deadline() {
    let host = TestHost::new();
    let (stream, taken) = legacy_streaming(&host).await;
    sleep(Duration::from_millis(CALL_TIMEOUT_MS - 1_000)).await;
    drop(stream);
    sleep(Duration::from_millis(1_001)).await;
    assert_eq!(
        host.cancelled(),
        [(taken.token.number(), CancelReason::Deadline)]
    );
    drop(taken);
    sleep(KEPT_FOR).await;
    assert!(host.is_idle());
}

/// CAN-3: what waited for the client is not sent any more.
#[tokio::test(start_paused = true)]
async fn nothing_is_sent_after_a_cancellation() {
    let host = TestHost::new();
    let served = arrived_line(&host, &pipe(1, None), &call(json!(7))).begin(&host);
    let taken = host.taken().await;
    let number = taken.token.number();
    host.notify(number, log(b"0"));
    let Served::Stream(stream) = served.await.unwrap() else {
        panic!("it is not answered");
    };
    host.notify(number, other());
    line(&host, &pipe(1, None), &cancel(json!(7)))
        .await
        .unwrap();
    host.notify(number, other());
    let (messages, answer) = read(*stream).await;
    assert_eq!((messages.len(), said(&answer)), (0, "nothing".into()));
    assert_eq!(host.cancelled(), [(number, CancelReason::Cancelled)]);
    drop(taken);
    assert!(host.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_token_ends_a_stream_with_the_fixed_text() {
    let host = TestHost::new();
    let (stream, taken) = streaming(&host).await;
    drop(taken);
    let (messages, answer) = read(*stream).await;
    assert_eq!((messages.len(), said(&answer)), (1, FAILED.into()));
    assert!(host.is_idle());
}

/// D8: messages and the answer that wait for a client count like anything else that is held for it.
#[tokio::test(start_paused = true)]
async fn what_waits_is_held_against_the_budget() {
    let host = TestHost::with(|settings| settings.max_buffered_bytes = 2_000);
    let (stream, taken) = streaming(&host).await;
    let number = taken.token.number();
    let mut sent = 0;
    while host.notify(number, other()) == Sent::Done {
        sent += 1;
    }
    assert!((10..100).contains(&sent) && host.buffers().held() <= 2_000);
    taken.token.reply(text(&"a".repeat(2_000)));
    let (messages, answer) = read(*stream).await;
    assert_eq!((messages.len(), said(&answer)), (sent + 1, "-31503".into()));
    drop(taken);
    assert!(host.is_idle());
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_finds_no_room_is_refused_under_its_id() {
    let host = TestHost::with(|settings| settings.max_buffered_bytes = 300);
    let served = arrived_modern(&host, &endpoint(false)).begin(&host);
    host.taken().await.token.reply(text(&"a".repeat(300)));
    let Served::Answer(answer, _) = served.await.unwrap() else {
        panic!("it is answered");
    };
    assert_eq!((answer.status, said(&answer)), (503, "-31503".into()));
    assert!(
        String::from_utf8(answer.body)
            .unwrap()
            .contains(r#""id":1"#)
    );
    assert_eq!(answer.summary.refusal, Some("buffers"));
    assert_eq!(answer.summary.definition.as_deref(), Some("hold"));
    assert!(host.is_idle());
}

/// Whatever the host was told arrived does arrive, at the very deadline too.
#[tokio::test(start_paused = true)]
async fn what_comes_at_the_deadline_counts_or_does_not() {
    for says_first in [false, true] {
        let host = TestHost::new();
        let answer = line(&host, &pipe(1, None), &call(json!(1)));
        let taken = host.taken().await;
        sleep(Duration::from_millis(CALL_TIMEOUT_MS)).await;
        let number = taken.token.number();
        if says_first {
            host.notify(number, log(b"0"));
        }
        let arrived = taken.token.reply(text("just so"));
        let expected = if arrived { "just so" } else { FAILED };
        assert_eq!(said(&answer.await.unwrap()), expected);
        drop(taken);
        assert!(host.is_idle());
    }
}

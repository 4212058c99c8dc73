//! A client that leaves: cancellation in the modern era (HTTP-20, A-28), none in the legacy one (LHT-8).

use std::{sync::Arc, time::Duration};

use mcp_driver::{CancelReason, Host};
use mcp_protocol::Answer;
use serde_json::json;
use tokio::{task::JoinHandle, time::sleep};

use crate::harness::{CALL_TIMEOUT_MS, endpoint, found, in_session, legacy_call, modern, text};
use mcp_testing::{TestHost, Worker};

/// Drops the future that serves a request, as a listener does when its connection ends.
async fn leave(answer: JoinHandle<Answer>) {
    answer.abort();
    assert!(answer.await.unwrap_err().is_cancelled());
}

async fn legacy_call_taken(
    host: &Arc<TestHost>,
) -> (JoinHandle<Answer>, mcp_driver::Accepted<Worker>) {
    let answer = in_session(host, "POST", &legacy_call(json!(1)));
    host.taken().await.token.reply(found());
    let taken = host.taken().await;
    (answer, taken)
}

#[tokio::test(start_paused = true)]
async fn a_modern_call_is_cancelled_with_its_connection() {
    let host = TestHost::new();
    let answer = modern(&host, &endpoint(false));
    let taken = host.taken().await;
    leave(answer).await;
    assert_eq!(
        host.cancelled(),
        [(taken.token.number(), CancelReason::Gone)]
    );
    assert!(!host.calls().is_open(taken.token.number()) && !taken.token.reply(text("too late")));
    drop(taken);
    assert!(host.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_nobody_took_yet_is_never_taken() {
    let host = TestHost::new();
    let answer = modern(&host, &endpoint(false));
    let number = host.next().await;
    leave(answer).await;
    assert!(host.accept(number).is_none());
    assert!(host.is_idle());
}

#[tokio::test(start_paused = true)]
async fn hooks_end_with_the_connection_in_both_eras() {
    let host = TestHost::new();
    for era in ["modern", "legacy"] {
        let answer = match era {
            "modern" => modern(&host, &endpoint(true)),
            _ => in_session(&host, "POST", &legacy_call(json!(1))),
        };
        let taken = host.taken().await;
        leave(answer).await;
        let told = (taken.token.number(), CancelReason::Gone);
        assert_eq!(host.cancelled().last(), Some(&told), "{era}");
    }
    assert!(host.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_legacy_call_goes_on_to_its_end() {
    let host = TestHost::new();
    let (answer, taken) = legacy_call_taken(&host).await;
    leave(answer).await;
    sleep(Duration::from_millis(CALL_TIMEOUT_MS / 2)).await;
    assert!(host.cancelled().is_empty() && host.calls().is_open(taken.token.number()));
    taken.token.reply(text("nobody reads this"));
    drop(taken);
    assert!(host.is_idle());
    sleep(Duration::from_millis(CALL_TIMEOUT_MS)).await;
    assert!(
        host.cancelled().is_empty(),
        "what ended is not told to stop"
    );
}

/// The deadline is counted from the call's start, not from the client's leaving.
#[tokio::test(start_paused = true)]
async fn a_legacy_call_left_behind_keeps_its_deadline() {
    let host = TestHost::new();
    let (answer, taken) = legacy_call_taken(&host).await;
    sleep(Duration::from_millis(CALL_TIMEOUT_MS - 1_000)).await;
    leave(answer).await;
    sleep(Duration::from_millis(999)).await;
    assert!(host.cancelled().is_empty());
    sleep(Duration::from_millis(2)).await;
    assert_eq!(
        host.cancelled(),
        [(taken.token.number(), CancelReason::Deadline)]
    );
    assert!(!host.calls().is_open(taken.token.number()));
    drop(taken);
    assert!(host.is_idle());
}

/// A runtime that goes away takes its tasks with it: nothing may panic then.
#[test]
fn the_end_of_the_runtime_is_a_disconnect_for_everybody() {
    let host = TestHost::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let taken = runtime.block_on(async {
        let (_, legacy) = legacy_call_taken(&host).await;
        modern(&host, &endpoint(false));
        (legacy, host.taken().await)
    });
    drop(runtime);
    drop(taken);
    assert!(host.is_idle());
}

//! A client that leaves: cancellation in the modern era (HTTP-20, A-28), none in the legacy one (LHT-8).

use std::{sync::Arc, time::Duration};

use mcp_driver::{CancelReason, Host};
use mcp_protocol::Answer;
use serde_json::json;
use tokio::{task::JoinHandle, time::sleep};

use crate::harness::{
    Application, CALL_TIMEOUT_MS, Worker, endpoint, found, in_session, legacy_call, modern, text,
};

/// Drops the future that serves a request, as a listener does when its connection ends.
async fn leave(answer: JoinHandle<Answer>) {
    answer.abort();
    assert!(answer.await.unwrap_err().is_cancelled());
}

async fn legacy_call_taken(
    application: &Arc<Application>,
) -> (JoinHandle<Answer>, mcp_driver::Accepted<Worker>) {
    let answer = in_session(application, "POST", &legacy_call(json!(1)));
    application.taken().await.token.reply(found());
    let job = application.taken().await;
    (answer, job)
}

#[tokio::test(start_paused = true)]
async fn a_modern_call_is_cancelled_with_its_connection() {
    let application = Application::new();
    let answer = modern(&application, &endpoint(false));
    let job = application.taken().await;
    leave(answer).await;
    assert_eq!(
        application.cancelled(),
        [(job.token.number(), CancelReason::Gone)]
    );
    assert!(!application.calls().is_open(job.token.number()) && !job.token.reply(text("too late")));
    drop(job);
    application.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn a_call_that_nobody_took_yet_is_never_taken() {
    let application = Application::new();
    let answer = modern(&application, &endpoint(false));
    let job = application.job().await;
    leave(answer).await;
    assert!(application.accept(job).is_none());
    application.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn hooks_end_with_the_connection_in_both_eras() {
    let application = Application::new();
    for era in ["modern", "legacy"] {
        let answer = match era {
            "modern" => modern(&application, &endpoint(true)),
            _ => in_session(&application, "POST", &legacy_call(json!(1))),
        };
        let job = application.taken().await;
        leave(answer).await;
        let told = (job.token.number(), CancelReason::Gone);
        assert_eq!(application.cancelled().last(), Some(&told), "{era}");
    }
    application.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn a_legacy_call_goes_on_to_its_end() {
    let application = Application::new();
    let (answer, job) = legacy_call_taken(&application).await;
    leave(answer).await;
    sleep(Duration::from_millis(CALL_TIMEOUT_MS / 2)).await;
    assert!(application.cancelled().is_empty() && application.calls().is_open(job.token.number()));
    job.token.reply(text("nobody reads this"));
    drop(job);
    application.assert_idle();
    sleep(Duration::from_millis(CALL_TIMEOUT_MS)).await;
    assert!(
        application.cancelled().is_empty(),
        "what ended is not told to stop"
    );
}

/// The deadline is counted from the call's start, not from the client's leaving.
#[tokio::test(start_paused = true)]
async fn a_legacy_call_left_behind_keeps_its_deadline() {
    let application = Application::new();
    let (answer, job) = legacy_call_taken(&application).await;
    sleep(Duration::from_millis(CALL_TIMEOUT_MS - 1_000)).await;
    leave(answer).await;
    sleep(Duration::from_millis(999)).await;
    assert!(application.cancelled().is_empty());
    sleep(Duration::from_millis(2)).await;
    assert_eq!(
        application.cancelled(),
        [(job.token.number(), CancelReason::Deadline)]
    );
    assert!(!application.calls().is_open(job.token.number()));
    drop(job);
    application.assert_idle();
}

/// A runtime that goes away takes its tasks with it: nothing may panic then.
#[test]
fn the_end_of_the_runtime_is_a_disconnect_for_everybody() {
    let application = Application::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let jobs = runtime.block_on(async {
        let (_, legacy) = legacy_call_taken(&application).await;
        modern(&application, &endpoint(false));
        (legacy, application.taken().await)
    });
    drop(runtime);
    drop(jobs);
    application.assert_idle();
}

//! Deadlines, on a clock that stands still until everybody waits.

use std::time::Duration;

use mcp_driver::{CancelReason, Host};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::harness::{
    Application, CALL_TIMEOUT_MS, HOOK_TIMEOUT_MS, call, endpoint, in_session, legacy_call, line,
    modern, pipe, said, text,
};

fn elapsed_ms(start: Instant) -> u64 {
    start.elapsed().as_millis() as u64
}

#[tokio::test(start_paused = true)]
async fn a_call_past_its_deadline_fails_and_is_told() {
    let application = Application::new();
    let start = Instant::now();
    let answer = line(&application, &pipe(1, None), &call(json!(1)));
    let job = application.taken().await;
    let answer = answer.await.unwrap();
    assert_eq!(
        (said(&answer), elapsed_ms(start)),
        ("The tool failed.".into(), CALL_TIMEOUT_MS)
    );
    assert!(
        answer
            .summary
            .host_fault
            .unwrap()
            .contains("call_timeout_ms")
    );
    assert_eq!(
        application.cancelled(),
        [(job.token.number(), CancelReason::Deadline)]
    );
    assert!(!job.token.reply(text("too late")));
    drop(job);
    application.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn an_answer_just_in_time_counts() {
    let application = Application::new();
    let answer = line(&application, &pipe(1, None), &call(json!(1)));
    let job = application.taken().await;
    sleep(Duration::from_millis(CALL_TIMEOUT_MS - 1)).await;
    assert!(job.token.reply(text("in time")));
    assert_eq!(said(&answer.await.unwrap()), "in time");
    assert!(application.cancelled().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_late_call_keeps_its_place_and_frees_its_id() {
    let application = Application::limited(2, 2);
    let pipe = pipe(1, Some("alice"));
    let answer = line(&application, &pipe, &call(json!(1)));
    let late = application.taken().await;
    answer.await.unwrap();
    assert_eq!(
        application.calls().in_flight(),
        1,
        "work that still runs stays counted"
    );
    let again = line(&application, &pipe, &call(json!(1)));
    let job = application.taken().await;
    assert_eq!(
        said(&line(&application, &pipe, &call(json!(2))).await.unwrap()),
        "-31503"
    );
    drop(late);
    job.token.reply(text("again"));
    assert_eq!(said(&again.await.unwrap()), "again");
    drop(job);
    application.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn a_job_that_nobody_took_in_time_is_gone() {
    let application = Application::new();
    let answer = line(&application, &pipe(1, None), &call(json!(1)));
    let job = application.job().await;
    assert_eq!(said(&answer.await.unwrap()), "The tool failed.");
    assert!(application.accept(job).is_none());
    application.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn hooks_and_stores_have_less_time() {
    let application = Application::new();
    for stage in ["authorize", "session"] {
        let start = Instant::now();
        let answer = match stage {
            "authorize" => modern(&application, &endpoint(true)),
            _ => in_session(&application, "POST", &legacy_call(json!(1))),
        };
        let job = application.taken().await;
        let answer = answer.await.unwrap();
        assert_eq!(
            (answer.status, said(&answer)),
            (503, "-32603".into()),
            "{stage}"
        );
        assert_eq!(elapsed_ms(start), HOOK_TIMEOUT_MS);
        drop(job);
    }
    application.assert_idle();
}

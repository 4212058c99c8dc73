//! Deadlines, on a clock that stands still until everybody waits.

use std::time::Duration;

use mcp_driver::{CancelReason, Host};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::harness::{
    CALL_TIMEOUT_MS, HOOK_TIMEOUT_MS, call, endpoint, in_session, legacy_call, limited, line,
    modern, pipe, said, text,
};
use mcp_testing::TestHost;

fn elapsed_ms(start: Instant) -> u64 {
    start.elapsed().as_millis() as u64
}

#[tokio::test(start_paused = true)]
async fn a_call_past_its_deadline_fails_and_is_told() {
    let host = TestHost::new();
    let start = Instant::now();
    let answer = line(&host, &pipe(1, None), &call(json!(1)));
    let taken = host.taken().await;
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
        host.cancelled(),
        [(taken.token.number(), CancelReason::Deadline)]
    );
    assert!(!taken.token.reply(text("too late")));
    drop(taken);
    assert!(host.is_idle());
}

#[tokio::test(start_paused = true)]
async fn an_answer_just_in_time_counts() {
    let host = TestHost::new();
    let answer = line(&host, &pipe(1, None), &call(json!(1)));
    let taken = host.taken().await;
    sleep(Duration::from_millis(CALL_TIMEOUT_MS - 1)).await;
    assert!(taken.token.reply(text("in time")));
    assert_eq!(said(&answer.await.unwrap()), "in time");
    assert!(host.cancelled().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_late_call_keeps_its_place_and_frees_its_id() {
    let host = limited(2, 2);
    let pipe = pipe(1, Some("alice"));
    let answer = line(&host, &pipe, &call(json!(1)));
    let late = host.taken().await;
    answer.await.unwrap();
    assert_eq!(
        host.calls().in_flight(),
        1,
        "work that still runs stays counted"
    );
    let again = line(&host, &pipe, &call(json!(1)));
    let taken = host.taken().await;
    assert_eq!(
        said(&line(&host, &pipe, &call(json!(2))).await.unwrap()),
        "-31503"
    );
    drop(late);
    taken.token.reply(text("again"));
    assert_eq!(said(&again.await.unwrap()), "again");
    drop(taken);
    assert!(host.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_nobody_took_in_time_is_gone() {
    let host = TestHost::new();
    let answer = line(&host, &pipe(1, None), &call(json!(1)));
    let number = host.next().await;
    assert_eq!(said(&answer.await.unwrap()), "The tool failed.");
    assert!(host.accept(number).is_none());
    assert!(host.is_idle());
}

#[tokio::test(start_paused = true)]
async fn hooks_and_stores_have_less_time() {
    let host = TestHost::new();
    for stage in ["authorize", "session"] {
        let start = Instant::now();
        let answer = match stage {
            "authorize" => modern(&host, &endpoint(true)),
            _ => in_session(&host, "POST", &legacy_call(json!(1))),
        };
        let taken = host.taken().await;
        let answer = answer.await.unwrap();
        assert_eq!(
            (answer.status, said(&answer)),
            (503, "-32603".into()),
            "{stage}"
        );
        assert_eq!(elapsed_ms(start), HOOK_TIMEOUT_MS);
        drop(taken);
    }
    assert!(host.is_idle());
}

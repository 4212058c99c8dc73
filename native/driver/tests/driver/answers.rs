//! A call is answered once: by its token, by its death, or by that of whoever took it.

use mcp_driver::{Acceptance, Host, Route};
use mcp_protocol::Ask;
use serde_json::json;

use crate::harness::{accepted, call, endpoint, line, modern, pipe, said, text};
use mcp_testing::{TestHost, Worker};

const FAILED: &str = "The tool failed.";

#[tokio::test]
async fn a_reply_reaches_the_client_and_leaves_nothing_behind() {
    let host = TestHost::new();
    let answer = line(&host, &pipe(1, None), &call(json!(1)));
    let taken = host.taken().await;
    assert!(matches!(&taken.ask, Ask::Call(call) if **call.target.name() == *"hold"));
    assert_eq!((host.calls().in_flight(), host.calls().tokens()), (1, 1));
    assert!(host.calls().is_open(taken.token.number()) && taken.token.reply(text("one")));
    assert_eq!(said(&answer.await.unwrap()), "one");
    drop(taken);
    assert!(host.is_idle());
}

#[tokio::test]
async fn a_second_reply_reaches_nobody() {
    let host = TestHost::new();
    let answer = line(&host, &pipe(1, None), &call(json!(1)));
    let taken = host.taken().await;
    assert!(taken.token.reply(text("first")));
    assert!(!host.calls().is_open(taken.token.number()) && !taken.token.reply(text("second")));
    assert_eq!(said(&answer.await.unwrap()), "first");
}

#[tokio::test]
async fn a_dropped_token_fails_the_call() {
    let host = TestHost::new();
    let answer = line(&host, &pipe(1, None), &call(json!(1)));
    drop(host.taken().await);
    assert_eq!(said(&answer.await.unwrap()), FAILED);
    assert!(host.is_idle());
}

#[tokio::test]
async fn a_dead_process_fails_the_call_before_and_after_it_took_it() {
    let host = TestHost::new();
    let answer = line(&host, &pipe(1, None), &call(json!(1)));
    let number = host.next().await;
    host.calls().fail(number);
    assert_eq!(said(&answer.await.unwrap()), FAILED);
    assert!(host.accept(number).is_none());

    let answer = line(&host, &pipe(1, None), &call(json!(1)));
    let taken = host.taken().await;
    host.calls().fail(taken.token.number());
    assert!(!taken.token.reply(text("too late")));
    assert_eq!(said(&answer.await.unwrap()), FAILED);
    drop(taken);
    assert!(host.is_idle());
}

#[tokio::test]
async fn a_call_is_taken_once_and_only_by_who_wants_it() {
    let host = TestHost::new();
    let answer = line(&host, &pipe(1, None), &call(json!(1)));
    let number = host.next().await;
    let unwanted = host.calls().accept(number, Worker, |ask| {
        assert!(matches!(ask, Ask::Call(_)));
        false
    });
    assert!(matches!(unwanted, Acceptance::Declined));
    let first = host.accept(number).unwrap();
    assert!(host.accept(number).is_none());
    assert_eq!(host.calls().workers(), [Worker]);
    first.token.reply(text("one"));
    drop(first);
    assert_eq!(said(&answer.await.unwrap()), "one");
    assert!(host.accept(number).is_none());
    assert!(host.accept(12_345).is_none());
}

#[tokio::test]
async fn a_dead_dispatcher_fails_only_the_calls_it_had_not_handed_on() {
    let host = TestHost::new();
    let first = line(&host, &pipe(1, None), &call(json!(1)));
    let untaken = line(&host, &pipe(1, None), &call(json!(2)));
    let (first_call, _) = (host.taken().await, host.next().await);
    host.set_route(Some(Route(1)));
    let other = line(&host, &pipe(1, None), &call(json!(3)));
    let other_number = host.next().await;

    host.calls().fail_route(Route(0));
    assert_eq!(said(&untaken.await.unwrap()), FAILED);
    assert!(first_call.token.reply(text("alive")));
    assert_eq!(said(&first.await.unwrap()), "alive");
    let other_call = host.accept(other_number).expect("it still waits");
    assert!(other_call.token.reply(text("elsewhere")));
    assert_eq!(said(&other.await.unwrap()), "elsewhere");
    drop((first_call, other_call));
    assert!(host.is_idle());
}

#[tokio::test]
async fn without_a_dispatcher_nothing_is_handed_over() {
    let host = TestHost::new();
    host.set_route(None);
    let answer = line(&host, &pipe(1, None), &call(json!(1)));
    assert_eq!(said(&answer.await.unwrap()), FAILED);
    assert!(host.is_idle());
}

#[tokio::test]
async fn hooks_wait_like_calls() {
    let host = TestHost::new();
    let answer = modern(&host, &endpoint(true));
    let hook = host.taken().await;
    assert!(matches!(hook.ask, Ask::Authorize { .. }));
    assert!(hook.token.reply(accepted()));
    let taken = host.taken().await;
    taken.token.reply(text("let in"));
    assert_eq!(said(&answer.await.unwrap()), "let in");

    let answer = modern(&host, &endpoint(true));
    drop(host.taken().await);
    let answer = answer.await.unwrap();
    assert_eq!((answer.status, said(&answer)), (500, "-32603".into()));
}

#[tokio::test]
async fn numbers_are_never_used_again() {
    let host = TestHost::new();
    let mut seen = Vec::new();
    for _ in 0..3 {
        let answer = line(&host, &pipe(1, None), &call(json!(1)));
        let taken = host.taken().await;
        taken.token.reply(text("one"));
        seen.push(taken.token.number());
        answer.await.unwrap();
    }
    seen.dedup();
    assert_eq!(seen.len(), 3);
}

//! Cancelling by message (MCP basic/utilities/cancellation): by id, by scope, before and after a taken was taken.

use mcp_driver::{CancelReason, Host};
use serde_json::json;

use crate::harness::{call, cancel, found, in_session, legacy_call, line, pipe, said, text};
use mcp_testing::TestHost;

#[tokio::test]
async fn a_cancelled_call_is_told_and_sends_nothing() {
    let host = TestHost::new();
    let answer = line(&host, &pipe(1, None), &call(json!(0)));
    let taken = host.taken().await;
    assert_eq!(
        said(
            &line(&host, &pipe(1, None), &cancel(json!(0)))
                .await
                .unwrap()
        ),
        "nothing"
    );
    assert_eq!(said(&answer.await.unwrap()), "nothing");
    assert_eq!(
        host.cancelled(),
        [(taken.token.number(), CancelReason::Cancelled)]
    );
    assert_eq!(host.calls().in_flight(), 1, "it still runs");
    assert!(!host.calls().is_open(taken.token.number()) && !taken.token.reply(text("too late")));
    drop(taken);
    assert!(host.is_idle());
}

#[tokio::test]
async fn a_call_cancelled_before_it_was_taken_is_never_taken() {
    let host = TestHost::new();
    let answer = line(&host, &pipe(1, None), &call(json!(1)));
    let number = host.next().await;
    line(&host, &pipe(1, None), &cancel(json!(1)))
        .await
        .unwrap();
    assert_eq!(said(&answer.await.unwrap()), "nothing");
    assert!(host.accept(number).is_none());
    assert!(host.is_idle());
}

#[tokio::test]
async fn ids_of_other_types_pipes_and_eras_are_out_of_reach() {
    let host = TestHost::new();
    let answer = line(&host, &pipe(1, None), &call(json!(1)));
    let taken = host.taken().await;
    for (number, id) in [(1, json!("1")), (1, json!(2)), (2, json!(1))] {
        line(&host, &pipe(number, None), &cancel(id)).await.unwrap();
    }
    let by_session = in_session(&host, "POST", &cancel(json!(1)));
    host.taken().await.token.reply(found());
    assert_eq!(by_session.await.unwrap().status, 202);
    assert!(host.cancelled().is_empty() && host.calls().is_open(taken.token.number()));
    taken.token.reply(text("alive"));
    assert_eq!(said(&answer.await.unwrap()), "alive");
}

#[tokio::test]
async fn a_second_cancellation_finds_nothing() {
    let host = TestHost::new();
    let answer = line(&host, &pipe(1, None), &call(json!(1)));
    let taken = host.taken().await;
    for _ in 0..2 {
        line(&host, &pipe(1, None), &cancel(json!(1)))
            .await
            .unwrap();
    }
    answer.await.unwrap();
    assert_eq!(host.cancelled().len(), 1);
    drop(taken);
    assert!(host.is_idle());
}

/// RPC-4: a cancelled request is over for its client, although its handler still runs.
#[tokio::test]
async fn the_id_of_a_cancelled_call_is_free_again() {
    let host = TestHost::new();
    let first = line(&host, &pipe(1, None), &call(json!(1)));
    let stubborn = host.taken().await;
    line(&host, &pipe(1, None), &cancel(json!(1)))
        .await
        .unwrap();
    first.await.unwrap();
    let second = line(&host, &pipe(1, None), &call(json!(1)));
    let taken = host.taken().await;
    drop(stubborn);
    line(&host, &pipe(1, None), &cancel(json!(1)))
        .await
        .unwrap();
    assert_eq!(
        said(&second.await.unwrap()),
        "nothing",
        "the second call is found under the id"
    );
    drop(taken);
    assert!(host.is_idle());
}

/// LHT-44: DELETE ends what runs in the session, and nothing else.
#[tokio::test]
async fn the_end_of_a_session_cancels_all_of_it() {
    let host = TestHost::new();
    let mut answers = Vec::new();
    let mut taken_calls = Vec::new();
    for id in [json!(1), json!("1")] {
        answers.push(in_session(&host, "POST", &legacy_call(id)));
        host.taken().await.token.reply(found());
        taken_calls.push(host.taken().await);
    }
    let elsewhere = line(&host, &pipe(1, None), &call(json!(1)));
    let survivor = host.taken().await;

    let deleted = in_session(&host, "DELETE", &json!(null));
    host.taken().await.token.reply(found());
    let deleting = host.taken().await;
    deleting.token.reply(mcp_protocol::Input::Session(
        mcp_protocol::SessionAnswer::Deleted,
    ));
    assert_eq!(deleted.await.unwrap().status, 204);
    for answer in answers {
        assert_eq!(said(&answer.await.unwrap()), "nothing");
    }
    assert_eq!(host.cancelled().len(), 2);
    assert!(survivor.token.reply(text("alive")));
    assert_eq!(said(&elsewhere.await.unwrap()), "alive");
    drop((taken_calls, survivor, deleting));
    assert!(host.is_idle());
}

//! Cancelling by message (MCP basic/utilities/cancellation): by id, by scope, before and after a job was taken.

use mcp_driver::{CancelReason, Host};
use serde_json::json;

use crate::harness::{
    Application, call, cancel, found, in_session, legacy_call, line, pipe, said, text,
};

#[tokio::test]
async fn a_cancelled_call_is_told_and_sends_nothing() {
    let application = Application::new();
    let answer = line(&application, &pipe(1, None), &call(json!(0)));
    let job = application.taken().await;
    assert_eq!(
        said(
            &line(&application, &pipe(1, None), &cancel(json!(0)))
                .await
                .unwrap()
        ),
        "nothing"
    );
    assert_eq!(said(&answer.await.unwrap()), "nothing");
    assert_eq!(
        application.cancelled(),
        [(job.token.number(), CancelReason::Cancelled)]
    );
    assert_eq!(application.calls().in_flight(), 1, "it still runs");
    assert!(!application.calls().is_open(job.token.number()) && !job.token.reply(text("too late")));
    drop(job);
    application.assert_idle();
}

#[tokio::test]
async fn a_call_cancelled_before_it_was_taken_is_never_taken() {
    let application = Application::new();
    let answer = line(&application, &pipe(1, None), &call(json!(1)));
    let job = application.job().await;
    line(&application, &pipe(1, None), &cancel(json!(1)))
        .await
        .unwrap();
    assert_eq!(said(&answer.await.unwrap()), "nothing");
    assert!(application.accept(job).is_none());
    application.assert_idle();
}

#[tokio::test]
async fn ids_of_other_types_pipes_and_eras_are_out_of_reach() {
    let application = Application::new();
    let answer = line(&application, &pipe(1, None), &call(json!(1)));
    let job = application.taken().await;
    for (number, id) in [(1, json!("1")), (1, json!(2)), (2, json!(1))] {
        line(&application, &pipe(number, None), &cancel(id))
            .await
            .unwrap();
    }
    let by_session = in_session(&application, "POST", &cancel(json!(1)));
    application.taken().await.token.reply(found());
    assert_eq!(by_session.await.unwrap().status, 202);
    assert!(application.cancelled().is_empty() && application.calls().is_open(job.token.number()));
    job.token.reply(text("alive"));
    assert_eq!(said(&answer.await.unwrap()), "alive");
}

#[tokio::test]
async fn a_second_cancellation_finds_nothing() {
    let application = Application::new();
    let answer = line(&application, &pipe(1, None), &call(json!(1)));
    let job = application.taken().await;
    for _ in 0..2 {
        line(&application, &pipe(1, None), &cancel(json!(1)))
            .await
            .unwrap();
    }
    answer.await.unwrap();
    assert_eq!(application.cancelled().len(), 1);
    drop(job);
    application.assert_idle();
}

/// RPC-4: a cancelled request is over for its client, although its handler still runs.
#[tokio::test]
async fn the_id_of_a_cancelled_call_is_free_again() {
    let application = Application::new();
    let first = line(&application, &pipe(1, None), &call(json!(1)));
    let stubborn = application.taken().await;
    line(&application, &pipe(1, None), &cancel(json!(1)))
        .await
        .unwrap();
    first.await.unwrap();
    let second = line(&application, &pipe(1, None), &call(json!(1)));
    let job = application.taken().await;
    drop(stubborn);
    line(&application, &pipe(1, None), &cancel(json!(1)))
        .await
        .unwrap();
    assert_eq!(
        said(&second.await.unwrap()),
        "nothing",
        "the second call is found under the id"
    );
    drop(job);
    application.assert_idle();
}

/// LHT-44: DELETE ends what runs in the session, and nothing else.
#[tokio::test]
async fn the_end_of_a_session_cancels_all_of_it() {
    let application = Application::new();
    let mut answers = Vec::new();
    let mut jobs = Vec::new();
    for id in [json!(1), json!("1")] {
        answers.push(in_session(&application, "POST", &legacy_call(id)));
        application.taken().await.token.reply(found());
        jobs.push(application.taken().await);
    }
    let elsewhere = line(&application, &pipe(1, None), &call(json!(1)));
    let survivor = application.taken().await;

    let deleted = in_session(&application, "DELETE", &json!(null));
    application.taken().await.token.reply(found());
    let deleting = application.taken().await;
    deleting.token.reply(mcp_protocol::Input::Session(
        mcp_protocol::SessionAnswer::Deleted,
    ));
    assert_eq!(deleted.await.unwrap().status, 204);
    for answer in answers {
        assert_eq!(said(&answer.await.unwrap()), "nothing");
    }
    assert_eq!(application.cancelled().len(), 2);
    assert!(survivor.token.reply(text("alive")));
    assert_eq!(said(&elsewhere.await.unwrap()), "alive");
    drop((jobs, survivor, deleting));
    application.assert_idle();
}

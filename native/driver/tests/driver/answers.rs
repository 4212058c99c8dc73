//! A job is answered once: by its token, by its death, or by that of whoever took it.

use mcp_driver::{Acceptance, Host, Route};
use mcp_protocol::Ask;
use serde_json::json;

use crate::harness::{
    Application, Worker, accepted, call, endpoint, line, modern, pipe, said, text,
};

const FAILED: &str = "The tool failed.";

#[tokio::test]
async fn a_reply_reaches_the_client_and_leaves_nothing_behind() {
    let application = Application::new();
    let answer = line(&application, &pipe(1, None), &call(json!(1)));
    let job = application.taken().await;
    assert!(matches!(&job.ask, Ask::Call(call) if **call.target.name() == *"tool"));
    assert_eq!(
        (
            application.calls().in_flight(),
            application.calls().tokens()
        ),
        (1, 1)
    );
    assert!(application.calls().is_open(job.token.number()) && job.token.reply(text("one")));
    assert_eq!(said(&answer.await.unwrap()), "one");
    drop(job);
    application.assert_idle();
}

#[tokio::test]
async fn a_second_reply_reaches_nobody() {
    let application = Application::new();
    let answer = line(&application, &pipe(1, None), &call(json!(1)));
    let job = application.taken().await;
    assert!(job.token.reply(text("first")));
    assert!(!application.calls().is_open(job.token.number()) && !job.token.reply(text("second")));
    assert_eq!(said(&answer.await.unwrap()), "first");
}

#[tokio::test]
async fn a_dropped_token_fails_the_call() {
    let application = Application::new();
    let answer = line(&application, &pipe(1, None), &call(json!(1)));
    drop(application.taken().await);
    assert_eq!(said(&answer.await.unwrap()), FAILED);
    application.assert_idle();
}

#[tokio::test]
async fn a_dead_process_fails_the_call_before_and_after_it_took_it() {
    let application = Application::new();
    let answer = line(&application, &pipe(1, None), &call(json!(1)));
    let job = application.job().await;
    application.calls().fail(job);
    assert_eq!(said(&answer.await.unwrap()), FAILED);
    assert!(application.accept(job).is_none());

    let answer = line(&application, &pipe(1, None), &call(json!(1)));
    let job = application.taken().await;
    application.calls().fail(job.token.number());
    assert!(!job.token.reply(text("too late")));
    assert_eq!(said(&answer.await.unwrap()), FAILED);
    drop(job);
    application.assert_idle();
}

#[tokio::test]
async fn a_job_is_taken_once_and_only_by_who_wants_it() {
    let application = Application::new();
    let answer = line(&application, &pipe(1, None), &call(json!(1)));
    let job = application.job().await;
    let unwanted = application.calls().accept(job, Worker, |ask| {
        assert!(matches!(ask, Ask::Call(_)));
        false
    });
    assert!(matches!(unwanted, Acceptance::Declined));
    let first = application.accept(job).unwrap();
    assert!(application.accept(job).is_none());
    assert_eq!(application.calls().workers(), [Worker]);
    first.token.reply(text("one"));
    drop(first);
    assert_eq!(said(&answer.await.unwrap()), "one");
    assert!(application.accept(job).is_none());
    assert!(application.accept(12_345).is_none());
}

#[tokio::test]
async fn a_dead_dispatcher_fails_only_the_jobs_it_had_not_handed_on() {
    let application = Application::new();
    let first = line(&application, &pipe(1, None), &call(json!(1)));
    let untaken = line(&application, &pipe(1, None), &call(json!(2)));
    let (first_job, _) = (application.taken().await, application.job().await);
    *application.route.lock().unwrap() = Some(Route(1));
    let other = line(&application, &pipe(1, None), &call(json!(3)));
    let other_job = application.job().await;

    application.calls().fail_route(Route(0));
    assert_eq!(said(&untaken.await.unwrap()), FAILED);
    assert!(first_job.token.reply(text("alive")));
    assert_eq!(said(&first.await.unwrap()), "alive");
    let other_job = application.accept(other_job).expect("it still waits");
    assert!(other_job.token.reply(text("elsewhere")));
    assert_eq!(said(&other.await.unwrap()), "elsewhere");
    drop((first_job, other_job));
    application.assert_idle();
}

#[tokio::test]
async fn without_a_dispatcher_nothing_is_handed_over() {
    let application = Application::new();
    *application.route.lock().unwrap() = None;
    let answer = line(&application, &pipe(1, None), &call(json!(1)));
    assert_eq!(said(&answer.await.unwrap()), FAILED);
    application.assert_idle();
}

#[tokio::test]
async fn hooks_are_jobs_like_calls() {
    let application = Application::new();
    let answer = modern(&application, &endpoint(true));
    let hook = application.taken().await;
    assert!(matches!(hook.ask, Ask::Authorize { .. }));
    assert!(hook.token.reply(accepted()));
    let job = application.taken().await;
    job.token.reply(text("let in"));
    assert_eq!(said(&answer.await.unwrap()), "let in");

    let answer = modern(&application, &endpoint(true));
    drop(application.taken().await);
    let answer = answer.await.unwrap();
    assert_eq!((answer.status, said(&answer)), (500, "-32603".into()));
}

#[tokio::test]
async fn numbers_are_never_used_again() {
    let application = Application::new();
    let mut seen = Vec::new();
    for _ in 0..3 {
        let answer = line(&application, &pipe(1, None), &call(json!(1)));
        let job = application.taken().await;
        job.token.reply(text("one"));
        seen.push(job.token.number());
        answer.await.unwrap();
    }
    seen.dedup();
    assert_eq!(seen.len(), 3);
}

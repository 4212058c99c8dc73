//! What is refused before the application hears of it (D8), and when room is made again.

use mcp_driver::Host;
use mcp_protocol::Pipe;
use serde_json::{Value, json};

use crate::harness::{Application, call, endpoint, legacy_call, line, modern, pipe, said, text};

const BUSY: &str = "-31503";
const PRINCIPAL_BUSY: &str = "-31429";
const DUPLICATE: &str = "-32600";

async fn refused(application: &std::sync::Arc<Application>, pipe: &Pipe, message: Value) -> String {
    said(&line(application, pipe, &message).await.unwrap())
}

#[tokio::test]
async fn a_full_instance_is_busy_until_a_call_ends() {
    let application = Application::limited(2, 2);
    let pipe = pipe(1, None);
    let first = line(&application, &pipe, &call(json!(1)));
    let second = line(&application, &pipe, &call(json!(2)));
    let (one, two) = (application.taken().await, application.taken().await);
    assert_eq!(refused(&application, &pipe, call(json!(3))).await, BUSY);
    assert_eq!(application.calls().in_flight(), 2);

    one.token.reply(text("one"));
    let third = line(&application, &pipe, &call(json!(3)));
    application.taken().await.token.reply(text("three"));
    two.token.reply(text("two"));
    for (answer, expected) in [(first, "one"), (second, "two"), (third, "three")] {
        assert_eq!(said(&answer.await.unwrap()), expected);
    }
    drop((one, two));
    application.assert_idle();
}

#[tokio::test]
async fn a_principal_has_a_limit_of_its_own() {
    let application = Application::limited(10, 1);
    let (alice, bob) = (pipe(1, Some("alice")), pipe(2, Some("bob")));
    let first = line(&application, &alice, &call(json!(1)));
    let job = application.taken().await;
    assert_eq!(
        refused(&application, &alice, call(json!(2))).await,
        PRINCIPAL_BUSY
    );
    assert_eq!(
        refused(&application, &pipe(3, Some("alice")), call(json!(1))).await,
        PRINCIPAL_BUSY
    );

    let other = line(&application, &bob, &call(json!(1)));
    application.taken().await.token.reply(text("bob's"));
    assert_eq!(said(&other.await.unwrap()), "bob's");
    job.token.reply(text("alice's"));
    assert_eq!(said(&first.await.unwrap()), "alice's");

    let again = line(&application, &alice, &call(json!(2)));
    application.taken().await.token.reply(text("again"));
    assert_eq!(said(&again.await.unwrap()), "again");
    drop(job);
    application.assert_idle();
}

#[tokio::test]
async fn callers_without_a_name_share_the_instances_limit_only() {
    let application = Application::limited(10, 1);
    let answers = [1, 2, 3].map(|id| line(&application, &pipe(1, None), &call(json!(id))));
    for answer in answers {
        application.taken().await.token.reply(text("served"));
        assert_eq!(said(&answer.await.unwrap()), "served");
    }
}

/// an id is unique within its pipe or session while its request runs; types count.
#[tokio::test]
async fn an_id_in_flight_is_refused_within_its_scope() {
    let application = Application::new();
    let first = line(&application, &pipe(1, None), &call(json!(1)));
    let job = application.taken().await;
    assert_eq!(
        refused(&application, &pipe(1, None), call(json!(1))).await,
        DUPLICATE
    );
    assert_eq!(
        refused(&application, &pipe(1, None), legacy_call(json!(1))).await,
        DUPLICATE
    );
    assert_eq!(application.calls().in_flight(), 1);

    let others = [
        line(&application, &pipe(1, None), &call(json!("1"))),
        line(&application, &pipe(2, None), &call(json!(1))),
        modern(&application, &endpoint(false)),
        modern(&application, &endpoint(false)),
    ];
    for other in others {
        application.taken().await.token.reply(text("another"));
        assert_eq!(said(&other.await.unwrap()), "another");
    }
    job.token.reply(text("first"));
    assert_eq!(said(&first.await.unwrap()), "first");
    let again = line(&application, &pipe(1, None), &call(json!(1)));
    application.taken().await.token.reply(text("again"));
    assert_eq!(said(&again.await.unwrap()), "again");
}

#[tokio::test]
async fn a_refused_request_costs_no_room() {
    let application = Application::limited(2, 1);
    let alice = pipe(1, Some("alice"));
    let first = line(&application, &alice, &call(json!(1)));
    let job = application.taken().await;
    for _ in 0..10 {
        assert_eq!(
            refused(&application, &alice, call(json!(2))).await,
            PRINCIPAL_BUSY
        );
    }
    let other = line(&application, &pipe(2, None), &call(json!(1)));
    let second = application.taken().await;
    for _ in 0..10 {
        assert_eq!(
            refused(&application, &pipe(2, None), call(json!(1))).await,
            BUSY
        );
    }
    job.token.reply(text("one"));
    second.token.reply(text("two"));
    assert_eq!(
        (said(&first.await.unwrap()), said(&other.await.unwrap())),
        ("one".into(), "two".into())
    );
    drop((job, second));
    application.assert_idle();
}

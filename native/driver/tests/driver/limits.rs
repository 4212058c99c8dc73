//! What is refused before the host hears of it (D8), and when room is made again.

use mcp_driver::Host;
use mcp_protocol::Pipe;
use serde_json::{Value, json};

use crate::harness::{call, endpoint, legacy_call, limited, line, modern, pipe, said, text};
use mcp_testing::TestHost;

const BUSY: &str = "-31503";
const PRINCIPAL_BUSY: &str = "-31429";
const DUPLICATE: &str = "-32600";

async fn refused(host: &std::sync::Arc<TestHost>, pipe: &Pipe, message: Value) -> String {
    said(&line(host, pipe, &message).await.unwrap())
}

#[tokio::test]
async fn a_full_instance_is_busy_until_a_call_ends() {
    let host = limited(2, 2);
    let pipe = pipe(1, None);
    let first = line(&host, &pipe, &call(json!(1)));
    let second = line(&host, &pipe, &call(json!(2)));
    let (one, two) = (host.taken().await, host.taken().await);
    assert_eq!(refused(&host, &pipe, call(json!(3))).await, BUSY);
    assert_eq!(host.calls().in_flight(), 2);

    one.token.reply(text("one"));
    let third = line(&host, &pipe, &call(json!(3)));
    host.taken().await.token.reply(text("three"));
    two.token.reply(text("two"));
    for (answer, expected) in [(first, "one"), (second, "two"), (third, "three")] {
        assert_eq!(said(&answer.await.unwrap()), expected);
    }
    drop((one, two));
    assert!(host.is_idle());
}

#[tokio::test]
async fn a_principal_has_a_limit_of_its_own() {
    let host = limited(10, 1);
    let (alice, bob) = (pipe(1, Some("alice")), pipe(2, Some("bob")));
    let first = line(&host, &alice, &call(json!(1)));
    let taken = host.taken().await;
    assert_eq!(refused(&host, &alice, call(json!(2))).await, PRINCIPAL_BUSY);
    assert_eq!(
        refused(&host, &pipe(3, Some("alice")), call(json!(1))).await,
        PRINCIPAL_BUSY
    );

    let other = line(&host, &bob, &call(json!(1)));
    host.taken().await.token.reply(text("bob's"));
    assert_eq!(said(&other.await.unwrap()), "bob's");
    taken.token.reply(text("alice's"));
    assert_eq!(said(&first.await.unwrap()), "alice's");

    let again = line(&host, &alice, &call(json!(2)));
    host.taken().await.token.reply(text("again"));
    assert_eq!(said(&again.await.unwrap()), "again");
    drop(taken);
    assert!(host.is_idle());
}

#[tokio::test]
async fn callers_without_a_name_share_the_instances_limit_only() {
    let host = limited(10, 1);
    let answers = [1, 2, 3].map(|id| line(&host, &pipe(1, None), &call(json!(id))));
    for answer in answers {
        host.taken().await.token.reply(text("served"));
        assert_eq!(said(&answer.await.unwrap()), "served");
    }
}

/// an id is unique within its pipe or session while its request runs; types count.
#[tokio::test]
async fn an_id_in_flight_is_refused_within_its_scope() {
    let host = TestHost::new();
    let first = line(&host, &pipe(1, None), &call(json!(1)));
    let taken = host.taken().await;
    assert_eq!(
        refused(&host, &pipe(1, None), call(json!(1))).await,
        DUPLICATE
    );
    assert_eq!(
        refused(&host, &pipe(1, None), legacy_call(json!(1))).await,
        DUPLICATE
    );
    assert_eq!(host.calls().in_flight(), 1);

    let others = [
        line(&host, &pipe(1, None), &call(json!("1"))),
        line(&host, &pipe(2, None), &call(json!(1))),
        modern(&host, &endpoint(false)),
        modern(&host, &endpoint(false)),
    ];
    for other in others {
        host.taken().await.token.reply(text("another"));
        assert_eq!(said(&other.await.unwrap()), "another");
    }
    taken.token.reply(text("first"));
    assert_eq!(said(&first.await.unwrap()), "first");
    let again = line(&host, &pipe(1, None), &call(json!(1)));
    host.taken().await.token.reply(text("again"));
    assert_eq!(said(&again.await.unwrap()), "again");
}

#[tokio::test]
async fn a_refused_request_costs_no_room() {
    let host = limited(2, 1);
    let alice = pipe(1, Some("alice"));
    let first = line(&host, &alice, &call(json!(1)));
    let taken = host.taken().await;
    for _ in 0..10 {
        assert_eq!(refused(&host, &alice, call(json!(2))).await, PRINCIPAL_BUSY);
    }
    let other = line(&host, &pipe(2, None), &call(json!(1)));
    let second = host.taken().await;
    for _ in 0..10 {
        assert_eq!(refused(&host, &pipe(2, None), call(json!(1))).await, BUSY);
    }
    taken.token.reply(text("one"));
    second.token.reply(text("two"));
    assert_eq!(
        (said(&first.await.unwrap()), said(&other.await.unwrap())),
        ("one".into(), "two".into())
    );
    drop((taken, second));
    assert!(host.is_idle());
}

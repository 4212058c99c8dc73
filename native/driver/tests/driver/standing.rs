//! The standing stream of a legacy session: one at a time, resumed where it broke off.

use std::{collections::BTreeSet, future::pending, sync::Arc, time::Duration};

use mcp_driver::{Host, Listening, Part, Served, Stream};
use mcp_protocol::{Change, Input, Listing, Scope, SessionAnswer};
use mcp_testing::TestHost;
use serde_json::Value;
use tokio::time::sleep;

use crate::harness::{arrived_hearing, found, in_session, pipe};

const TOOLS: Change = Change::List(Listing::Tools);

/// A stream of the session `s1`.
async fn hearing(host: &Arc<TestHost>, last_event: Option<&str>) -> Box<Stream<TestHost>> {
    let serving = arrived_hearing(host, last_event).begin(host);
    host.taken().await.token.reply(found());
    match serving.await.unwrap() {
        Served::Stream(mut stream) => {
            stream.open();
            stream
        }
        Served::Answer(answer, _) => panic!("{answer:?}"),
    }
}

/// The next event with the id it has; the session is still there when that is asked.
async fn event(host: &Arc<TestHost>, stream: &mut Stream<TestHost>) -> Option<(String, String)> {
    let answering = async {
        host.taken().await.token.reply(found());
        pending::<()>().await;
    };
    let part = tokio::select! {
        part = stream.next(Duration::from_millis(5), pending()) => part,
        () = answering => unreachable!(),
    };
    match part {
        Part::Frame(frame, _) => {
            let text = String::from_utf8(frame).unwrap();
            let (id, rest) = text.strip_prefix("id: ").unwrap().split_once('\n').unwrap();
            Some((id.into(), rest.into()))
        }
        Part::Quiet | Part::Break => None,
        Part::Answer(..) => Some(("end".into(), String::new())),
    }
}

#[tokio::test(start_paused = true)]
async fn events_count_on_from_the_priming_one() {
    let host = TestHost::new();
    let mut stream = hearing(&host, None).await;
    let (first, primes) = event(&host, &mut stream).await.unwrap();
    assert!(first.ends_with("-0") && primes.starts_with("retry: "));
    for number in 1..4 {
        host.subscribers().publish(&TOOLS, None);
        let (id, told) = event(&host, &mut stream).await.unwrap();
        assert_eq!(id, first.replace("-0", &format!("-{number}")));
        assert!(told.contains("tools/list_changed"));
    }
}

/// LHT-31, LHT-32
#[tokio::test(start_paused = true)]
async fn a_client_that_comes_back_gets_what_it_missed() {
    let host = TestHost::new();
    let mut stream = hearing(&host, None).await;
    event(&host, &mut stream).await;
    host.subscribers().publish(&TOOLS, None);
    let (id, _) = event(&host, &mut stream).await.unwrap();
    host.subscribers().publish(&TOOLS, None);
    let (unread, _) = event(&host, &mut stream).await.unwrap();
    drop(stream);
    // Nobody reads now, and once is enough for what comes meanwhile.
    for _ in 0..3 {
        host.subscribers().publish(&TOOLS, None);
    }
    let mut stream = hearing(&host, Some(&id)).await;
    let (replayed, _) = event(&host, &mut stream).await.unwrap();
    assert_eq!(replayed, unread);
    let (primed, _) = event(&host, &mut stream).await.unwrap();
    assert_eq!(primed, unread, "nothing new is told by the priming event");
    let (newer, _) = event(&host, &mut stream).await.unwrap();
    assert_ne!(newer, unread);
    assert_eq!(event(&host, &mut stream).await, None);
}

/// What nobody can tell is told as a change of everything.
#[tokio::test(start_paused = true)]
async fn a_client_from_elsewhere_hears_of_everything() {
    let host = TestHost::new();
    let mut stream = hearing(&host, Some("ganother-7")).await;
    event(&host, &mut stream).await;
    let (_, told) = event(&host, &mut stream).await.unwrap();
    assert!(told.contains("tools/list_changed"));
    assert_eq!(event(&host, &mut stream).await, None);
}

/// X31
#[tokio::test(start_paused = true)]
async fn a_second_stream_takes_the_place_of_the_first() {
    let host = TestHost::new();
    let mut first = hearing(&host, None).await;
    event(&host, &mut first).await;
    let mut second = hearing(&host, None).await;
    event(&host, &mut second).await;
    host.subscribers().publish(&TOOLS, None);
    assert_eq!(event(&host, &mut first).await.unwrap().0, "end");
    drop(first);
    let (_, told) = event(&host, &mut second).await.unwrap();
    assert!(told.contains("list_changed"), "LHT-22: one stream gets it");
    assert_eq!(host.subscribers().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_for_a_client_goes_after_a_minute() {
    let host = TestHost::new();
    drop(hearing(&host, None).await);
    sleep(Duration::from_secs(59)).await;
    assert_eq!(host.subscribers().len(), 1);
    sleep(Duration::from_secs(2)).await;
    assert!(host.subscribers().is_empty());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_kept_for_a_session_that_is_over() {
    let host = TestHost::new();
    let mut stream = hearing(&host, None).await;
    event(&host, &mut stream).await;
    host.subscribers().publish(&TOOLS, None);
    event(&host, &mut stream).await;
    drop(stream);
    assert_ne!(host.buffers().held(), 0);
    host.subscribers().end(&Scope::Session("s1".into()));
    assert_eq!(host.buffers().held(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_came_back_outlasts_the_minute_of_the_one_before() {
    let host = TestHost::new();
    drop(hearing(&host, None).await);
    sleep(Duration::from_secs(30)).await;
    let mut stream = hearing(&host, None).await;
    event(&host, &mut stream).await;
    sleep(Duration::from_secs(31)).await;
    host.subscribers().publish(&TOOLS, None);
    let (_, told) = event(&host, &mut stream).await.unwrap();
    assert!(told.contains("tools/list_changed"));
}

/// LHT-44
#[tokio::test(start_paused = true)]
async fn deleting_the_session_ends_its_stream() {
    let host = TestHost::new();
    let mut stream = hearing(&host, None).await;
    event(&host, &mut stream).await;
    let deleting = in_session(&host, "DELETE", &Value::Null);
    host.taken().await.token.reply(found());
    let deleted = Input::Session(SessionAnswer::Deleted);
    host.taken().await.token.reply(deleted);
    assert_eq!(deleting.await.unwrap().status, 204);
    assert_eq!(event(&host, &mut stream).await.unwrap().0, "end");
    drop(stream);
    assert!(host.subscribers().is_empty());
}

/// LHT-13
#[tokio::test(start_paused = true)]
async fn a_session_that_is_over_ends_it() {
    let host = TestHost::new();
    let mut stream = hearing(&host, None).await;
    event(&host, &mut stream).await;
    let unknown = async {
        let unknown = Input::Session(SessionAnswer::Unknown);
        host.taken().await.token.reply(unknown);
    };
    let patience = Duration::from_secs(15);
    let (part, ()) = tokio::join!(stream.next(patience, pending()), unknown);
    assert!(matches!(part, Part::Answer(..)));
}

#[tokio::test(start_paused = true)]
async fn what_a_session_subscribes_to_reaches_its_stream() {
    let host = TestHost::new();
    let mut stream = hearing(&host, None).await;
    event(&host, &mut stream).await;
    // The store that is asked first knows of no subscription.
    host.subscribers().publish(&TOOLS, None);
    event(&host, &mut stream).await;
    let (session, uri) = (Scope::Session("s1".into()), Arc::from("test://notes"));
    let notes = Change::resource("test://notes").unwrap();
    host.subscribers().resubscribe(&session, &uri, true);
    host.subscribers().publish(&notes, None);
    let (_, told) = event(&host, &mut stream).await.unwrap();
    assert!(told.contains("test://notes"));
    host.subscribers().resubscribe(&session, &uri, false);
    host.subscribers().publish(&notes, None);
    assert_eq!(event(&host, &mut stream).await, None);
}

/// A client that subscribes and unsubscribes leaves nothing behind in the queue.
#[tokio::test(start_paused = true)]
async fn what_a_session_unsubscribes_from_is_not_told_any_more() {
    let host = TestHost::new();
    let mut stream = hearing(&host, None).await;
    event(&host, &mut stream).await;
    let session = Scope::Session("s1".into());
    for number in 0..1_000 {
        let uri = format!("test://{number}");
        let change = Change::resource(&uri).unwrap();
        let uri = Arc::from(uri);
        host.subscribers().resubscribe(&session, &uri, true);
        host.subscribers().publish(&change, None);
        host.subscribers().resubscribe(&session, &uri, false);
    }
    assert_eq!(event(&host, &mut stream).await, None);
}

/// The store was asked before the client subscribed, and answers after that.
#[tokio::test(start_paused = true)]
async fn a_subscription_outlives_an_older_answer_of_the_store() {
    let host = TestHost::new();
    let mut stream = hearing(&host, None).await;
    event(&host, &mut stream).await;
    host.subscribers().publish(&TOOLS, None);
    let answering = async {
        let job = host.taken().await;
        let uri = Arc::from("test://notes");
        let session = Scope::Session("s1".into());
        host.subscribers().resubscribe(&session, &uri, true);
        job.token.reply(found());
    };
    let patience = Duration::from_millis(5);
    let (part, ()) = tokio::join!(stream.next(patience, pending()), answering);
    assert!(matches!(part, Part::Frame(..)));
    let notes = Change::resource("test://notes").unwrap();
    host.subscribers().publish(&notes, None);
    let (_, told) = event(&host, &mut stream).await.unwrap();
    assert!(told.contains("test://notes"));
}

#[tokio::test]
async fn what_a_pipe_subscribes_to_counts_at_once() {
    let host = TestHost::new();
    let mut listening = Listening::of_pipe(&host, &pipe(1, None)).unwrap();
    let uris = BTreeSet::from(["test://notes".into()]);
    host.subscribers().set_uris(&Scope::Pipe(1), Arc::new(uris));
    for uri in ["test://other", "test://notes"] {
        let changed = Change::resource(uri).unwrap();
        host.subscribers().publish(&changed, None);
    }
    let patience = Duration::from_secs(15);
    let Part::Frame(told, _) = listening.next(patience, pending()).await else {
        panic!("a change is told");
    };
    let told = String::from_utf8(told).unwrap();
    assert!(told.contains("test://notes"), "{told}");
}

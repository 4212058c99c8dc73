//! The stream of a legacy call whose client leaves and comes back (MCP 2025-11-25 basic/transports, "Resumability and
//! Redelivery").

use std::{future::pending, sync::Arc, time::Duration};

use mcp_driver::{Accepted, Host, Part, Sent, Served, Stream, end_session};
use mcp_protocol::{Notice, Scope};
use mcp_testing::{TestHost, Worker, log};
use serde_json::json;
use tokio::time::sleep;

use crate::harness::{
    arrived_hearing, arrived_in_session, arrived_modern, cancel, endpoint, found, in_session,
    legacy_call, said, text,
};

/// How long a stream is kept.
const KEPT_FOR: Duration = Duration::from_millis(60_001);

/// A call of the session `s1` that has said something, and its stream.
async fn streaming(host: &Arc<TestHost>) -> (Box<Stream<TestHost>>, Accepted<Worker>) {
    let served = arrived_in_session(host, "POST", &legacy_call(json!(1))).begin(host);
    host.taken().await.token.reply(found());
    let taken = host.taken().await;
    assert_eq!(host.notify(taken.token.number(), log(b"0")), Sent::Done);
    (opened(served.await.unwrap()), taken)
}

/// What a GET after an event is answered with.
async fn get(host: &Arc<TestHost>, last_event: &str) -> Served<TestHost> {
    let serving = arrived_hearing(host, Some(last_event)).begin(host);
    host.taken().await.token.reply(found());
    serving.await.unwrap()
}

async fn resumed(host: &Arc<TestHost>, last_event: &str) -> Box<Stream<TestHost>> {
    opened(get(host, last_event).await)
}

fn opened(served: Served<TestHost>) -> Box<Stream<TestHost>> {
    match served {
        Served::Stream(mut stream) => {
            stream.open();
            stream
        }
        Served::Answer(answer, _) => panic!("{}", said(&answer)),
    }
}

/// The next event's id, and what else there is of it; without an id a note of what came instead.
async fn event(stream: &mut Stream<TestHost>) -> (String, String) {
    let bytes = match stream.next(Duration::from_millis(5), pending()).await {
        Part::Frame(frame, _) => frame,
        Part::Answer(answer, _) if answer.body.is_empty() => {
            return (String::new(), "end".into());
        }
        Part::Answer(answer, _) => answer.body,
        Part::Break => return (String::new(), "break".into()),
        Part::Quiet => return (String::new(), "quiet".into()),
    };
    let text = String::from_utf8(bytes).unwrap();
    let (id, rest) = text.strip_prefix("id: ").unwrap().split_once('\n').unwrap();
    (id.into(), rest.into())
}

/// LHT-10, LHT-30
#[tokio::test(start_paused = true)]
async fn the_stream_begins_with_a_place_to_come_back_to_and_counts_on() {
    let host = TestHost::new();
    let (mut stream, taken) = streaming(&host).await;
    let (first, primes) = event(&mut stream).await;
    assert!(first.ends_with("-0"), "{first}");
    assert!(
        primes.starts_with("retry: ") && primes.ends_with("data: \n\n"),
        "{primes}"
    );
    let (second, message) = event(&mut stream).await;
    assert_eq!(second, first.replace("-0", "-1"));
    assert!(message.starts_with("event: message\ndata: {"), "{message}");
    taken.token.reply(text("done"));
    let (last, answer) = event(&mut stream).await;
    assert_eq!(last, first.replace("-0", "-2"));
    assert!(answer.contains("done"));
}

/// LHT-31, LHT-32
#[tokio::test(start_paused = true)]
async fn a_client_that_comes_back_misses_nothing() {
    let host = TestHost::new();
    let (mut stream, taken) = streaming(&host).await;
    let (first, _) = event(&mut stream).await;
    let (second, log_0) = event(&mut stream).await;
    drop(stream);
    host.notify(taken.token.number(), log(b"1"));

    let mut stream = resumed(&host, &first).await;
    assert_eq!(
        event(&mut stream).await,
        (second.clone(), log_0),
        "it was lost on its way"
    );
    let (third, log_1) = event(&mut stream).await;
    assert!(log_1.contains("\"data\":1"), "{log_1}");
    assert_eq!(event(&mut stream).await.1, "quiet");
    drop(stream);
    taken.token.reply(text("done"));
    drop(taken);

    let mut stream = resumed(&host, &second).await;
    assert_eq!(event(&mut stream).await, (third.clone(), log_1));
    let (_, answer) = event(&mut stream).await;
    assert!(answer.contains("done"));
    drop(stream);

    let mut stream = resumed(&host, &third).await;
    assert_eq!(
        event(&mut stream).await.1,
        answer,
        "also the answer may be lost on its way"
    );
    assert_eq!(event(&mut stream).await.1, "break");
    drop(stream);
    assert_eq!(
        host.calls().streams(),
        0,
        "it was one, however often resumed"
    );
    sleep(KEPT_FOR).await;
    assert!(host.is_idle() && host.detached().is_empty());
}

/// LHT-11
#[tokio::test(start_paused = true)]
async fn the_handler_may_end_the_response_and_go_on() {
    let host = TestHost::new();
    let (mut stream, taken) = streaming(&host).await;
    let number = taken.token.number();
    assert_eq!(host.notify(number, Notice::Break), Sent::Done);
    host.notify(number, log(b"1"));
    let (_, _) = event(&mut stream).await;
    let (last, _) = event(&mut stream).await;
    assert_eq!(event(&mut stream).await.1, "break");
    drop(stream);
    let mut stream = resumed(&host, &last).await;
    assert!(event(&mut stream).await.1.contains("\"data\":1"));
}

#[tokio::test(start_paused = true)]
async fn only_a_client_that_can_come_back_is_sent_away() {
    let host = TestHost::new();
    let served = arrived_modern(&host, &endpoint(false)).begin(&host);
    let taken = host.taken().await;
    let number = taken.token.number();
    assert_eq!(host.notify(number, Notice::Break), Sent::NotResumable);
    taken.token.reply(text("at once"));
    assert!(matches!(served.await.unwrap(), Served::Answer(..)));
}

/// A connection that broke without a sign still has the stream.
#[tokio::test(start_paused = true)]
async fn the_newest_response_takes_over() {
    let host = TestHost::new();
    let (mut stream, taken) = streaming(&host).await;
    let (first, _) = event(&mut stream).await;
    let (_, log_0) = event(&mut stream).await;
    let old =
        tokio::spawn(
            async move { matches!(stream.next(Duration::MAX, pending()).await, Part::Break) },
        );
    let mut stream = resumed(&host, &first).await;
    assert!(old.await.unwrap());
    assert_eq!(event(&mut stream).await.1, log_0);
    taken.token.reply(text("done"));
    assert!(event(&mut stream).await.1.contains("done"));
}

#[tokio::test(start_paused = true)]
async fn what_is_not_kept_is_refused() {
    let host = TestHost::new();
    let (mut stream, taken) = streaming(&host).await;
    let (first, _) = event(&mut stream).await;
    for number in 1..100 {
        host.notify(taken.token.number(), log(number.to_string().as_bytes()));
        event(&mut stream).await;
    }
    drop(stream);
    let ahead = first.replace("-0", "-100000");
    for unknown in [&*first, &ahead, "pnobody-3"] {
        match get(&host, unknown).await {
            Served::Answer(answer, _) => {
                assert_eq!((answer.status, said(&answer)), (400, "-32600".into()));
            }
            Served::Stream(_) => panic!("{unknown} is resumed"),
        }
    }
    let kept = first.replace("-0", "-60");
    assert!(matches!(get(&host, &kept).await, Served::Stream(_)));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ends_takes_its_streams_along() {
    let host = TestHost::new();
    let (stream, taken) = streaming(&host).await;
    drop(stream);
    taken.token.reply(text("done"));
    drop(taken);
    assert_eq!(host.detached().len(), 1);
    let ending = in_session(&host, "DELETE", &json!(null));
    host.taken().await.token.reply(found());
    host.taken().await.token.reply(mcp_protocol::Input::Session(
        mcp_protocol::SessionAnswer::Deleted,
    ));
    assert_eq!(ending.await.unwrap().status, 204);
    assert!(host.detached().is_empty() && host.is_idle());
}

/// Another node may have ended it, which a thread without a runtime learns.
#[tokio::test(start_paused = true)]
async fn a_session_may_end_from_any_thread() {
    let host = TestHost::new();
    let (stream, taken) = streaming(&host).await;
    drop(stream);
    let ending = Arc::clone(&host);
    let session = Scope::Session("s1".into());
    let ended = std::thread::spawn(move || end_session(&ending, &session)).join();
    assert!(ended.is_ok() && host.detached().is_empty());
    assert_eq!(host.cancelled().len(), 1);
    drop(taken);
    assert!(host.is_idle());
}

/// However many streams are left, few are kept.
#[tokio::test(start_paused = true)]
async fn streams_that_nobody_comes_back_for_are_bounded() {
    let host = TestHost::new();
    for _ in 0..100 {
        let (stream, taken) = streaming(&host).await;
        drop(stream);
        taken.token.reply(text("done"));
    }
    assert_eq!(host.detached().len(), 16);
    sleep(KEPT_FOR).await;
    assert!(host.detached().is_empty() && host.is_idle());
}

/// CAN-3: a client that left may still say that it lost interest.
#[tokio::test(start_paused = true)]
async fn a_cancelled_call_has_nothing_to_come_back_for() {
    let host = TestHost::new();
    let (mut stream, taken) = streaming(&host).await;
    let (first, _) = event(&mut stream).await;
    drop(stream);
    let cancelling = in_session(&host, "POST", &cancel(json!(1)));
    host.taken().await.token.reply(found());
    assert_eq!(cancelling.await.unwrap().status, 202);
    drop(taken);
    let mut stream = resumed(&host, &first).await;
    assert_eq!(event(&mut stream).await.1, "end");
}

//! Streams of changes that a request opened: what reaches them, how they end, and how many there are.

use std::{
    future::{pending, ready},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use mcp_driver::{Host, Part, Served, Stream, SubscriptionLimits};
use mcp_protocol::{Authorized, Change, Identity, Input, Listing, Principal, Unanswered};
use mcp_testing::TestHost;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::harness::{
    Arrived, arrived_line, arrived_listening, call, endpoint, listen, pipe, said,
};

const TOOLS: Change = Change::List(Listing::Tools);
const PROMPTS: Change = Change::List(Listing::Prompts);

fn tools_alone() -> Value {
    listen(json!({"toolsListChanged": true, "promptsListChanged": true}))
}

async fn opened(host: &Arc<TestHost>, arrived: Arrived) -> Box<Stream<TestHost>> {
    match arrived.begin(host).await.unwrap() {
        Served::Stream(stream) => stream,
        Served::Answer(answer, _) => panic!("{}", said(&answer)),
    }
}

/// A stream that hears of tools, past its acknowledgement.
async fn listening(host: &Arc<TestHost>) -> Box<Stream<TestHost>> {
    let arrived = arrived_listening(host, &endpoint(false), &tools_alone());
    let mut stream = opened(host, arrived).await;
    stream.open();
    let first = heard(&mut stream).await.unwrap();
    assert!(first.contains("acknowledged"), "{first}");
    stream
}

/// The next message, if there is one now.
async fn heard(stream: &mut Stream<TestHost>) -> Option<String> {
    match stream.next(Duration::from_millis(1), pending()).await {
        Part::Frame(frame, _) => Some(String::from_utf8(frame).unwrap()),
        Part::Quiet | Part::Break => None,
        Part::Answer(answer, _) => panic!("{}", said(&answer)),
    }
}

/// The last message, of a transport that ends.
async fn ended(stream: &mut Stream<TestHost>) -> String {
    match stream.next(Duration::MAX, ready(())).await {
        Part::Answer(answer, _) => String::from_utf8(answer.body).unwrap(),
        _ => panic!("it goes on"),
    }
}

#[tokio::test]
async fn a_change_reaches_who_asked_for_it_once() {
    let host = TestHost::new();
    let mut streams = [listening(&host).await, listening(&host).await];
    host.subscribers().publish(&TOOLS, None);
    host.subscribers().publish(&PROMPTS, None);
    for stream in &mut streams {
        assert!(heard(stream).await.unwrap().contains("tools/list_changed"));
        assert_eq!(heard(stream).await, None, "no prompts are offered");
    }
}

#[tokio::test]
async fn a_burst_is_told_once_and_a_later_change_again() {
    let host = TestHost::new();
    let mut stream = listening(&host).await;
    for _ in 0..5_000 {
        host.subscribers().publish(&TOOLS, None);
    }
    assert!(heard(&mut stream).await.is_some());
    assert_eq!(heard(&mut stream).await, None);
    host.subscribers().publish(&TOOLS, None);
    assert!(heard(&mut stream).await.is_some());
}

/// SUB-14
#[tokio::test]
async fn it_ends_with_its_transport_and_leaves_nothing() {
    let host = TestHost::new();
    let mut stream = listening(&host).await;
    assert_eq!(host.subscribers().streams(), 1);
    let last = ended(&mut stream).await;
    assert!(last.contains(r#""resultType":"complete""#), "{last}");
    assert_eq!(stream.farewell(), None);
    drop(stream);
    assert!(host.subscribers().is_empty() && host.is_idle());
}

/// SUB-15
#[tokio::test]
async fn on_a_pipe_it_says_farewell() {
    let host = TestHost::new();
    let arrived = arrived_line(&host, &pipe(1, None), &tools_alone());
    let mut stream = opened(&host, arrived).await;
    assert!(heard(&mut stream).await.unwrap().contains("acknowledged"));
    assert!(ended(&mut stream).await.contains("complete"));
    let farewell = String::from_utf8(stream.farewell().unwrap()).unwrap();
    assert!(farewell.contains("notifications/cancelled"));
}

/// SUB-11
#[tokio::test]
async fn a_client_that_leaves_is_forgotten() {
    let host = TestHost::new();
    drop(listening(&host).await);
    assert!(host.subscribers().is_empty());
    host.subscribers().publish(&TOOLS, None);
}

/// SUB-17
#[tokio::test]
async fn there_are_so_many_and_so_many_of_one_principal() {
    let host = TestHost::with(|settings| {
        settings.subscriptions = SubscriptionLimits {
            max_subscriptions: 3,
            max_subscriptions_per_principal: 1,
        };
    });
    let of = |number, name| arrived_line(&host, &pipe(number, name), &tools_alone());
    let refused = async |number, name| {
        let served = of(number, name).begin(&host).await.unwrap();
        matches!(served, Served::Answer(answer, _) if said(&answer) == "-32603")
    };
    let ann = opened(&host, of(1, Some("ann"))).await;
    assert!(refused(2, Some("ann")).await, "one of a principal");
    let _bob = opened(&host, of(3, Some("bob"))).await;
    let _nobody = opened(&host, of(4, None)).await;
    assert!(refused(5, None).await, "three in all");
    drop(ann);
    let _again = opened(&host, of(6, Some("ann"))).await;
}

/// A-33
#[tokio::test]
async fn its_id_is_in_use_on_its_pipe() {
    let host = TestHost::new();
    let stream = opened(&host, arrived_line(&host, &pipe(1, None), &tools_alone())).await;
    for message in [tools_alone(), call(json!(1))] {
        let arrived = arrived_line(&host, &pipe(1, None), &message);
        match arrived.begin(&host).await.unwrap() {
            Served::Answer(answer, _) => assert_eq!(said(&answer), "-32600"),
            Served::Stream(_) => panic!("two requests with one id"),
        }
    }
    let other = arrived_line(&host, &pipe(2, None), &tools_alone());
    drop((stream, opened(&host, other).await));
    opened(&host, arrived_line(&host, &pipe(1, None), &tools_alone())).await;
}

fn accepted(name: &str) -> Input {
    Input::Authorized(Authorized::Accept(Some(Identity {
        principal: Principal::new(name.as_bytes()),
        scopes: None,
        term: Vec::new().into(),
    })))
}

/// Answers the hook that is asked next.
async fn authorize(host: &Arc<TestHost>, decision: Input) {
    host.taken().await.token.reply(decision);
}

/// B-6
#[tokio::test(start_paused = true)]
async fn who_lost_the_right_to_read_reads_nothing_more() {
    let host = TestHost::new();
    let serving = arrived_listening(&host, &endpoint(true), &tools_alone()).begin(&host);
    authorize(&host, accepted("ann")).await;
    let Served::Stream(mut stream) = serving.await.unwrap() else {
        panic!("it listens");
    };
    stream.open();
    assert!(heard(&mut stream).await.unwrap().contains("acknowledged"));
    let next = async |stream: &mut Stream<TestHost>, decision| {
        host.subscribers().publish(&TOOLS, None);
        let (part, ()) = tokio::join!(
            stream.next(Duration::MAX, pending()),
            authorize(&host, decision)
        );
        part
    };
    let told = next(&mut stream, accepted("ann")).await;
    assert!(matches!(told, Part::Frame(..)));
    sleep(Duration::from_secs(2)).await;
    let unsure = next(&mut stream, Input::Unanswered(Unanswered::Failed)).await;
    assert!(matches!(unsure, Part::Quiet), "nobody could say");
    let over = next(&mut stream, Input::Authorized(Authorized::Deny)).await;
    assert!(matches!(over, Part::Answer(..)));
}

/// Publishing from threads while streams come and go loses nobody and leaves nothing.
#[tokio::test]
async fn publishing_races_with_coming_and_going() {
    let (host, done) = (TestHost::new(), Arc::new(AtomicBool::new(false)));
    let stays = tokio::spawn({
        let host = Arc::clone(&host);
        async move {
            let mut stream = listening(&host).await;
            let mut told = 0;
            while told < 50 {
                if let Part::Frame(..) = stream.next(Duration::MAX, pending()).await {
                    told += 1;
                }
            }
        }
    });
    let publisher = {
        let (host, done) = (Arc::clone(&host), Arc::clone(&done));
        thread::spawn(move || {
            while !done.load(Ordering::Relaxed) {
                host.subscribers().publish(&TOOLS, None);
                thread::sleep(Duration::from_micros(20));
            }
        })
    };
    for _ in 0..500 {
        drop(listening(&host).await);
    }
    tokio::time::timeout(Duration::from_secs(20), stays)
        .await
        .expect("it hears of changes")
        .unwrap();
    done.store(true, Ordering::Relaxed);
    publisher.join().unwrap();
    assert!(host.subscribers().is_empty() && host.is_idle());
}

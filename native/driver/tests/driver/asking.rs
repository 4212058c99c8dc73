//! Calls that ask a legacy client: what goes out, and how the answers find their way back.

use std::{future::pending, sync::Arc, time::Duration};

use mcp_driver::{Accepted, Asking, Host, Part, Served, Stream, end_session, relayed};
use mcp_protocol::{
    Amount, Answer, CallOutcome, Input, InputAnswer, InputQuestion, Notice, Relayed, Scope,
    SessionAnswer,
};
use mcp_testing::{TestHost, Worker};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::harness::{
    Arrived, arrived_in_session, arrived_line, call, cancel, found, in_session, legacy_call, line,
    pipe, read, said, text,
};

fn ask(host: &TestHost, job: &Accepted<Worker>, questions: usize) -> Asking {
    let roots = |_| InputQuestion {
        key: None,
        request: br#"{"method":"roots/list"}"#.to_vec(),
    };
    let questions = (0..questions).map(roots).collect();
    let (calls, number) = (host.calls(), job.token.number());
    calls.ask(number, Worker, questions, false, host.buffers())
}

/// A call that has asked so many questions: its process, and its client's stream.
async fn asking(
    host: &Arc<TestHost>,
    arrived: Arrived,
    questions: usize,
) -> (Accepted<Worker>, Box<Stream<TestHost>>) {
    let served = arrived.begin(host);
    let job = host.taken().await;
    let job = match &job.ask {
        mcp_protocol::Ask::Session(_) => {
            job.token.reply(found());
            host.taken().await
        }
        _ => job,
    };
    assert!(matches!(ask(host, &job, questions), Asking::Waits));
    match served.await.unwrap() {
        Served::Stream(stream) => (job, stream),
        Served::Answer(..) => panic!("it is answered already"),
    }
}

/// The next request that comes to the client.
async fn request(stream: &mut Stream<TestHost>) -> Value {
    loop {
        let Part::Frame(frame, _) = stream.next(Duration::MAX, pending()).await else {
            panic!("no request comes");
        };
        let text = String::from_utf8(frame).unwrap();
        let message = text.split_once("data: ").map_or(&*text, |(_, data)| data);
        // A stream that can be resumed begins with an event without a message.
        if !message.trim().is_empty() {
            return serde_json::from_str(message.trim_end()).unwrap();
        }
    }
}

fn response(request: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "result": {"roots": []}})
}

/// Posts a message to the session, of which the store says this.
async fn posted(host: &Arc<TestHost>, message: &Value, store: Input) -> Answer {
    let answer: JoinHandle<Answer> = in_session(host, "POST", message);
    host.taken().await.token.reply(store);
    answer.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_response_on_another_connection_reaches_the_call() {
    let host = TestHost::new();
    let arrived = arrived_in_session(&host, "POST", &legacy_call(json!(1)));
    let (job, mut stream) = asking(&host, arrived, 2).await;
    stream.open();
    let requests = [request(&mut stream).await, request(&mut stream).await];
    assert_eq!(requests[0]["method"], "roots/list");
    assert_ne!(requests[0]["id"], requests[1]["id"]);
    let (number, calls) = (job.token.number(), host.calls());

    assert_eq!(
        posted(&host, &response(&requests[0]), found()).await.status,
        202
    );
    assert!(host.answered().is_empty() && calls.answers(number, Worker).is_none());
    assert_eq!(
        posted(&host, &response(&requests[1]), found()).await.status,
        202
    );
    assert_eq!(host.answered(), [number]);
    let answers = calls.answers(number, Worker).unwrap();
    assert!(matches!(
        answers.as_slice(),
        [InputAnswer::Result(_), InputAnswer::Result(_)]
    ));

    assert!(job.token.reply(text("done")));
    assert_eq!(said(&read(*stream).await.1), "done");
    drop(job);
    assert_eq!((host.calls().in_flight(), host.calls().tokens()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_response_of_another_session_or_pipe_or_to_nothing_is_ignored() {
    let host = TestHost::new();
    let (one, other) = (pipe(1, None), pipe(2, None));
    let arrived = arrived_line(&host, &one, &legacy_call(json!(1)));
    let (job, mut stream) = asking(&host, arrived, 1).await;
    let good = response(&request(&mut stream).await);
    assert!(line(&host, &other, &good).await.unwrap().body.is_empty());
    assert_eq!(posted(&host, &good, found()).await.status, 202);
    let unknown = Input::Session(SessionAnswer::Unknown);
    assert_eq!(posted(&host, &good, unknown).await.status, 404);
    for id in [
        json!("1-0-0000000000000000"),
        json!("999999-0-a"),
        json!("x"),
        json!(1),
    ] {
        let wrong = json!({"jsonrpc": "2.0", "id": id, "result": {"roots": []}});
        line(&host, &one, &wrong).await.unwrap();
    }
    assert!(host.answered().is_empty());
    line(&host, &one, &good).await.unwrap();
    line(&host, &one, &good).await.unwrap();
    assert_eq!(host.answered().len(), 1, "an answer is one once");
    job.token.reply(text("done"));
    assert_eq!(said(&read(*stream).await.1), "done");
}

/// A client takes no room with what nobody asked for, however often it comes.
#[tokio::test(start_paused = true)]
async fn a_response_that_nobody_awaits_takes_no_room() {
    let host = TestHost::with(|settings| settings.max_buffered_bytes = 10_000);
    let one = pipe(1, None);
    let arrived = arrived_line(&host, &one, &legacy_call(json!(1)));
    let (job, mut stream) = asking(&host, arrived, 1).await;
    let good = response(&request(&mut stream).await);
    let number = job.token.number();
    let before = host.buffers().held();
    for _ in 0..100 {
        let id = format!("{number}-0-0000000000000000");
        let wrong =
            json!({"jsonrpc": "2.0", "id": id, "result": {"roots": [], "more": "x".repeat(1_000)}});
        line(&host, &one, &wrong).await.unwrap();
    }
    assert_eq!(host.buffers().held(), before);
    for _ in 0..1_000 {
        line(&host, &one, &good).await.unwrap();
    }
    assert_eq!(host.buffers().held(), before + r#"{"roots":[]}"#.len());
    assert_eq!(host.answered(), [number]);
    line(&host, &one, &cancel(json!(1))).await.unwrap();
    assert_eq!(
        host.buffers().held(),
        0,
        "a call that is over holds no answers"
    );
    drop(job);
}

#[tokio::test(start_paused = true)]
async fn what_answers_nothing_takes_no_room() {
    let host = TestHost::new();
    let one = pipe(1, None);
    let arrived = arrived_line(&host, &one, &legacy_call(json!(1)));
    let (job, mut stream) = asking(&host, arrived, 1).await;
    let good = response(&request(&mut stream).await);
    let held = host.buffers().held();
    let mut guessed = good.clone();
    guessed["id"] = json!(format!("{}-0-guessed", job.token.number()));
    line(&host, &one, &guessed).await.unwrap();
    assert_eq!(host.buffers().held(), held);
    line(&host, &one, &good).await.unwrap();
    let answered = host.buffers().held();
    assert_eq!(answered, held + good["result"].to_string().len());
    line(&host, &one, &good).await.unwrap();
    assert_eq!(host.buffers().held(), answered, "an answer is one once");
    job.token.reply(text("done"));
    assert_eq!(said(&read(*stream).await.1), "done");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_asks_nothing_more() {
    let host = TestHost::new();
    let one = pipe(1, None);
    let arrived = arrived_line(&host, &one, &legacy_call(json!(1)));
    let (job, mut stream) = asking(&host, arrived, 1).await;
    let good = response(&request(&mut stream).await);
    line(&host, &one, &cancel(json!(1))).await.unwrap();
    assert_eq!(said(&read(*stream).await.1), "nothing");
    assert!(matches!(ask(&host, &job, 1), Asking::Gone));
    line(&host, &one, &good).await.unwrap();
    assert!(host.answered().is_empty());
    drop(job);
    assert!(host.is_idle());
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_the_wait() {
    let host = TestHost::new();
    let arrived = arrived_line(&host, &pipe(1, None), &legacy_call(json!(1)));
    let (job, mut stream) = asking(&host, arrived, 1).await;
    let id = request(&mut stream).await["id"].clone();
    let (messages, answer) = read(*stream).await;
    assert_eq!(said(&answer), "The tool failed.");
    assert_eq!(messages.len(), 1, "{messages:?}");
    let retracted: Value = serde_json::from_str(&messages[0]).unwrap();
    assert_eq!(
        retracted,
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
    );
    assert_eq!(host.cancelled().len(), 1);
    drop(job);
    assert!(host.is_idle());
}

/// CAN-7: what was answered is not taken back, nor is anything once the client has cancelled.
#[tokio::test(start_paused = true)]
async fn only_what_is_open_is_taken_back() {
    let host = TestHost::new();
    let one = pipe(1, None);
    let arrived = arrived_line(&host, &one, &legacy_call(json!(1)));
    let (job, mut stream) = asking(&host, arrived, 2).await;
    let answered = request(&mut stream).await;
    let open = request(&mut stream).await["id"].clone();
    line(&host, &one, &response(&answered)).await.unwrap();
    drop(job);
    let (messages, answer) = read(*stream).await;
    assert_eq!(said(&answer), "The tool failed.");
    let retracted: Vec<Value> = messages
        .iter()
        .map(|text| serde_json::from_str(text).unwrap())
        .collect();
    assert_eq!(retracted.len(), 1);
    assert_eq!(retracted[0]["params"]["requestId"], open);

    let arrived = arrived_line(&host, &one, &legacy_call(json!(2)));
    let (job, mut stream) = asking(&host, arrived, 1).await;
    request(&mut stream).await;
    line(&host, &one, &cancel(json!(2))).await.unwrap();
    assert!(read(*stream).await.0.is_empty());
    drop(job);
    assert!(host.is_idle());
}

/// What reached another node does here what it would have done there.
#[tokio::test(start_paused = true)]
async fn a_relayed_message_reaches_the_call() {
    let host = TestHost::new();
    let session = Scope::Session("s1".into());
    let relay = |session: &Scope, message: &Value| {
        let message = Relayed::parse(message.to_string().into(), &host.shared().config.json);
        relayed(&host, session, &message.expect("it concerns a call"));
    };
    let arrived = arrived_in_session(&host, "POST", &legacy_call(json!(1)));
    let (job, mut stream) = asking(&host, arrived, 1).await;
    let good = response(&request(&mut stream).await);
    relay(&Scope::Session("s2".into()), &good);
    assert!(host.answered().is_empty());
    relay(&session, &good);
    assert_eq!(host.answered(), [job.token.number()]);

    relay(&Scope::Session("s2".into()), &cancel(json!(1)));
    assert!(host.cancelled().is_empty());
    relay(&session, &cancel(json!(1)));
    assert_eq!(host.cancelled().len(), 1);
    assert_eq!(said(&read(*stream).await.1), "nothing");
    drop(job);

    let arrived = arrived_in_session(&host, "POST", &legacy_call(json!(2)));
    let (job, stream) = asking(&host, arrived, 1).await;
    end_session(&host, &session);
    assert_eq!(said(&read(*stream).await.1), "nothing");
    drop(job);
    assert!(host.is_idle());
}

#[tokio::test]
async fn what_a_modern_call_asked_goes_with_its_answer() {
    let host = TestHost::new();
    let mut call = call(json!(1));
    call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"roots": {}});
    let answer = line(&host, &pipe(1, None), &call);
    let job = host.taken().await;
    assert!(matches!(ask(&host, &job, 1), Asking::Ends));
    let inquiry = job.token.inquiry().unwrap();
    assert!(job.token.inquiry().is_none());
    let outcome = Input::Outcome(CallOutcome::Asked(inquiry));
    assert!(job.token.reply(outcome));
    let body = String::from_utf8(answer.await.unwrap().body).unwrap();
    assert!(body.contains(r#""resultType":"input_required""#), "{body}");
}

/// D8: what may be dropped makes room, and what may not is refused whole.
#[tokio::test]
async fn a_client_that_does_not_read_is_asked_as_far_as_there_is_room() {
    let host = TestHost::new();
    let mut message = legacy_call(json!(1));
    message["params"]["_meta"] = json!({"progressToken": 1});
    let arrived = arrived_line(&host, &pipe(1, None), &message);
    let (job, mut stream) = asking(&host, arrived, 1).await;
    for progress in 1..=300 {
        let notice = Notice::Progress {
            progress: Amount::Integer(progress),
            total: None,
            message: None,
        };
        host.notify(job.token.number(), notice);
    }
    assert!(matches!(ask(&host, &job, 110), Asking::Waits));
    assert!(matches!(ask(&host, &job, 20), Asking::Busy));
    let mut ids = Vec::new();
    while ids.len() < 111 {
        let message = request(&mut stream).await;
        if message["method"] == "roots/list" {
            ids.push(message);
        }
    }
    for id in ids {
        line(&host, &pipe(1, None), &response(&id)).await.unwrap();
    }
    assert_eq!(
        host.answered().len(),
        1,
        "what was refused is not waited for"
    );
    assert!(matches!(ask(&host, &job, 20), Asking::Waits));
}

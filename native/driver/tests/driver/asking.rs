//! Calls that ask a legacy client: what goes out, and how the answers find their way back.

use std::{sync::Arc, time::Duration};

use mcp_driver::{Accepted, Asking, Host};
use mcp_protocol::{Amount, Input, InputAnswer, InputQuestion, Notice, SessionAnswer};
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::sleep};

use crate::harness::{
    Application, Worker, call, cancel, found, in_session, legacy_call, line, pipe, said, text,
};

fn roots() -> InputQuestion {
    InputQuestion {
        key: None,
        request: br#"{"method":"roots/list"}"#.to_vec(),
    }
}

fn ask(application: &Application, job: &Accepted<Worker>, questions: usize) -> Asking {
    let questions = (0..questions).map(|_| roots()).collect();
    application.calls().ask(
        job.token.number(),
        Worker,
        questions,
        false,
        application.buffers(),
    )
}

/// The requests that came to the client so far.
async fn requests(application: &Application, count: usize) -> Vec<Value> {
    for _ in 0..1_000 {
        if application.messages().len() >= count {
            break;
        }
        sleep(Duration::from_millis(1)).await;
    }
    let messages = application.messages();
    let text = |message: &String| {
        let event = message.strip_prefix("event: message\ndata: ");
        event.unwrap_or(message).trim_end().to_owned()
    };
    let messages = messages.iter().map(|message| text(message));
    let all = messages.map(|message| serde_json::from_str(&message).expect("one JSON value"));
    all.collect()
}

fn response(request: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "result": {"roots": []}})
}

/// A message of a session, and the store's word that the session is there.
async fn posted(
    application: &Arc<Application>,
    message: &Value,
    store: Input,
) -> JoinHandle<mcp_protocol::Answer> {
    let answer = in_session(application, "POST", message);
    application.taken().await.token.reply(store);
    answer
}

#[tokio::test(start_paused = true)]
async fn a_response_on_another_connection_reaches_the_call() {
    let application = Application::new();
    let answer = posted(&application, &legacy_call(json!(1)), found()).await;
    let job = application.taken().await;
    assert!(matches!(ask(&application, &job, 2), Asking::Waits));
    let requests = requests(&application, 2).await;
    assert_eq!(requests[0]["method"], "roots/list");
    assert_ne!(requests[0]["id"], requests[1]["id"]);
    let (number, calls) = (job.token.number(), application.calls());

    let first = posted(&application, &response(&requests[0]), found()).await;
    assert_eq!(first.await.unwrap().status, 202);
    assert!(application.answered().is_empty() && calls.answers(number, Worker).is_none());
    let second = posted(&application, &response(&requests[1]), found()).await;
    assert_eq!(second.await.unwrap().status, 202);
    assert_eq!(application.answered(), [number]);
    let answers = calls.answers(number, Worker).unwrap();
    assert!(matches!(
        answers.as_slice(),
        [InputAnswer::Result(_), InputAnswer::Result(_)]
    ));

    assert!(job.token.reply(text("done")));
    let body = String::from_utf8(answer.await.unwrap().body).unwrap();
    assert!(body.contains("done"));
    drop(job);
    application.assert_idle();
    assert_eq!(application.buffers().held(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_response_of_another_session_or_pipe_or_to_nothing_is_ignored() {
    let application = Application::new();
    let (one, other) = (pipe(1, None), pipe(2, None));
    let answer = line(&application, &one, &legacy_call(json!(1)));
    let job = application.taken().await;
    assert!(matches!(ask(&application, &job, 1), Asking::Waits));
    let request = requests(&application, 1).await.remove(0);
    let good = response(&request);
    assert!(
        line(&application, &other, &good)
            .await
            .unwrap()
            .body
            .is_empty()
    );
    let in_session = posted(&application, &good, found()).await;
    assert_eq!(in_session.await.unwrap().status, 202);
    let unknown = posted(&application, &good, Input::Session(SessionAnswer::Unknown)).await;
    assert_eq!(unknown.await.unwrap().status, 404);
    for id in [
        json!("1-0-0000000000000000"),
        json!("999999-0-a"),
        json!("x"),
        json!(1),
    ] {
        let wrong = json!({"jsonrpc": "2.0", "id": id, "result": {"roots": []}});
        line(&application, &one, &wrong).await.unwrap();
    }
    assert!(application.answered().is_empty());
    line(&application, &one, &good).await.unwrap();
    line(&application, &one, &good).await.unwrap();
    assert_eq!(application.answered().len(), 1, "an answer is one once");
    job.token.reply(text("done"));
    assert_eq!(said(&answer.await.unwrap()), "done");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_asks_nothing_more() {
    let application = Application::new();
    let one = pipe(1, None);
    let answer = line(&application, &one, &legacy_call(json!(1)));
    let job = application.taken().await;
    assert!(matches!(ask(&application, &job, 1), Asking::Waits));
    let request = requests(&application, 1).await.remove(0);
    line(&application, &one, &cancel(json!(1))).await.unwrap();
    assert_eq!(said(&answer.await.unwrap()), "nothing");
    assert!(matches!(ask(&application, &job, 1), Asking::Gone));
    line(&application, &one, &response(&request)).await.unwrap();
    assert!(application.answered().is_empty());
    drop(job);
    application.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_the_wait() {
    let application = Application::new();
    let answer = line(&application, &pipe(1, None), &legacy_call(json!(1)));
    let job = application.taken().await;
    assert!(matches!(ask(&application, &job, 1), Asking::Waits));
    assert_eq!(said(&answer.await.unwrap()), "The tool failed.");
    assert_eq!(application.cancelled().len(), 1);
    drop(job);
    application.assert_idle();
}

#[tokio::test]
async fn what_a_modern_call_asked_goes_with_its_answer() {
    let application = Application::new();
    let mut call = call(json!(1));
    call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"roots": {}});
    let answer = line(&application, &pipe(1, None), &call);
    let job = application.taken().await;
    assert!(matches!(ask(&application, &job, 1), Asking::Ends));
    let inquiry = job.token.inquiry().unwrap();
    assert!(job.token.inquiry().is_none());
    let outcome = mcp_protocol::CallOutcome::Asked(inquiry);
    assert!(job.token.reply(Input::Outcome(outcome)));
    let body = String::from_utf8(answer.await.unwrap().body).unwrap();
    assert!(body.contains(r#""resultType":"input_required""#), "{body}");
}

/// D8: what may be dropped makes room, and what may not is refused whole.
#[tokio::test]
async fn a_client_that_does_not_read_is_asked_as_far_as_there_is_room() {
    let application = Application::new();
    let mut message = legacy_call(json!(1));
    message["params"]["_meta"] = json!({"progressToken": 1});
    let _answer = line(&application, &pipe(1, None), &message);
    let job = application.taken().await;
    // The stream is not polled between these: this test never waits.
    let number = job.token.number();
    for progress in 1..=300 {
        let notice = Notice::Progress {
            progress: Amount::Integer(progress),
            total: None,
            message: None,
        };
        application
            .calls()
            .notify(number, notice, application.buffers());
    }
    assert!(matches!(ask(&application, &job, 120), Asking::Waits));
    assert!(matches!(ask(&application, &job, 20), Asking::Busy));
}

//! Streams that tell of tasks: what a task is now is asked before it is told.

use std::{future::pending, sync::Arc, time::Duration};

use mcp_driver::{Accepted, Host, Part, Served, Stream};
use mcp_protocol::{
    Ask, Change, Input, Task, TaskAnswer, TaskRequest, TaskStatus, TaskSupport, ToolDefinition,
    Unanswered,
};
use mcp_testing::{TestHost, Worker, tool};
use serde_json::json;
use tokio::time::sleep;

use crate::harness::{arrived_listening, endpoint, listen, said};

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

fn host(max_buffered_bytes: usize) -> Arc<TestHost> {
    TestHost::with(|settings| {
        settings.max_buffered_bytes = max_buffered_bytes;
        settings.tools = vec![ToolDefinition {
            task_support: TaskSupport::Optional,
            ..tool("job")
        }];
    })
}

/// A stream that hears of two tasks, past its acknowledgement; both are news when it begins.
async fn listening(host: &Arc<TestHost>) -> Box<Stream<TestHost>> {
    let mut message = listen(json!({"taskIds": ["t-1", "t-2"]}));
    message["params"]["_meta"][CAPABILITIES] =
        json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let arrived = arrived_listening(host, &endpoint(false), &message);
    let served = arrived.begin(host);
    let job = host.taken().await;
    let Ask::Task(ask) = &job.ask else {
        panic!("{:?} asks for no tasks", job.ask);
    };
    let TaskRequest::Own(ids) = &ask.request else {
        panic!("{ask:?} asks for no tasks");
    };
    job.token.reply(Input::Task(TaskAnswer::Own(ids.clone())));
    let Served::Stream(mut stream) = served.await.unwrap() else {
        panic!("it is answered already");
    };
    stream.open();
    assert!(
        next(host, &mut stream, "")
            .await
            .unwrap()
            .contains("acknowledged")
    );
    for _ in 0..2 {
        assert!(
            next(host, &mut stream, "news")
                .await
                .unwrap()
                .contains("news")
        );
    }
    stream
}

/// The next message, where tasks are found with this for their result.
async fn next(host: &Arc<TestHost>, stream: &mut Stream<TestHost>, result: &str) -> Option<String> {
    let patience = Duration::from_millis(1);
    let answering = async {
        loop {
            answer(&host.taken().await, result);
        }
    };
    tokio::select! {
        part = stream.next(patience, pending()) => match part {
            Part::Frame(frame, _) => Some(String::from_utf8(frame).unwrap()),
            Part::Quiet | Part::Break => None,
            Part::Answer(answer, _) => panic!("{}", said(&answer)),
        },
        () = answering => None,
    }
}

fn answer(job: &Accepted<Worker>, result: &str) {
    let Ask::Task(ask) = &job.ask else {
        panic!("{:?} asks for no task", job.ask);
    };
    let TaskRequest::Get(id) = &ask.request else {
        panic!("{ask:?} asks for no task");
    };
    job.token.reply(match result {
        "" => Input::Unanswered(Unanswered::Failed),
        "gone" => Input::Task(TaskAnswer::Unknown),
        result => Input::Task(TaskAnswer::Found(Box::new(Task {
            id: Arc::clone(id),
            status: TaskStatus::Completed(format!("\"{result}\"").into()),
            status_message: None,
            created_at: "2026-11-30T07:00:00Z".into(),
            updated_at: "2026-11-30T07:00:00Z".into(),
            ttl_ms: 1,
            poll_interval_ms: 1,
        }))),
    });
}

fn changed(host: &TestHost, id: &str) {
    host.subscribers().publish(&Change::Task(id.into()), None);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_changes_often_is_told_once_as_it_is_then() {
    let host = host(1 << 20);
    let mut stream = listening(&host).await;
    for _ in 0..1_000 {
        changed(&host, "t-1");
        changed(&host, "another");
    }
    let told = next(&host, &mut stream, "newest").await.unwrap();
    assert!(told.contains("newest") && told.contains("t-1"), "{told}");
    assert_eq!(next(&host, &mut stream, "newest").await, None);
    changed(&host, "t-2");
    assert!(
        next(&host, &mut stream, "more")
            .await
            .unwrap()
            .contains("t-2")
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_gone_is_not_told() {
    let host = host(1 << 20);
    let mut stream = listening(&host).await;
    for result in ["gone", ""] {
        changed(&host, "t-1");
        assert_eq!(next(&host, &mut stream, result).await, None);
    }
    assert_eq!(next(&host, &mut stream, "never").await, None);
}

/// A result may be as large as any: what is not sent yet counts like all that is held.
#[tokio::test(start_paused = true)]
async fn a_task_waits_for_room() {
    let host = host(65_536);
    let mut stream = listening(&host).await;
    let mut held = host.buffers().reserve();
    assert!(held.grow(60_000));
    changed(&host, "t-1");
    let large = "x".repeat(10_000);
    assert_eq!(next(&host, &mut stream, &large).await, None);
    drop(held);
    sleep(Duration::from_secs(1)).await;
    assert!(
        next(&host, &mut stream, &large)
            .await
            .unwrap()
            .contains("xxx")
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_of_it_is_left() {
    let host = host(1 << 20);
    drop(listening(&host).await);
    changed(&host, "t-1");
    assert!(host.subscribers().is_empty() && host.is_idle());
}

//! Calls that go on as tasks (requirements 26, reading A-24).

use std::sync::Arc;

use jsonschema::Validator;
use mcp_protocol::{
    CallOutcome, Change, Edit, Ended, EventId, Input, Job, JobAsked, Key, Line, Revision,
    SafeError, Step, StreamKind, Task, TaskAnswer, TaskRequest, TaskStatus, TaskSupport,
    ToolDefinition, ToolResult, Unanswered,
};
use serde_json::{Value, json};

use crate::{
    harness::{
        META, Pending, Post, Reply, Server, call, definition, form, in_every_revision, modern,
        question, roots, said_bytes, text,
    },
    schemas::Schema,
};

const TASKS: &str = "io.modelcontextprotocol/tasks";
const ID: &str = "io.modelcontextprotocol/subscriptionId";

/// `job` may become a task, `batch` has to, `echo` never does.
fn server() -> Server {
    let tool = |name, task_support| ToolDefinition {
        task_support,
        ..definition(name, None)
    };
    Server::offering(
        [
            tool("job", TaskSupport::Optional),
            tool("batch", TaskSupport::Required),
            tool("echo", TaskSupport::Forbidden),
        ],
        |_| (),
    )
}

/// A request of a client that takes tasks, and forms.
fn able(mut request: Value) -> Value {
    request["params"]["_meta"][META[1]] = json!({"extensions": {TASKS: {}}, "elicitation": {}});
    request
}

fn about(method: &str, id: &str) -> Value {
    able(modern(method, json!({"taskId": id})))
}

fn task(status: TaskStatus) -> Task {
    Task {
        id: "t-1".into(),
        status,
        status_message: Some("half of it".into()),
        created_at: "2026-11-30T07:00:00.000Z".into(),
        updated_at: "2026-11-30T07:00:01.000Z".into(),
        ttl_ms: 60_000,
        poll_interval_ms: 1_000,
    }
}

fn found(status: TaskStatus) -> Input {
    Input::Task(TaskAnswer::Found(Box::new(task(status))))
}

fn every_status() -> [TaskStatus; 5] {
    [
        TaskStatus::Working,
        TaskStatus::InputRequired(r#"{"k":{"method":"roots/list"}}"#.into()),
        TaskStatus::Completed(r#"{"content":[],"resultType":"complete"}"#.into()),
        TaskStatus::Failed(r#"{"code":-32603,"message":"no"}"#.into()),
        TaskStatus::Cancelled,
    ]
}

/// What a task is on the wire, with what its status brings along (TASK-4, TASK-8).
fn shape() -> Validator {
    let with = |status: &str, member: &str| {
        json!({
            "if": {"properties": {"status": {"const": status}}},
            "then": {"required": [member]},
            "else": {"properties": {member: false}},
        })
    };
    let schema = json!({
        "type": "object",
        "required": ["taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs"],
        "properties": {
            "taskId": {"type": "string", "minLength": 1},
            "status": {"enum": ["working", "input_required", "completed", "failed", "cancelled"]},
            "createdAt": {"type": "string", "format": "date-time"},
            "lastUpdatedAt": {"type": "string", "format": "date-time"},
            "ttlMs": {"type": ["integer", "null"], "minimum": 1},
            "pollIntervalMs": {"type": "integer", "minimum": 1},
            "statusMessage": {"type": "string"},
            "inputRequests": {"type": "object", "minProperties": 1},
            "result": {"type": "object", "required": ["resultType"]},
            "error": {"type": "object", "required": ["code", "message"]},
            "requestState": false, "task": false, "ttl": false, "pollInterval": false,
        },
        "allOf": [
            with("input_required", "inputRequests"),
            with("completed", "result"),
            with("failed", "error"),
        ],
    });
    let options = jsonschema::options().should_validate_formats(true);
    options.build(&schema).expect("the schema is one")
}

fn check(task: &Value) {
    let faults: Vec<_> = shape().iter_errors(task).map(|it| it.to_string()).collect();
    assert!(faults.is_empty(), "{faults:?}\n{task}");
}

/// Serves a question about a task that is answered so.
fn asked(message: &Value, answer: Input) -> Reply {
    let mut server = server();
    let mut answer = Some(answer);
    server.world.tasks = Box::new(move |_| answer.take().expect("one question"));
    server.post(&Post::modern(message))
}

/// A call of `job`, come to its handler.
fn calling(server: &mut Server, tool: &str) -> Pending {
    let message = able(call(tool, json!({})));
    let pending = server.begin(&Post::modern(&message));
    server.until_called(pending)
}

/// TASK-2, TASK-3: the client says with each request whether it takes tasks, the tool whether it has them.
#[test]
fn a_call_may_become_a_task_where_both_sides_say_so() {
    let mut server = server();
    for (tool, takes_task) in [("job", true), ("batch", true), ("echo", false)] {
        assert_eq!(calling(&mut server, tool).call().takes_task, takes_task);
    }
    for capabilities in [
        json!({}),
        json!({"extensions": {}}),
        json!({"extensions": {TASKS: true}}),
        json!({"extensions": {"com.example/tasks": {}}}),
        json!({"tasks": {"requests": {"tools": {"call": {}}}}}),
    ] {
        let mut message = call("job", json!({}));
        message["params"]["_meta"][META[1]] = capabilities;
        let pending = server.begin(&Post::modern(&message));
        assert!(!server.until_called(pending).call().takes_task);
    }
}

/// TASK-4, TASK-6
#[test]
fn a_call_that_became_a_task_is_answered_with_it() {
    let mut server = server();
    for status in every_status() {
        let pending = calling(&mut server, "job");
        let began = Input::Outcome(CallOutcome::Task(Box::new(task(status))));
        let reply = server.settle(pending.feed(server.now, began));
        assert_eq!(reply.answer.status, 200);
        let result = reply.result();
        assert_eq!(result["resultType"], "task");
        assert_eq!(result["taskId"], "t-1");
        assert_eq!(result["statusMessage"], "half of it");
        for detail in ["inputRequests", "result", "error"] {
            assert!(result.get(detail).is_none(), "{result}");
        }
        Schema::of(Revision::R20260728).check("JSONRPCResultResponse", &reply.json());
    }
}

#[test]
fn a_call_that_finds_no_room_for_a_task_is_busy() {
    let mut server = server();
    let pending = calling(&mut server, "job");
    let full = Input::Outcome(CallOutcome::TasksFull);
    let reply = server.settle(pending.feed(server.now, full));
    assert_eq!(reply.refusal(), (503, Some(-31_503), Some(json!(1))));
    assert_eq!(reply.header("retry-after"), Some("1"));
}

#[test]
fn a_call_whose_task_cannot_be_kept_is_answered_as_a_question_about_one() {
    let mut server = server();
    let pending = calling(&mut server, "job");
    let unavailable = Input::Outcome(CallOutcome::TasksUnavailable);
    let reply = server.settle(pending.feed(server.now, unavailable));
    assert_eq!(reply.refusal(), (503, Some(-32_603), Some(json!(1))));
}

/// TASK-3, TASK-22, LTASK-1
#[test]
fn a_tool_that_is_a_task_alone_refuses_a_client_that_takes_none() {
    let schema = Schema::of(Revision::R20260728);
    let reply = server().post(&Post::modern(&call("batch", json!({}))));
    assert_eq!(reply.refusal(), (400, Some(-32_021), Some(json!(1))));
    let required = json!({"requiredCapabilities": {"extensions": {TASKS: {}}}});
    assert_eq!(reply.json()["error"]["data"], required);
    assert!(reply.message().contains("batch") && reply.message().contains(TASKS));
    schema.check("MissingRequiredClientCapabilityError", &reply.json());

    let [_, newer, older] = in_every_revision(&mut server(), "batch", &json!({}));
    for reply in [newer, older] {
        assert_eq!(reply.result()["isError"], true);
        assert!(reply.text().contains(TASKS), "{}", reply.text());
        assert!(!reply.called());
    }
}

/// LTASK-1
#[test]
fn the_task_parameter_of_2025_is_ignored() {
    let mut message = able(call("job", json!({})));
    message["params"]["task"] = json!({"ttl": 60_000});
    for version in ["2026-07-28", "2025-11-25"] {
        message["params"]["_meta"][META[0]] = version.into();
        let reply = server().line(&message);
        assert_eq!(reply.text(), "done", "{}", reply.json());
    }
}

/// TASK-8
#[test]
fn tasks_get_tells_all_of_a_task() {
    for status in every_status() {
        let reply = asked(&about("tasks/get", "t-1"), found(status));
        assert_eq!(reply.asked.last().unwrap(), "get task t-1");
        let result = reply.result();
        check(&result);
        assert_eq!(result["resultType"], "complete");
        Schema::of(Revision::R20260728).check("JSONRPCResultResponse", &reply.json());
    }
}

/// TASK-10, TASK-12
#[test]
fn tasks_update_and_cancel_are_acknowledged_with_nothing() {
    let mut update = about("tasks/update", "t-1");
    update["params"]["inputResponses"] = json!({"a": {"action": "accept"}, "b": 7});
    for (message, question) in [
        (update, r#"update task t-1: a={"action":"accept"} b=7"#),
        (about("tasks/cancel", "t-1"), "cancel task t-1"),
    ] {
        let reply = asked(&message, Input::Task(TaskAnswer::Done));
        assert_eq!(reply.asked.last().unwrap(), question);
        assert_eq!(
            reply.result().as_object().unwrap().len(),
            2,
            "resultType, _meta"
        );
        Schema::of(Revision::R20260728).check_result("EmptyResult", &reply.json());
    }
}

/// TASK-13, TASK-19
#[test]
fn an_unknown_task_is_a_malformed_parameter() {
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let mut message = about(method, "t-1");
        message["params"]["inputResponses"] = json!({});
        let reply = asked(&message, Input::Task(TaskAnswer::Unknown));
        assert_eq!(reply.refusal(), (200, Some(-32_602), Some(json!(1))));
        assert!(!reply.message().contains("t-1"));
    }
}

/// TASK-14
#[test]
fn a_client_that_takes_no_tasks_asks_for_none() {
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let message = modern(method, json!({"taskId": "t-1", "inputResponses": {}}));
        let reply = server().post(&Post::modern(&message));
        assert_eq!(reply.refusal(), (400, Some(-32_021), Some(json!(1))));
        Schema::of(Revision::R20260728)
            .check("MissingRequiredClientCapabilityError", &reply.json());
    }
}

#[test]
fn malformed_questions_name_the_member() {
    let malformed = |method, params: Value| able(modern(method, params));
    for (message, member) in [
        (malformed("tasks/get", json!({})), "params.taskId"),
        (
            malformed("tasks/cancel", json!({"taskId": 7})),
            "params.taskId",
        ),
        (about("tasks/update", "t"), "params.inputResponses"),
        (
            malformed(
                "tasks/update",
                json!({"taskId": "t", "inputResponses": [1]}),
            ),
            "params.inputResponses",
        ),
    ] {
        let reply = server().line(&message);
        assert_eq!(reply.code(), Some(-32_602));
        assert!(reply.message().contains(member), "{}", reply.message());
    }
}

/// TASK-17, TASK-21
#[test]
fn methods_that_were_removed_or_never_were_do_not_exist() {
    for method in ["tasks/list", "tasks/result", "tasks/input_response"] {
        let reply = server().post(&Post::modern(&about(method, "t-1")));
        assert_eq!(reply.refusal(), (404, Some(-32_601), Some(json!(1))));
    }
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let reply = Server::new().post(&Post::modern(&about(method, "t-1")));
        assert_eq!(reply.code(), Some(-32_601), "no tool has tasks");
        let mut legacy = about(method, "t-1");
        legacy["params"]["_meta"][META[0]] = "2025-11-25".into();
        assert_eq!(server().line(&legacy).code(), Some(-32_601));
    }
}

/// TASK-20
#[test]
fn the_header_names_the_task() {
    let post = Post::modern(&about("tasks/get", "t-1"));
    for wrong in [
        post.clone().set("Mcp-Name", "t-2"),
        post.without("Mcp-Name"),
    ] {
        let reply = server().post(&wrong);
        assert_eq!(reply.refusal(), (400, Some(-32_020), Some(json!(1))));
    }
}

#[test]
fn a_store_that_fails_is_the_servers_error() {
    for why in [Unanswered::Failed, Unanswered::Deadline] {
        let reply = asked(&about("tasks/get", "t-1"), Input::Unanswered(why));
        assert_eq!(reply.refusal(), (503, Some(-32_603), Some(json!(1))));
    }
}

fn capabilities(server: &mut Server) -> Value {
    let reply = server.line(&modern("server/discover", json!({})));
    Schema::of(Revision::R20260728).check_result("DiscoverResult", &reply.json());
    reply.result()["capabilities"].clone()
}

/// A task is kept for its time (TASK-18), longer than the tool that began it may be offered.
#[test]
fn the_extension_is_served_on_when_its_last_tool_is_gone() {
    let mut server = server();
    let gone = |name: &str| Edit::Delete(Key::Tool(name.into()));
    server.edit(vec![gone("job"), gone("batch")]);
    server.edit(vec![gone("echo")]);
    assert_eq!(capabilities(&mut server)["extensions"], json!({TASKS: {}}));
    server.world.tasks = Box::new(|_| found(TaskStatus::Working));
    let reply = server.post(&Post::modern(&about("tasks/get", "t-1")));
    assert_eq!(reply.result()["status"], "working");
}

/// Other nodes may begin tasks that this one is asked for.
#[test]
fn the_extension_is_served_where_the_store_is_shared() {
    let mut server = Server::with(|config| config.keeps_tasks = true);
    assert_eq!(capabilities(&mut server)["extensions"], json!({TASKS: {}}));
    let reply = server.post(&Post::modern(&about("tasks/get", "t-1")));
    assert_eq!(reply.code(), Some(-32_602));
}

/// TASK-1, TASK-22, EXT-4
#[test]
fn the_extension_is_offered_to_modern_clients_while_a_tool_uses_it() {
    let offered = capabilities(&mut server());
    assert_eq!(offered["extensions"], json!({TASKS: {}}));
    assert!(offered.get("tasks").is_none());
    assert!(capabilities(&mut Server::new()).get("extensions").is_none());

    let client = json!({"name": "client", "version": "1"});
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client,
    });
    let reply = server().line(&json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params,
    }));
    let capabilities = &reply.result()["capabilities"];
    assert!(capabilities.get("extensions").is_none() && capabilities.get("tasks").is_none());
}

fn listen(ids: Value) -> Value {
    able(modern(
        "subscriptions/listen",
        json!({"notifications": {"taskIds": ids, "toolsListChanged": true}}),
    ))
}

fn nowhere() -> EventId {
    EventId {
        kind: StreamKind::Get,
        stream: "".into(),
        number: 0,
    }
}

/// A stream for tasks of which some are the caller's.
fn listening(server: &mut Server, ids: Value, own: &[&str]) -> Pending {
    let own: Vec<Arc<str>> = own.iter().map(|id| Arc::from(*id)).collect();
    server.world.tasks = Box::new(move |ask| match &ask.request {
        TaskRequest::Own(_) => Input::Task(TaskAnswer::Own(own.clone())),
        _ => found(TaskStatus::Cancelled),
    });
    let pending = server.begin(&Post::modern(&listen(ids)));
    server.until_listening(pending)
}

/// TASK-15, SUB-4
#[test]
fn whoever_listens_hears_of_tasks_that_are_its_own() {
    let mut server = server();
    let pending = listening(&mut server, json!(["t-1", "t-2", "t-1"]), &["t-1"]);
    let subscription = pending.subscription();
    let opening = said_bytes(&subscription.opening(&nowhere()).unwrap());
    let honoured = json!({"toolsListChanged": true, "taskIds": ["t-1"]});
    assert_eq!(opening["params"]["notifications"], honoured);
    Schema::of(Revision::R20260728).check("SubscriptionsAcknowledgedNotification", &opening);
    let wants = |id: &str| subscription.filter.wants(&Change::Task(id.into()), None);
    assert!(wants("t-1") && !wants("t-2"));

    for status in every_status() {
        let told = said_bytes(&subscription.tell_task(&task(status)).unwrap());
        assert_eq!(told["method"], "notifications/tasks");
        check(&told["params"]);
        assert_eq!(told["params"]["_meta"][ID], 1);
        Schema::of(Revision::R20260728).check("JSONRPCNotification", &told);
    }

    let none = listening(&mut server, json!(["t-2"]), &[]);
    let opening = said_bytes(&none.subscription().opening(&nowhere()).unwrap());
    assert_eq!(
        opening["params"]["notifications"],
        json!({"toolsListChanged": true})
    );
}

/// A change says which task; what it is now is asked when it is told.
#[test]
fn a_task_is_asked_for_before_it_is_told() {
    let mut server = server();
    let mut pending = listening(&mut server, json!(["t-1"]), &["t-1"]);
    let step = pending.exchange.find_task(&"t-1".into());
    let Step::Ask(question) = step else {
        panic!("{step:?} asks nothing");
    };
    assert_eq!(format!("{:?}", question.ask), "Get(..)");
    for (answer, told) in [
        (
            found(TaskStatus::Working),
            "Deliver(Task(Some(Task(working))))",
        ),
        (Input::Task(TaskAnswer::Unknown), "Deliver(Task(None))"),
        (Input::Unanswered(Unanswered::Failed), "Deliver(Task(None))"),
    ] {
        let step = pending.exchange.resume(server.now, answer);
        assert_eq!(format!("{step:?}"), told);
        pending.exchange.find_task(&"t-1".into());
    }
}

/// TASK-14, SUB-17
#[test]
fn listening_to_tasks_takes_the_extension_and_no_more_ids_than_may_be() {
    let mut server = server();
    let mut unable = listen(json!(["t-1"]));
    unable["params"]["_meta"][META[1]] = json!({});
    let reply = server.post(&Post::modern(&unable));
    assert_eq!(reply.refusal(), (400, Some(-32_021), Some(json!(1))));

    let many: Vec<String> = (0..129).map(|number| format!("t-{number}")).collect();
    for (ids, word) in [
        (json!("t-1"), "array"),
        (json!([1]), "taskIds[0]"),
        (json!(many), "more than 128"),
    ] {
        let reply = server.post(&Post::modern(&listen(ids)));
        assert_eq!(reply.code(), Some(-32_602));
        assert!(reply.message().contains(word), "{}", reply.message());
    }

    let reply = Server::new().begin(&Post::modern(&unable));
    let pending = Server::new().until_listening(reply);
    assert!(
        pending.subscription().filter.tasks.is_empty(),
        "no tool has tasks"
    );
}

/// The work of a task, taken from the call that began it.
fn job(capabilities: &Value) -> Job {
    let mut server = server();
    let mut message = able(call("job", json!({})));
    message["params"]["_meta"][META[1]] = capabilities.clone();
    let pending = server.begin_line(Line::Whole(message.to_string().into()));
    let mut pending = server.until_called(pending);
    let inquiry = pending.inquiry();
    assert_eq!(inquiry.message_bytes(), message.to_string().len());
    let tool = Arc::clone(server.shared.catalog.tool("job").unwrap());
    Job::new(tool, inquiry, Arc::clone(&server.shared.config), None)
}

fn name_form() -> Value {
    form(&json!({"name": {"type": "string"}}))
}

fn open(asked: &JobAsked) -> Vec<String> {
    let JobAsked::Open(json) = asked else {
        panic!("{asked:?} is not open");
    };
    let requests: Value = serde_json::from_slice(json).unwrap();
    Schema::of(Revision::R20260728).check("InputRequests", &requests);
    requests.as_object().unwrap().keys().cloned().collect()
}

fn hear(job: &mut Job, key: &str, response: &Value) {
    let text = response.to_string();
    let limits = mcp_json::Limits::default();
    let document = mcp_json::Document::parse(text.into(), &limits).unwrap();
    job.hear(key, document.root());
}

/// TASK-10, TASK-11
#[test]
fn a_job_asks_until_all_answers_fit() {
    let mut job = job(&json!({"elicitation": {}, "junk": "x".repeat(10_000)}));
    let two = vec![question("a", &name_form()), question("b", &name_form())];
    assert_eq!(open(&job.ask(two, false).unwrap()), ["a", "b"]);
    hear(&mut job, "c", &json!({"action": "cancel"}));
    hear(
        &mut job,
        "a",
        &json!({"action": "accept", "content": {"name": 7}}),
    );
    assert_eq!(open(&job.heard()), ["a", "b"]);
    hear(
        &mut job,
        "a",
        &json!({"action": "accept", "content": {"name": "Ada"}}),
    );
    let bytes = job.answer_bytes();
    assert_eq!(
        bytes,
        r#"{"action":"accept","content":{"name":"Ada"}}"#.len()
    );
    hear(&mut job, "a", &json!({"action": "cancel"}));
    assert_eq!(open(&job.heard()), ["b"]);
    assert_eq!(job.answer_bytes(), bytes);
    hear(&mut job, "b", &json!({"action": "decline"}));
    let JobAsked::Answers(answers) = job.heard() else {
        panic!("all is answered");
    };
    let told: Vec<Value> = answers.iter().map(crate::harness::told).collect();
    assert_eq!(told[0]["content"]["name"], "Ada");
    assert_eq!(told[1]["action"], "decline");

    let again = job.ask(vec![question("a", &name_form())], false);
    assert!(again.unwrap_err().contains("was asked before"));
}

#[test]
fn a_job_that_cannot_go_on_without_an_answer_fails() {
    let capabilities = json!({"extensions": {TASKS: {}}, "elicitation": {}});
    let asked = job(&capabilities)
        .ask(vec![question("r", &roots())], false)
        .unwrap();
    let JobAsked::Lacks(json) = asked else {
        panic!("{asked:?} lacks nothing");
    };
    let error: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(error["code"], -32_021);
    assert_eq!(
        error["data"],
        json!({"requiredCapabilities": {"roots": {}}})
    );

    let asked = job(&capabilities)
        .ask(vec![question("r", &roots())], true)
        .unwrap();
    assert!(matches!(asked, JobAsked::Answers(_)));
}

fn ended(outcome: CallOutcome) -> (Value, Option<String>) {
    let Ended { result, fault } = job(&json!({})).end(outcome);
    (serde_json::from_slice(&result).unwrap(), fault)
}

/// TASK-8, TASK-9, TOOL-16: the result that the call would have had.
#[test]
fn a_job_ends_with_a_result() {
    let schema = Schema::of(Revision::R20260728);
    let Input::Outcome(done) = text("done") else {
        panic!("a text is an outcome");
    };
    let safe = CallOutcome::SafeError(SafeError {
        message: "read-only".into(),
        data: None,
    });
    let large = CallOutcome::Tool(ToolResult {
        content: json!([{"type": "text", "text": "x".repeat(2_000_000)}])
            .to_string()
            .into_bytes(),
        ..ToolResult::default()
    });
    for (outcome, words, is_error, is_fault) in [
        (done, "done", false, false),
        (safe, "read-only", true, false),
        (CallOutcome::Failed, "The tool failed.", true, false),
        (CallOutcome::NotFound, "The tool failed.", true, true),
        (large, "The tool failed.", true, true),
    ] {
        let (result, fault) = ended(outcome);
        schema.check("CallToolResult", &result);
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["content"][0]["text"], words);
        assert_eq!(result["isError"] == true, is_error);
        assert_eq!(fault.is_some(), is_fault);
    }
}

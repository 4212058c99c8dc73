//! Calls that ask a legacy client: requests ahead of the answer, and the client's responses (requirements 22 and 23).

use mcp_protocol::{
    Ask, CallOutcome, FrameKind, Heard, Input, InputAnswer, Inquired, Inquiry, Revision, Step,
};
use serde_json::{Value, json};

use crate::harness::{
    Pending, Post, Server, ask, form, identity, legacy, question, roots, said, sampling, session,
    told, visit,
};

const ALL: &str = r#"{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}}"#;

/// A server with one session of this revision, whose client can be asked anything.
fn server(revision: Revision) -> Server {
    let mut server = Server::new();
    let mut session = session(None);
    session.revision = revision;
    session.client_capabilities = ALL.into();
    server.world.sessions.insert("session-1".into(), session);
    server
}

fn post(message: &Value) -> Post {
    Post::legacy(Some("session-1"), message)
}

fn calling(server: &mut Server) -> Pending {
    let pending = server.begin(&post(&legacy("tools/call", json!({"name": "now"}))));
    server.until_called(pending)
}

fn inquiry(server: &mut Server) -> Inquiry {
    calling(server).inquiry()
}

/// The messages that go out for one question.
fn sent(inquiry: &mut Inquiry, key: &str, request: &Value) -> Vec<Value> {
    match ask(inquiry, vec![question(key, request)]) {
        Inquired::Sends(frames) => {
            let kinds = frames.iter().map(|frame| frame.kind);
            assert!(kinds.clone().all(|kind| kind == FrameKind::Request));
            frames.iter().map(said).collect()
        }
        other => panic!("nothing goes out: {other:?}"),
    }
}

/// Hands a response over as the core hands it to a driver.
fn hear(server: &mut Server, inquiry: &mut Inquiry, response: &Value) -> Heard {
    let pending = server.begin(&post(response));
    // The body is read, then the session is found.
    let pending = server.step(pending);
    let pending = server.step(pending);
    let heard = match &pending.step {
        Step::Ask(question) => match &question.ask {
            Ask::Hear { response, .. } => match inquiry.awaited(response) {
                Some(awaited) => inquiry.hear(response, awaited.read(response)),
                None => Heard::Nothing,
            },
            ask => panic!("not heard: {ask:?}"),
        },
        step => panic!("not heard: {step:?}"),
    };
    let reply = pending.feed(server.now, Input::Done).reply();
    assert_eq!(reply.answer.status, 202);
    heard
}

fn fields() -> Value {
    json!({
        "name": {"type": "string", "title": "Name", "minLength": 1, "default": "Ada"},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
        "sure": {"type": "boolean", "default": true},
    })
}

/// ELI-2, ELI-3
#[test]
fn a_question_goes_out_as_a_request_and_waits() {
    for revision in [Revision::R20251125, Revision::R20250618] {
        let mut server = server(revision);
        let mut inquiry = inquiry(&mut server);
        let name = form(&json!({"name": {"type": "string"}}));
        let messages = sent(&mut inquiry, "name", &name);
        let [message] = messages.as_slice() else {
            panic!("one request: {messages:?}");
        };
        assert_eq!(
            (&message["jsonrpc"], &message["id"]),
            (&json!("2.0"), &json!("7-0"))
        );
        assert_eq!(message["method"], "elicitation/create");
        assert!(inquiry.answers().is_none());
        let answer = json!({"action": "accept", "content": {"name": "Ada"}});
        let response = json!({"jsonrpc": "2.0", "id": "7-0", "result": answer});
        assert_eq!(
            hear(&mut server, &mut inquiry, &response),
            Heard::LastAnswer
        );
        let answers = inquiry.answers().unwrap();
        assert_eq!(told(&answers[0]), answer);
        assert_eq!(hear(&mut server, &mut inquiry, &response), Heard::Nothing);
    }
}

/// ELI-3, ELI-5: each revision in its own words.
#[test]
fn forms_are_said_in_the_words_of_the_revision() {
    let mut newer = inquiry(&mut server(Revision::R20251125));
    let message = &sent(&mut newer, "form", &form(&fields()))[0];
    assert_eq!(message["params"]["mode"], "form");
    assert_eq!(message["params"]["requestedSchema"]["properties"], fields());
    let mut older = inquiry(&mut server(Revision::R20250618));
    let message = &sent(&mut older, "form", &form(&fields()))[0];
    assert!(message["params"].get("mode").is_none());
    let expected = json!({
        "name": {"type": "string", "title": "Name", "minLength": 1},
        "size": {"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"]},
        "sure": {"type": "boolean", "default": true},
    });
    assert_eq!(message["params"]["requestedSchema"]["properties"], expected);
}

/// ELI-9
#[test]
fn a_visit_has_an_id_in_2025_11_25_and_is_unknown_before() {
    let page = visit("https://example.com/login");
    let mut newer = inquiry(&mut server(Revision::R20251125));
    let message = &sent(&mut newer, "visit", &page)[0];
    assert_eq!(message["params"]["elicitationId"], message["id"]);
    let mut older = inquiry(&mut server(Revision::R20250618));
    assert!(matches!(
        ask(&mut older, vec![question("visit", &page)]),
        Inquired::Ends | Inquired::Refused
    ));
}

/// SAM-1, SAM-3
#[test]
fn sampling_is_said_in_the_words_of_the_revision() {
    let mut request = sampling();
    request["params"]["includeContext"] = json!("thisServer");
    let block = request["params"]["messages"][0]["content"].take();
    request["params"]["messages"][0]["content"] = json!([block]);
    let mut newer = inquiry(&mut server(Revision::R20251125));
    let message = &sent(&mut newer, "text", &request)[0];
    assert!(message["params"].get("includeContext").is_none());
    assert!(message["params"]["messages"][0]["content"].is_array());
    let mut older = inquiry(&mut server(Revision::R20250618));
    let message = &sent(&mut older, "text", &request)[0];
    assert_eq!(message["params"]["includeContext"], "thisServer");
    assert_eq!(message["params"]["messages"][0]["content"], block);
    request["params"]["tools"] = json!([]);
    let mut older = inquiry(&mut server(Revision::R20250618));
    assert!(matches!(
        ask(&mut older, vec![question("text", &request)]),
        Inquired::Ends | Inquired::Refused
    ));
}

/// SAM-6
#[test]
fn errors_and_nonsense_are_answers() {
    let mut server = server(Revision::R20251125);
    let mut inquiry = inquiry(&mut server);
    let questions = vec![
        question("text", &sampling()),
        question("roots", &roots()),
        question("more", &roots()),
    ];
    assert!(matches!(ask(&mut inquiry, questions), Inquired::Sends(frames) if frames.len() == 3));
    let response =
        |id: &str, member: &str, value: Value| json!({"jsonrpc": "2.0", "id": id, member: value});
    let rejected = json!({"code": -1, "message": "User rejected sampling request"});
    let heard = [
        hear(
            &mut server,
            &mut inquiry,
            &response("7-0", "error", rejected),
        ),
        hear(
            &mut server,
            &mut inquiry,
            &response("7-1", "result", json!({"roots": "none"})),
        ),
        hear(
            &mut server,
            &mut inquiry,
            &response("7-9", "result", json!({})),
        ),
        hear(
            &mut server,
            &mut inquiry,
            &response("7-2", "result", json!({"roots": []})),
        ),
    ];
    assert_eq!(
        heard,
        [
            Heard::Answer,
            Heard::Answer,
            Heard::Nothing,
            Heard::LastAnswer
        ]
    );
    let answers: Vec<Value> = inquiry.answers().unwrap().iter().map(told).collect();
    let expected = [
        json!([-1, "User rejected sampling request"]),
        json!("malformed"),
        json!({"roots": []}),
    ];
    assert_eq!(answers, expected);
}

#[test]
fn a_clients_words_are_shortened() {
    let mut server = server(Revision::R20251125);
    let mut inquiry = inquiry(&mut server);
    sent(&mut inquiry, "roots", &roots());
    let error = json!({"code": -32000, "message": "\u{e9}".repeat(2_000)});
    let response = json!({"jsonrpc": "2.0", "id": "7-0", "error": error});
    hear(&mut server, &mut inquiry, &response);
    let answers = inquiry.answers().unwrap();
    assert!(matches!(&answers[0], InputAnswer::Error { message, .. } if message.len() == 1_024));
}

/// LHT-45: a response reaches the calls of its own session, and of its own caller.
#[test]
fn responses_stay_within_their_session() {
    let mut server = server(Revision::R20251125);
    let owned = session(Some(identity("ada").principal));
    server.world.sessions.insert("hers".into(), owned);
    let response = json!({"jsonrpc": "2.0", "id": "7-0", "result": {}});
    let reply = server.post(&Post::legacy(Some("hers"), &response));
    assert_eq!(reply.answer.status, 404);
    let reply = server.post(&Post::legacy(Some("session-1"), &response));
    assert_eq!(reply.answer.status, 202);
    assert_eq!(
        reply.asked.last().unwrap(),
        "hear in session session-1: 7-0"
    );
    let reply = server.post(&Post::legacy(None, &response));
    assert_eq!(reply.answer.status, 400);
    let without_id = json!({"jsonrpc": "2.0", "result": {}});
    let reply = server.post(&Post::legacy(Some("session-1"), &without_id));
    assert_eq!(reply.answer.status, 202);
}

/// On a pipe the pipe is the scope, with a session and without.
#[test]
fn lines_carry_responses() {
    let mut server = Server::new();
    let reply = server.line(&json!({"jsonrpc": "2.0", "id": "7-0", "result": {}}));
    assert_eq!(reply.asked, ["hear in pipe 1: 7-0"]);
    assert!(reply.answer.body.is_empty());
}

/// A client that could not read a request of the server's says so with the id null, and two peers that answer each
/// other's errors never end.
#[test]
fn no_response_is_answered_whatever_its_id() {
    for id in [json!(null), json!(1.5), json!({}), json!("x".repeat(2_000))] {
        let error = json!({"code": -32700, "message": "not JSON"});
        let response = json!({"jsonrpc": "2.0", "id": id, "error": error});
        assert!(Server::new().line(&response).answer.body.is_empty(), "{id}");
        let mut server = server(Revision::R20251125);
        let reply = server.post(&Post::legacy(Some("session-1"), &response));
        assert_eq!(reply.answer.status, 202, "{id}");
    }
}

/// A legacy client that cannot be asked is told so in words.
#[test]
fn a_client_that_cannot_be_asked_is_told() {
    let mut server = server(Revision::R20251125);
    for session in server.world.sessions.values_mut() {
        session.client_capabilities = "{}".into();
    }
    let mut pending = calling(&mut server);
    let mut inquiry = pending.inquiry();
    assert!(matches!(
        ask(&mut inquiry, vec![question("r", &roots())]),
        Inquired::Ends | Inquired::Refused
    ));
    let outcome = Input::Outcome(CallOutcome::Asked(inquiry.into()));
    let reply = pending.feed(server.now, outcome).reply();
    assert_eq!(reply.result()["isError"], true);
    assert!(reply.text().contains("roots"), "{}", reply.text());
}

/// Nothing can be asked of a client that reads no event stream, or has no session.
#[test]
fn a_client_that_could_not_hear_is_not_asked() {
    let mut server = server(Revision::R20251125);
    let call = legacy("tools/call", json!({"name": "now"}));
    let deaf = post(&call).set("Accept", "application/json");
    let pending = server.begin(&deaf);
    let mut inquiry = server.until_called(pending).inquiry();
    assert!(matches!(
        ask(&mut inquiry, vec![question("r", &roots())]),
        Inquired::Ends | Inquired::Refused
    ));
}

#[test]
fn a_legacy_client_is_told_to_come_back() {
    let mut server = server(Revision::R20251125);
    let mut pending = calling(&mut server);
    let outcome = Input::Outcome(CallOutcome::Asked(pending.inquiry().into()));
    let reply = pending.feed(server.now, outcome).reply();
    assert_eq!(reply.result()["isError"], true);
    assert!(reply.text().contains("again later"), "{}", reply.text());
}

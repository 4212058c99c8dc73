//! Calls that ask a modern client: rounds of `input_required` (requirements 21 to 23).

use mcp_protocol::{Authorized, CallOutcome, Input, InputKind, Inquired};
use serde_json::{Value, json};

use crate::harness::{
    META, Post, Reply, Server, ask, asking, call, form, identity, modern, offering_all, question,
    roots, sampling, visit,
};

/// A call whose client can be asked anything.
fn able(mut request: Value) -> Value {
    let all =
        json!({"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}});
    request["params"]["_meta"][META[1]] = all;
    request
}

fn post() -> Post {
    Post::modern(&able(call("now", json!({}))))
}

fn name_form() -> Value {
    form(&json!({"name": {"type": "string"}}))
}

fn accepted(content: &Value) -> Value {
    json!({"action": "accept", "content": content})
}

fn retry(post: &Post, responses: &Value, state: Option<&str>) -> Post {
    post.clone().edit(|message| {
        message["params"]["inputResponses"] = responses.clone();
        if let Some(state) = state {
            message["params"]["requestState"] = state.into();
        }
    })
}

fn state(reply: &Reply) -> String {
    let result = reply.result();
    result["requestState"].as_str().expect("a state").to_owned()
}

/// The keys of what is asked.
fn asked(reply: &Reply) -> Vec<String> {
    let result = reply.result();
    assert_eq!(result["resultType"], "input_required", "{result}");
    let requests = result["inputRequests"].as_object();
    requests.map_or_else(Vec::new, |requests| requests.keys().cloned().collect())
}

/// What the handler was told in the end.
fn told(reply: &Reply) -> Value {
    assert_eq!(reply.result()["resultType"], "complete", "{}", reply.json());
    serde_json::from_str(&reply.text()).unwrap()
}

/// MRTR-3, MRTR-4, MRTR-6
#[test]
fn an_answer_comes_with_the_next_request() {
    let mut server = Server::new();
    let groups: &[&[_]] = &[&[("name", name_form())]];
    let first = asking(&mut server, &post(), groups);
    assert_eq!(first.answer.status, 200);
    assert_eq!(asked(&first), ["name"]);
    let request = &first.result()["inputRequests"]["name"];
    assert_eq!(request["method"], "elicitation/create");
    assert_eq!(request["params"]["mode"], "form");
    assert!(request.get("id").is_none() && request.get("jsonrpc").is_none());
    let answer = accepted(&json!({"name": "Ada"}));
    let second = retry(&post(), &json!({"name": answer}), Some(&state(&first)));
    assert_eq!(told(&asking(&mut server, &second, groups)), json!([answer]));
}

/// MRTR-16
#[test]
fn an_answer_without_a_state_is_one() {
    let mut server = Server::new();
    for action in ["decline", "cancel"] {
        let answer = json!({"action": action});
        let groups: &[&[_]] = &[&[("name", name_form())]];
        let reply = asking(
            &mut server,
            &retry(&post(), &json!({"name": answer}), None),
            groups,
        );
        assert_eq!(told(&reply), json!([answer]));
    }
}

/// MRTR-15
#[test]
fn earlier_answers_travel_with_the_client() {
    let mut server = Server::new();
    let colour = form(&json!({"colour": {"type": "string"}}));
    let groups: &[&[_]] = &[&[("step1", name_form())], &[("step2", colour)]];
    let first = asking(&mut server, &post(), groups);
    let name = accepted(&json!({"name": "Ada"}));
    let second = retry(&post(), &json!({"step1": name}), Some(&state(&first)));
    let second = asking(&mut server, &second, groups);
    assert_eq!(asked(&second), ["step2"]);
    assert_ne!(state(&first), state(&second));
    let colour = accepted(&json!({"colour": "blue"}));
    let third = retry(&post(), &json!({"step2": colour}), Some(&state(&second)));
    assert_eq!(
        told(&asking(&mut server, &third, groups)),
        json!([name, colour])
    );
}

/// MRTR-13
#[test]
fn what_is_missing_or_malformed_is_asked_again_and_extras_are_ignored() {
    let mut server = Server::new();
    let groups: &[&[_]] = &[&[("name", name_form()), ("roots", roots())]];
    let first = asking(&mut server, &post(), groups);
    let state = state(&first);
    let good = accepted(&json!({"name": "Ada"}));
    let some_roots = json!({"roots": [{"uri": "file:///home"}]});
    for (responses, missing) in [
        (json!({}), vec!["name", "roots"]),
        (json!({"wrong": good}), vec!["name", "roots"]),
        (json!({"name": good, "roots": 7}), vec!["roots"]),
        (json!({"name": null, "roots": some_roots}), vec!["name"]),
        (
            json!({"name": accepted(&json!({"name": 7})), "roots": some_roots}),
            vec!["name"],
        ),
        (
            json!({"name": accepted(&json!({})), "roots": some_roots}),
            vec!["name"],
        ),
        (
            json!({"name": {"action": "accept"}, "roots": some_roots}),
            vec!["name"],
        ),
        (
            json!({"name": {"action": "later"}, "roots": some_roots}),
            vec!["name"],
        ),
        (
            json!({"name": good, "roots": {"roots": [{}]}}),
            vec!["roots"],
        ),
    ] {
        for state in [None, Some(&*state)] {
            let reply = asking(&mut server, &retry(&post(), &responses, state), groups);
            assert_eq!(asked(&reply), missing, "{responses}");
        }
    }
    let responses = json!({"name": good, "roots": some_roots, "more": 1});
    let reply = asking(
        &mut server,
        &retry(&post(), &responses, Some(&state)),
        groups,
    );
    assert_eq!(told(&reply), json!([good, some_roots]));
}

#[test]
fn responses_that_are_no_object_are_refused() {
    for responses in [json!(null), json!([]), json!("name"), json!(7)] {
        let post = retry(&post(), &responses, None);
        let reply = Server::new().post(&post);
        assert_eq!(reply.refusal(), (200, Some(-32602), Some(json!(1))));
    }
}

/// MRTR-9, MRTR-10, MRTR-12: one text for whatever is wrong.
#[test]
fn a_state_opens_for_its_caller_its_request_and_its_time_alone() {
    let groups: &[&[_]] = &[&[("name", name_form())]];
    let answer = json!({"name": accepted(&json!({"name": "Ada"}))});
    let echo = |text: &str| Post::modern(&able(call("echo", json!({"text": text}))));
    let mut server = Server::new().at(|endpoint| endpoint.authorize = true);
    let caller = |server: &mut Server, name: &'static str| {
        server.world.authorize =
            Box::new(|_| Input::Authorized(Authorized::Accept(Some(identity(name)))));
    };
    caller(&mut server, "ada");
    let state = state(&asking(&mut server, &echo("a"), groups));
    let good = retry(&echo("a"), &answer, Some(&state));
    assert_eq!(
        asking(&mut server, &good, groups).result()["resultType"],
        "complete"
    );

    let mut texts = Vec::new();
    let mut refused = |reply: Reply| {
        assert_eq!(reply.refusal(), (200, Some(-32602), Some(json!(1))));
        texts.push(reply.message());
    };
    refused(server.post(&retry(&echo("b"), &answer, Some(&state))));
    refused(server.post(&retry(&post(), &answer, Some(&state))));
    refused(server.post(&retry(&echo("a"), &answer, Some(&format!("{state}x")))));
    refused(server.post(&retry(&echo("a"), &answer, Some(""))));
    refused(
        server.post(
            &good
                .clone()
                .edit(|it| it["params"]["requestState"] = json!(7)),
        ),
    );
    caller(&mut server, "eve");
    refused(server.post(&good));
    caller(&mut server, "ada");
    server.wait(899_999);
    assert_eq!(
        asking(&mut server, &good, groups).result()["resultType"],
        "complete"
    );
    server.wait(1);
    refused(server.post(&good));
    texts.dedup();
    assert_eq!(texts.len(), 1, "{texts:?}");
}

#[test]
fn a_state_survives_another_spelling_of_the_same_request() {
    let mut server = Server::new();
    let groups: &[&[_]] = &[&[("name", name_form())]];
    let sum = |text: &str| {
        Post::modern(&able(call("sum", json!({"a": 1, "b": 2})))).edit(|message| {
            message["params"]["arguments"] = serde_json::from_str(text).unwrap();
        })
    };
    let state = state(&asking(&mut server, &sum(r#"{"a":1,"b":2}"#), groups));
    let answer = json!({"name": {"action": "cancel"}});
    let reordered = retry(&sum(r#"{ "b": 2, "a": 1 }"#), &answer, Some(&state));
    assert_eq!(
        asked_or_told(&asking(&mut server, &reordered, groups)),
        "complete"
    );
}

fn asked_or_told(reply: &Reply) -> String {
    let result = reply.result();
    result["resultType"].as_str().unwrap_or_default().to_owned()
}

/// An answer counts for what the user was asked, not for what the handler would like to know by now.
#[test]
fn a_question_that_changed_is_asked_again() {
    let mut server = Server::new();
    let delete = |what: &str| {
        let mut form = form(&json!({"sure": {"type": "boolean"}}));
        form["params"]["message"] = format!("Delete {what}?").into();
        form
    };
    let first = asking(&mut server, &post(), &[&[("sure", delete("one file"))]]);
    let yes = json!({"sure": accepted(&json!({"sure": true}))});
    let second = retry(&post(), &yes, Some(&state(&first)));
    let changed = asking(&mut server, &second, &[&[("sure", delete("all files"))]]);
    assert_eq!(asked(&changed), ["sure"]);
    let third = retry(&post(), &yes, Some(&state(&changed)));
    let reply = asking(&mut server, &third, &[&[("sure", delete("all files"))]]);
    assert_eq!(told(&reply)[0]["content"]["sure"], true);
}

/// MRTR-7
#[test]
fn a_state_alone_asks_for_the_same_request_later() {
    let mut server = Server::new();
    let pending = server.begin(&post());
    let mut pending = server.until_called(pending);
    let inquiry = pending.inquiry();
    let reply = pending
        .feed(
            server.now,
            Input::Outcome(CallOutcome::Asked(inquiry.into())),
        )
        .reply();
    let result = reply.result();
    assert_eq!(result["resultType"], "input_required");
    assert!(result.get("inputRequests").is_none());
    let again = post().edit(|message| message["params"]["requestState"] = state(&reply).into());
    assert_eq!(
        asking(&mut server, &again, &[]).result()["resultType"],
        "complete"
    );
}

/// META-9, ERR-7, A-5
#[test]
fn what_the_client_does_not_declare_is_an_error_that_names_it() {
    let mut server = Server::new();
    for (declared, request, required) in [
        (json!({}), name_form(), json!({"elicitation": {"form": {}}})),
        (
            json!({"elicitation": {"url": {}}}),
            name_form(),
            json!({"elicitation": {"form": {}}}),
        ),
        (
            json!({"elicitation": {}}),
            visit("https://example.com/a"),
            json!({"elicitation": {"url": {}}}),
        ),
        (json!({"roots": {}}), sampling(), json!({"sampling": {}})),
        (json!({"sampling": {}}), roots(), json!({"roots": {}})),
    ] {
        let post = post().edit(|message| message["params"]["_meta"][META[1]] = declared.clone());
        let reply = asking(&mut server, &post, &[&[("key", request)]]);
        assert_eq!(reply.refusal(), (400, Some(-32021), Some(json!(1))));
        let data = &reply.json()["error"]["data"];
        assert_eq!(*data, json!({"requiredCapabilities": required}));
    }
}

/// A-5
#[test]
fn what_is_optional_is_left_out() {
    let mut server = Server::new();
    let mut message = call("now", json!({}));
    message["params"]["_meta"][META[1]] = json!({"sampling": {}});
    let pending = server.begin(&Post::modern(&message));
    let mut pending = server.until_called(pending);
    let mut inquiry = pending.inquiry();
    assert!(inquiry.supports(InputKind::Sampling) && !inquiry.supports(InputKind::Form));
    let questions = vec![
        question("name", &name_form()),
        question("text", &sampling()),
    ];
    let inquired = inquiry.ask(questions, true, |_| String::new()).unwrap();
    assert!(matches!(inquired, Inquired::Ends | Inquired::Refused));
    let reply = pending
        .feed(
            server.now,
            Input::Outcome(CallOutcome::Asked(inquiry.into())),
        )
        .reply();
    assert_eq!(asked(&reply), ["text"]);
}

/// MRTR-2
#[test]
fn prompts_and_resources_ask_too_and_completions_do_not() {
    let mut server = offering_all();
    let groups: &[&[_]] = &[&[("name", name_form())]];
    for request in [
        modern(
            "prompts/get",
            json!({"name": "greet", "arguments": {"name": "Ada"}}),
        ),
        modern("resources/read", json!({"uri": "test://notes"})),
        modern("resources/read", json!({"uri": "test://users/7"})),
    ] {
        let post = Post::modern(&able(request));
        let reply = asking(&mut server, &post, groups);
        assert_eq!(asked(&reply), ["name"]);
        let other = retry(&post, &json!({}), Some(&format!("{}x", state(&reply))));
        assert_eq!(server.post(&other).code(), Some(-32602));
    }
    let params = json!({
        "ref": {"type": "ref/prompt", "name": "greet"},
        "argument": {"name": "name", "value": "A"},
    });
    let pending = server.begin(&Post::request("completion/complete").edit(|message| {
        let meta = message["params"]["_meta"].take();
        message["params"] = params.clone();
        message["params"]["_meta"] = meta;
    }));
    let pending = server.until_called(pending);
    assert!(pending.call().inquiry.is_none());
}

/// A-22
#[test]
fn other_methods_ignore_what_belongs_to_a_retry() {
    let post = Post::request("tools/list").edit(|message| {
        message["params"]["inputResponses"] = json!(7);
        message["params"]["requestState"] = json!("x");
    });
    assert_eq!(Server::new().post(&post).result()["resultType"], "complete");
}

#[test]
fn questions_are_numbered_where_the_host_has_no_key() {
    let mut server = Server::new();
    let pending = server.begin(&post());
    let mut pending = server.until_called(pending);
    let mut inquiry = pending.inquiry();
    let unnamed = |request: &Value| {
        let mut question = question("", request);
        question.key = None;
        question
    };
    let inquired = ask(&mut inquiry, vec![unnamed(&name_form()), unnamed(&roots())]);
    assert!(matches!(inquired, Inquired::Ends | Inquired::Refused));
    let reply = pending
        .feed(
            server.now,
            Input::Outcome(CallOutcome::Asked(inquiry.into())),
        )
        .reply();
    assert_eq!(asked(&reply), ["input-1", "input-2"]);
}

/// Once a stream has begun, its last event asks.
#[test]
fn a_stream_ends_with_what_is_asked() {
    let mut server = Server::new();
    let pending = server.begin(&post());
    let mut pending = server.until_called(pending);
    let mut inquiry = pending.inquiry();
    ask(&mut inquiry, vec![question("name", &name_form())]);
    pending.exchange.open_stream();
    let reply = pending
        .feed(
            server.now,
            Input::Outcome(CallOutcome::Asked(inquiry.into())),
        )
        .reply();
    let body = String::from_utf8(reply.answer.body).unwrap();
    assert!(body.starts_with("event: message\ndata: ") && body.contains("input_required"));
}

/// What was answered before is bounded: a client sends it back each time.
#[test]
fn too_much_to_carry_is_the_fault_of_whoever_said_it() {
    let mut server = Server::new();
    let groups: &[&[_]] = &[&[("text", sampling())], &[("name", name_form())]];
    let long = "x".repeat(300_000);
    let message =
        json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": long}});
    let reply = asking(
        &mut server,
        &retry(&post(), &json!({"text": message}), None),
        groups,
    );
    assert_eq!(reply.code(), Some(-32602));
    let told = reply.message();
    assert!(told.contains("300") && told.contains("262144"), "{told}");
    assert_eq!(reply.answer.summary.host_fault, None);

    let keys: Vec<String> = (0..1_000).map(|key| format!("{key:0256}")).collect();
    let questions: Vec<_> = keys.iter().map(|key| (&**key, name_form())).collect();
    let reply = asking(&mut server, &post(), &[&questions]);
    assert_eq!(reply.result()["isError"], true);
    let fault = reply.answer.summary.host_fault.unwrap();
    assert!(fault.contains("262144"), "{fault}");
}

//! Handlers that ask: questions, and a handler that asks them one after the other.

use mcp_protocol::{CallOutcome, Input, InputAnswer, InputQuestion, Inquired, Inquiry};
use serde_json::{Value, json};

use super::{Post, Reply, Server, fixture::text};

/// A question under a key of the host's.
pub fn question(key: &str, request: &Value) -> InputQuestion {
    InputQuestion {
        key: Some(key.into()),
        request: request.to_string().into_bytes(),
    }
}

/// A form with these fields, all required.
pub fn form(fields: &Value) -> Value {
    let members = fields.as_object().expect("fields are an object");
    let required: Vec<&String> = members.keys().collect();
    let schema = json!({"type": "object", "properties": fields, "required": required});
    json!({"method": "elicitation/create", "params": {"message": "Say", "requestedSchema": schema}})
}

/// A visit to a page.
pub fn visit(url: &str) -> Value {
    let params = json!({"mode": "url", "message": "Visit", "url": url});
    json!({"method": "elicitation/create", "params": params})
}

/// A message of the client's model.
pub fn sampling() -> Value {
    let message = json!({"role": "user", "content": {"type": "text", "text": "Say"}});
    json!({"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 100}})
}

/// The client's roots.
pub fn roots() -> Value {
    json!({"method": "roots/list"})
}

/// Serves a request whose handler asks each group of questions in turn and, with all answers, tells them as a text: a
/// JSON array of what `told` makes of each.
pub fn asking(server: &mut Server, post: &Post, groups: &[&[(&str, Value)]]) -> Reply {
    let pending = server.begin(post);
    let mut pending = server.until_called(pending);
    let mut inquiry = pending.inquiry();
    let mut heard = Vec::new();
    for group in groups {
        let questions = group.iter().map(|(key, request)| question(key, request));
        match ask(&mut inquiry, questions.collect()) {
            Inquired::Answers(answers) => heard.extend(answers.iter().map(told)),
            Inquired::Ends | Inquired::Refused => {
                let outcome = Input::Outcome(CallOutcome::Asked(inquiry.into()));
                let pending = pending.feed(server.now, outcome);
                return server.settle(pending);
            }
            Inquired::Sends(frames) => panic!("{frames:?} go out"),
        }
    }
    let pending = pending.feed(server.now, text(&Value::Array(heard).to_string()));
    server.settle(pending)
}

/// Asks what a host has no need to mend.
pub fn ask(inquiry: &mut Inquiry, questions: Vec<InputQuestion>) -> Inquired {
    let id = |position| format!("7-{position}");
    inquiry.ask(questions, false, id).expect("well asked")
}

/// An answer as JSON.
pub fn told(answer: &InputAnswer) -> Value {
    match answer {
        InputAnswer::Result(json) => serde_json::from_str(json).expect("an answer is JSON"),
        InputAnswer::Error { code, message } => json!([code, &**message]),
        InputAnswer::Malformed => json!("malformed"),
        InputAnswer::Undeclared => json!("undeclared"),
    }
}

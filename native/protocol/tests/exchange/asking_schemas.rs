//! What calls ask their clients validates against the schema of each revision.

use mcp_protocol::{CallOutcome, Input, Inquired, Inquiry, Revision};
use serde_json::{Value, json};

use crate::{
    harness::{META, Pending, Server, ask, call, form, question, roots, said, sampling, visit},
    schemas::Schema,
};

/// One question of each kind, with the part of a schema that it is.
fn questions(revision: Revision) -> Vec<(&'static str, Value)> {
    let mut fields = json!({
        "text": {"type": "string", "title": "T", "description": "D", "minLength": 1, "maxLength": 9},
        "mail": {"type": "string", "format": "email", "default": "a@b.example"},
        "number": {"type": "number", "minimum": 0, "maximum": 1.5, "default": 0.5},
        "integer": {"type": "integer", "minimum": -1, "default": 3},
        "boolean": {"type": "boolean", "default": true},
        "one": {"type": "string", "enum": ["a", "b"], "default": "a"},
        "named": {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]},
        "titled": {"type": "string", "oneOf": [{"const": "a", "title": "A"}]},
    });
    let mut sample = sampling();
    sample["params"]["modelPreferences"] = json!({"hints": [{"name": "m"}], "costPriority": 0.5});
    sample["params"]["stopSequences"] = json!(["."]);
    let mut all = vec![
        ("CreateMessageRequest", sample),
        ("ListRootsRequest", roots()),
    ];
    if revision != Revision::R20250618 {
        fields["several"] = json!({
            "type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": 1, "default": ["a"],
        });
        fields["more"] =
            json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}});
        all.push(("ElicitRequest", visit("https://example.com/login?a=b")));
    }
    all.push(("ElicitRequest", form(&fields)));
    all
}

/// A call on a pipe whose client declares this, come to its handler.
fn calling(server: &mut Server, schema: &Schema, capabilities: &Value) -> Pending {
    let mut message = schema.claim(call("now", json!({})));
    message["params"]["_meta"][META[1]] = capabilities.clone();
    let line = mcp_protocol::Line::Whole(message.to_string().into());
    let pending = server.begin_line(line);
    server.until_called(pending)
}

fn able() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}})
}

fn ended(server: &Server, pending: Pending, inquiry: Inquiry) -> Value {
    let outcome = Input::Outcome(CallOutcome::Asked(inquiry.into()));
    pending.feed(server.now, outcome).reply().json()
}

#[test]
fn rounds() {
    let schema = Schema::of(Revision::R20260728);
    let mut server = Server::new();
    let mut pending = calling(&mut server, &schema, &able());
    let mut inquiry = pending.inquiry();
    let questions = questions(Revision::R20260728);
    let keyed = questions.iter().enumerate();
    let keyed = keyed.map(|(number, (_, request))| question(&number.to_string(), request));
    assert!(matches!(ask(&mut inquiry, keyed.collect()), Inquired::Ends));
    let reply = ended(&server, pending, inquiry);
    schema.check_result("InputRequiredResult", &reply);
    let requests = &reply["result"]["inputRequests"];
    schema.check("InputRequests", requests);
    for (number, (part, _)) in questions.iter().enumerate() {
        schema.check(part, &requests[number.to_string()]);
    }

    let mut pending = calling(&mut server, &schema, &able());
    let inquiry = pending.inquiry();
    schema.check_result("InputRequiredResult", &ended(&server, pending, inquiry));
}

#[test]
fn requests_of_the_server() {
    for revision in [Revision::R20251125, Revision::R20250618] {
        let schema = Schema::of(revision);
        for (part, request) in questions(revision) {
            let mut inquiry = calling(&mut Server::new(), &schema, &able()).inquiry();
            let Inquired::Sends(frames) = ask(&mut inquiry, vec![question("key", &request)]) else {
                panic!("{part} does not go out in {revision}");
            };
            let message = said(&frames[0]);
            schema.check("JSONRPCRequest", &message);
            schema.check("ServerRequest", &message);
            schema.check(part, &message);
        }
    }
}

#[test]
fn what_the_client_lacks() {
    let schema = Schema::of(Revision::R20260728);
    let mut server = Server::new();
    let mut pending = calling(&mut server, &schema, &json!({}));
    let mut inquiry = pending.inquiry();
    let all = questions(Revision::R20260728);
    let keyed = all.iter().enumerate();
    let keyed = keyed.map(|(number, (_, request))| question(&number.to_string(), request));
    assert!(matches!(
        ask(&mut inquiry, keyed.collect()),
        Inquired::Refused
    ));
    let reply = ended(&server, pending, inquiry);
    schema.check("MissingRequiredClientCapabilityError", &reply);
    schema.check("JSONRPCErrorResponse", &reply);
}

//! Every message that the server can send validates against the schema of its revision (`test/fixtures/spec/schema`).

use std::{cell::RefCell, collections::BTreeMap, fs, path::PathBuf, rc::Rc};

use jsonschema::Validator;
use mcp_protocol::{
    Amount, Body, CallOutcome, CompletionResult, Contents, Input, LogLevel, Notice, Now, Piece,
    PromptResult, Revision, ToolDefinition, ToolResult, Unanswered,
};
use serde_json::{Value, json};

use crate::harness::{
    MAX_CALLS, META, Post, Server, amount, asking_for, call, contents, definition, icons,
    json_text, legacy, log, message, modern, not_found, offering_all, offers, other, piece, pieces,
    progress, safe_error, said, structured, text, values,
};

const NOW: Now = Now {
    wall_ms: 0,
    monotonic_ms: 0,
};

/// A revision's schema document. 2025-06-18 is draft-07 and keeps its parts under `definitions`.
pub struct Schema {
    revision: Revision,
    document: Value,
    parts: &'static str,
    /// Those that were asked for before.
    validators: RefCell<BTreeMap<String, Rc<Validator>>>,
}

impl Schema {
    pub fn of(revision: Revision) -> Self {
        let root =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../test/fixtures/spec/schema");
        let file = root.join(revision.as_str()).join("schema.json");
        let text = fs::read(file).expect("the schemas are part of the repository");
        let document: Value = serde_json::from_slice(&text).unwrap();
        let parts = if document.get("$defs").is_some() {
            "$defs"
        } else {
            "definitions"
        };
        Self {
            revision,
            document,
            parts,
            validators: RefCell::default(),
        }
    }

    fn part(&self, name: &str) -> Rc<Validator> {
        let mut validators = self.validators.borrow_mut();
        let validator = validators
            .entry(name.to_owned())
            .or_insert_with(|| Rc::new(self.compiled(name)));
        Rc::clone(validator)
    }

    fn compiled(&self, name: &str) -> Validator {
        assert!(
            self.document[self.parts].get(name).is_some(),
            "{name} in {}",
            self.revision
        );
        let mut document = self.document.clone();
        document["$ref"] = json!(format!("#/{}/{name}", self.parts));
        jsonschema::validator_for(&document).expect("the schema is one")
    }

    pub fn check(&self, part: &str, value: &Value) {
        let faults: Vec<String> = self
            .part(part)
            .iter_errors(value)
            .map(|fault| fault.to_string())
            .collect();
        assert!(
            faults.is_empty(),
            "{} {part}: {faults:?}\n{value}",
            self.revision
        );
    }

    /// A whole message with a result, and the result itself.
    pub fn check_result(&self, part: &str, message: &Value) {
        let envelope = match self.revision {
            Revision::R20250618 => "JSONRPCResponse",
            _ => "JSONRPCResultResponse",
        };
        assert!(message.get("result").is_some(), "{message}");
        self.check(envelope, message);
        self.check(part, &message["result"]);
    }

    fn check_error(&self, message: &Value) {
        let envelope = match self.revision {
            Revision::R20250618 => "JSONRPCError",
            _ => "JSONRPCErrorResponse",
        };
        assert!(message.get("error").is_some(), "{message}");
        self.check(envelope, message);
    }

    /// `message` as this revision carries it without a session.
    pub fn claim(&self, mut message: Value) -> Value {
        message["params"]["_meta"][META[0]] = json!(self.revision.as_str());
        message
    }
}

fn schemas() -> [Schema; 3] {
    Revision::ALL.map(Schema::of)
}

#[test]
fn the_check_can_fail() {
    for schema in schemas() {
        let call = schema.part("CallToolResult");
        assert!(
            !call.is_valid(&json!({"resultType": "complete"})),
            "content is required in {}",
            schema.revision
        );
    }
}

#[test]
fn introductions() {
    let mut server = Server::with(|config| config.instructions = Some("Be brief.".into()));
    let modern = Schema::of(Revision::R20260728);
    let reply = server.line(&crate::harness::modern("server/discover", json!({})));
    modern.check_result("DiscoverResult", &reply.json());
    modern.check("DiscoverResultResponse", &reply.json());
    for revision in [Revision::R20251125, Revision::R20250618] {
        let client = json!({"name": "client", "version": "1"});
        let params =
            json!({"protocolVersion": revision.as_str(), "capabilities": {}, "clientInfo": client});
        let reply = server.post(&Post::plain(&legacy("initialize", params)));
        Schema::of(revision).check_result("InitializeResult", &reply.json());
    }
}

#[test]
fn empty_results() {
    for schema in schemas() {
        let reply = Server::new().line(&schema.claim(modern("shutdown", json!({}))));
        schema.check_result("EmptyResult", &reply.json());
        if schema.revision != Revision::R20260728 {
            let reply = Server::new().line(&schema.claim(modern("ping", json!({}))));
            schema.check_result("EmptyResult", &reply.json());
        }
    }
}

#[test]
fn lists_of_tools() {
    let full = ToolDefinition {
        title: Some("A tool".into()),
        output_schema: Some(json!({"type": ["array", "null"]})),
        annotations: Some(json!({"title": "Tool", "readOnlyHint": true, "openWorldHint": false})),
        icons: Some(icons()),
        meta: Some(json!({"com.example/rank": 1})),
        ..definition(
            "full",
            Some(
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
            ),
        )
    };
    let plain = ToolDefinition {
        output_schema: Some(json!({"type": "object"})),
        description: None,
        ..definition("plain", None)
    };
    for schema in schemas() {
        let tools = vec![full.clone(), plain.clone(), definition("last", None)];
        let mut server = Server::offering(tools, |config| config.page_size = 2);
        let list = schema.claim(modern("tools/list", json!({})));
        let first = server.line(&list).json();
        schema.check_result("ListToolsResult", &first);
        let mut next = list;
        next["params"]["cursor"] = first["result"]["nextCursor"].clone();
        schema.check_result("ListToolsResult", &server.line(&next).json());
    }
}

#[test]
fn lists_of_everything_else() {
    for schema in schemas() {
        let mut server = Server::offering(offers(), |config| config.page_size = 1);
        for (method, part, more) in [
            ("resources/list", "ListResourcesResult", true),
            (
                "resources/templates/list",
                "ListResourceTemplatesResult",
                true,
            ),
            ("prompts/list", "ListPromptsResult", false),
        ] {
            let list = schema.claim(modern(method, json!({})));
            let first = server.line(&list).json();
            schema.check_result(part, &first);
            let cursor = first["result"]["nextCursor"].clone();
            assert_eq!(cursor.is_string(), more, "{method}");
            if more {
                let next = schema.claim(modern(method, json!({"cursor": cursor})));
                schema.check_result(part, &server.line(&next).json());
            }
        }
    }
}

#[test]
fn results_of_reading() {
    let several = || {
        let blob = Piece {
            uri: Some("test://notes/1".into()),
            mime_type: Some("image/png".into()),
            body: Body::Blob(json_text("+/8=")),
            meta: Some(r#"{"com.example/a":1}"#.into()),
        };
        Input::Outcome(CallOutcome::Contents(Contents {
            pieces: vec![piece(Body::Text(json_text("a"))), blob],
            meta: Some(br#"{"com.example/a":1}"#.into()),
            ..Contents::default()
        }))
    };
    let outcomes: [fn() -> Input; 2] = [|| contents("a"), several];
    for schema in schemas() {
        for outcome in outcomes {
            for uri in ["test://notes", "test://users/7"] {
                let mut server = offering_all().handling(move |_| outcome());
                let read = schema.claim(modern("resources/read", json!({"uri": uri})));
                schema.check_result("ReadResourceResult", &server.line(&read).json());
            }
        }
    }
}

#[test]
fn results_of_prompts() {
    let full = || {
        let resource = json!({"uri": "file:///a", "text": "a", "mimeType": "text/plain"});
        let messages = json!([
            {"role": "user", "content": {"type": "text", "text": "a"}},
            {"role": "assistant", "content": {"type": "image", "data": "+/8=", "mimeType": "image/png"}},
            {"role": "user", "content": {"type": "resource", "resource": resource}},
        ]);
        Input::Outcome(CallOutcome::Prompt(PromptResult {
            description: Some("A prompt".into()),
            messages: messages.to_string().into_bytes(),
            meta: Some(br#"{"com.example/a":1}"#.into()),
        }))
    };
    let outcomes: [fn() -> Input; 2] = [|| message("a"), full];
    for schema in schemas() {
        for outcome in outcomes {
            let mut server = offering_all().handling(move |_| outcome());
            let params = json!({"name": "greet", "arguments": {"name": "Ada"}});
            let get = schema.claim(modern("prompts/get", params));
            schema.check_result("GetPromptResult", &server.line(&get).json());
        }
    }
}

#[test]
fn results_of_completion() {
    let many = || {
        Input::Outcome(CallOutcome::Completion(CompletionResult {
            values: vec!["a".into(); 300],
            ..CompletionResult::default()
        }))
    };
    let outcomes: [fn() -> Input; 2] = [|| values(&["a", "b"]), many];
    for schema in schemas() {
        for outcome in outcomes {
            for argument in ["name", "style"] {
                let mut server = offering_all().handling(move |_| outcome());
                let params = json!({
                    "ref": {"type": "ref/prompt", "name": "greet"},
                    "argument": {"name": argument, "value": "a"},
                });
                let complete = schema.claim(modern("completion/complete", params));
                schema.check_result("CompleteResult", &server.line(&complete).json());
            }
        }
    }
}

#[test]
fn errors_of_offers() {
    let outcomes: [(fn() -> Input, i64); 4] = [
        (not_found, 0),
        (
            || safe_error("It is away.", Some(r#"{"until":"Monday"}"#)),
            -32603,
        ),
        (|| pieces(Vec::new()), -32603),
        (|| Input::Unanswered(Unanswered::Deadline), -32603),
    ];
    for schema in schemas() {
        let missing = match schema.revision {
            Revision::R20260728 => -32602,
            _ => -32002,
        };
        for (outcome, code) in outcomes {
            let mut server = offering_all().handling(move |_| outcome());
            let read = schema.claim(modern("resources/read", json!({"uri": "test://notes"})));
            let reply = server.line(&read);
            let code = if code == 0 { missing } else { code };
            assert_eq!(reply.code(), Some(code));
            schema.check_error(&reply.json());
        }
    }
}

#[test]
fn results_of_calls() {
    let full = || {
        let content = json!([
            {"type": "text", "text": "a", "annotations": {"audience": ["user"], "priority": 0.5}},
            {"type": "image", "data": "+/8=", "mimeType": "image/png"},
            {"type": "resource_link", "uri": "file:///a", "name": "a"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "a"}},
        ]);
        Input::Outcome(CallOutcome::Tool(ToolResult {
            content: content.to_string().into_bytes(),
            structured: Some(b"{}".into()),
            is_error: true,
            meta: Some(br#"{"com.example/a":1}"#.into()),
        }))
    };
    let outcomes: [fn() -> Input; 7] = [
        full,
        || text("a"),
        || structured(&json!({"a": [1.5, null]})),
        || structured(&json!([1])),
        || structured(&Value::Null),
        || Input::Outcome(CallOutcome::Failed),
        || Input::Unanswered(Unanswered::Deadline),
    ];
    for schema in schemas() {
        for outcome in outcomes.iter().chain([&(full as fn() -> Input)]) {
            let outcome = *outcome;
            let mut server = Server::new().handling(move |_| outcome());
            let reply = server.line(&schema.claim(call("now", json!({}))));
            schema.check_result("CallToolResult", &reply.json());
        }
        let invalid = Server::new().line(&schema.claim(call("sum", json!({"a": "one"}))));
        schema.check_result("CallToolResult", &invalid.json());
    }
}

/// Every message before an answer, over both transports.
#[test]
fn notices() {
    let full = Notice::Progress {
        progress: amount(1),
        total: Some(Amount::Float(2.5)),
        message: Some("half way"),
    };
    let logged = Notice::Log {
        level: LogLevel::Emergency,
        logger: Some("disk"),
        data: br#"{"free":0}"#,
    };
    for schema in schemas() {
        for token in [json!("t"), json!(7)] {
            let meta = json!({"progressToken": token, "io.modelcontextprotocol/logLevel": "debug"});
            let request = schema.claim(asking_for(call("now", json!({})), &meta));
            let mut server = Server::new();
            let post = match schema.revision {
                Revision::R20260728 => Post::modern(&request),
                _ => Post::plain(&request),
            };
            let posted = server.begin(&post);
            for mut notifier in [
                server.notifier(&request),
                server.until_called(posted).notifier(),
            ] {
                for (part, notice) in [
                    ("ProgressNotification", progress(0.5)),
                    ("ProgressNotification", full),
                    ("LoggingMessageNotification", log(LogLevel::Debug)),
                    ("LoggingMessageNotification", logged),
                    ("JSONRPCNotification", other()),
                ] {
                    let frame = notifier
                        .frame(NOW, notice)
                        .unwrap()
                        .expect("it is asked for");
                    let message = said(&frame);
                    schema.check(part, &message);
                    schema.check("JSONRPCNotification", &message);
                    if part != "JSONRPCNotification" {
                        schema.check("ServerNotification", &message);
                    }
                }
            }
        }
    }
}

#[test]
fn levels_set() {
    for schema in schemas() {
        if schema.revision != Revision::R20260728 {
            let set = schema.claim(modern("logging/setLevel", json!({"level": "info"})));
            schema.check_result("EmptyResult", &Server::new().line(&set).json());
        }
    }
}

#[test]
fn errors() {
    for schema in schemas() {
        let claim = |method: &str, params: Value| schema.claim(modern(method, params));
        for (why, code) in [
            (Unanswered::Busy(MAX_CALLS), -31503),
            (Unanswered::PrincipalBusy(MAX_CALLS), -31429),
            (Unanswered::DuplicateId, -32600),
        ] {
            let reply = Server::new()
                .handling(move |_| Input::Unanswered(why))
                .line(&claim("tools/call", json!({"name": "now"})));
            assert_eq!(reply.code(), Some(code));
            schema.check_error(&reply.json());
        }
        let mut server = Server::with(|config| config.max_result_bytes = 200);
        for (message, code) in [
            (claim("none", json!({})), -32601),
            (claim("tools/call", json!({"name": "none"})), -32602),
            (claim("tools/list", json!({"cursor": "?"})), -32602),
            (claim("tools/list", json!({})), -32603),
            (json!({"id": 1}), -32600),
        ] {
            let reply = server.line(&message);
            assert_eq!(reply.code(), Some(code));
            schema.check_error(&reply.json());
        }
    }
}

/// An error whose id cannot be read has none (RPC-10); the schema of 2025-06-18 has no form for it.
#[test]
fn errors_without_id() {
    for revision in [Revision::R20260728, Revision::R20251125] {
        for line in [
            "{bad",
            "[]",
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        ] {
            Schema::of(revision).check_error(&Server::new().bytes(line).json());
        }
    }
}

#[test]
fn errors_with_a_type_of_their_own() {
    let schema = Schema::of(Revision::R20260728);
    let mut server = Server::new();
    let mut message = modern("tools/list", json!({}));
    let mismatch = server.post(&Post::modern(&message).set("Mcp-Method", "ping"));
    schema.check("HeaderMismatchError", &mismatch.json());
    message["params"]["_meta"][META[0]] = json!("1900-01-01");
    schema.check(
        "UnsupportedProtocolVersionError",
        &server.line(&message).json(),
    );
    for (part, reply) in [
        ("ParseError", server.bytes("{")),
        ("InvalidRequestError", server.bytes("[]")),
        (
            "MethodNotFoundError",
            server.line(&modern("none", json!({}))),
        ),
        ("InvalidParamsError", server.line(&call("none", json!({})))),
        (
            "InternalError",
            Server::with(|config| config.max_result_bytes = 10)
                .line(&modern("tools/list", json!({}))),
        ),
    ] {
        schema.check(part, &reply.json()["error"]);
    }
}

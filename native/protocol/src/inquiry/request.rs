//! One input request: what the host asks for, checked where it is asked, and whether a response fits.

use mcp_json::{Kind, Node};
use serde_json::{Map, Value, json};

use super::{
    form::Form,
    kind::InputKind,
    sampling,
    shape::{Shape, check_members, member},
};
use crate::{catalog::check_uri, revision::Revision};

/// A checked input request (MCP 2026-07-28 basic/patterns/mrtr, "Input Requests").
pub(super) enum InputRequest {
    Form {
        message: String,
        form: Box<Form>,
    },
    Url {
        message: String,
        url: String,
        /// What its completion is told by (ELI-11); of the host's making.
        id: Option<String>,
    },
    Sampling {
        params: Value,
    },
    Roots,
}

const ELICITATION: &str = "elicitation/create";
pub(super) const ELICITATION_ID: &str = "elicitationId";
const SAMPLING: &str = "sampling/createMessage";
const ROOTS: &str = "roots/list";

impl InputRequest {
    /// Reads `{method, params}` as the host wrote it; an error says in one sentence what it has to mend.
    pub(super) fn parse(json: &[u8]) -> Result<Self, String> {
        let request: Value = serde_json::from_slice(json)
            .map_err(|error| format!("the request is no JSON that can be read: {error}"))?;
        let params = &request["params"];
        match request["method"].as_str() {
            Some(ELICITATION) if params["mode"] == "url" => visit(params),
            Some(ELICITATION) => form(params),
            Some(SAMPLING) => sampling::check(params).map(|()| Self::Sampling {
                params: params.clone(),
            }),
            Some(ROOTS) => Ok(Self::Roots),
            _ => Err(format!(
                "method must be {ELICITATION}, {SAMPLING} or {ROOTS}"
            )),
        }
    }

    pub(super) fn kind(&self) -> InputKind {
        match self {
            Self::Form { .. } => InputKind::Form,
            Self::Url { .. } => InputKind::Url,
            Self::Sampling { params } if sampling::has_tools(params) => InputKind::ToolSampling,
            Self::Sampling { .. } => InputKind::Sampling,
            Self::Roots => InputKind::Roots,
        }
    }

    pub(super) fn method(&self) -> &'static str {
        match self {
            Self::Form { .. } | Self::Url { .. } => ELICITATION,
            Self::Sampling { .. } => SAMPLING,
            Self::Roots => ROOTS,
        }
    }

    /// The parameters in the words of `revision`; `None` where they do not suffice.
    pub(super) fn params(&self, revision: Revision, capabilities: &Value) -> Option<Value> {
        match self {
            Self::Form { message, form } => {
                let schema = form.schema_for(revision)?;
                Some(match revision {
                    Revision::R20250618 => json!({"message": message, "requestedSchema": schema}),
                    _ => json!({"mode": "form", "message": message, "requestedSchema": schema}),
                })
            }
            Self::Url { .. } if revision == Revision::R20250618 => None,
            Self::Url { message, url, id } => {
                let mut params = json!({"mode": "url", "message": message, "url": url});
                if let (Some(id), Revision::R20251125) = (id, revision) {
                    params[ELICITATION_ID] = id.as_str().into();
                }
                Some(params)
            }
            Self::Sampling { params } => sampling::for_revision(params, revision, capabilities),
            Self::Roots => Some(Value::Object(Map::new())),
        }
    }

    /// Whether a response is one to this request (ELI-6, SAM-3, ROOT-1).
    pub(super) fn accepts(&self, response: Node<'_>) -> bool {
        if response.kind() != Kind::Object {
            return false;
        }
        let text = |name: &str| response.get(name).and_then(Node::as_str);
        match self {
            Self::Form { form, .. } => match text("action").as_deref() {
                Some("accept") => response
                    .get("content")
                    .is_some_and(|content| form.accepts(content)),
                Some("decline" | "cancel") => true,
                _ => false,
            },
            Self::Url { .. } => {
                matches!(
                    text("action").as_deref(),
                    Some("accept" | "decline" | "cancel")
                )
            }
            Self::Sampling { .. } => {
                matches!(text("role").as_deref(), Some("user" | "assistant"))
                    && text("model").is_some()
                    && response.get("content").is_some_and(is_content)
            }
            Self::Roots => response.get("roots").is_some_and(|roots| {
                let is_root = |root: Node<'_>| {
                    let uri = root.get("uri").and_then(Node::as_str);
                    uri.is_some()
                };
                roots.kind() == Kind::Array && roots.items().all(is_root)
            }),
        }
    }

    /// The request as a value, for telling it apart from others.
    pub(super) fn identity(&self) -> Value {
        let newest = Revision::R20260728;
        json!([
            self.method(),
            self.params(newest, &json!({"sampling": {"context": {}}}))
        ])
    }
}

fn form(params: &Value) -> Result<InputRequest, String> {
    let rules = [
        ("mode", Shape::OneOf(&["form"])),
        ("message", Shape::String),
        ("requestedSchema", Shape::Object),
    ];
    let message = message(params, &rules)?;
    let schema = member(params, "requestedSchema").ok_or("params.requestedSchema is missing")?;
    let form = Box::new(Form::parse(schema)?);
    Ok(InputRequest::Form { message, form })
}

fn visit(params: &Value) -> Result<InputRequest, String> {
    let rules = [
        ("mode", Shape::OneOf(&["url"])),
        ("message", Shape::String),
        ("url", Shape::String),
        (ELICITATION_ID, Shape::String),
    ];
    let message = message(params, &rules)?;
    let url = params["url"].as_str().ok_or("params.url is missing")?;
    let is_page = ["https://", "http://"].iter().any(|scheme| {
        let rest = url.strip_prefix(scheme);
        rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
    });
    if !is_page {
        return Err("params.url must be an https URL, or http during development".into());
    }
    check_uri(url).map_err(|fault| format!("params.url {fault}"))?;
    Ok(InputRequest::Url {
        message,
        url: url.to_owned(),
        id: params[ELICITATION_ID].as_str().map(str::to_owned),
    })
}

fn message(params: &Value, rules: &[(&str, Shape)]) -> Result<String, String> {
    check_members(params, "params", rules)?;
    let message = params["message"].as_str();
    Ok(message.ok_or("params.message is missing")?.to_owned())
}

/// A block, or blocks.
fn is_content(content: Node<'_>) -> bool {
    let is_block = |block: Node<'_>| {
        block
            .get("type")
            .is_some_and(|kind| kind.kind() == Kind::String)
    };
    match content.kind() {
        Kind::Object => is_block(content),
        Kind::Array => content.items().all(is_block),
        _ => false,
    }
}

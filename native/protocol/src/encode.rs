//! Messages to bytes, one way for each revision.

use mcp_json::write;

use crate::{
    config::Config,
    error::Error,
    request_id::RequestId,
    revision::{Era, Revision},
};

/// Writes the members of one JSON object.
pub(crate) struct Members<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
}

impl<'a> Members<'a> {
    /// Opens an object.
    pub(crate) fn open(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, first: true }
    }

    /// Writes a member whose value is JSON text already.
    pub(crate) fn raw(&mut self, key: &str, json: impl AsRef<[u8]>) -> &mut Self {
        let (out, json) = (self.key(key), json.as_ref());
        if json.len() > LONG {
            // Room for what follows too: a buffer that is full would be moved for it.
            out.reserve(json.len() + LONG);
        }
        out.extend_from_slice(json);
        self
    }

    /// Writes a member of any name whose value is JSON text already.
    pub(crate) fn entry(&mut self, name: &str, json: impl AsRef<[u8]>) -> &mut Self {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
        write::string(self.out, name);
        self.out.push(b':');
        self.out.extend_from_slice(json.as_ref());
        self
    }

    /// Writes a string.
    pub(crate) fn string(&mut self, key: &str, text: &str) -> &mut Self {
        write::string(self.key(key), text);
        self
    }

    /// Writes an integer.
    pub(crate) fn integer(&mut self, key: &str, number: i64) -> &mut Self {
        write::integer(self.key(key), number);
        self
    }

    /// Writes an array of values that are JSON text already.
    pub(crate) fn array<'i>(
        &mut self,
        key: &str,
        items: impl Iterator<Item = &'i str>,
    ) -> &mut Self {
        let out = self.key(key);
        out.push(b'[');
        for (position, item) in items.enumerate() {
            if position > 0 {
                out.push(b',');
            }
            out.extend_from_slice(item.as_bytes());
        }
        out.push(b']');
        self
    }

    /// Writes an array of objects.
    pub(crate) fn objects<T>(
        &mut self,
        key: &str,
        items: &[T],
        write: impl Fn(&mut Members<'_>, &T),
    ) -> &mut Self {
        let out = self.key(key);
        out.push(b'[');
        for (position, item) in items.iter().enumerate() {
            if position > 0 {
                out.push(b',');
            }
            let mut members = Members::open(out);
            write(&mut members, item);
            members.close();
        }
        out.push(b']');
        self
    }

    /// Opens an object as a member's value; it is the caller's to close.
    pub(crate) fn object(&mut self, key: &str) -> Members<'_> {
        Members::open(self.key(key))
    }

    /// Writes an array of strings.
    pub(crate) fn strings<T: AsRef<str>>(&mut self, key: &str, items: &[T]) -> &mut Self {
        let out = self.key(key);
        out.push(b'[');
        for (position, item) in items.iter().enumerate() {
            if position > 0 {
                out.push(b',');
            }
            write::string(out, item.as_ref());
        }
        out.push(b']');
        self
    }

    /// Closes the object.
    pub(crate) fn close(self) {
        self.out.push(b'}');
    }

    /// Starts a member; keys are ours and need no escape.
    fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }
}

/// Bytes of a text that are not moved without need; of the members after it there are less.
const LONG: usize = 4_096;

/// What a result says of the request (MCP 2026-07-28 basic, "Result Type").
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ResultType {
    /// It is served.
    Complete,
    /// The client has to answer first.
    InputRequired,
    /// It goes on as a task (TASK-4).
    Task,
}

impl ResultType {
    fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::InputRequired => "input_required",
            Self::Task => "task",
        }
    }
}

/// Writes a result message. `members` writes the result's own members; `meta` is the host's `_meta` object.
///
/// Modern results carry `resultType` and the server's identity (RPC-7, META-10); legacy ones neither (RPC-8).
pub(crate) fn result(
    config: &Config,
    id: &RequestId,
    revision: Revision,
    result_type: ResultType,
    meta: Option<&[u8]>,
    members: impl FnOnce(&mut Members<'_>),
) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    let mut message = open_message(&mut out, Some(id));
    let body = message.key("result");
    write_result(body, config, revision, result_type, meta, members);
    message.close();
    out
}

/// Writes the result itself, as it stands in its message, or in a task.
pub(crate) fn write_result(
    out: &mut Vec<u8>,
    config: &Config,
    revision: Revision,
    result_type: ResultType,
    meta: Option<&[u8]>,
    members: impl FnOnce(&mut Members<'_>),
) {
    let mut result = Members::open(out);
    members(&mut result);
    if revision.era() == Era::Modern {
        result.string("resultType", result_type.as_str());
        write_meta(
            result.key("_meta"),
            config.server_info[revision.index()].as_bytes(),
            meta,
        );
    } else if let Some(meta) = meta {
        result.raw("_meta", meta);
    }
    result.close();
}

/// Writes an error message; without `id` when none could be read (RPC-10).
pub(crate) fn error(id: Option<&RequestId>, error: &Error) -> Vec<u8> {
    let mut out = Vec::with_capacity(192);
    let mut message = open_message(&mut out, id);
    write_error(message.key("error"), error);
    message.close();
    out
}

/// Writes the error itself, as it stands in its message, or in a task.
pub(crate) fn write_error(out: &mut Vec<u8>, error: &Error) {
    let mut body = Members::open(out);
    body.integer("code", i64::from(error.code.number()))
        .string("message", &error.message);
    if let Some(data) = &error.data {
        body.raw("data", data);
    }
    body.close();
}

fn open_message<'a>(out: &'a mut Vec<u8>, id: Option<&RequestId>) -> Members<'a> {
    let mut message = Members::open(out);
    message.raw("jsonrpc", "\"2.0\"");
    if let Some(id) = id {
        message.raw("id", id.raw());
    }
    message
}

/// The server's identity beside what the host put into `_meta`, a JSON object.
fn write_meta(out: &mut Vec<u8>, server_info: &[u8], host: Option<&[u8]>) {
    let mut meta = Members::open(out);
    meta.raw("io.modelcontextprotocol/serverInfo", server_info);
    match host.and_then(|host| host.strip_prefix(b"{")) {
        Some(rest) if rest != b"}" => {
            meta.out.push(b',');
            meta.out.extend_from_slice(rest);
        }
        _ => meta.close(),
    }
}

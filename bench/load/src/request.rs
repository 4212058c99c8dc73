//! The requests that servers get, byte for byte, all in revision 2026-07-28.

use std::str::FromStr;

/// What every connection asks for, over and over.
#[derive(Clone)]
pub(crate) struct Request {
    /// Head and body.
    pub(crate) bytes: Vec<u8>,
    /// What is somewhere in the answer.
    pub(crate) expected: &'static str,
}

impl Request {
    /// `method`, with the `Mcp-Name` that its parameters have.
    fn new(method: &str, name: Option<&str>, params: &str, expected: &'static str) -> Self {
        let body = format!(
            concat!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"{}","params":{{"_meta":{{"#,
                r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
                r#""io.modelcontextprotocol/clientInfo":{{"name":"load","version":"1.0.0"}},"#,
                r#""io.modelcontextprotocol/clientCapabilities":{{}}}}{}}}}}"#,
            ),
            method, params
        );
        let name = name.map(|name| format!("Mcp-Name: {name}\r\n"));
        let head = format!(
            "{REQUEST_LINE}\
             Host: localhost\r\n\
             Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: {method}\r\n\
             {}Content-Length: {}\r\n\r\n",
            name.unwrap_or_default(),
            body.len()
        );
        let bytes = (head + &body).into_bytes();
        Self { bytes, expected }
    }

    /// The same, on behalf of whom the access token names.
    pub(crate) fn with_token(&self, token: &str) -> Self {
        let mut bytes = self.bytes.clone();
        let line = format!("Authorization: Bearer {token}\r\n");
        bytes.splice(REQUEST_LINE.len()..REQUEST_LINE.len(), line.into_bytes());
        Self { bytes, ..*self }
    }
}

/// What every request begins with.
const REQUEST_LINE: &str = "POST /mcp HTTP/1.1\r\n";

/// By its name on the command line.
impl FromStr for Request {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "call" => Ok(Self::new("tools/call", Some("echo"), ECHO, TEXT)),
            "list" => Ok(Self::new("tools/list", None, "", r#""tools":[{"#)),
            "read" => Ok(Self::new("resources/read", Some(BLOB), READ, BLOB_START)),
            "notify" => Ok(Self::new("tools/call", Some("notify"), NOTIFY, "told")),
            "burst" => Ok(Self::new("tools/call", Some("burst"), BURST, "told")),
            "listen" => Ok(Self::new(
                "subscriptions/listen",
                None,
                LISTEN,
                ACKNOWLEDGED,
            )),
            other => Err(format!("{other} is none of call, list and read")),
        }
    }
}

/// The argument that must come back.
const TEXT: &str = "The quick brown fox jumps over the lazy dog.";

/// All five arguments of the tool `echo`.
const ECHO: &str = concat!(
    r#","name":"echo","arguments":{"text":"The quick brown fox jumps over the lazy dog.","#,
    r#""count":3,"ratio":0.5,"flag":true,"tags":["red","green"]}"#,
);

/// The resource of 1 MiB: all bytes in ascending order, 4,096 times.
const BLOB: &str = "bench://blob";
const READ: &str = r#","uri":"bench://blob""#;

/// Tools that tell of changes: of one, and of 5,000 parts of a resource.
const NOTIFY: &str = r#","name":"notify","arguments":{}"#;
const BURST: &str = r#","name":"burst","arguments":{}"#;

/// Who hears of them.
const LISTEN: &str = concat!(
    r#","notifications":{"toolsListChanged":true,"#,
    r#""resourceSubscriptions":["bench://directory"]}"#,
);
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// How it begins in Base64.
const BLOB_START: &str = r#""blob":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIj"#;

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str) -> String {
        let request: Request = name.parse().unwrap();
        String::from_utf8(request.bytes).unwrap()
    }

    #[test]
    fn counts_its_body() {
        for name in ["call", "list", "read", "notify", "burst", "listen"] {
            let text = text(name);
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("Content-Length: {}", body.len())));
            assert!(serde_json::from_str::<serde_json::Value>(body).is_ok());
        }
    }

    #[test]
    fn puts_a_token_into_its_head() {
        let request: Request = "call".parse().unwrap();
        let text = String::from_utf8(request.with_token("a.b.c").bytes).unwrap();
        let lines: Vec<&str> = text.split("\r\n").collect();
        assert_eq!(lines[0], "POST /mcp HTTP/1.1");
        assert_eq!(lines[1], "Authorization: Bearer a.b.c");
        assert_eq!(lines[2], "Host: localhost");
    }

    #[test]
    fn asks_for_what_comes_back() {
        assert!(text("call").contains(TEXT));
    }
}

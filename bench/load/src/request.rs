//! The one request that every server gets, byte for byte.

/// The argument that must come back.
pub(crate) const TEXT: &str = "The quick brown fox jumps over the lazy dog.";

/// `tools/call` of `echo` in revision 2026-07-28, all five arguments given.
pub(crate) fn bytes() -> Vec<u8> {
    let body = format!(
        concat!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"_meta":{{"#,
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
            r#""io.modelcontextprotocol/clientInfo":{{"name":"load","version":"1.0.0"}},"#,
            r#""io.modelcontextprotocol/clientCapabilities":{{}}}},"name":"echo","arguments":"#,
            r#"{{"text":"{}","count":3,"ratio":0.5,"flag":true,"tags":["red","green"]}}}}}}"#,
        ),
        TEXT
    );
    format!(
        "POST /mcp HTTP/1.1\r\n\
         Host: localhost\r\n\
         Content-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: tools/call\r\n\
         Mcp-Name: echo\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

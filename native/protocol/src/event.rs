//! Server-sent events, as far as MCP uses them (HTTP-44).

/// One message as one event. A JSON text has no line ends, so it is one line of data.
pub(crate) fn event(message: &[u8]) -> Vec<u8> {
    [b"event: message\ndata: ", message, b"\n\n"].concat()
}

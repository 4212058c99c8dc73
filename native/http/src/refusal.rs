//! Answers given below HTTP's own layers, where no request can be told apart.

use std::io::{self, Write};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::timeout,
};

use crate::{bind::Accepted, patience::LINGER};

/// The answer to a head that took too long.
pub(crate) const HEAD_TIMEOUT: &str = concat!(
    "HTTP/1.1 408 Request Timeout\r\n",
    "connection: close\r\ncontent-type: application/json\r\ncontent-length: 109\r\n\r\n",
    r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"The request head did not arrive in time; send it again."}}"#,
);

/// The answer to a connection over the limit.
pub(crate) const TOO_MANY_CONNECTIONS: &str = concat!(
    "HTTP/1.1 503 Service Unavailable\r\n",
    "connection: close\r\nretry-after: 1\r\ncontent-type: application/json\r\ncontent-length: 101\r\n\r\n",
    r#"{"jsonrpc":"2.0","error":{"code":-31503,"message":"Too many connections are open; try again later."}}"#,
);

/// Writes `answer`, closes our side, and gives the peer a moment to read it.
pub(crate) async fn send<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, answer: &str) {
    let sending = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        let mut scratch = [0; 1024];
        while stream.read(&mut scratch).await? > 0 {}
        io::Result::Ok(())
    };
    // The peer may be gone or deaf; either way the connection ends now.
    let _ = timeout(LINGER, sending).await;
}

/// Writes `answer` as far as it goes without waiting, and closes.
pub(crate) fn send_at_once(connection: Accepted, answer: &str) {
    let _ = match connection {
        Accepted::Tcp(mut stream, _) => stream.write(answer.as_bytes()),
        Accepted::Unix(mut stream) => stream.write(answer.as_bytes()),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declares_its_length_and_holds_json() {
        for answer in [HEAD_TIMEOUT, TOO_MANY_CONNECTIONS] {
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            let length = head.split_once("content-length: ").unwrap().1;
            assert_eq!(length.parse::<usize>().unwrap(), body.len());
            serde_json::from_str::<serde_json::Value>(body).unwrap();
        }
    }
}

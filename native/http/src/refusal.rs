//! Answers given below HTTP's own layers, where no request can be told apart.

use std::{
    io::{self, Write},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::timeout,
};

use crate::{bind::Accepted, patience::LINGER};

/// The answer to a head that took longer than `limit`.
pub(crate) fn head_timeout(limit: Duration) -> String {
    let message = format!(
        "The request head did not arrive within {} ms: send it again, and faster",
        limit.as_millis()
    );
    answer("408 Request Timeout", "", -32600, &message)
}

/// The answer to a connection over `limit`.
pub(crate) fn too_many_connections(limit: usize) -> String {
    let message =
        format!("{limit} connections are open, as many as the server allows: retry later");
    answer(
        "503 Service Unavailable",
        "retry-after: 1\r\n",
        -31503,
        &message,
    )
}

/// `message` holds nothing that JSON would escape.
fn answer(status: &str, headers: &str, code: i32, message: &str) -> String {
    let body = format!(r#"{{"jsonrpc":"2.0","error":{{"code":{code},"message":"{message}"}}}}"#);
    format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\n{headers}content-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

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
        for (answer, limit) in [
            (head_timeout(Duration::from_secs(10)), "10000 ms"),
            (too_many_connections(7), "7 connections"),
        ] {
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            let length = head.split_once("content-length: ").unwrap().1;
            assert_eq!(length.parse::<usize>().unwrap(), body.len());
            let message: serde_json::Value = serde_json::from_str(body).unwrap();
            assert!(
                message["error"]["message"]
                    .as_str()
                    .unwrap()
                    .contains(limit)
            );
        }
    }
}

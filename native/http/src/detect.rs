//! Tells HTTP/2 with prior knowledge from HTTP/1 by the first bytes of a connection (RFC 9113 §3.3).

use std::io;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt};

/// What a connection began with.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Opening {
    pub(crate) protocol: Protocol,
    /// The bytes read to find out; they belong to the protocol.
    pub(crate) prefix: Bytes,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

impl Opening {
    /// Of a connection whose protocol was settled before its first byte.
    pub(crate) fn unread(protocol: Protocol) -> Self {
        Self {
            protocol,
            prefix: Bytes::new(),
        }
    }
}

/// Reads until the preface is complete or ruled out; `None` when the peer left before that.
///
/// Has no deadline of its own: whoever awaits it must set one.
pub(crate) async fn detect<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<Option<Opening>> {
    let mut seen = [0; PREFACE.len()];
    let mut length = 0;
    loop {
        let read = stream.read(&mut seen[length..]).await?;
        if read == 0 {
            return Ok(None);
        }
        length += read;
        let prefix = &seen[..length];
        let protocol = if prefix == PREFACE {
            Protocol::Http2
        } else if PREFACE.starts_with(prefix) {
            continue;
        } else {
            Protocol::Http1
        };
        return Ok(Some(Opening {
            protocol,
            prefix: Bytes::copy_from_slice(prefix),
        }));
    }
}

/// The client connection preface (RFC 9113 §3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    async fn detect_in(chunks: &[&[u8]]) -> Option<(Protocol, Vec<u8>)> {
        let (mut client, mut server) = tokio::io::duplex(1);
        let bytes = chunks.concat();
        let writing = tokio::spawn(async move {
            let _ = client.write_all(&bytes).await;
        });
        let opening = detect(&mut server).await.unwrap();
        drop(server);
        writing.await.unwrap();
        opening.map(|opening| (opening.protocol, opening.prefix.to_vec()))
    }

    #[tokio::test]
    async fn finds_the_preface_byte_by_byte() {
        let found = detect_in(&[PREFACE, b"rest"]).await;
        assert_eq!(found, Some((Protocol::Http2, PREFACE.to_vec())));
    }

    #[tokio::test]
    async fn rules_it_out_at_the_first_other_byte() {
        let found = detect_in(&[b"PRI * HTTP/1.1\r\n\r\n"]).await;
        assert_eq!(found, Some((Protocol::Http1, b"PRI * HTTP/1".to_vec())));
        assert_eq!(
            detect_in(&[b"POST"]).await,
            Some((Protocol::Http1, b"PO".to_vec()))
        );
    }

    #[tokio::test]
    async fn finds_nothing_in_silence() {
        assert_eq!(detect_in(&[b"PRI"]).await, None);
        assert_eq!(detect_in(&[]).await, None);
    }
}

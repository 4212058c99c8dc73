//! One keep-alive connection that makes one call at a time.

use std::{cell::OnceCell, io::Error, net::Ipv4Addr};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    answer::{self, Answer},
    request::Request,
};

/// The stream and the bytes of the answer under way.
pub(crate) struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Connection {
    /// Connects to `port` of 127.0.0.1.
    pub(crate) async fn open(port: u16) -> Result<Self, String> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))
            .await
            .map_err(lost)?;
        stream.set_nodelay(true).map_err(lost)?;
        let received = Vec::with_capacity(4096);
        Ok(Self { stream, received })
    }

    /// Sends `request` and waits for its answer, which must have the body that the first answer had.
    pub(crate) async fn call(
        &mut self,
        request: &Request,
        first: &OnceCell<Vec<u8>>,
    ) -> Result<(), String> {
        self.received.clear();
        self.stream.write_all(&request.bytes).await.map_err(lost)?;
        loop {
            if self
                .stream
                .read_buf(&mut self.received)
                .await
                .map_err(lost)?
                == 0
            {
                return Err("the server closed a connection".into());
            }
            if let Some(answer) = Answer::read(&self.received)? {
                return check(&answer, self.received.len(), request, first);
            }
        }
    }
}

fn check(
    answer: &Answer<'_>,
    received: usize,
    request: &Request,
    first: &OnceCell<Vec<u8>>,
) -> Result<(), String> {
    let body = &answer.body[..];
    if received != answer.length {
        return Err(format!(
            "{} bytes after the answer",
            received - answer.length
        ));
    }
    let is_right = match first.get() {
        Some(first) => first == body,
        None => answer::contains(body, request.expected) && first.set(body.to_vec()).is_ok(),
    };
    if is_right {
        return Ok(());
    }
    let start = &body[..body.len().min(1_000)];
    Err(format!("wrong answer: {}", String::from_utf8_lossy(start)))
}

fn lost(error: Error) -> String {
    format!("connection lost: {error}")
}

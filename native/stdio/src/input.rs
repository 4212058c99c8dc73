//! Lines as they come.

use std::{future::pending, io};

use mcp_protocol::Line;
use tokio::sync::{mpsc, oneshot};

use crate::{
    reader::{Chunk, Reading},
    splitter::Splitter,
    stop::Stop,
};

/// The receiving side of a pipe.
pub(crate) struct Input {
    chunks: mpsc::Receiver<Chunk>,
    splitter: Splitter,
    /// Present while a thread of ours may read.
    reading: Option<Stop>,
    /// Comes when that thread finds the end.
    ended: Option<oneshot::Receiver<()>>,
    /// That thread was stopped, maybe in the middle of a line.
    cut: bool,
}

impl Input {
    pub(crate) fn new(
        chunks: mpsc::Receiver<Chunk>,
        max_line_bytes: usize,
        reading: Option<Reading>,
    ) -> Self {
        let (reading, ended) = reading.map(|it| (it.stop, it.ended)).unzip();
        Self {
            chunks,
            splitter: Splitter::new(max_line_bytes),
            reading,
            ended,
            cut: false,
        }
    }

    /// Waits until the other end sends nothing more, even if what it sent before is not taken yet. To be asked once.
    pub(crate) fn ended(&mut self) -> impl Future<Output = ()> + use<> {
        let ended = self.ended.take();
        async {
            match ended {
                Some(ended) => drop(ended.await),
                // Whoever pushes lines says so by closing.
                None => pending().await,
            }
        }
    }

    /// The next line; `None` at the end. Cancel safe.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.splitter.next() {
                return Ok(Some(line));
            }
            match self.chunks.recv().await {
                Some(chunk) => self.splitter.push(chunk?),
                None if self.cut => return Ok(None),
                None => return Ok(self.splitter.finish()),
            }
        }
    }

    /// Takes in nothing more; the lines received are still given out.
    pub(crate) fn close(&mut self) {
        self.cut = self.reading.take().is_some();
        self.chunks.close();
    }
}

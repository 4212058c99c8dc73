//! Lines as they come.

use std::io;

use mcp_protocol::Line;
use tokio::sync::mpsc;

use crate::{reader::Chunk, splitter::Splitter, stop::Stop};

/// The receiving side of a pipe.
pub(crate) struct Input {
    chunks: mpsc::Receiver<Chunk>,
    splitter: Splitter,
    /// Present while a thread of ours may read.
    reading: Option<Stop>,
    /// That thread was stopped, maybe in the middle of a line.
    cut: bool,
}

impl Input {
    pub(crate) fn new(
        chunks: mpsc::Receiver<Chunk>,
        max_line_bytes: usize,
        reading: Option<Stop>,
    ) -> Self {
        Self {
            chunks,
            splitter: Splitter::new(max_line_bytes),
            reading,
            cut: false,
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

//! The handle of a running pipe.

use std::{
    fmt, io,
    os::fd::OwnedFd,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use mcp_driver::Host;
use tokio::{
    runtime::Handle,
    sync::{Notify, mpsc},
};

use crate::{
    conversation::Conversation,
    credit::Credit,
    input::Input,
    options::Options,
    reader::{self, Chunk},
    writer::Writer,
};

/// A client at the other end of two byte streams. Dropping the handle closes it.
#[derive(Debug)]
pub struct Pipe {
    number: u64,
    /// Tells the conversation to end.
    closing: Arc<Notify>,
    /// Where [`Pipe::push`] puts what it is given; only for [`Source::Pushed`].
    chunks: Option<mpsc::Sender<Chunk>>,
    /// Lines that [`Sink::Callback`] may be given.
    credit: Arc<Credit>,
}

/// Where a client's lines come from.
#[derive(Debug)]
pub enum Source {
    /// A descriptor, read by a thread.
    Descriptor(OwnedFd),
    /// Whoever calls [`Pipe::push`].
    Pushed,
}

/// Where answers go.
pub enum Sink {
    /// A descriptor, written by a thread.
    Descriptor(OwnedFd),
    /// A function that is given whole lines, in order, on a thread of the runtime. It must not block. It is given 16
    /// before [`Pipe::written`] has to say that one is dealt with.
    Callback(Box<dyn FnMut(Vec<u8>) + Send>),
}

/// How a pipe came to its end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum End {
    /// The input ended, or the pipe was closed.
    Input,
    /// The client said `exit`.
    Exit,
    /// Reading or writing failed, for the reason given.
    Fault(String),
}

/// [`Pipe::push`] found no room, or no pipe.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Busy;

impl Pipe {
    /// Serves one client with `host` on `runtime`.
    ///
    /// `on_end` is called once, on a thread of the runtime, when every line that was taken in is answered and every
    /// answer written, or given up.
    ///
    /// # Errors
    /// When no thread or pipe can be made, or the output is no usable descriptor.
    pub fn start<H: Host>(
        host: Arc<H>,
        runtime: &Handle,
        source: Source,
        sink: Sink,
        options: Options,
        on_end: impl FnOnce(End) + Send + 'static,
    ) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let closing = Arc::new(Notify::new());
        let credit = Arc::new(Credit::new());
        let (sender, chunks) = mpsc::channel(QUEUED_CHUNKS);
        let writer = match sink {
            Sink::Descriptor(descriptor) => Writer::to_descriptor(descriptor)?,
            Sink::Callback(callback) => Writer::to_callback(callback, Arc::clone(&credit), runtime),
        };
        let (chunk_sender, reading) = match source {
            Source::Descriptor(descriptor) => (None, Some(reader::start(descriptor, sender)?)),
            Source::Pushed => (Some(sender), None),
        };
        let input = Input::new(chunks, options.max_line_bytes, reading);
        let conversation = Conversation::new(host, number, input, writer, options);
        let told = Arc::clone(&closing);
        runtime.spawn(async move {
            // In a task of its own, so that the end is reported whatever happens in it.
            let served = tokio::spawn(conversation.run(told)).await;
            on_end(served.unwrap_or_else(|fault| End::Fault(fault.to_string())));
        });
        Ok(Self {
            number,
            closing,
            chunks: chunk_sender,
            credit,
        })
    }

    /// Hands over what was read elsewhere, of any length and cut anywhere. Does not block.
    ///
    /// # Errors
    /// [`Busy`] when earlier bytes still wait, or the pipe has ended, or reads a descriptor of its own.
    pub fn push(&self, bytes: impl Into<Bytes>) -> Result<(), Busy> {
        let chunks = self.chunks.as_ref().ok_or(Busy)?;
        chunks.try_send(Ok(bytes.into())).map_err(|_| Busy)
    }

    /// Says that a line given to [`Sink::Callback`] has reached its receiver, so that one more may follow.
    pub fn written(&self) {
        self.credit.give();
    }

    /// Ends the input: what was received is served, running calls may finish within the drain timeout.
    pub fn close(&self) {
        self.closing.notify_one();
    }

    /// Names the pipe; unique in the process.
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Descriptor(descriptor) => {
                out.debug_tuple("Descriptor").field(descriptor).finish()
            }
            Self::Callback(_) => out.debug_tuple("Callback").finish_non_exhaustive(),
        }
    }
}

/// Reads, or pushes, that wait to be split into lines; of at most 64 KiB each when they are reads.
const QUEUED_CHUNKS: usize = 16;

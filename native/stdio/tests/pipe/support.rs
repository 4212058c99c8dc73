//! A client that talks to a host through descriptors.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Write},
    os::fd::OwnedFd,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use mcp_driver::ServingRuntime;
use mcp_stdio::{End, Options, Pipe, Sink, Source};
use mcp_testing::{TestHost, eventually};
use serde_json::Value;
use tokio::runtime::{Builder, Handle};

/// A client of a host with room for all it wants.
pub fn client() -> Client {
    Client::new(host(1_000, 1 << 28), Options::default())
}

/// A host with room for so many calls and bytes.
pub fn host(max_calls: usize, max_buffered_bytes: usize) -> Arc<TestHost> {
    TestHost::serving(|settings| {
        settings.limits.max_calls = max_calls;
        settings.max_buffered_bytes = max_buffered_bytes;
    })
}

/// Waits until so many calls of `hold` run.
pub fn held(client: &Client, count: usize) {
    eventually("the calls run", || client.host.held().len() == count);
}

pub fn hurried() -> Options {
    Options {
        drain_timeout: Duration::from_millis(50),
        ..Options::default()
    }
}

/// The other end of a pipe.
pub struct Client {
    pub host: Arc<TestHost>,
    pub pipe: Pipe,
    pub input: Option<File>,
    pub output: BufReader<File>,
    pub ended: mpsc::Receiver<End>,
}

impl Client {
    /// Connects over a pair of pipes.
    pub fn new(host: Arc<TestHost>, options: Options) -> Self {
        let (theirs_in, ours_in) = io::pipe().unwrap();
        let (ours_out, theirs_out) = io::pipe().unwrap();
        Self::over(
            host,
            options,
            (theirs_in.into(), theirs_out.into()),
            (ours_in.into(), ours_out.into()),
        )
    }

    /// Connects over the descriptors given: the server's input and output, the client's input and output.
    pub fn over(
        host: Arc<TestHost>,
        options: Options,
        theirs: (OwnedFd, OwnedFd),
        ours: (OwnedFd, OwnedFd),
    ) -> Self {
        let (on_end, ended) = mpsc::channel();
        let pipe = Pipe::start(
            Arc::clone(&host),
            &worker(),
            Source::Descriptor(theirs.0),
            Sink::Descriptor(theirs.1),
            options,
            move |end| on_end.send(end).unwrap(),
        )
        .unwrap();
        Self {
            host,
            pipe,
            input: Some(ours.0.into()),
            output: BufReader::new(ours.1.into()),
            ended,
        }
    }

    pub fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes.as_ref()).unwrap();
    }

    pub fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n"));
    }

    /// The next message; `Null` at the end of the output.
    pub fn receive(&mut self) -> Value {
        let mut line = String::new();
        match self.output.read_line(&mut line).unwrap() {
            0 => Value::Null,
            _ => serde_json::from_str(&line).unwrap(),
        }
    }

    pub fn end(&self) -> End {
        self.ended.recv_timeout(Duration::from_secs(10)).unwrap()
    }
}

/// A thread with a runtime of its own, as transports have them.
pub fn worker() -> Handle {
    let runtime = ServingRuntime::new(Builder::new_current_thread().enable_all()).unwrap();
    let handle = runtime.handle().clone();
    thread::spawn(move || runtime.serve());
    handle
}

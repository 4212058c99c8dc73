//! Many event streams at once: what an idle one holds in memory, and how long a change takes to reach them all.

use std::{
    cell::{Cell, RefCell},
    fmt,
    net::Ipv4Addr,
    rc::Rc,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use memchr::memmem;
use serde::Serialize;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::Notify,
    task::{JoinSet, LocalSet},
    time,
};

use crate::{connection::Connection, process::Process, request::Request};

/// What to do: open `streams` and one that is never read, tell them all of `changes`, then of 5,000 at once.
pub(crate) struct Plan {
    pub(crate) port: u16,
    pub(crate) pid: u32,
    pub(crate) streams: usize,
    pub(crate) changes: usize,
}

/// What came out.
#[derive(Serialize)]
pub(crate) struct Report {
    streams: usize,
    /// Memory of the server's process that the streams added, by stream.
    kib_per_stream: f64,
    /// From the request that makes the change to the change on a stream.
    p50_us: f64,
    p99_us: f64,
    /// Memory that a burst of changes added, with a stream that is not read.
    burst_mb: f64,
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&serde_json::to_string(self).expect("numbers always encode"))
    }
}

impl Plan {
    /// Runs and measures.
    ///
    /// # Errors
    /// A lost stream, or a change that does not reach all of them, ends the run.
    pub(crate) async fn run(self) -> Result<Report, String> {
        LocalSet::new().run_until(self.measure()).await
    }

    async fn measure(self) -> Result<Report, String> {
        let server = Process::find(self.pid)?;
        let mut control = Connection::open(self.port).await?;
        let state = Rc::new(State::new());
        // What the first call and the first stream take is not the streams'.
        drop(open(self.port).await?);
        self.change(&mut control, &state, 0).await?;
        let before = settled(&server).await?;

        let mut readers = JoinSet::new();
        for _ in 0..self.streams {
            readers.spawn_local(read(open(self.port).await?, Rc::clone(&state)));
        }
        let opened = settled(&server).await?;
        let _unread = open(self.port).await?;
        let delivered = async {
            for _ in 0..self.changes {
                self.change(&mut control, &state, self.streams).await?;
            }
            let idle = settled(&server).await?;
            call(&mut control, "burst").await?;
            let bursted = settled(&server).await?;
            // Whoever reads hears of the next change too.
            self.change(&mut control, &state, self.streams).await?;
            Ok(bursted.saturating_sub(idle))
        };
        let burst_bytes = tokio::select! {
            Some(Ok(ended)) = readers.join_next() => ended.and(Err("a stream ended".into())),
            burst_bytes = delivered => burst_bytes,
        }?;
        let latencies = state.latencies.borrow();
        Ok(Report {
            streams: self.streams,
            kib_per_stream: opened.saturating_sub(before) as f64 / 1024.0 / self.streams as f64,
            p50_us: latencies.value_at_quantile(0.5) as f64 / 1e3,
            p99_us: latencies.value_at_quantile(0.99) as f64 / 1e3,
            burst_mb: burst_bytes as f64 / 1e6,
        })
    }

    /// Makes a change and waits until it is on so many streams.
    async fn change(
        &self,
        control: &mut Connection,
        state: &State,
        streams: usize,
    ) -> Result<(), String> {
        state.awaited.set(streams);
        state.begun.set(Instant::now());
        call(control, "notify").await?;
        let all = async {
            while state.awaited.get() > 0 {
                state.reached.notified().await;
            }
        };
        let in_time = time::timeout(PATIENCE, all).await;
        in_time.map_err(|_| format!("{} streams heard nothing", state.awaited.get()))
    }
}

/// What the readers share.
struct State {
    begun: Cell<Instant>,
    awaited: Cell<usize>,
    reached: Notify,
    latencies: RefCell<Histogram<u32>>,
}

impl State {
    fn new() -> Self {
        let latencies = Histogram::new_with_bounds(1_000, 60_000_000_000, 3)
            .expect("the bounds and three digits are within the histogram's own");
        Self {
            begun: Cell::new(Instant::now()),
            awaited: Cell::new(0),
            reached: Notify::new(),
            latencies: RefCell::new(latencies),
        }
    }

    fn reached(&self) {
        let nanoseconds = self.begun.get().elapsed().as_nanos() as u64;
        self.latencies.borrow_mut().saturating_record(nanoseconds);
        self.awaited.set(self.awaited.get().saturating_sub(1));
        self.reached.notify_one();
    }
}

/// Opens a stream and waits for its acknowledgement.
async fn open(port: u16) -> Result<TcpStream, String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))
        .await
        .map_err(lost)?;
    let request: Request = "listen".parse()?;
    stream.write_all(&request.bytes).await.map_err(lost)?;
    let mut head = Vec::with_capacity(1_024);
    while memmem::find(&head, request.expected.as_bytes()).is_none() {
        if stream.read_buf(&mut head).await.map_err(lost)? == 0 {
            return Err(format!("no stream: {}", String::from_utf8_lossy(&head)));
        }
    }
    Ok(stream)
}

/// Reads until the stream ends, which it should not. Each change of the list is a piece of its own.
async fn read(mut stream: TcpStream, state: Rc<State>) -> Result<(), String> {
    let mut piece = [0; 4_096];
    loop {
        let length = stream.read(&mut piece).await.map_err(lost)?;
        if length == 0 {
            return Err("the server closed a stream".into());
        }
        if memmem::find(&piece[..length], b"tools/list_changed").is_some() {
            state.reached();
        }
    }
}

async fn call(control: &mut Connection, tool: &str) -> Result<(), String> {
    control
        .call(&tool.parse()?, &std::cell::OnceCell::new())
        .await
}

/// The memory of the server, once what was begun is over.
async fn settled(server: &Process) -> Result<u64, String> {
    time::sleep(SETTLE).await;
    server.resident_bytes()
}

fn lost(error: std::io::Error) -> String {
    format!("connection lost: {error}")
}

const SETTLE: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(10);

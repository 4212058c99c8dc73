//! One run: warm up, measure, report.

use std::{
    cell::{Cell, OnceCell, RefCell},
    fmt,
    rc::Rc,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use serde::Serialize;
use tokio::{
    task::{JoinSet, LocalSet},
    time,
};

use crate::{connection::Connection, process::Process, request::Request};

/// What to do.
pub(crate) struct Plan {
    pub(crate) port: u16,
    pub(crate) pid: u32,
    pub(crate) connections: usize,
    /// At least one; they take turns.
    pub(crate) requests: Vec<Request>,
    pub(crate) warmup: Duration,
    pub(crate) measured: Duration,
}

/// What came out.
#[derive(Serialize)]
pub(crate) struct Report {
    calls: u64,
    cpu_us: f64,
    calls_per_s: f64,
    p50_us: f64,
    p99_us: f64,
    rss_mb: f64,
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&serde_json::to_string(self).expect("numbers always encode"))
    }
}

impl Plan {
    /// Loads the server and measures what it used.
    ///
    /// # Errors
    /// The first wrong answer or lost connection ends the run.
    pub(crate) async fn run(self) -> Result<Report, String> {
        LocalSet::new().run_until(self.measure()).await
    }

    async fn measure(self) -> Result<Report, String> {
        let server = Process::find(self.pid)?;
        let state = Rc::new(State::new(self.requests.clone()));
        let mut callers = JoinSet::new();
        for _ in 0..self.connections {
            callers.spawn_local(call_until_stopped(self.port, Rc::clone(&state)));
        }
        tokio::select! {
            Some(Ok(ended)) = callers.join_next() => ended.and(Err("a caller stopped early".into())),
            report = self.observe(&server, &state) => report,
        }
    }

    async fn observe(&self, server: &Process, state: &State) -> Result<Report, String> {
        time::sleep(self.warmup).await;
        let (start, cpu_before) = (Instant::now(), server.cpu()?);
        state.recording.set(true);
        time::sleep(self.measured).await;
        state.recording.set(false);
        let (elapsed, cpu_after) = (start.elapsed(), server.cpu()?);
        let latencies = state.latencies.borrow();
        let calls = latencies.len();
        if calls == 0 {
            return Err(format!("no answer within {:?}", self.measured));
        }
        Ok(Report {
            calls,
            cpu_us: microseconds(cpu_after.saturating_sub(cpu_before)) / calls as f64,
            calls_per_s: calls as f64 / elapsed.as_secs_f64(),
            p50_us: latencies.value_at_quantile(0.5) as f64 / 1e3,
            p99_us: latencies.value_at_quantile(0.99) as f64 / 1e3,
            rss_mb: server.resident_bytes()? as f64 / 1e6,
        })
    }
}

/// What the callers share.
struct State {
    requests: Vec<Request>,
    /// The turn of the next request.
    turn: Cell<usize>,
    first: OnceCell<Vec<u8>>,
    recording: Cell<bool>,
    /// Nanoseconds from the first byte sent to the last one received.
    latencies: RefCell<Histogram<u32>>,
}

impl State {
    fn new(requests: Vec<Request>) -> Self {
        let latencies = Histogram::new_with_bounds(1_000, 60_000_000_000, 3)
            .expect("the bounds and three digits are within the histogram's own");
        Self {
            requests,
            turn: Cell::new(0),
            first: OnceCell::new(),
            recording: Cell::new(false),
            latencies: RefCell::new(latencies),
        }
    }

    fn next_request(&self) -> &Request {
        let turn = self.turn.get();
        self.turn.set((turn + 1) % self.requests.len());
        &self.requests[turn]
    }
}

async fn call_until_stopped(port: u16, state: Rc<State>) -> Result<(), String> {
    let mut connection = Connection::open(port).await?;
    loop {
        let start = Instant::now();
        connection.call(state.next_request(), &state.first).await?;
        if state.recording.get() {
            let nanoseconds = start.elapsed().as_nanos() as u64;
            state.latencies.borrow_mut().saturating_record(nanoseconds);
        }
    }
}

fn microseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

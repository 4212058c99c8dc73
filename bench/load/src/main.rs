//! Closed-loop load on one MCP server: the same request on every connection, one after the other.
//!
//! `load PORT PID CONNECTIONS WARMUP_MS MEASURE_MS REQUEST` prints one line of JSON and exits 0, or says on stderr
//! which answer was wrong and exits 1. `PID` is the server's process; its descendants count as the server. `REQUEST`
//! is `call`, `list` or `read`.
//!
//! `load streams PORT PID STREAMS CHANGES` opens event streams instead and tells them of changes.

mod answer;
mod connection;
mod process;
mod request;
mod run;
mod streams;

use std::{env, process::ExitCode, str::FromStr, time::Duration};

use crate::run::Plan;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match measure().await {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(fault) => {
            eprintln!("load: {fault}");
            ExitCode::FAILURE
        }
    }
}

/// The report as JSON.
async fn measure() -> Result<String, String> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [word, port, pid, streams, changes] = arguments.as_slice()
        && word == "streams"
    {
        let plan = streams::Plan {
            port: number(port)?,
            pid: number(pid)?,
            streams: number(streams)?,
            changes: number(changes)?,
        };
        return plan.run().await.map(|report| report.to_string());
    }
    let [port, pid, connections, warmup, measured, request] = arguments.as_slice() else {
        return Err("usage: load PORT PID CONNECTIONS WARMUP_MS MEASURE_MS REQUEST".into());
    };
    let plan = Plan {
        port: number(port)?,
        pid: number(pid)?,
        connections: number(connections)?,
        request: request.parse()?,
        warmup: Duration::from_millis(number(warmup)?),
        measured: Duration::from_millis(number(measured)?),
    };
    plan.run().await.map(|report| report.to_string())
}

fn number<N: FromStr>(argument: &str) -> Result<N, String> {
    let parsed = argument.parse();
    parsed.map_err(|_| format!("{argument} is no number that fits here"))
}

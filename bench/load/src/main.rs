//! Closed-loop load on one MCP server: the same `tools/call` on every connection, one after the other.
//!
//! `load PORT PID CONNECTIONS WARMUP_MS MEASURE_MS` prints one line of JSON and exits 0, or says on stderr
//! which answer was wrong and exits 1. `PID` is the server's process; its descendants count as the server.

mod answer;
mod connection;
mod process;
mod request;
mod run;

use std::{env, process::ExitCode, time::Duration};

use crate::run::{Plan, Report};

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

async fn measure() -> Result<Report, String> {
    let arguments: Vec<u64> = env::args()
        .skip(1)
        .map(|argument| {
            argument
                .parse()
                .map_err(|_| format!("{argument} is no number"))
        })
        .collect::<Result<_, _>>()?;
    let &[port, pid, connections, warmup, measured] = arguments.as_slice() else {
        return Err("usage: load PORT PID CONNECTIONS WARMUP_MS MEASURE_MS".into());
    };
    let plan = Plan {
        port: u16::try_from(port).map_err(|_| format!("port {port} is over 65535"))?,
        pid: u32::try_from(pid).map_err(|_| format!("process id {pid} is too large"))?,
        connections: connections as usize,
        warmup: Duration::from_millis(warmup),
        measured: Duration::from_millis(measured),
    };
    plan.run().await
}

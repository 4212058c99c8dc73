//! Closed-loop load on one MCP server: the same request on every connection, one after the other.
//!
//! `load PORT PID CONNECTIONS WARMUP_MS MEASURE_MS REQUEST [TOKENS]` prints one line of JSON and exits 0, or says on
//! stderr which answer was wrong and exits 1. `PID` is the server's process; its descendants count as the server.
//! `REQUEST` is `call`, `list` or `read`. `TOKENS` is a file with an access token in each line; every request takes the
//! next one, and after the last the first.
//!
//! `load streams PORT PID STREAMS CHANGES` opens event streams instead and tells them of changes.

mod answer;
mod connection;
mod process;
mod request;
mod run;
mod streams;

use std::{env, fs, process::ExitCode, str::FromStr, time::Duration};

use crate::{request::Request, run::Plan};

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
    let [
        port,
        pid,
        connections,
        warmup,
        measured,
        request,
        tokens @ ..,
    ] = arguments.as_slice()
    else {
        return Err(
            "usage: load PORT PID CONNECTIONS WARMUP_MS MEASURE_MS REQUEST [TOKENS]".into(),
        );
    };
    let plan = Plan {
        port: number(port)?,
        pid: number(pid)?,
        connections: number(connections)?,
        requests: requests(&request.parse()?, tokens.first())?,
        warmup: Duration::from_millis(number(warmup)?),
        measured: Duration::from_millis(number(measured)?),
    };
    plan.run().await.map(|report| report.to_string())
}

/// The request, with each of the tokens in the file.
fn requests(request: &Request, tokens: Option<&String>) -> Result<Vec<Request>, String> {
    let Some(path) = tokens else {
        return Ok(vec![request.clone()]);
    };
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let requests: Vec<_> = text
        .lines()
        .map(|token| request.with_token(token))
        .collect();
    if requests.is_empty() {
        return Err(format!("{path} has no token"));
    }
    Ok(requests)
}

fn number<N: FromStr>(argument: &str) -> Result<N, String> {
    let parsed = argument.parse();
    parsed.map_err(|_| format!("{argument} is no number that fits here"))
}

//! What a running call tells its client before its answer: progress, log messages, other notifications
//! (MCP basic/utilities/progress, server/utilities/logging).

use std::fmt;

use mcp_json::write;

use crate::{encode::Members, event::event, log_level::LogLevel, request_id::RequestId, time::Now};

/// One message of a call, in the host's terms.
#[derive(Clone, Copy)]
pub enum Notice<'a> {
    /// How far the call is.
    Progress {
        /// Grows from one to the next.
        progress: Amount,
        /// Where it ends, when that is known.
        total: Option<Amount>,
        /// For people.
        message: Option<&'a str>,
    },
    /// A log message.
    Log {
        /// How severe it is.
        level: LogLevel,
        /// Who says so.
        logger: Option<&'a str>,
        /// Any JSON value, as text.
        data: &'a [u8],
    },
    /// A notification that the protocol does not define.
    Other {
        /// Its method.
        method: &'a str,
        /// A JSON object, as text.
        params: Option<&'a [u8]>,
    },
    /// The response ends here, unfinished: the client comes back for the rest (LHT-11).
    Break,
}

/// A finite number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// An integer.
    Integer(i64),
    /// A fraction.
    Float(f64),
}

/// A message ready to be sent.
pub struct Frame {
    /// What it is, which decides what becomes of it when the client does not read.
    pub kind: FrameKind,
    /// One event of a stream, or one line without its end.
    pub bytes: Vec<u8>,
}

/// The kinds of message before an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FrameKind {
    /// The newest one says all.
    Progress,
    /// Old ones may be lost.
    Log,
    /// None may be lost: the host is told when there is no room.
    Other,
    /// The same; it has no bytes and ends the response, whose rest the client comes back for.
    Break,
    /// None may be lost, and the call waits for an answer: progress and log messages make room for it.
    Request,
}

/// Why a message is not sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unsent {
    /// Its progress does not exceed that of the message before (PROG-3).
    NotIncreasing,
    /// The call has written as many log messages within a second as it may (LOG-8).
    TooMany,
    /// The client cannot come back for the rest of the response.
    NotResumable,
}

/// Turns the messages of one call into frames, by what its client asked for.
pub struct Notifier {
    framing: Framing,
    /// Where the client wants to read of progress.
    progress_token: Option<RequestId>,
    /// How far the call has come.
    progress: f64,
    /// From which level on the client reads log messages.
    threshold: Option<LogLevel>,
    /// The second of the last log message, and how many it had.
    logged: (u64, u32),
    /// Whether the client can come back for the rest of a response.
    resumable: bool,
}

/// How messages stand on the wire.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Framing {
    /// One line each.
    Line,
    /// One server-sent event each.
    Event,
    /// Not at all: the client reads no event streams (D17).
    Nothing,
}

impl Framing {
    /// A message as it stands on the wire.
    pub(crate) fn frame(self, message: Vec<u8>) -> Vec<u8> {
        match self {
            Self::Event => event(&message),
            Self::Line | Self::Nothing => message,
        }
    }
}

impl Notifier {
    pub(crate) fn new(
        framing: Framing,
        progress_token: Option<RequestId>,
        threshold: Option<LogLevel>,
        resumable: bool,
    ) -> Self {
        Self {
            framing,
            progress_token,
            progress: f64::NEG_INFINITY,
            threshold,
            logged: (0, 0),
            resumable,
        }
    }

    /// The frame of a message; `None` for one that the client did not ask for or cannot read.
    ///
    /// # Errors
    /// [`Unsent::NotIncreasing`] also where nobody asked for progress: the host is to find its fault with any client.
    pub fn frame(&mut self, now: Now, notice: Notice<'_>) -> Result<Option<Frame>, Unsent> {
        if let Notice::Progress { progress, .. } = notice {
            self.advance(progress)?;
        }
        if matches!(notice, Notice::Break) {
            return self.break_off().map(Some);
        }
        if self.framing == Framing::Nothing {
            return Ok(None);
        }
        let Some((kind, message)) = self.message(notice) else {
            return Ok(None);
        };
        if kind == FrameKind::Log {
            self.count_log(now)?;
        }
        let bytes = self.framing.frame(message);
        Ok(Some(Frame { kind, bytes }))
    }

    fn break_off(&self) -> Result<Frame, Unsent> {
        match self.resumable {
            true => Ok(Frame {
                kind: FrameKind::Break,
                bytes: Vec::new(),
            }),
            false => Err(Unsent::NotResumable),
        }
    }

    fn count_log(&mut self, now: Now) -> Result<(), Unsent> {
        let second = now.monotonic_ms / 1_000;
        self.logged = match self.logged {
            (last, count) if last == second && count >= MAX_LOGS_PER_SECOND => {
                return Err(Unsent::TooMany);
            }
            (last, count) if last == second => (last, count + 1),
            _ => (second, 1),
        };
        Ok(())
    }

    fn advance(&mut self, progress: Amount) -> Result<(), Unsent> {
        let progress = progress.as_f64();
        if progress <= self.progress {
            return Err(Unsent::NotIncreasing);
        }
        self.progress = progress;
        Ok(())
    }

    fn message(&self, notice: Notice<'_>) -> Option<(FrameKind, Vec<u8>)> {
        match notice {
            Notice::Progress {
                progress,
                total,
                message,
            } => {
                let token = self.progress_token.as_ref()?;
                let message = progress_message(token, progress, total, message);
                Some((FrameKind::Progress, message))
            }
            Notice::Log {
                level,
                logger,
                data,
            } => {
                let wanted = self.threshold.is_some_and(|threshold| level >= threshold);
                wanted.then(|| (FrameKind::Log, log_message(level, logger, data)))
            }
            Notice::Other { method, params } => {
                Some((FrameKind::Other, other_message(method, params)))
            }
            Notice::Break => None,
        }
    }
}

/// Log messages that one call may write within a second.
const MAX_LOGS_PER_SECOND: u32 = 200;

impl Amount {
    fn as_f64(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Float(float) => float,
        }
    }

    fn json(self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Integer(integer) => write::integer(&mut out, integer),
            Self::Float(float) => write::float(&mut out, float).expect("an amount is finite"),
        }
        out
    }
}

fn progress_message(
    token: &RequestId,
    progress: Amount,
    total: Option<Amount>,
    message: Option<&str>,
) -> Vec<u8> {
    notification("notifications/progress", |params| {
        params.raw("progressToken", token.raw());
        params.raw("progress", progress.json());
        if let Some(total) = total {
            params.raw("total", total.json());
        }
        if let Some(message) = message {
            params.string("message", message);
        }
    })
}

fn log_message(level: LogLevel, logger: Option<&str>, data: &[u8]) -> Vec<u8> {
    notification("notifications/message", |params| {
        params.string("level", level.as_str());
        if let Some(logger) = logger {
            params.string("logger", logger);
        }
        params.raw("data", data);
    })
}

fn other_message(method: &str, params: Option<&[u8]>) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    let mut message = Members::open(&mut out);
    message.raw("jsonrpc", "\"2.0\"").string("method", method);
    if let Some(params) = params {
        message.raw("params", params);
    }
    message.close();
    out
}

fn notification(method: &str, params: impl FnOnce(&mut Members<'_>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(192);
    let mut message = Members::open(&mut out);
    message.raw("jsonrpc", "\"2.0\"").string("method", method);
    let mut members = message.object("params");
    params(&mut members);
    members.close();
    message.close();
    out
}

/// Shows the kind and size: what is said is the host's.
impl fmt::Debug for Frame {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Frame({:?}, {} bytes)", self.kind, self.bytes.len())
    }
}

/// Shows what the client asked for.
impl fmt::Debug for Notifier {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Notifier")
            .field("framing", &self.framing)
            .field("progress", &self.progress_token.is_some())
            .field("threshold", &self.threshold)
            .finish_non_exhaustive()
    }
}

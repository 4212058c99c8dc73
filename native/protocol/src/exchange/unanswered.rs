//! Questions that nobody answers: what the client is told instead.

use super::{Exchange, Stage, internal, task};
use crate::{
    error::{Code, Error},
    question::Unanswered,
    step::Step,
    word,
};

impl Exchange {
    /// No answer came to anything but a call.
    pub(super) fn unanswered(&mut self, stage: &Stage, why: Unanswered) -> Step {
        let error = match (why, stage) {
            (Unanswered::Failed, Stage::Authorizing(_) | Stage::AuthorizingBody(_)) => internal(
                word::AUTHORIZE,
                "The server could not decide whether to serve this request",
            )
            .with_status(500),
            (
                Unanswered::Failed,
                Stage::FindingSession(..)
                | Stage::FindingSessionToEnd(_)
                | Stage::EndingSession(_)
                | Stage::SettingLogLevel(_)
                | Stage::Subscribing(_)
                | Stage::FindingSessionToHear(_)
                | Stage::CreatingSession(_),
            ) => internal(word::SESSION_STORE, "The server cannot reach its sessions")
                .with_status(503),
            (Unanswered::Failed, Stage::AskingTask(_) | Stage::FindingOwnTasks(..)) => {
                task::no_tasks()
            }
            (Unanswered::Failed, _) => internal(word::HOST_FAULT, "The server failed"),
            (Unanswered::Deadline, _) => internal(
                word::HOST_FAULT,
                "The server took too long to look this request up",
            )
            .with_status(503),
            (why, _) => busy(why),
        };
        self.refuse(error)
    }
}

/// The refusals that say "not now".
pub(super) fn busy(why: Unanswered) -> Error {
    match why {
        Unanswered::Busy(limit) => Error::new(
            Code::Busy,
            word::BUSY,
            format!("The server has as much running as its {limit} allows: retry later"),
        ),
        Unanswered::PrincipalBusy(limit) => Error::new(
            Code::PrincipalBusy,
            word::PRINCIPAL_BUSY,
            format!(
                "You have as much running as the server's {limit} allows: retry when something ends"
            ),
        ),
        Unanswered::NoRoom => Error::new(
            Code::Busy,
            word::BUFFERS,
            "The server holds as many bytes for its clients as its max_buffered_bytes allows: retry later",
        ),
        Unanswered::Draining => Error::new(
            Code::Busy,
            word::DRAINING,
            "The server is shutting down: retry elsewhere",
        ),
        Unanswered::StreamGone => Error::new(
            Code::InvalidRequest,
            word::STREAM_GONE,
            "The stream that Last-Event-ID names is not kept, or not from there on: send its request again",
        ),
        Unanswered::DuplicateId => Error::new(
            Code::InvalidRequest,
            word::DUPLICATE_ID,
            "Another request with this id is still running: ids are unique among running requests",
        ),
        _ => Error::new(Code::Busy, word::BUSY, "The server is busy: retry later"),
    }
}

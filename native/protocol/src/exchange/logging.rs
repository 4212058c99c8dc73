//! `logging/setLevel` (MCP 2025-11-25 server/utilities/logging): for the rest of the session.

use std::sync::Arc;

use super::{
    Carrier, Client, Exchange, Reply, Request, Stage, legacy::unknown_session, no_sessions,
};
use crate::{
    error::{Code, Error},
    log_level::LogLevel,
    question::Ask,
    session::{SessionAnswer, SessionAsk},
    step::Step,
    word,
};

impl Exchange {
    pub(super) fn set_log_level(&mut self, request: Request) -> Result<Step, Error> {
        let name = request.named_params().string("level")?;
        let level = LogLevel::parse(&name).ok_or_else(unknown_level)?;
        let reply = request.reply();
        if let Some(id) = &request.session {
            let ask = SessionAsk::SetLogLevel(Arc::clone(id), level);
            return Ok(self.ask(Stage::SettingLogLevel(reply), Ask::Session(ask)));
        }
        if let (Carrier::Pipe { session, .. }, Client::Session { .. }) =
            (&self.carrier, &request.client)
            && let Some(session) = session
        {
            let mut session = session.clone();
            session.log_level = Some(level);
            self.opened = Some(session);
        }
        Ok(self.result(&reply, None, |_| ()))
    }

    pub(super) fn log_level_set(&mut self, reply: &Reply, answer: &SessionAnswer) -> Step {
        match answer {
            SessionAnswer::Updated => self.result(reply, None, |_| ()),
            SessionAnswer::Unknown => self.refuse(unknown_session()),
            _ => self.refuse(no_sessions()),
        }
    }
}

fn unknown_level() -> Error {
    let message = format!(
        "The member \"params.level\" must be one of {}",
        LogLevel::names()
    );
    Error::new(Code::InvalidParams, word::PARAMS, message)
}

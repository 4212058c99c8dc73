//! Calls that ask their clients, and the clients' answers.

use std::{
    borrow::Cow,
    hash::BuildHasher,
    sync::{Arc, MutexGuard, atomic::Ordering},
};

use mcp_protocol::{
    Ask, ClientResponse, Frame, Heard, InputAnswer, InputKind, InputQuestion, Inquired, Inquiry,
    Scope,
};

use super::{Calls, Entered, Shard, Stage};
use crate::{buffers::Buffers, host::CallNumber};

/// What comes of a question of a call.
#[derive(Debug)]
pub enum Asking {
    /// The answers, in the order of the questions.
    Answers(Vec<InputAnswer>),
    /// The call ends here: its process replies with [`Token::inquiry`](crate::Token::inquiry).
    Ends,
    /// The same, since its client cannot be asked.
    Refused,
    /// They went out; [`Host::answered`](crate::Host::answered) tells the process when the answers are there.
    Waits,
    /// The client does not read: nothing of the question went out.
    Busy,
    /// The host has to mend the question.
    Fault(String),
    /// Nobody waits for this call any more.
    Gone,
    /// The call is another process's, or asks nothing.
    Foreign,
}

/// Whom a response reached.
pub(crate) enum Answered<W> {
    /// No call that asked for it.
    Nobody,
    /// A call that awaits more, or has no room for it.
    Partly,
    /// A call that awaits no more: its process is to be told.
    Wholly(CallNumber, W),
}

impl<W: Copy + PartialEq> Calls<W> {
    /// Asks the client of a call, which `worker` has taken.
    pub fn ask(
        &self,
        number: CallNumber,
        worker: W,
        questions: Vec<InputQuestion>,
        optional: bool,
        buffers: &Arc<Buffers>,
    ) -> Asking {
        // Reading the questions takes time, so it is not done under the lock of the shard.
        let mut inquiry = match self.borrow_inquiry(number, worker) {
            Ok(inquiry) => inquiry,
            Err(why) => return why,
        };
        let id = |position| self.request_id(number, position);
        let asking = match inquiry.ask(questions, optional, id) {
            Err(fault) => Ok(Asking::Fault(fault)),
            Ok(Inquired::Answers(answers)) => Ok(Asking::Answers(answers)),
            Ok(Inquired::Ends) => Ok(Asking::Ends),
            Ok(Inquired::Refused) => Ok(Asking::Refused),
            Ok(Inquired::Sends(frames)) => Err(frames),
        };
        let mut shard = self.shard(number);
        let Some(entered) = shard.get_mut(&number) else {
            return Asking::Gone;
        };
        if entered.answer.is_none() {
            return Asking::Gone;
        }
        entered.inquiry = Some(inquiry);
        asking.unwrap_or_else(|frames| self.send(entered, frames, buffers))
    }

    /// The answers to what a call asked last, once all are there.
    pub fn answers(&self, number: CallNumber, worker: W) -> Option<Vec<InputAnswer>> {
        let shard = self.shard(number);
        shard.get(&number)?.inquiry(worker)?.answers()
    }

    /// Whether the client of a call can be asked for something.
    pub fn supports(&self, number: CallNumber, worker: W, kind: InputKind) -> Option<bool> {
        let shard = self.shard(number);
        Some(shard.get(&number)?.inquiry(worker)?.supports(kind))
    }

    /// Forgets what a call has asked: its handler begins anew.
    pub fn restart(&self, number: CallNumber, worker: W) {
        let mut shard = self.shard(number);
        let entered = shard.get_mut(&number);
        if let Some(entered) = entered.filter(|it| it.inquiry(worker).is_some())
            && let Some(inquiry) = &mut entered.inquiry
        {
            inquiry.restart();
        }
    }

    /// What the host noted in the state that a call's request brought along, and when that expires.
    pub fn noted(&self, number: CallNumber, worker: W) -> Option<(Option<String>, u64)> {
        let shard = self.shard(number);
        let (note, expires) = shard.get(&number)?.inquiry(worker)?.noted()?;
        Some((note.map(Cow::into_owned), expires))
    }

    /// Hands a response to the call that asked for it.
    pub(crate) fn hear(
        &self,
        scope: &Scope,
        response: &ClientResponse,
        buffers: &Arc<Buffers>,
    ) -> Answered<W> {
        let reached = self.reached(scope, response, buffers);
        reached.unwrap_or(Answered::Nobody)
    }

    /// `None` when no call of the scope awaits the response.
    fn reached(
        &self,
        scope: &Scope,
        response: &ClientResponse,
        buffers: &Arc<Buffers>,
    ) -> Option<Answered<W>> {
        let number = call_of(response.id()?)?;
        let awaited = {
            let shard = self.shard(number);
            let entered = shard.get(&number).filter(|it| it.is_in(scope))?;
            entered.inquiry.as_ref()?.awaited(response)?
        };
        // Reading an answer takes time, so it is not done under the lock of the shard.
        let answer = awaited.read(response);
        let mut shard = self.shard(number);
        let entered = shard.get_mut(&number)?;
        let Stage::Taken(worker) = entered.stage else {
            return None;
        };
        let inquiry = entered.inquiry.as_mut()?;
        // Twice the same response finds that it was an answer once, and takes no room.
        inquiry.awaited(response)?;
        let room = entered.answers.get_or_insert_with(|| buffers.reserve());
        if !room.grow(answer.bytes()) {
            return Some(Answered::Partly);
        }
        Some(match inquiry.hear(response, answer) {
            Heard::Nothing => Answered::Nobody,
            Heard::Answer => Answered::Partly,
            Heard::LastAnswer => Answered::Wholly(number, worker),
        })
    }

    fn borrow_inquiry(&self, number: CallNumber, worker: W) -> Result<Box<Inquiry>, Asking> {
        let mut shard: MutexGuard<'_, Shard<W>> = self.shard(number);
        let entered = shard.get_mut(&number).ok_or(Asking::Gone)?;
        match entered.inquiry(worker) {
            Some(_) => entered.inquiry.take().ok_or(Asking::Foreign),
            None if entered.answer.is_none() => Err(Asking::Gone),
            None => Err(Asking::Foreign),
        }
    }

    /// Sends all requests of a question, or none.
    fn send(&self, entered: &mut Entered<W>, frames: Vec<Frame>, buffers: &Arc<Buffers>) -> Asking {
        let (Some(waiter), Some(inquiry)) = (&mut entered.answer, &mut entered.inquiry) else {
            return Asking::Gone;
        };
        if let Ok(lost) = waiter.outbox(buffers).push_all(frames) {
            self.messages_dropped.fetch_add(lost, Ordering::Relaxed);
            Asking::Waits
        } else {
            inquiry.withdraw();
            Asking::Busy
        }
    }

    /// An id that names the call, and that nobody guesses.
    fn request_id(&self, number: CallNumber, position: usize) -> String {
        let secret = self.ids.hash_one((number, position));
        format!("{number}-{position}-{secret:016x}")
    }
}

impl<W: Copy + PartialEq> Entered<W> {
    fn inquiry(&self, worker: W) -> Option<&Inquiry> {
        match self.stage {
            Stage::Taken(owner) if owner == worker => self.inquiry.as_deref(),
            _ => None,
        }
    }
}

impl<W> Entered<W> {
    fn is_in(&self, scope: &Scope) -> bool {
        let own = self.cancel_key.as_ref();
        own.is_some_and(|(own, _)| own == scope)
    }
}

impl<W: Copy> Calls<W> {
    /// The calls of a scope that wait for a response of their client.
    pub fn asking(&self, scope: &Scope) -> Vec<CallNumber> {
        let waits = |number: &CallNumber| {
            let shard = self.shard(*number);
            let inquiry = shard.get(number).and_then(|it| it.inquiry.as_ref());
            inquiry.is_some_and(|inquiry| inquiry.is_waiting())
        };
        let calls = self.find(scope, None);
        calls.into_iter().filter(waits).collect()
    }

    /// Takes out what a call asks with while it still waits for an answer.
    pub(crate) fn take_inquiry(&self, number: CallNumber) -> Option<Box<Inquiry>> {
        let mut shard = self.shard(number);
        shard.get_mut(&number)?.inquiry.take()
    }
}

/// Takes what a call asks its client with.
pub(super) fn inquiry(ask: &mut Ask) -> Option<Box<Inquiry>> {
    match ask {
        Ask::Call(call) => call.inquiry.take(),
        _ => None,
    }
}

/// The call that an id names.
fn call_of(id: &str) -> Option<CallNumber> {
    let (number, _) = id.split_once('-')?;
    number.parse().ok()
}

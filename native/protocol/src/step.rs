//! What an exchange wants next.

use std::{borrow::Cow, fmt};

use crate::{
    change::Uris,
    method::Method,
    question::{Computation, Question},
    revision::Revision,
    subscription::Subscription,
    task::Task,
};

/// The next thing for a driver to do.
#[derive(Debug)]
pub enum Step {
    /// Read the request's body and resume.
    ReadBody {
        /// The largest body that is read.
        max_bytes: usize,
    },
    /// Find this out and resume.
    Ask(Box<Question>),
    /// Run this off the serving thread and resume.
    Compute(Box<Computation>),
    /// Begin a stream of changes. Resume with [`Input::Unanswered`](crate::Input::Unanswered) when that cannot be; else
    /// the stream's opening and its changes go out until the client leaves, and [`Input::Done`](crate::Input::Done) ends it.
    Listen(Box<Subscription>),
    /// After [`Exchange::recheck`](crate::Exchange::recheck): whether what waits may be delivered.
    Deliver(Delivery),
    /// Send this; the exchange is over.
    Answer(Box<Answer>),
}

/// What becomes of changes that wait for a client.
#[derive(Debug)]
pub enum Delivery {
    /// They go out.
    Now,
    /// They go out to a session that is subscribed to these resources now.
    To(Uris),
    /// The one that was asked about is not for this client.
    Withheld,
    /// They wait: nobody could say whether the client may have them.
    Later,
    /// After [`Exchange::find_task`](crate::Exchange::find_task): this is what the client is told of its task, which is
    /// nothing when there is none any more.
    Task(Option<Box<Task>>),
}

/// The end of an exchange.
pub struct Answer {
    /// HTTP status; meaningless on stdio.
    pub status: u16,
    /// HTTP headers beside content type and length.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// One JSON-RPC message without a line end, or nothing at all.
    pub body: Vec<u8>,
    /// The body's media type; without meaning when the body is empty and this is not an event stream.
    pub content_type: &'static str,
    /// Whether the connection may serve another request.
    pub connection: Connection,
    /// What happened, for telemetry and logs.
    pub summary: Summary,
}

/// The head of an event stream that an exchange answers with: status 200, `text/event-stream`. Its events are the
/// call's frames and, at the end, the body of the [`Answer`].
#[derive(Debug, Default)]
pub struct StreamHead {
    /// HTTP headers beside the content type.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
}

/// What becomes of the connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Connection {
    /// Nothing of the request is left on the wire.
    Keep,
    /// The body was not read: close on HTTP/1.1, reset the stream on HTTP/2.
    Close,
    /// `exit` on stdio: finish what runs and end.
    End,
}

/// Identity and outcome of an exchange; never a payload.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The method, once known.
    pub method: Option<Method>,
    /// The revision that served it, once known.
    pub revision: Option<Revision>,
    /// The definition's name, once it was found in the catalog.
    pub definition: Option<std::sync::Arc<str>>,
    /// The JSON-RPC error code of the answer.
    pub code: Option<i32>,
    /// Why it was refused, in a word from a fixed list.
    pub refusal: Option<&'static str>,
    /// What the host did wrong, for its log.
    pub host_fault: Option<String>,
    /// What an option of the endpoint does not list, for the host's log.
    pub unlisted: Option<Box<Unlisted>>,
}

/// A value that the endpoint refuses because an option does not list it: who runs the server may have meant to.
#[derive(Clone)]
pub struct Unlisted {
    /// The option: `allowed_hosts` or `allowed_origins`.
    pub option: &'static str,
    /// The value in quotation marks, escaped and shortened: it is the peer's.
    pub value: String,
}

/// Shows the status and the size: the body is the client's, and headers may hold a session's id.
impl fmt::Debug for Answer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Answer")
            .field("status", &self.status)
            .field("bytes", &self.body.len())
            .field("content_type", &self.content_type)
            .field("connection", &self.connection)
            .field("summary", &self.summary)
            .finish_non_exhaustive()
    }
}

/// Shows the option: the value is the peer's.
impl fmt::Debug for Unlisted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Unlisted({})", self.option)
    }
}

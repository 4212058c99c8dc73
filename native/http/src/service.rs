//! From a request to its answer.

use std::{convert::Infallible, future::Future, ops::Deref, sync::Arc, time::Instant};

use hyper::{
    Request, Response,
    body::{Body, Incoming},
};
use mcp_driver::{Event, Host, Reservation, Served, run};
use mcp_protocol::{Answer, Connection, Exchange, Input, Peer, Step, Tls, Unanswered};

use crate::{
    answer_body::AnswerBody, body::read_body, client::client, connections::Connections,
    events::Events, guarding::admit, head::request_head, occasion::Occasions,
    options::ListenerOptions, response::Reply, watch::Watch,
};

/// What all connections of one listener share.
pub(crate) struct ListenerContext<H> {
    pub(crate) host: Arc<H>,
    pub(crate) options: ListenerOptions,
    pub(crate) connections: Arc<Connections>,
    /// What refused requests had that the options do not list.
    pub(crate) unlisted: Occasions,
}

/// What all requests of one connection share.
pub(crate) struct ConnectionContext<H> {
    pub(crate) listener: Arc<ListenerContext<H>>,
    pub(crate) watch: Arc<Watch>,
    pub(crate) peer: Peer,
    /// What TLS says of it, after the handshake.
    pub(crate) tls: Option<Arc<Tls>>,
}

impl<H> ConnectionContext<H> {
    /// The same after a handshake.
    pub(crate) fn secured(&self, tls: Tls) -> Self {
        Self {
            listener: Arc::clone(&self.listener),
            watch: Arc::clone(&self.watch),
            peer: self.peer,
            tls: Some(Arc::new(tls)),
        }
    }
}

/// A request being served, on its connection, until dropped.
pub(crate) struct ServedRequest<H> {
    connection: Arc<ConnectionContext<H>>,
}

impl<H> ServedRequest<H> {
    fn begin(connection: Arc<ConnectionContext<H>>) -> Self {
        connection.watch.begin();
        Self { connection }
    }
}

impl<H> Deref for ServedRequest<H> {
    type Target = ConnectionContext<H>;

    fn deref(&self) -> &ConnectionContext<H> {
        &self.connection
    }
}

impl<H> Drop for ServedRequest<H> {
    fn drop(&mut self) {
        self.connection.watch.end();
    }
}

/// What is told of a request once it is answered.
pub(crate) struct Report {
    /// Present when each request is told of.
    started: Option<Instant>,
    request_bytes: usize,
}

/// Serves one request. Dropping the future, or the body of its response, as hyper does when the peer is gone, cancels
/// the call under way.
///
/// What can be done of the head is done before the future is made, which so need not hold it.
pub(crate) fn serve<H: Host>(
    connection: Arc<ConnectionContext<H>>,
    request: Request<Incoming>,
) -> impl Future<Output = Result<Response<AnswerBody>, Infallible>> {
    let serving = ServedRequest::begin(connection);
    let ListenerContext { host, options, .. } = &*serving.listener;
    let started = options.record_requests.then(Instant::now);
    let (parts, body) = request.into_parts();
    let mut head = request_head(&parts, serving.peer);
    head.set_tls(serving.tls.clone());
    if let Some(guard) = &options.guard {
        guard.drop_hearsay(&mut head);
    }
    head.set_client(client(&head, &options.trusted_proxies));
    let reply = Reply::to(parts);
    let guard = options.guard.as_ref();
    let begun = if let Some(metadata) = guard.and_then(|guard| guard.metadata(&head)) {
        Begun::Answered(Box::new(metadata))
    } else {
        let endpoint = Arc::clone(&options.endpoint);
        let (exchange, step) = Exchange::http(host.shared(), endpoint, head);
        Begun::Exchange(exchange, step)
    };
    answer(serving, begun, body, reply, started)
}

/// How far a request comes with its head.
enum Begun {
    Answered(Box<Answer>),
    Exchange(Box<Exchange>, Step),
}

async fn answer<H: Host>(
    serving: ServedRequest<H>,
    begun: Begun,
    body: Incoming,
    reply: Reply,
    started: Option<Instant>,
) -> Result<Response<AnswerBody>, Infallible> {
    let ListenerContext { host, options, .. } = &*serving.listener;
    let mut report = Report {
        started,
        request_bytes: 0,
    };
    let mut unread = !body.is_end_stream();
    let room = host.buffers().reserve();
    let (exchange, step) = match begun {
        Begun::Answered(answer) => {
            return Ok(whole(&serving, reply, *answer, room, unread, report));
        }
        Begun::Exchange(exchange, step) => (exchange, step),
    };
    let read = async |max_bytes, room: &mut Reservation| {
        let input = read_body(body, max_bytes, room, options.body_timeout).await;
        if let Input::Body(bytes) = &input {
            unread = false;
            report.request_bytes = bytes.len();
        }
        input
    };
    let guard = async |head| match &options.guard {
        Some(guard) => admit(host, guard, options.endpoint.hook, head).await,
        None => Input::Unanswered(Unanswered::Failed),
    };
    let served = run(host, exchange, step, room, read, guard).await;
    Ok(match served {
        Served::Answer(answer, room) => whole(&serving, reply, answer, room, unread, report),
        Served::Stream(mut stream) => {
            let head = stream.open();
            let events = Events::new(stream, serving, report);
            reply.stream(head, events.body())
        }
    })
}

fn whole<H: Host>(
    connection: &ConnectionContext<H>,
    reply: Reply,
    answer: Answer,
    room: Reservation,
    unread: bool,
    report: Report,
) -> Response<AnswerBody> {
    let closes = unread || answer.connection != Connection::Keep;
    if closes {
        connection.watch.left_unread();
    }
    let host = connection.listener.host.as_ref();
    if let Some(unlisted) = &answer.summary.unlisted
        && connection.listener.unlisted.take(unlisted.option)
    {
        host.record(Event::Unlisted {
            option: unlisted.option,
            value: unlisted.value.clone(),
        });
    }
    report.answered(host, &answer, answer.body.len());
    reply.response(answer, room, closes)
}

impl Report {
    /// Tells of the answer, and of what the host did wrong.
    pub(crate) fn answered(self, host: &impl Host, answer: &Answer, response_bytes: usize) {
        if let Some(message) = &answer.summary.host_fault {
            host.record(Event::HostFault {
                definition: answer.summary.definition.clone(),
                message: message.clone(),
            });
        }
        if let Some(started) = self.started {
            host.record(Event::Request {
                summary: answer.summary.clone(),
                transport: "http",
                status: answer.status,
                duration_us: started.elapsed().as_micros() as u64,
                request_bytes: self.request_bytes,
                response_bytes,
            });
        }
    }
}

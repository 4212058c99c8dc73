//! From a request to its answer.

use std::{convert::Infallible, sync::Arc, time::Instant};

use hyper::{
    Request, Response,
    body::{Body, Incoming},
};
use mcp_driver::{Event, Host, run};
use mcp_protocol::{Answer, Connection, Exchange, Input, Peer};

use crate::{
    answer_body::AnswerBody, body::read_body, connections::Connections, head::request_head,
    options::ListenerOptions, response::Reply, watch::Watch,
};

/// What all connections of one listener share.
pub(crate) struct ListenerContext<H> {
    pub(crate) host: Arc<H>,
    pub(crate) options: ListenerOptions,
    pub(crate) connections: Arc<Connections>,
}

/// What all requests of one connection share.
pub(crate) struct ConnectionContext<H> {
    pub(crate) listener: Arc<ListenerContext<H>>,
    pub(crate) watch: Arc<Watch>,
    pub(crate) peer: Peer,
}

/// Serves one request. Dropping the future, as hyper does when the peer is gone, cancels the call under way.
pub(crate) async fn serve<H: Host>(
    context: Arc<ConnectionContext<H>>,
    request: Request<Incoming>,
) -> Result<Response<AnswerBody>, Infallible> {
    let _serving = context.watch.begin();
    let ListenerContext { host, options, .. } = &*context.listener;
    let started = options.record_requests.then(Instant::now);
    let (parts, body) = request.into_parts();
    let head = request_head(&parts, context.peer);
    let reply = Reply::to(parts);

    let mut unread = !body.is_end_stream();
    let mut request_bytes = 0;
    let mut room = host.buffers().reserve();
    let (mut exchange, step) = Exchange::http(host.shared(), Arc::clone(&options.endpoint), head);
    let mut answer = run(host, &mut exchange, step, async |max_bytes| {
        let input = read_body(body, max_bytes, &mut room, options.body_timeout).await;
        if let Input::Body(bytes) = &input {
            unread = false;
            request_bytes = bytes.len();
        }
        input
    })
    .await;

    let mut room = host.buffers().reserve();
    if !room.grow(answer.body.len()) {
        refuse_for_room(&mut answer);
    }
    report_fault(host.as_ref(), &answer);
    if let Some(started) = started {
        host.record(request_event(&answer, started, request_bytes));
    }
    let closes = unread || answer.connection != Connection::Keep;
    if closes {
        context.watch.left_unread();
    }
    Ok(reply.response(answer, room, closes))
}

/// The instance holds as many bytes as it may: this answer is dropped, and the peer may ask again.
fn refuse_for_room(answer: &mut Answer) {
    answer.status = 503;
    answer.body = Vec::new();
    answer.headers = vec![("retry-after", "1".into())];
    answer.summary.refusal = Some("buffers");
}

fn report_fault(host: &impl Host, answer: &Answer) {
    if let Some(message) = &answer.summary.host_fault {
        host.record(Event::HostFault {
            definition: answer.summary.definition.clone(),
            message: message.clone(),
        });
    }
}

fn request_event(answer: &Answer, started: Instant, request_bytes: usize) -> Event {
    Event::Request {
        summary: answer.summary.clone(),
        transport: "http",
        status: answer.status,
        duration_us: started.elapsed().as_micros() as u64,
        request_bytes,
        response_bytes: answer.body.len(),
    }
}

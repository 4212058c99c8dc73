//! One accepted socket, from its first byte to its close.

use std::{
    error::Error,
    future::{Future, poll_fn},
    io,
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
};

use hyper::{
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use mcp_driver::{Event, Host, Poller};
use mcp_protocol::Peer;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{Instant, timeout_at},
};

use crate::{
    connections::{Phase, Place},
    detect::{Opening, Protocol, detect},
    options::{DEFAULT_MAX_HEADERS, ListenerOptions},
    patience::{Limits, Overdue, Patience},
    refusal,
    service::{ConnectionContext, ListenerContext, serve},
    socket::Socket,
    tls::TlsServer,
    watch::Watch,
};

/// A byte stream that a connection runs over.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Stream for S {}

/// One connection and all it needs.
pub(crate) struct Connection<S, H> {
    stream: S,
    context: Arc<ConnectionContext<H>>,
    place: Place,
    accepted: Instant,
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    Done,
    HeaderTimeout,
    IdleTimeout,
    Handshake,
    Error,
    Drain,
}

impl<S: Stream, H: Host> Connection<S, H> {
    pub(crate) fn new(
        stream: S,
        peer: Peer,
        listener: Arc<ListenerContext<H>>,
        place: Place,
    ) -> Self {
        let watch = Arc::new(Watch::default());
        Self {
            stream,
            context: Arc::new(ConnectionContext {
                listener,
                watch,
                peer,
                tls: None,
            }),
            place,
            accepted: Instant::now(),
        }
    }

    /// Serves until either side ends it, and records begin and end.
    pub(crate) async fn run(self) {
        let context = Arc::clone(&self.context);
        let host = &context.listener.host;
        let peer = match context.peer {
            Peer::Tcp(address) => Some(address),
            Peer::Unix => None,
        };
        host.record(Event::ConnectionOpened { peer });
        let end = self.serve().await;
        host.record(Event::ConnectionClosed {
            peer,
            reason: end.word(),
            requests: context.watch.requests(),
        });
    }

    async fn serve(self) -> End {
        self.place.listen().await;
        match self.context.listener.options.tls.clone() {
            // Apart, so that other connections do not hold the room for it.
            Some(tls) => Box::pin(self.secure(tls)).await,
            None => self.detect().await,
        }
    }

    async fn secure(self, tls: Arc<TlsServer>) -> End {
        let shaking = timeout_at(self.deadline(), tls.accept(self.stream));
        let secured = match self.place.while_open(shaking).await {
            None => return End::Drain,
            Some(Err(_)) => return End::HeaderTimeout,
            Some(Ok(Err(_))) => return End::Handshake,
            Some(Ok(Ok(secured))) => secured,
        };
        let connection = Connection {
            stream: secured.stream,
            context: Arc::new(self.context.secured(secured.facts)),
            place: self.place,
            accepted: self.accepted,
        };
        match secured.protocol {
            Some(protocol) => connection.speak(Opening::unread(protocol)).await,
            None => connection.detect().await,
        }
    }

    async fn detect(mut self) -> End {
        let detecting = timeout_at(self.deadline(), detect(&mut self.stream));
        match self.place.while_open(detecting).await {
            None => End::Drain,
            Some(Err(_)) => End::HeaderTimeout,
            Some(Ok(Err(_))) => End::Error,
            Some(Ok(Ok(None))) => End::Done,
            Some(Ok(Ok(Some(opening)))) => self.speak(opening).await,
        }
    }

    async fn speak(self, opening: Opening) -> End {
        match opening.protocol {
            Protocol::Http1 => self.serve_http1(opening).await,
            // Apart, so that connections of HTTP/1 do not hold the room for it.
            Protocol::Http2 => Box::pin(self.serve_http2(opening)).await,
        }
    }

    /// Requests are served in boxes: hyper holds the room for one as long as the connection lives, also when nothing is left
    /// of it but an idle event stream.
    async fn serve_http1(self, opening: Opening) -> End {
        let mut patience = self.patience(opening.protocol);
        let limit = self.context.listener.options.header_timeout;
        let builder = http1_builder(&self.context.listener.options);
        let socket = Socket::new(self.stream, opening.prefix, Arc::clone(&self.context.watch));
        let context = self.context;
        let service = service_fn(move |request| Box::pin(serve(Arc::clone(&context), request)));
        let mut connection = builder.serve_connection(socket, service);
        let shut = http1::Connection::graceful_shutdown;
        let end = drive(Pin::new(&mut connection), shut, &self.place, &mut patience).await;
        if end == End::HeaderTimeout
            && let Some(stream) = connection.into_parts().io.into_quiet()
        {
            Box::pin(refusal::send(stream, &refusal::head_timeout(limit))).await;
        }
        end
    }

    async fn serve_http2(self, opening: Opening) -> End {
        let mut patience = self.patience(opening.protocol);
        let builder = http2_builder(&self.context.listener.options);
        let socket = Socket::new(self.stream, opening.prefix, Arc::clone(&self.context.watch));
        let context = self.context;
        let service = service_fn(move |request| Box::pin(serve(Arc::clone(&context), request)));
        let connection = pin!(builder.serve_connection(socket, service));
        let shut = http2::Connection::graceful_shutdown;
        drive(connection, shut, &self.place, &mut patience).await
    }

    /// For the first head, and all that comes before it.
    fn deadline(&self) -> Instant {
        self.accepted + self.context.listener.options.header_timeout
    }

    fn patience(&self, protocol: Protocol) -> Patience {
        let ConnectionContext {
            listener, watch, ..
        } = &*self.context;
        let limits = Limits {
            header: listener.options.header_timeout,
            idle: listener.options.idle_timeout,
        };
        Patience::new(
            Arc::clone(watch),
            limits,
            protocol == Protocol::Http1,
            self.accepted,
        )
    }
}

/// Runs hyper's connection to its end, to a deadline, or to the end of the listener.
async fn drive<C: Future<Output = hyper::Result<()>>>(
    mut connection: Pin<&mut C>,
    shut: impl Fn(Pin<&mut C>),
    place: &Place,
    patience: &mut Patience,
) -> End {
    let mut shutting = None;
    let mut task = Poller::default();
    poll_fn(|cx| {
        loop {
            let polled = task.poll(cx, |cx| connection.as_mut().poll(cx));
            if let Poll::Ready(ended) = polled {
                return Poll::Ready(shutting.unwrap_or_else(|| End::of(ended)));
            }
            let why = match (place.phase(), shutting) {
                (Phase::Stopped, _) => return Poll::Ready(End::Drain),
                (Phase::Draining, None) => End::Drain,
                _ => match patience.poll(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Overdue::Head) => return Poll::Ready(End::HeaderTimeout),
                    Poll::Ready(Overdue::Close) => {
                        return Poll::Ready(shutting.unwrap_or(End::Done));
                    }
                    Poll::Ready(Overdue::Rest) => {
                        patience.close_soon();
                        End::IdleTimeout
                    }
                },
            };
            shutting = Some(why);
            shut(connection.as_mut());
        }
    })
    .await
}

/// Deadlines are ours ([`Patience`]); hyper's own would cost a timer for each request and cover less.
fn http1_builder(options: &ListenerOptions) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .header_read_timeout(None)
        .max_header_size(options.max_header_bytes.max(MIN_HEADER_BYTES))
        .max_buf_size(READ_BUFFER_BYTES.max(options.max_header_bytes));
    if options.max_headers != DEFAULT_MAX_HEADERS {
        builder.max_headers(options.max_headers);
    }
    builder
}

fn http2_builder(options: &ListenerOptions) -> http2::Builder<TokioExecutor> {
    let header_bytes = options.max_header_bytes.max(MIN_HEADER_BYTES);
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(header_bytes).unwrap_or(u32::MAX))
        .max_concurrent_streams(options.h2_max_streams)
        .max_pending_accept_reset_streams(options.h2_max_resets)
        .max_local_error_reset_streams(options.h2_max_resets)
        .initial_stream_window_size(options.h2_stream_window_bytes)
        .initial_connection_window_size(options.h2_connection_window_bytes)
        .keep_alive_interval(options.h2_ping_interval)
        .keep_alive_timeout(options.h2_ping_timeout);
    builder
}

impl End {
    fn of(ended: hyper::Result<()>) -> Self {
        match ended {
            Ok(()) => Self::Done,
            Err(error) if left(&error) => Self::Done,
            Err(_) => Self::Error,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::HeaderTimeout => "header_timeout",
            Self::IdleTimeout => "idle_timeout",
            Self::Handshake => "handshake",
            Self::Error => "error",
            Self::Drain => "drain",
        }
    }
}

/// Whether the peer just went away, which is its right.
fn left(error: &hyper::Error) -> bool {
    let system = error
        .source()
        .and_then(|source| source.downcast_ref::<io::Error>());
    let gone = system.is_some_and(|error| {
        matches!(
            error.kind(),
            io::ErrorKind::BrokenPipe
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::NotConnected
                | io::ErrorKind::UnexpectedEof
        )
    });
    gone || error.is_incomplete_message() || error.is_closed()
}

/// The smallest bound on a head that leaves room for the headers that every MCP client sends.
const MIN_HEADER_BYTES: usize = 1_024;

/// The read buffer of an HTTP/1 connection may grow so far while a large body comes in.
const READ_BUFFER_BYTES: usize = 65_536;

#[cfg(test)]
mod tests {
    use mcp_protocol::Peer;
    use mcp_testing::{TestHost, endpoint};

    use super::*;
    use crate::{bind::Bind, connections::Connections, occasion::Occasions};

    /// What every connection holds, also while an idle event stream is all there is of it.
    #[tokio::test]
    async fn holds_little_room() {
        let address = ([127, 0, 0, 1], 0).into();
        let listener = Arc::new(ListenerContext {
            host: TestHost::serving(|_| ()),
            options: ListenerOptions::new(Bind::Tcp(address), Arc::new(endpoint())),
            connections: Connections::new(1),
            unlisted: Occasions::default(),
        });
        let place = listener.connections.enter().unwrap();
        let (stream, _peer) = tokio::io::duplex(1);
        let running = Connection::new(stream, Peer::Unix, listener, place).run();
        let bytes = size_of_val(&running);
        assert!(bytes <= 2_048, "{bytes} bytes");
    }
}

//! A listening socket and the task that accepts from it.

use std::{
    fs, io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use mcp_driver::{Event, Host, note_work};
use mcp_protocol::Peer;
use tokio::{
    net::{TcpStream, UnixStream},
    runtime::Handle,
    task::AbortHandle,
    time::{sleep, timeout},
};

use crate::{
    bind::{Accepted, Acceptor, Bound},
    connection::Connection,
    connections::{Connections, Phase, Place},
    occasion::Occasions,
    options::ListenerOptions,
    refusal,
    service::ListenerContext,
    workers::Workers,
};

/// Accepts connections and serves them on the workers until drained, stopped or dropped.
#[derive(Debug)]
pub struct Listener {
    bound: Bound,
    acceptor: Arc<Acceptor>,
    connections: Arc<Connections>,
    /// Where waiting for the end is done.
    home: Handle,
    accepting: AbortHandle,
    closed: AtomicBool,
}

impl Listener {
    /// Opens the socket and starts to accept. The socket is open when this returns.
    ///
    /// # Errors
    /// When the address cannot be listened on; the message names it.
    pub fn start<H: Host>(
        host: Arc<H>,
        workers: &Workers,
        options: ListenerOptions,
    ) -> io::Result<Self> {
        let home = workers.next().clone();
        let (acceptor, bound) = {
            let _inside = home.enter();
            options.bind.listen(options.backlog)?
        };
        let acceptor = Arc::new(acceptor);
        let connections = Connections::new(options.max_connections);
        let listener = Arc::new(ListenerContext {
            host,
            options,
            connections: Arc::clone(&connections),
            unlisted: Occasions::default(),
        });
        let accepting = home
            .spawn(accept(Arc::clone(&acceptor), listener, workers.clone()))
            .abort_handle();
        Ok(Self {
            bound,
            acceptor,
            connections,
            home,
            accepting,
            closed: AtomicBool::new(false),
        })
    }

    /// Where it listens, with the port that the system chose.
    pub fn address(&self) -> &Bound {
        &self.bound
    }

    /// Connections open now.
    pub fn connections(&self) -> usize {
        self.connections.count()
    }

    /// Accepts nothing new, lets requests under way finish, and closes each connection after its last answer. Past
    /// `limit` the rest is closed. `done` then gets how many those were, on a worker thread.
    pub fn drain(&self, limit: Duration, done: impl FnOnce(usize) + Send + 'static) {
        self.close();
        self.connections.advance(Phase::Draining);
        let connections = Arc::clone(&self.connections);
        self.home.spawn(async move {
            let left = match timeout(limit, connections.emptied()).await {
                Ok(()) => 0,
                Err(_) => connections.count(),
            };
            connections.advance(Phase::Stopped);
            done(left);
        });
    }

    /// Accepts nothing new and closes every connection now; calls under way are cancelled.
    pub fn stop(&self) {
        self.close();
        self.connections.advance(Phase::Stopped);
    }

    /// Accepts nothing new. What is connected goes on.
    pub fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        self.acceptor.refuse();
        self.accepting.abort();
        if let Bound::Unix(path) = &self.bound {
            // Somebody may have removed it first.
            let _ = fs::remove_file(path);
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn accept<H: Host>(
    acceptor: Arc<Acceptor>,
    listener: Arc<ListenerContext<H>>,
    workers: Workers,
) {
    loop {
        let accepted = acceptor.accept().await;
        note_work();
        match accepted {
            Ok(accepted) => match listener.connections.enter() {
                Some(place) => hand_over(accepted, &listener, place, workers.next()),
                None => refuse(accepted, &listener),
            },
            Err(error) if concerns_one_connection(&error) => {}
            // Out of descriptors or memory: connections must end before one more can begin.
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Starts serving a connection on `worker`, whose poller its socket joins for life.
fn hand_over<H: Host>(
    accepted: Accepted,
    listener: &Arc<ListenerContext<H>>,
    place: Place,
    worker: &Handle,
) {
    let listener = Arc::clone(listener);
    let peer = accepted.peer();
    let _inside = worker.enter();
    // Registering fails only when the poller is out of memory; the connection is then dropped.
    match accepted {
        Accepted::Tcp(stream, _) => {
            if let Ok(stream) = TcpStream::from_std(stream) {
                worker.spawn(Connection::new(stream, peer, listener, place).run());
            }
        }
        Accepted::Unix(stream) => {
            if let Ok(stream) = UnixStream::from_std(stream) {
                worker.spawn(Connection::new(stream, peer, listener, place).run());
            }
        }
    }
}

fn refuse<H: Host>(accepted: Accepted, listener: &ListenerContext<H>) {
    let peer = match accepted.peer() {
        Peer::Tcp(address) => Some(address),
        Peer::Unix => None,
    };
    listener.host.record(Event::ConnectionRefused { peer });
    // Who waits for a handshake reads no answer.
    if listener.options.tls.is_none() {
        let limit = listener.options.max_connections;
        refusal::send_at_once(accepted, &refusal::too_many_connections(limit));
    }
}

fn concerns_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}

/// How long accepting rests after the system had no room for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

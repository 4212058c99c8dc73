//! From bind to drain: addresses, ends of connections, ends of listeners.

use std::{
    fs, io,
    net::{Ipv6Addr, SocketAddr},
    os::unix::net::UnixListener,
    path::PathBuf,
    process,
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use crate::support::{
    Client, Server, TestHost, endpoint, eventually, millis, post, serve, serve_on, serve_with,
};
use mcp_driver::{CancelReason, Event, Host};
use mcp_http::{Bind, Bound, Listener, ListenerOptions, Workers};

/// A path for a socket, free again at the end.
struct SocketPath(PathBuf);

impl SocketPath {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mcp-http-{name}-{}", process::id()));
        let _ = fs::remove_file(&path);
        Self(path)
    }

    fn bind(&self) -> Bind {
        Bind::Unix(self.0.clone())
    }
}

impl Drop for SocketPath {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn start(bind: Bind) -> io::Result<Listener> {
    let options = ListenerOptions::new(bind, Arc::new(endpoint()));
    Listener::start(TestHost::new(), &Workers::start(1)?, options)
}

/// Drains and tells how many connections were left, and when.
fn drain(server: &Server, limit: Duration) -> mpsc::Receiver<usize> {
    let (done, left) = mpsc::channel();
    server
        .listener
        .drain(limit, move |count| done.send(count).unwrap());
    left
}

#[test]
fn reports_the_port_that_the_system_chose() {
    let server = serve();
    assert_ne!(server.address().port(), 0);
    assert_eq!(
        server.connect().send(post("echo", "hi")).response().status,
        200
    );
}

#[test]
fn serves_ipv6_and_ipv4_on_the_unspecified_address() {
    let server = serve_on(Bind::Tcp((Ipv6Addr::UNSPECIFIED, 0).into()), |_| {});
    let port = server.address().port();
    for address in ["127.0.0.1", "::1"] {
        let address = SocketAddr::new(address.parse().unwrap(), port);
        assert_eq!(
            Client::connect(address)
                .send(post("echo", "hi"))
                .response()
                .status,
            200
        );
        let seen = |event: &Event| matches!(event, Event::ConnectionOpened { peer: Some(peer) } if peer.ip() == address.ip());
        assert!(server.host.events().iter().any(seen));
    }
}

#[test]
fn names_the_address_that_is_taken() {
    let server = serve();
    let error = start(Bind::Tcp(server.address())).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    assert!(error.to_string().contains(&server.address().to_string()));
    assert!(error.to_string().contains("choose another port"));
}

#[test]
fn says_what_to_do_where_nobody_can_listen() {
    let nowhere = Bind::Tcp(([192, 0, 2, 1], 0).into());
    let missing = Bind::Unix(std::env::temp_dir().join("no-such-folder").join("socket"));
    for (bind, kind, fix) in [
        (nowhere, io::ErrorKind::AddrNotAvailable, "0.0.0.0"),
        (missing, io::ErrorKind::NotFound, "create it"),
    ] {
        let error = start(bind).unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().contains(fix), "{error}");
    }
}

#[test]
fn frees_the_address_when_stopped() {
    let server = serve();
    let mut client = server.connect();
    assert_eq!(client.send(post("echo", "hi")).response().status, 200);
    server.listener.stop();
    let again = start(Bind::Tcp(server.address())).unwrap();
    assert_eq!(again.address(), server.listener.address());
}

#[test]
fn serves_a_unix_socket_and_removes_it() {
    let path = SocketPath::new("serves");
    let server = serve_on(path.bind(), |_| {});
    assert_eq!(*server.listener.address(), Bound::Unix(path.0.clone()));
    let mut client = Client::connect_unix(&path.0);
    assert_eq!(client.send(post("echo", "hi")).response().status, 200);
    server.listener.stop();
    assert!(client.is_closed());
    assert!(!path.0.exists());
}

#[test]
fn replaces_a_socket_that_nobody_listens_on() {
    let path = SocketPath::new("stale");
    drop(UnixListener::bind(&path.0).unwrap());
    assert!(path.0.exists());
    let server = serve_on(path.bind(), |_| {});
    let mut client = Client::connect_unix(&path.0);
    assert_eq!(client.send(post("echo", "hi")).response().status, 200);
    drop(server);
}

#[test]
fn leaves_alone_what_is_not_its_own() {
    let path = SocketPath::new("alive");
    let other = UnixListener::bind(&path.0).unwrap();
    assert_eq!(
        start(path.bind()).unwrap_err().kind(),
        io::ErrorKind::AddrInUse
    );
    drop(other);
    fs::remove_file(&path.0).unwrap();
    fs::write(&path.0, "a file").unwrap();
    assert_eq!(
        start(path.bind()).unwrap_err().kind(),
        io::ErrorKind::AlreadyExists
    );
    assert_eq!(fs::read_to_string(&path.0).unwrap(), "a file");
}

#[test]
fn a_disconnect_cancels_the_call() {
    let server = serve();
    let mut client = server.connect();
    client.send(post("hold", "hi"));
    eventually("the call runs", || server.host.held().len() == 1);
    drop(client);
    eventually("the call is cancelled", || {
        server.host.cancel_reasons() == [CancelReason::Gone]
    });
    server.host.release();
    eventually("nothing is left", || {
        server.listener.connections() == 0 && server.host.calls().in_flight() == 0
    });
}

#[test]
fn a_half_close_counts_as_a_disconnect() {
    let server = serve();
    let mut client = server.connect();
    client.send(post("hold", "hi"));
    eventually("the call runs", || server.host.held().len() == 1);
    client.finish();
    eventually("the call is cancelled", || {
        server.host.cancel_reasons() == [CancelReason::Gone]
    });
    assert!(client.is_closed());
}

#[test]
fn a_disconnect_after_the_answer_cancels_nothing() {
    let server = serve();
    let mut client = server.connect();
    assert_eq!(client.send(post("echo", "hi")).response().status, 200);
    drop(client);
    eventually("the connection is closed", || {
        server.listener.connections() == 0
    });
    assert!(server.host.cancelled().is_empty());
}

#[test]
fn records_connections_and_requests() {
    let server = serve();
    let mut client = server.connect();
    let request = post("echo", "hi");
    let response = client.send(&request).response();
    client.send(&request).response();
    drop(client);
    eventually("the connection's end is told", || {
        server.host.events().len() == 4
    });
    let events = server.host.events();
    assert!(matches!(
        events[0],
        Event::ConnectionOpened { peer: Some(_) }
    ));
    let Event::Request {
        ref summary,
        transport,
        status,
        response_bytes,
        ..
    } = events[1]
    else {
        panic!("{:?} is no request", events[1]);
    };
    assert_eq!(
        (transport, status, response_bytes),
        ("http", 200, response.body.len())
    );
    assert_eq!(summary.definition.as_deref(), Some("echo"));
    assert!(matches!(
        events[3],
        Event::ConnectionClosed {
            reason: "done",
            requests: 2,
            ..
        }
    ));
}

#[test]
fn records_what_the_host_did_wrong() {
    let server = serve();
    let response = server.connect().send(post("lie", "hi")).response();
    assert!(response.body.contains("\"isError\":true"));
    let fault = |event: &Event| matches!(event, Event::HostFault { definition: Some(tool), .. } if &**tool == "lie");
    assert!(server.host.events().iter().any(fault));
}

/// X28
#[test]
fn records_once_what_an_option_does_not_list() {
    let server = serve();
    for _ in 0..3 {
        for (from, to) in [
            ("host: localhost", "host: evil.example"),
            ("\r\nhost", "\r\norigin: null\r\nhost"),
        ] {
            let response = server
                .connect()
                .send(post("echo", "hi").replace(from, to))
                .response();
            assert_eq!(response.status, 403);
        }
    }
    let events = server.host.events();
    let told = events.iter().filter_map(|event| match event {
        Event::Unlisted { option, value } => Some((*option, value.as_str())),
        _ => None,
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            ("allowed_hosts", "\"evil.example\""),
            ("allowed_origins", "\"null\"")
        ]
    );
}

#[test]
fn a_drain_finishes_what_runs_and_begins_nothing() {
    let server = serve();
    let (mut idle, mut silent, mut busy) = (server.connect(), server.connect(), server.connect());
    idle.send(post("echo", "hi")).response();
    busy.send(post("hold", "hi"));
    eventually("the call runs", || server.host.held().len() == 1);
    let left = drain(&server, Duration::from_secs(5));
    assert!(idle.is_closed());
    assert!(silent.is_closed());
    let refused = std::net::TcpStream::connect(server.address());
    assert_eq!(
        refused.unwrap_err().kind(),
        io::ErrorKind::ConnectionRefused
    );
    assert!(left.recv_timeout(millis(100)).is_err());
    server.host.release();
    let response = busy.response();
    assert_eq!(response.status, 200);
    assert!(response.head.contains("connection: close\r\n"));
    assert!(busy.is_closed());
    assert_eq!(left.recv_timeout(Duration::from_secs(1)), Ok(0));
    assert!(server.host.cancelled().is_empty());
}

#[test]
fn a_drain_closes_what_outlives_it() {
    let server = serve();
    let mut busy = server.connect();
    busy.send(post("hold", "hi"));
    eventually("the call runs", || server.host.held().len() == 1);
    let started = Instant::now();
    let left = drain(&server, millis(200));
    assert_eq!(left.recv_timeout(Duration::from_secs(1)), Ok(1));
    assert!(started.elapsed() >= millis(190));
    assert!(busy.is_closed());
    eventually("the call is cancelled", || {
        server.host.cancel_reasons() == [CancelReason::Gone]
    });
}

#[test]
fn a_drain_lets_a_head_under_way_arrive() {
    let server = serve();
    let mut client = server.connect();
    let request = post("echo", "just in time");
    client.send(&request[..50]);
    thread::sleep(millis(50));
    let left = drain(&server, Duration::from_secs(5));
    thread::sleep(millis(50));
    assert_eq!(client.send(&request[50..]).response().status, 200);
    assert_eq!(left.recv_timeout(Duration::from_secs(1)), Ok(0));
}

#[test]
fn a_drain_without_connections_ends_at_once() {
    let server = serve();
    assert_eq!(
        drain(&server, Duration::from_secs(5)).recv_timeout(Duration::from_secs(1)),
        Ok(0)
    );
}

#[test]
fn a_stop_closes_everything_now() {
    let server = serve();
    let mut busy = server.connect();
    busy.send(post("hold", "hi"));
    eventually("the call runs", || server.host.held().len() == 1);
    server.listener.stop();
    assert!(busy.is_closed());
    eventually("nothing is left", || server.listener.connections() == 0);
}

#[test]
fn a_dropped_listener_stops() {
    let Server { listener, host } = serve();
    let Bound::Tcp(address) = *listener.address() else {
        panic!("no address");
    };
    let mut client = Client::connect(address);
    client.send(post("hold", "hi"));
    eventually("the call runs", || host.held().len() == 1);
    drop(listener);
    assert!(client.is_closed());
}

#[test]
fn answers_of_many_connections_are_not_mixed_up() {
    let server = serve_with(|options| options.record_requests = false);
    thread::scope(|scope| {
        for client in 0..16 {
            let server = &server;
            scope.spawn(move || {
                let mut connection = server.connect();
                for round in 0..100 {
                    let text = format!("client {client} round {round}.");
                    assert!(
                        connection
                            .send(post("echo", &text))
                            .response()
                            .body
                            .contains(&text)
                    );
                }
            });
        }
    });
}

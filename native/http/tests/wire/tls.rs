//! A listener with TLS: what the handshake settles, what it costs others, and what is read again.

use std::{
    io::{Read, Write},
    net::TcpStream as StdStream,
    sync::Arc,
    time::{Duration, Instant},
};

use mcp_driver::Event;
use mcp_http::{ClientCertificates, TlsOptions, TlsServer, Trust};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, HandshakeKind, RootCertStore, SupportedProtocolVersion,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
        version::{TLS12, TLS13},
    },
};

use crate::{
    http2,
    support::{Authority, Identity, Server, eventually, millis, post, serve_with},
};

type Connected = std::io::Result<TlsStream<TcpStream>>;

/// What a client brings along.
struct Caller<'a> {
    authority: &'a Authority,
    alpn: &'a [&'a [u8]],
    version: &'static SupportedProtocolVersion,
    identity: Option<&'a Identity>,
}

impl<'a> Caller<'a> {
    fn of(authority: &'a Authority) -> Self {
        Self {
            authority,
            alpn: &[],
            version: &TLS13,
            identity: None,
        }
    }

    async fn connect(&self, server: &Server) -> Connected {
        connect(self.config(), server).await
    }

    fn config(&self) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        let root = CertificateDer::from_pem_file(self.authority.root()).unwrap();
        roots.add(root).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[self.version])
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match self.identity {
            Some(identity) => builder
                .with_client_auth_cert(vec![identity.certificate()], identity.key())
                .unwrap(),
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = self.alpn.iter().map(|name| name.to_vec()).collect();
        Arc::new(config)
    }

    /// The status of a call, or why there is none. With TLS 1.3 a client learns only then that it was refused.
    async fn call(&self, server: &Server) -> std::io::Result<u16> {
        call(&mut self.connect(server).await?).await
    }
}

async fn connect(config: Arc<ClientConfig>, server: &Server) -> Connected {
    let stream = TcpStream::connect(server.address()).await?;
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(config).connect(name, stream).await
}

async fn call(stream: &mut TlsStream<TcpStream>) -> std::io::Result<u16> {
    stream.write_all(post("echo", "hi").as_bytes()).await?;
    let mut answer = vec![0; 12];
    stream.read_exact(&mut answer).await?;
    let mut rest = vec![0; 4_096];
    let _ = stream.read(&mut rest).await?;
    Ok(String::from_utf8(answer[9..].to_vec())
        .unwrap()
        .parse()
        .unwrap())
}

fn serve(options: TlsOptions) -> (Server, Arc<TlsServer>) {
    serve_within(options, Duration::from_secs(10), 100)
}

fn serve_within(
    options: TlsOptions,
    header_timeout: Duration,
    max_connections: usize,
) -> (Server, Arc<TlsServer>) {
    let tls = Arc::new(TlsServer::new(options).unwrap());
    let server = serve_with(|listener| {
        listener.tls = Some(Arc::clone(&tls));
        listener.header_timeout = header_timeout;
        listener.max_connections = max_connections;
    });
    (server, tls)
}

fn close_reasons(server: &Server) -> Vec<&'static str> {
    let reason = |event| match event {
        Event::ConnectionClosed { reason, .. } => Some(reason),
        _ => None,
    };
    server
        .host
        .events()
        .into_iter()
        .filter_map(reason)
        .collect()
}

#[tokio::test]
async fn serves_what_alpn_settles() {
    let authority = Authority::new();
    let (server, _) = serve(authority.options(&authority.issue("localhost")));
    for version in [&TLS12, &TLS13] {
        for (alpn, settled) in [
            (&[][..], None),
            (&[b"http/1.1".as_slice()][..], Some(b"http/1.1".as_slice())),
            (
                &[b"h2".as_slice(), b"http/1.1".as_slice()][..],
                Some(b"h2".as_slice()),
            ),
        ] {
            let caller = Caller {
                alpn,
                version,
                ..Caller::of(&authority)
            };
            let mut stream = caller.connect(&server).await.unwrap();
            assert_eq!(stream.get_ref().1.alpn_protocol(), settled);
            match settled == Some(b"h2") {
                true => assert_eq!(http2::status_over(stream).await, 200),
                false => assert_eq!(call(&mut stream).await.unwrap(), 200),
            }
        }
    }
    let unknown = Caller {
        alpn: &[b"spdy/1"],
        ..Caller::of(&authority)
    };
    assert!(unknown.connect(&server).await.is_err());
}

#[tokio::test]
async fn speaks_http2_with_prior_knowledge_where_alpn_settled_nothing() {
    let authority = Authority::new();
    let (server, _) = serve(authority.options(&authority.issue("localhost")));
    let stream = Caller::of(&authority).connect(&server).await.unwrap();
    assert_eq!(http2::status_over(stream).await, 200);
}

#[test]
fn closes_what_is_no_handshake() {
    let authority = Authority::new();
    let (server, _) = serve(authority.options(&authority.issue("localhost")));
    let mut stream = StdStream::connect(server.address()).unwrap();
    stream.write_all(post("echo", "hi").as_bytes()).unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(!rest.starts_with(b"HTTP"));
    eventually("it is closed", || close_reasons(&server) == ["handshake"]);
}

#[tokio::test]
async fn a_handshake_has_the_time_of_a_head_and_holds_nobody_up() {
    let authority = Authority::new();
    let (server, _) = serve_within(
        authority.options(&authority.issue("localhost")),
        millis(800),
        100,
    );
    let begun = Instant::now();
    // A record of a handshake that does not go on, and nothing at all.
    let silent: Vec<_> = (0..60)
        .map(|number| {
            let mut stream = StdStream::connect(server.address()).unwrap();
            if number % 2 == 0 {
                stream.write_all(&[22, 3, 1, 2, 0, 1]).unwrap();
            }
            stream
        })
        .collect();
    assert_eq!(Caller::of(&authority).call(&server).await.unwrap(), 200);
    assert!(begun.elapsed() < millis(800));
    eventually("they are closed", || close_reasons(&server).len() >= 60);
    let reasons = close_reasons(&server);
    let overdue = reasons.iter().filter(|reason| **reason == "header_timeout");
    assert_eq!(overdue.count(), 60);
    drop(silent);
}

#[tokio::test]
async fn a_handshake_counts_as_a_connection() {
    let authority = Authority::new();
    let (server, _) = serve_within(
        authority.options(&authority.issue("localhost")),
        millis(5_000),
        2,
    );
    let silent: Vec<_> = (0..2)
        .map(|_| StdStream::connect(server.address()).unwrap())
        .collect();
    eventually("both are open", || server.listener.connections() == 2);
    let mut third = StdStream::connect(server.address()).unwrap();
    let mut rest = Vec::new();
    let _ = third.read_to_end(&mut rest);
    assert_eq!(rest, b"");
    drop(silent);
    eventually("both are closed", || server.listener.connections() == 0);
    assert_eq!(Caller::of(&authority).call(&server).await.unwrap(), 200);
}

#[test]
fn a_listener_that_stops_waits_for_no_handshake() {
    let authority = Authority::new();
    let (server, _) = serve(authority.options(&authority.issue("localhost")));
    let mut silent = StdStream::connect(server.address()).unwrap();
    eventually("it is open", || server.listener.connections() == 1);
    server.listener.stop();
    let mut rest = Vec::new();
    let _ = silent.read_to_end(&mut rest);
    eventually("it is told", || close_reasons(&server) == ["drain"]);
}

#[tokio::test]
async fn shows_a_renewed_certificate_to_new_connections() {
    let authority = Authority::new();
    let (server, tls) = serve(authority.options(&authority.issue("localhost")));
    let mut old = Caller::of(&authority).connect(&server).await.unwrap();
    assert_eq!(call(&mut old).await.unwrap(), 200);
    let renewed = authority.issue("localhost");
    authority.options(&renewed);
    tls.reload().unwrap();
    let new = Caller::of(&authority).connect(&server).await.unwrap();
    let shown = new.get_ref().1.peer_certificates().unwrap()[0].clone();
    assert_eq!(shown, renewed.certificate());
    assert_eq!(call(&mut old).await.unwrap(), 200);
}

#[tokio::test]
async fn keeps_what_it_has_when_the_files_are_wrong() {
    let authority = Authority::new();
    let (server, tls) = serve(authority.options(&authority.issue("localhost")));
    authority.write("cert.pem", "no certificate");
    let fault = tls.reload().unwrap_err();
    assert_eq!(fault.option, "certfile");
    assert!(fault.path.ends_with("cert.pem"));
    assert_eq!(Caller::of(&authority).call(&server).await.unwrap(), 200);
}

#[tokio::test]
async fn asks_clients_for_certificates() {
    let authority = Authority::new();
    let issued = authority.issue("client");
    let foreign = Identity::self_signed("client");
    let expired = authority.issue_expired("client");
    let root = Some(authority.root());
    let (requested, required) = (ClientCertificates::Requested, ClientCertificates::Required);
    for (client_certificates, cacertfile, identity, served) in [
        (ClientCertificates::Off, None, Some(&foreign), true),
        (requested, None, None, true),
        (requested, None, Some(&foreign), true),
        (required, None, None, false),
        (required, None, Some(&foreign), true),
        (required, None, Some(&expired), true),
        (requested, root.clone(), None, true),
        (requested, root.clone(), Some(&foreign), false),
        (required, root.clone(), None, false),
        (required, root.clone(), Some(&foreign), false),
        (required, root.clone(), Some(&expired), false),
        (required, root.clone(), Some(&issued), true),
    ] {
        let (server, _) = serve(TlsOptions {
            client_certificates,
            cacertfile: cacertfile.clone(),
            ..authority.options(&authority.issue("localhost"))
        });
        for version in [&TLS12, &TLS13] {
            let caller = Caller {
                version,
                identity,
                ..Caller::of(&authority)
            };
            let answer = caller.call(&server).await;
            assert_eq!(
                answer.as_ref().is_ok_and(|status| *status == 200),
                served,
                "{client_certificates:?} {cacertfile:?} {answer:?}"
            );
        }
    }
}

#[tokio::test]
async fn resumes_no_session_from_before_a_reload() {
    let authority = Authority::new();
    let (server, tls) = serve(authority.options(&authority.issue("localhost")));
    let config = Caller::of(&authority).config();
    for (reloads, kind) in [
        (false, HandshakeKind::Full),
        (false, HandshakeKind::Resumed),
        (true, HandshakeKind::Full),
    ] {
        if reloads {
            tls.reload().unwrap();
        }
        let mut stream = connect(Arc::clone(&config), &server).await.unwrap();
        assert_eq!(stream.get_ref().1.handshake_kind(), Some(kind));
        assert_eq!(call(&mut stream).await.unwrap(), 200);
    }
}

#[test]
fn says_what_is_wrong_with_a_file() {
    let authority = Authority::new();
    let good = authority.options(&authority.issue("localhost"));
    let other = authority.write("other.pem", &authority.issue("localhost").key_pem());
    let empty = authority.write("empty.pem", "");
    let broken = authority.write(
        "broken.pem",
        "-----BEGIN CERTIFICATE-----\nAQID\n-----END CERTIFICATE-----\n",
    );
    let encrypted = authority.write(
        "encrypted.pem",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAQID\n-----END ENCRYPTED PRIVATE KEY-----\n",
    );
    let missing = authority.root().with_file_name("missing.pem");
    let certfile = |certfile: &std::path::Path| TlsOptions {
        certfile: certfile.into(),
        ..good.clone()
    };
    let keyfile = |keyfile: &std::path::Path| TlsOptions {
        keyfile: keyfile.into(),
        ..good.clone()
    };
    let cacertfile = |path: &std::path::Path| TlsOptions {
        cacertfile: Some(path.into()),
        client_certificates: ClientCertificates::Required,
        ..good.clone()
    };
    for (options, option, path, reason) in [
        (certfile(&missing), "certfile", &missing, "No such file"),
        (
            certfile(&empty),
            "certfile",
            &empty,
            "no certificate in PEM",
        ),
        (
            certfile(&good.keyfile),
            "certfile",
            &good.keyfile,
            "no certificate in PEM",
        ),
        (
            certfile(&broken),
            "certfile",
            &broken,
            "invalid peer certificate",
        ),
        (keyfile(&missing), "keyfile", &missing, "No such file"),
        (keyfile(&empty), "keyfile", &empty, "no private key in PEM"),
        (keyfile(&encrypted), "keyfile", &encrypted, "openssl pkey"),
        (
            keyfile(&other),
            "keyfile",
            &other,
            "not that of the certificate",
        ),
        (cacertfile(&missing), "cacertfile", &missing, "No such file"),
        (
            cacertfile(&empty),
            "cacertfile",
            &empty,
            "no certificate in PEM",
        ),
        (
            cacertfile(&broken),
            "cacertfile",
            &broken,
            "invalid peer certificate",
        ),
    ] {
        let fault = TlsServer::new(options).unwrap_err();
        assert_eq!((fault.option, &fault.path), (option, path));
        assert!(
            fault
                .to_string()
                .starts_with(&format!("{option}: {}: ", path.display()))
        );
        assert!(fault.reason.contains(reason), "{fault}");
    }
    assert!(Trust::of_file(&authority.root()).is_ok());
    assert_eq!(Trust::of_file(&missing).unwrap_err().option, "cacertfile");
}

#[test]
fn shows_no_key() {
    let authority = Authority::new();
    let identity = authority.issue("localhost");
    let tls = TlsServer::new(authority.options(&identity)).unwrap();
    let shown = format!("{tls:?}");
    assert!(shown.contains("key.pem"));
    let body: String = identity.key_pem().lines().nth(1).unwrap().into();
    assert!(!shown.contains(&body[..16]));
}

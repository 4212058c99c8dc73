//! Fetches from an https server on this machine.

use std::{fs, sync::Arc};

use mcp_http::{Fetch, FetchError, Fetched, Trust, fetch};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, crypto::ring},
};

use crate::support::{Authority, Identity};

/// Answers one request with `answer` over TLS, as the one that `identity` names, and closes only what is a whole
/// answer; the URL of the server.
async fn answer_as(identity: &Identity, answer: &'static str) -> String {
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![identity.certificate()], identity.key())
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let Ok(mut stream) = TlsAcceptor::from(Arc::new(config)).accept(stream).await else {
            return;
        };
        let mut request = [0; 1024];
        let _ = stream.read(&mut request).await;
        let _ = stream.write_all(answer.as_bytes()).await;
        match answer.contains("\r\n\r\n") {
            true => drop(stream.shutdown().await),
            false => std::future::pending().await,
        }
    });
    format!("https://localhost:{port}/jwks")
}

async fn fetch_from(url: String, authority: &Authority) -> Result<Fetched, FetchError> {
    let trust = Some(Trust::of_file(&authority.root()).unwrap());
    let allow_private = false;
    fetch(Fetch {
        url,
        allow_private,
        trust,
        form: None,
    })
    .await
}

#[tokio::test]
async fn believes_the_authority_that_it_was_given() {
    let authority = Authority::new();
    let url = answer_as(&authority.issue("localhost"), OK).await;
    let fetched = fetch_from(url, &authority).await.unwrap();
    assert_eq!((fetched.status, fetched.max_age_s), (200, Some(60)));
    assert_eq!(&*fetched.body, b"{}");
}

#[tokio::test]
async fn believes_several_of_one_file() {
    let (first, second) = (Authority::new(), Authority::new());
    let both =
        fs::read_to_string(first.root()).unwrap() + &fs::read_to_string(second.root()).unwrap();
    let trust = Trust::of_file(&first.write("both.pem", &both)).unwrap();
    for authority in [&first, &second] {
        let url = answer_as(&authority.issue("localhost"), OK).await;
        let trust = Some(trust.clone());
        let fetched = fetch(Fetch {
            url,
            allow_private: false,
            trust,
            form: None,
        })
        .await;
        assert_eq!(fetched.unwrap().status, 200);
    }
}

#[tokio::test]
async fn believes_nobody_else() {
    let (authority, other) = (Authority::new(), Authority::new());
    for (identity, reason) in [
        (other.issue("localhost"), "UnknownIssuer"),
        (Identity::self_signed("localhost"), "UnknownIssuer"),
        (authority.issue("other.example"), "not valid for name"),
        (authority.issue_expired("localhost"), "expired"),
    ] {
        let url = answer_as(&identity, OK).await;
        let error = fetch_from(url, &authority).await.unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    let url = answer_as(&authority.issue("localhost"), OK).await;
    let by_the_system = fetch(Fetch {
        url,
        allow_private: false,
        trust: None,
        form: None,
    })
    .await;
    assert!(by_the_system.is_err());
}

#[tokio::test]
async fn follows_no_redirect() {
    let authority = Authority::new();
    let url = answer_as(&authority.issue("localhost"), REDIRECT).await;
    let fetched = fetch_from(url, &authority).await.unwrap();
    assert_eq!((fetched.status, fetched.body.len()), (302, 0));
}

#[tokio::test]
async fn connects_to_no_private_address_that_it_was_not_told_of() {
    let authority = Authority::new();
    for url in [
        "https://10.0.0.1/jwks",
        "https://169.254.169.254/",
        "https://[fd00::1]/jwks",
    ] {
        let error = fetch_from(url.to_owned(), &authority).await.unwrap_err();
        assert!(matches!(error, FetchError::Private(_)), "{error:?}");
    }
}

/// Whoever says nothing is given up: before the handshake, and after it.
#[tokio::test]
async fn gives_up_on_silence() {
    let authority = Authority::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let silent = fetch_from(format!("https://localhost:{port}/jwks"), &authority);
    assert_timeout(silent).await;
    tokio::time::resume();
    let url = answer_as(&authority.issue("localhost"), "HTTP/1.1 200 OK\r\n").await;
    assert_timeout(fetch_from(url, &authority)).await;
}

/// With a clock that runs ahead once nothing else is left to happen.
async fn assert_timeout(fetching: impl Future<Output = Result<Fetched, FetchError>>) {
    let ahead = async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        tokio::time::pause();
        std::future::pending::<()>().await;
    };
    let fetched = tokio::select! {
        fetched = fetching => fetched,
        () = ahead => unreachable!("waits for ever"),
    };
    assert!(
        matches!(fetched, Err(FetchError::Timeout(_))),
        "{fetched:?}"
    );
}

const OK: &str = "HTTP/1.1 200 OK\r\ncache-control: max-age=60\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
const REDIRECT: &str =
    "HTTP/1.1 302 Found\r\nlocation: https://localhost/elsewhere\r\ncontent-length: 0\r\n\r\n";

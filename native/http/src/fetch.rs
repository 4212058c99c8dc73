//! Fetching what an issuer says: its keys and metadata with a GET, what it knows of a token with a POST, to a host that
//! the operator named.

use std::{
    error::Error,
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Request, Response, StatusCode, Uri,
    body::Incoming,
    client::conn::http1,
    header::{ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue},
};
use hyper_util::rt::TokioIo;
use mcp_auth::Posted;
use tokio::{net::TcpStream, task::spawn_blocking, time::timeout};
use tokio_rustls::{TlsConnector, rustls::pki_types::ServerName};

use crate::{connection::Stream, names::addresses, tls::Trust};

/// What is fetched.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// https, or http to this machine.
    pub url: String,
    /// Whether the host may have an address that is not reachable from everywhere.
    pub allow_private: bool,
    /// Whom the host's certificate must be of; `None` is whom the system trusts.
    pub trust: Option<Trust>,
    /// What is posted; a GET without it.
    pub form: Option<Posted>,
}

/// What came.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The status of the answer; a redirect is not followed.
    pub status: u16,
    /// For how long the answer says that it is good.
    pub max_age_s: Option<u64>,
    /// At most 512 KiB, or 64 KiB after a POST.
    pub body: Bytes,
}

/// Why nothing came.
#[derive(Debug)]
pub enum FetchError {
    /// No URL of this kind.
    Url,
    /// The host's address is private.
    Private(IpAddr),
    /// It took longer than this.
    Timeout(Duration),
    /// A body of more octets than this.
    TooLarge(usize),
    /// Name, connection, TLS or HTTP.
    Transport(Box<dyn Error + Send + Sync>),
}

/// Fetches, within ten seconds in all, or five with a POST. No cookies, no redirects, no proxy.
///
/// # Errors
/// See [`FetchError`]; a status that is no success is none.
pub async fn fetch(fetch: Fetch) -> Result<Fetched, FetchError> {
    let bounds = Bounds::of(&fetch);
    timeout(bounds.time, exchange(fetch, bounds.max_bytes))
        .await
        .unwrap_or(Err(FetchError::Timeout(bounds.time)))
}

/// What an answer may take.
#[derive(Clone, Copy)]
struct Bounds {
    time: Duration,
    max_bytes: usize,
}

impl Bounds {
    fn of(fetch: &Fetch) -> Self {
        let (seconds, kibibytes) = match fetch.form {
            Some(_) => (5, 64),
            None => (10, 512),
        };
        Self {
            time: Duration::from_secs(seconds),
            max_bytes: kibibytes * 1_024,
        }
    }
}

async fn exchange(fetch: Fetch, max_bytes: usize) -> Result<Fetched, FetchError> {
    let target = Target::parse(&fetch.url).ok_or(FetchError::Url)?;
    let address = target.resolve(fetch.allow_private).await?;
    let stream = TcpStream::connect(address).await.map_err(transport)?;
    if !target.secure {
        return read(send(stream, &target, fetch.form).await?, max_bytes).await;
    }
    let name = ServerName::try_from(target.host.clone()).map_err(transport)?;
    let trust = match fetch.trust {
        Some(trust) => Some(trust),
        // Reads files.
        None => spawn_blocking(Trust::system).await.map_err(transport)?,
    };
    let trust = trust.ok_or_else(|| transport("the system trusts no certificate authority"))?;
    let connector = TlsConnector::from(trust.config());
    let stream = connector.connect(name, stream).await.map_err(transport)?;
    read(send(stream, &target, fetch.form).await?, max_bytes).await
}

/// Where a request goes.
struct Target {
    uri: Uri,
    secure: bool,
    /// Without the brackets of an address.
    host: String,
    port: u16,
}

impl Target {
    fn parse(url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        let authority = uri.authority()?;
        let secure = match uri.scheme_str()? {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        if authority.as_str().contains('@') || host.is_empty() || !(secure || is_local(&host)) {
            return None;
        }
        let port = authority
            .port_u16()
            .unwrap_or(if secure { 443 } else { 80 });
        Some(Self {
            uri,
            secure,
            host,
            port,
        })
    }

    /// The address that is connected to is the one that was looked at: a name that changes its mind changes nothing.
    async fn resolve(&self, allow_private: bool) -> Result<SocketAddr, FetchError> {
        let addresses = addresses(&self.host, self.port).await.map_err(transport)?;
        let address = *addresses
            .first()
            .ok_or_else(|| transport("the host has no address"))?;
        let may_connect = match is_local(&self.host) {
            true => address.ip().is_loopback(),
            false => allow_private || is_public(address.ip()),
        };
        match may_connect {
            true => Ok(address),
            false => Err(FetchError::Private(address.ip())),
        }
    }

    fn request(&self, form: Option<Posted>) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
        let path = self.uri.path_and_query();
        let path = path.map_or("/", |path| path.as_str());
        let authority = self.uri.authority();
        let authority = authority.map_or("", |authority| authority.as_str());
        let Some(form) = form else {
            return Request::get(path)
                .header(HOST, authority)
                .header(ACCEPT, "application/jwk-set+json, application/json")
                .body(Full::default());
        };
        let mut request = Request::post(path)
            .header(HOST, authority)
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        if let Some(authorization) = form.authorization {
            let mut value = HeaderValue::from_bytes(authorization.bytes())?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        request.body(Bytes::copy_from_slice(form.form.bytes()).into())
    }
}

async fn send(
    stream: impl Stream,
    target: &Target,
    form: Option<Posted>,
) -> Result<Response<Incoming>, FetchError> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(transport)?;
    // Ends with the sender, or with an error that the sender reports too.
    tokio::spawn(connection);
    let request = target.request(form).map_err(transport)?;
    sender.send_request(request).await.map_err(transport)
}

async fn read(response: Response<Incoming>, max_bytes: usize) -> Result<Fetched, FetchError> {
    let status = response.status();
    let max_age_s = max_age(&response);
    let body = match status {
        StatusCode::OK => Limited::new(response.into_body(), max_bytes)
            .collect()
            .await
            .map_err(
                |error| match error.downcast_ref::<http_body_util::LengthLimitError>() {
                    Some(_) => FetchError::TooLarge(max_bytes),
                    None => FetchError::Transport(error),
                },
            )?
            .to_bytes(),
        _ => Bytes::new(),
    };
    Ok(Fetched {
        status: status.as_u16(),
        max_age_s,
        body,
    })
}

/// RFC 9111 §5.2.2.1
fn max_age(response: &Response<Incoming>) -> Option<u64> {
    let lines = response.headers().get_all(CACHE_CONTROL).iter();
    let text = lines.filter_map(|line| line.to_str().ok());
    text.flat_map(|line| line.split(','))
        .find_map(|directive| directive.trim().strip_prefix("max-age=")?.parse().ok())
}

/// Hosts that never leave the machine, for development.
fn is_local(host: &str) -> bool {
    matches!(host, "localhost" | "127.0.0.1" | "::1")
}

/// Whether an address can be reached from everywhere (RFC 6890): not this machine, this network, or a cloud's own.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => embedded_v4(ip).map_or_else(|| is_global_unicast(ip), is_public_v4),
    }
}

/// Without documentation and the tunnels whose ends nobody knows.
fn is_global_unicast(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.segments();
    (first & 0xe000) == 0x2000
        && !(first == 0x2001 && matches!(second, 0 | 0xdb8))
        && first != 0x2002
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [first, second, third, _] = ip.octets();
    !(ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_documentation()
        || first == 0
        || first >= 224
        || (first == 100 && (64..128).contains(&second))
        || (first == 192 && second == 0 && third == 0)
        || (first == 198 && (18..20).contains(&second)))
}

/// The IPv4 address within a mapped or translated one (RFC 4291 §2.5.5.2, RFC 6052 §2.1).
fn embedded_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let translated = ip.segments()[..6] == [0x64, 0xff9b, 0, 0, 0, 0];
    let [.., a, b, c, d] = ip.octets();
    match translated {
        true => Some(Ipv4Addr::new(a, b, c, d)),
        false => ip.to_ipv4_mapped(),
    }
}

fn transport(error: impl Into<Box<dyn Error + Send + Sync>>) -> FetchError {
    FetchError::Transport(error.into())
}

impl fmt::Display for FetchError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url => out.write_str("the URL is neither https nor http to this machine"),
            Self::Private(ip) => write!(out, "the host has the private address {ip}"),
            Self::Timeout(limit) => write!(out, "no answer within {} s", limit.as_secs()),
            Self::TooLarge(max_bytes) => write!(out, "the body has more than {max_bytes} octets"),
            Self::Transport(error) => error.fmt(out),
        }
    }
}

impl Error for FetchError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_fetched() {
        for url in [
            "https://a.example/jwks",
            "http://127.0.0.1:1/",
            "http://[::1]/",
            "http://localhost/x",
        ] {
            assert!(Target::parse(url).is_some(), "{url}");
        }
        for url in [
            "http://a.example/",
            "ftp://a.example/",
            "https://u@a.example/",
            "/jwks",
            "",
            "file:///etc/passwd",
        ] {
            assert!(Target::parse(url).is_none(), "{url}");
        }
    }

    #[test]
    fn addresses_of_networks_behind_us_are_private() {
        for ip in [
            "10.0.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "192.168.0.1",
            "100.64.0.1",
            "0.0.0.0",
            "192.0.0.8",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2001:db8::1",
            "2001::1",
            "2002:a00:1::",
        ] {
            assert!(!is_public(ip.parse().unwrap()), "{ip}");
        }
        for ip in [
            "8.8.8.8",
            "100.128.0.1",
            "192.0.1.1",
            "2606:4700::1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
        ] {
            assert!(is_public(ip.parse().unwrap()), "{ip}");
        }
    }
}

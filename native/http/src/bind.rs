//! Where a listener listens.

use std::{
    fs, io,
    net::{Shutdown, SocketAddr, TcpStream},
    os::unix::{fs::FileTypeExt, net::UnixStream},
    path::{Path, PathBuf},
};

use mcp_protocol::Peer;
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, Type};
use tokio::net::{TcpListener, UnixListener};

/// The place asked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Bind {
    /// An IPv4 or IPv6 address; port 0 lets the system choose. `[::]` takes IPv4 connections too.
    Tcp(SocketAddr),
    /// A Unix-domain socket. A socket file that nobody listens on is replaced; the file is removed at the end.
    Unix(PathBuf),
}

/// The place taken.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Bound {
    /// The address with its port.
    Tcp(SocketAddr),
    /// The socket file.
    Unix(PathBuf),
}

/// A listening socket.
#[derive(Debug)]
pub(crate) enum Acceptor {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// A connection just accepted: not blocking, and bound to no thread yet.
pub(crate) enum Accepted {
    Tcp(TcpStream, SocketAddr),
    Unix(UnixStream),
}

impl Bind {
    /// Opens the socket and registers it with the runtime that this is called in.
    ///
    /// # Errors
    /// What the system says, with the address or path and, where there is one, the fix.
    pub(crate) fn listen(&self, backlog: u32) -> io::Result<(Acceptor, Bound)> {
        let backlog = i32::try_from(backlog).unwrap_or(i32::MAX);
        match self {
            Self::Tcp(address) => listen_tcp(*address, backlog)
                .map_err(|error| explain(&error, &address.to_string(), tcp_fix(error.kind()))),
            Self::Unix(path) => listen_unix(path, backlog).map_err(|error| {
                explain(&error, &path.display().to_string(), unix_fix(error.kind()))
            }),
        }
    }
}

impl Acceptor {
    pub(crate) async fn accept(&self) -> io::Result<Accepted> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // Only latency is lost where the option is refused.
                let _ = stream.set_nodelay(true);
                let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
                Ok(Accepted::Tcp(stream.into_std()?, peer))
            }
            Self::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                Ok(Accepted::Unix(stream.into_std()?))
            }
        }
    }

    /// Refuses new connections from this moment, whoever still holds the socket.
    pub(crate) fn refuse(&self) {
        match self {
            // Systems that cannot do this to a listening socket refuse once the accepting task has let go of it.
            Self::Tcp(listener) => drop(SockRef::from(listener).shutdown(Shutdown::Both)),
            // Nobody finds a socket whose file is gone. Shut down, it would be ready for ever with nothing to
            // accept (Linux answers EAGAIN), and the accepting task would spin.
            Self::Unix(_) => {}
        }
    }
}

impl Accepted {
    pub(crate) fn peer(&self) -> Peer {
        match self {
            Self::Tcp(_, peer) => Peer::Tcp(*peer),
            Self::Unix(_) => Peer::Unix,
        }
    }
}

fn listen_tcp(address: SocketAddr, backlog: i32) -> io::Result<(Acceptor, Bound)> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    socket.listen(backlog)?;
    socket.set_nonblocking(true)?;
    let listener = TcpListener::from_std(socket.into())?;
    let bound = Bound::Tcp(listener.local_addr()?);
    Ok((Acceptor::Tcp(listener), bound))
}

fn listen_unix(path: &Path, backlog: i32) -> io::Result<(Acceptor, Bound)> {
    remove_stale(path)?;
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.bind(&SockAddr::unix(path)?)?;
    socket.listen(backlog)?;
    socket.set_nonblocking(true)?;
    Ok((
        Acceptor::Unix(UnixListener::from_std(socket.into())?),
        Bound::Unix(path.to_owned()),
    ))
}

/// Removes a socket file that a dead listener left behind.
fn remove_stale(path: &Path) -> io::Result<()> {
    let kind = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !kind.is_socket() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "something that is no socket is in its place; remove it or choose another path",
        ));
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "another listener serves it; stop that one or choose another path",
        )),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
    }
}

fn explain(error: &io::Error, place: &str, fix: &str) -> io::Error {
    let message = format!("cannot listen on {place}: {error}{fix}");
    io::Error::new(error.kind(), message)
}

/// What to do about an address that cannot be had.
fn tcp_fix(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::AddrInUse => {
            "; something else listens there: stop it, or choose another port (0 lets the system choose)"
        }
        io::ErrorKind::AddrNotAvailable => {
            "; this machine has no such address: choose one of its own, or 0.0.0.0 or :: for all of them"
        }
        io::ErrorKind::PermissionDenied => {
            "; ports under 1,024 are for the privileged: choose a higher one, or grant CAP_NET_BIND_SERVICE"
        }
        _ => "",
    }
}

/// What to do about a path that cannot be had; what is in its place says so itself.
fn unix_fix(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound => "; its folder does not exist: create it, or choose another path",
        io::ErrorKind::PermissionDenied => {
            "; this user may not write there: choose a folder where it may"
        }
        _ => "",
    }
}

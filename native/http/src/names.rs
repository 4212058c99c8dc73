//! Finding the addresses of a host, apart from everything else.
//!
//! The system's resolver holds up its thread for as long as it likes, half a minute where no name server answers. On the
//! few threads that verify access tokens and sign handshakes it would hold up those too, and what nobody waits for any
//! more would still be looked up there. So each lookup has a thread of its own, and there are so many at a time.

use std::{
    io,
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    thread,
};

use tokio::sync::{Semaphore, oneshot};

/// The addresses of a host, in the order of the system's preference. Dropping the future gives up a lookup that has not
/// begun.
pub(crate) async fn addresses(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let place = LOOKUPS.acquire().await.map_err(io::Error::other)?;
    let (found, addresses) = oneshot::channel();
    let host = host.to_owned();
    thread::Builder::new()
        .name("mcp-names".to_owned())
        .spawn(move || {
            let _place = place;
            let looked_up = (host, port).to_socket_addrs();
            // Whoever asked may have given up.
            let _ = found.send(looked_up.map(Iterator::collect));
        })?;
    addresses.await.map_err(io::Error::other)?
}

/// Lookups of the process.
static LOOKUPS: Semaphore = Semaphore::const_new(MAX_LOOKUPS);

const MAX_LOOKUPS: usize = 16;

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use tokio::{runtime::Builder, task::spawn_blocking, time::timeout};

    use super::*;

    /// The last thread for blocking work is taken, as by a verification.
    #[test]
    fn take_no_thread_of_the_runtime() {
        let runtime = Builder::new_current_thread()
            .max_blocking_threads(1)
            .enable_time()
            .build()
            .unwrap();
        let (release, held) = mpsc::channel::<()>();
        let found = runtime.block_on(async {
            let busy = spawn_blocking(move || held.recv());
            let found = timeout(Duration::from_secs(5), addresses("localhost", 7)).await;
            drop(release);
            let _ = busy.await;
            found
        });
        let found = found.expect("it does not wait").unwrap();
        assert!(found.iter().all(|address| address.ip().is_loopback()));
        assert!(!found.is_empty());
    }
}

//! HTTP listeners as terms. Each belongs to a process and ends with it (D15).

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use mcp_http::{Bind, Bound, Listener, ListenerOptions, Networks};
use mcp_protocol::{Endpoint, Hosts, Origins};
use rustler::{
    Atom, Binary, Encoder, Env, LocalPid, Monitor, OwnedEnv, Resource, ResourceArc, Term,
    types::atom,
};

use crate::{
    address, atoms,
    decode::binary,
    fault::Fault,
    guard::GuardHandle,
    instance::{Instance, InstanceHandle},
    options::{Options, wrong},
    tls::TlsHandle,
    workers,
};

/// A listener as a term.
pub(crate) struct ListenerHandle(Arc<Listener>);

/// `http_start/3`
#[rustler::nif(schedule = "DirtyIo")]
fn http_start<'a>(
    env: Env<'a>,
    handle: &'a InstanceHandle,
    options: Term<'a>,
    owner: LocalPid,
) -> Term<'a> {
    match start(handle.instance(), Options(options)) {
        Ok(listener) => {
            let address = bound(env, listener.address());
            let listener = ResourceArc::new(ListenerHandle(listener));
            if env.monitor(&listener, &owner).is_none() {
                listener.0.stop();
            }
            (atom::ok(), listener, address).encode(env)
        }
        Err(fault) => fault.encode(env),
    }
}

/// `http_drain/4`: `pid` gets `{:beam_mcp, :drained, ref, left}`. Wakes every connection.
#[rustler::nif(schedule = "DirtyIo")]
fn http_drain<'a>(
    handle: &'a ListenerHandle,
    pid: LocalPid,
    reference: Term<'a>,
    timeout_ms: u64,
) -> Atom {
    let mut message = OwnedEnv::new();
    let reference = message.save(reference);
    handle
        .0
        .drain(Duration::from_millis(timeout_ms), move |left| {
            // Nobody is told when the one who asked is gone.
            let _ = message.send_and_clear(&pid, |env| {
                (
                    atoms::beam_mcp(),
                    atoms::drained(),
                    reference.load(env),
                    left,
                )
                    .encode(env)
            });
        });
    atom::ok()
}

/// `http_stop/1`: the address is free when this returns.
#[rustler::nif(schedule = "DirtyIo")]
fn http_stop(handle: &ListenerHandle) -> Atom {
    handle.0.stop();
    atom::ok()
}

impl ListenerHandle {
    /// Frees the address at once, so that whoever restarts the owner can have it again, unless that means to remove
    /// the file of a Unix socket. For this, and for waking every connection, no scheduler should wait.
    fn stop_elsewhere(&self) {
        if let Bound::Tcp(_) = self.0.address() {
            self.0.close();
        }
        let listener = Arc::clone(&self.0);
        workers::elsewhere(move || listener.stop());
    }
}

#[rustler::resource_impl]
impl Resource for ListenerHandle {
    fn down(&self, _env: Env<'_>, _pid: LocalPid, _monitor: Monitor) {
        self.stop_elsewhere();
    }
}

impl Drop for ListenerHandle {
    fn drop(&mut self) {
        self.stop_elsewhere();
    }
}

fn start(instance: &Arc<Instance>, options: Options<'_>) -> Result<Arc<Listener>, Fault> {
    let options = listener_options(options, instance.telemetry)?;
    let listener = Listener::start(Arc::clone(instance), instance.workers, options)
        .map_err(|error| Fault::new(atoms::io(), error.to_string()))?;
    let listener = Arc::new(listener);
    instance.add_listener(&listener);
    Ok(listener)
}

fn listener_options(options: Options<'_>, record_requests: bool) -> Result<ListenerOptions, Fault> {
    let endpoint = Arc::new(endpoint(options)?);
    let mut listener = ListenerOptions::new(bind(options)?, endpoint);
    listener.max_headers = options.get(atoms::max_headers())?;
    listener.max_header_bytes = options.get(atoms::max_header_bytes())?;
    listener.header_timeout = options.duration_ms(atoms::header_timeout_ms())?;
    listener.body_timeout = options.duration_ms(atoms::body_timeout_ms())?;
    listener.keep_alive = options.duration_ms(atoms::keep_alive_ms())?;
    listener.idle_timeout = options.duration_ms(atoms::idle_timeout_ms())?;
    listener.max_connections = options.get(atoms::max_connections())?;
    listener.h2_max_streams = options.get(atoms::h2_max_streams())?;
    listener.backlog = options.get(atoms::backlog())?;
    listener.record_requests = record_requests;
    listener.trusted_proxies = trusted_proxies(options)?;
    let tls: Option<&TlsHandle> = options.get(atoms::tls())?;
    listener.tls = tls.map(TlsHandle::server);
    let guard: Option<&GuardHandle> = options.get(atoms::guard())?;
    listener.guard = guard.map(GuardHandle::guard);
    Ok(listener)
}

/// `networks_check/1`: whether they can be read.
#[rustler::nif]
fn networks_check<'a>(env: Env<'a>, networks: Vec<&'a str>) -> Term<'a> {
    match read_networks(networks) {
        Ok(_) => atom::ok().encode(env),
        Err(fault) => fault.encode(env),
    }
}

fn trusted_proxies(options: Options<'_>) -> Result<Networks, Fault> {
    read_networks(options.get(atoms::trusted_proxies())?)
}

fn read_networks(networks: Vec<&str>) -> Result<Networks, Fault> {
    Networks::parse(networks).map_err(|text| {
        let detail = format!("trusted_proxies: {text:?} is no address, no network such as \"10.0.0.0/8\" and not :unix");
        Fault::new(atoms::config(), detail)
    })
}

fn endpoint(options: Options<'_>) -> Result<Endpoint, Fault> {
    Ok(Endpoint {
        path: options.get(atoms::path())?,
        allowed_origins: origins(options)?,
        allowed_hosts: hosts(options)?,
        hook: options.get(atoms::hook())?,
        authorize: options.get(atoms::authorize())?,
        guarded: options
            .get::<Option<&GuardHandle>>(atoms::guard())?
            .is_some(),
        authorize_body: options.get(atoms::authorize_body())?,
        max_body_bytes: options.get(atoms::max_body_bytes())?,
        secure: options.get::<Option<&TlsHandle>>(atoms::tls())?.is_some(),
    })
}

fn origins(options: Options<'_>) -> Result<Origins, Fault> {
    let origins: Term<'_> = options.get(atoms::allowed_origins())?;
    if atoms::any() == origins {
        return Ok(Origins::Any);
    }
    options.get(atoms::allowed_origins()).map(Origins::List)
}

fn hosts(options: Options<'_>) -> Result<Hosts, Fault> {
    let hosts: Term<'_> = options.get(atoms::allowed_hosts())?;
    if atoms::any() == hosts {
        return Ok(Hosts::Any);
    }
    if atoms::loopback() == hosts {
        return Ok(Hosts::Loopback);
    }
    options.get(atoms::allowed_hosts()).map(Hosts::List)
}

/// `{:tcp, ip_tuple, port} | {:unix, path}`
fn bind(options: Options<'_>) -> Result<Bind, Fault> {
    let bind: Term<'_> = options.get(atoms::bind())?;
    if let Ok((kind, ip, port)) = bind.decode::<(Atom, Term<'_>, u16)>()
        && kind == atoms::tcp()
        && let Some(ip) = address::read_ip(ip)
    {
        return Ok(Bind::Tcp(SocketAddr::new(ip, port)));
    }
    match bind.decode::<(Atom, Binary<'_>)>() {
        Ok((kind, path)) if kind == atoms::unix() => path_of(&path).map(Bind::Unix),
        _ => Err(wrong(
            atoms::bind(),
            "neither {:tcp, ip_tuple, port} nor {:unix, path}",
        )),
    }
}

fn path_of(path: &[u8]) -> Result<PathBuf, Fault> {
    let path =
        str::from_utf8(path).map_err(|_| wrong(atoms::bind(), "a path that is not UTF-8"))?;
    Ok(PathBuf::from(path))
}

fn bound<'a>(env: Env<'a>, address: &Bound) -> Term<'a> {
    match address {
        Bound::Tcp(address) => {
            (atoms::tcp(), address::ip(env, address.ip()), address.port()).encode(env)
        }
        Bound::Unix(path) => (
            atoms::unix(),
            binary(env, path.as_os_str().as_encoded_bytes()),
        )
            .encode(env),
    }
}

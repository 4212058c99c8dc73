//! stdio transports as terms (D11). Each belongs to a process and ends with it.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use mcp_auth::Scope;
use mcp_protocol::{Identity, Principal};
use mcp_stdio::{End, Options as PipeOptions, Pipe, Sink, Source, adopt};
use rustler::{
    Atom, Binary, Encoder, Env, LocalPid, Monitor, Resource, ResourceArc, Term, types::atom,
};

use crate::{
    atoms,
    decode::binary,
    dispatcher::send,
    fault::Fault,
    instance::{Instance, InstanceHandle},
    options::{Options, wrong},
    timing,
};

/// A pipe as a term.
pub(crate) struct PipeHandle(Pipe);

/// `stdio_start/3`: `owner` gets `{:beam_mcp, :stdio_end, number, reason}` in the end.
#[rustler::nif(schedule = "DirtyIo")]
fn stdio_start<'a>(
    env: Env<'a>,
    handle: &'a InstanceHandle,
    options: Term<'a>,
    owner: LocalPid,
) -> Term<'a> {
    match start(handle.instance(), Options(options), owner) {
        Ok(pipe) => {
            let pipe = ResourceArc::new(PipeHandle(pipe));
            if env.monitor(&pipe, &owner).is_none() {
                pipe.0.close();
            }
            (atom::ok(), pipe).encode(env)
        }
        Err(fault) => fault.encode(env),
    }
}

/// `stdio_line/2`
#[rustler::nif]
fn stdio_line<'a>(handle: &'a PipeHandle, line: Binary<'a>) -> Atom {
    let _time = timing::measure("stdio_line");
    match handle.0.push(line.to_vec()) {
        Ok(()) => atom::ok(),
        Err(_) => atoms::busy(),
    }
}

/// `stdio_written/1`: the owner has dealt with a line that it was sent, so that one more may follow.
#[rustler::nif]
fn stdio_written(handle: &PipeHandle) -> Atom {
    let _time = timing::measure("stdio_written");
    handle.0.written();
    atom::ok()
}

/// `stdio_close/1`
#[rustler::nif]
fn stdio_close(handle: &PipeHandle) -> Atom {
    let _time = timing::measure("stdio_close");
    handle.0.close();
    atom::ok()
}

#[rustler::resource_impl]
impl Resource for PipeHandle {
    fn down(&self, _env: Env<'_>, _pid: LocalPid, _monitor: Monitor) {
        self.0.close();
    }
}

fn start(instance: &Arc<Instance>, options: Options<'_>, owner: LocalPid) -> Result<Pipe, Fault> {
    let (source, sink) = ends(options, owner)?;
    let pipe_options = PipeOptions {
        max_line_bytes: options.get(atoms::max_line_bytes())?,
        drain_timeout: options.duration_ms(atoms::drain_timeout_ms())?,
        identity: identity(options)?,
        record_requests: instance.telemetry,
    };
    // The end may come before the number is known here.
    let number = Arc::new(OnceLock::new());
    let known = Arc::clone(&number);
    let on_end = move |end| tell_end(owner, *known.wait(), &end);
    let runtime = instance.workers.next();
    let pipe = Pipe::start(
        Arc::clone(instance),
        runtime,
        source,
        sink,
        pipe_options,
        on_end,
    )
    .map_err(|error| Fault::new(atoms::io(), error.to_string()))?;
    number.get_or_init(|| pipe.number());
    Ok(pipe)
}

/// `{principal, identity}` as binaries, as `authorize` answers them, or `nil`, and the scopes, or `nil` as well.
fn identity(options: Options<'_>) -> Result<Option<Identity>, Fault> {
    let identity: Option<(Binary<'_>, Binary<'_>)> = options.get(atoms::identity())?;
    let scopes: Option<Vec<&str>> = options.get(atoms::scopes())?;
    let granted = |scopes: Vec<&str>| scopes.into_iter().filter_map(Scope::parse).collect();
    let scopes = scopes.map(granted).map(Arc::new);
    Ok(identity.map(|(principal, term)| Identity {
        principal: Principal::new(&principal),
        scopes,
        term: Bytes::copy_from_slice(&term),
    }))
}

fn tell_end(owner: LocalPid, number: u64, end: &End) {
    // Nobody is told when the owner is gone.
    let _ = send(owner, |env| {
        let reason = reason(env, end);
        (atoms::beam_mcp(), atoms::stdio_end(), number, reason).encode(env)
    });
}

/// `{:descriptors, in, out} | :lines`
fn ends(options: Options<'_>, owner: LocalPid) -> Result<(Source, Sink), Fault> {
    let mode: Term<'_> = options.get(atoms::mode())?;
    if atoms::lines() == mode {
        let write = move |line: Vec<u8>| {
            // Lines for an owner that is gone have no reader.
            let _ = send(owner, |env| {
                (atoms::beam_mcp(), atoms::stdio_write(), binary(env, &line)).encode(env)
            });
        };
        return Ok((Source::Pushed, Sink::Callback(Box::new(write))));
    }
    match mode.decode::<(Atom, i32, i32)>() {
        Ok((kind, input, output)) if kind == atoms::descriptors() => {
            let taken =
                |number| adopt(number).map_err(|error| Fault::new(atoms::io(), error.to_string()));
            Ok((
                Source::Descriptor(taken(input)?),
                Sink::Descriptor(taken(output)?),
            ))
        }
        _ => Err(wrong(
            atoms::mode(),
            "neither {:descriptors, in, out} nor :lines",
        )),
    }
}

fn reason<'a>(env: Env<'a>, end: &End) -> Term<'a> {
    match end {
        End::Input => atoms::eof().encode(env),
        End::Exit => atoms::exit().encode(env),
        End::Fault(text) => (atom::error(), text).encode(env),
    }
}

//! The BEAM side of the core. Each function of `BeamMCP.NIF` decodes terms, calls a crate that knows no BEAM, and
//! encodes what it returns; there are no rules here.
//!
//! Functions that wait do not exist: a native thread sends a message instead. Work beyond a budget is refused with
//! `:large` and repeated by the caller on a dirty scheduler.

mod address;
mod asking;
mod atoms;
mod block;
mod budget;
mod call;
mod catalog;
mod change;
mod client_key;
mod completion_result;
mod connectome;
mod contents;
mod context;
mod decode;
mod definition;
mod digest;
mod dispatcher;
mod encode;
mod event;
mod fault;
mod fetch;
mod guard;
mod handler;
mod host;
mod identity;
mod info;
mod instance;
mod introspection;
mod job;
mod listener;
mod notice;
mod options;
mod outcome;
mod pipe;
mod prompt_result;
mod question;
mod refusal;
mod relay;
mod released;
mod reply;
mod ring;
mod scopes;
mod server_info;
mod slot;
mod task;
mod timing;
mod tls;
mod token;
mod tool_result;
mod workers;
mod writer;

/// A call's memory is taken on a native thread and given back on a scheduler, which this allocator does without locks.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

rustler::init!("Elixir.BeamMCP.NIF");

//! A server without sockets, clocks or processes: the core, and a scripted world around it.

mod asking;
mod fixture;
mod matching;
mod message;
mod notice;
mod offers;
mod post;
mod reply;
mod server;
mod transcript;
mod world;

pub use asking::{ask, asking, form, question, roots, sampling, told, visit};
pub use fixture::{
    MAX_CALLS, config, definition, endpoint, nothing, session, structured, text, tools,
};
pub use matching::differences;
pub use message::{META, asking_for, call, legacy, modern, modern_meta, notification};
pub use notice::{amount, log, other, progress, said, said_bytes};
pub use offers::{
    completion, contents, icons, json_text, message, not_found, offering_all, offers, piece,
    pieces, prompt, resource, safe_error, template, values,
};
pub use post::Post;
pub use reply::Reply;
pub use server::{Pending, Server, by_every_revision, in_every_revision};
pub use transcript::play;
pub use world::{World, admitted, describe, identity, scope_name};

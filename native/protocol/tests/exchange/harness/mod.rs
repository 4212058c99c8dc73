//! A server without sockets, clocks or processes: the core, and a scripted world around it.

mod fixture;
mod matching;
mod message;
mod post;
mod reply;
mod server;
mod transcript;
mod world;

pub use fixture::{config, definition, endpoint, nothing, session, structured, text, tools};
pub use matching::differences;
pub use message::{META, call, legacy, modern, modern_meta, notification};
pub use post::Post;
pub use reply::Reply;
pub use server::{Pending, Server, in_every_revision};
pub use transcript::play;
pub use world::{World, describe, identity, scope_name};

//! Raw bytes through real descriptors.

mod changes;
mod lines;
mod messages;
mod support;
mod unread;

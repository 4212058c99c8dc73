//! Raw bytes through real descriptors.

mod lines;
mod messages;
mod support;
mod unread;

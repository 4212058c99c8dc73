//! What the tests of the drivers share: a [`TestHost`] whose calls a test takes by hand or has served, what it offers,
//! and the messages that clients send it.

mod host;
mod message;
mod settings;
mod wait;

pub use host::{TestHost, Worker};
pub use message::{call, cancel, legacy_call, text};
pub use settings::{CALL_TIMEOUT_MS, HOOK_TIMEOUT_MS, Settings, endpoint, tool};
pub use wait::eventually;

//! The Model Context Protocol for a server as a state machine: bytes and time in, steps out.

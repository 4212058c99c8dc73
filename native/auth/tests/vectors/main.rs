//! The recorded decisions of `test/fixtures/auth` against this crate, with the clock of the fixture.

mod challenges;
mod fixture;
mod keys;
mod metadata;
mod requests;
mod scopes;
mod tampering;
mod tokens;

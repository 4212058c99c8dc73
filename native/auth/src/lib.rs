//! An OAuth 2.1 protected resource as values: who may call, decided from a request's head.
//!
//! [`check`] takes the head of a request, the configuration, the issuers' keys and the time, and says [`Decision`]: the
//! caller, or that keys are missing, or a [`Reason`] to refuse, which one table turns into an answer. Nothing here reads
//! a clock, opens a socket or remembers anything: keys, replay marks and revocation are the edges' work. The folder's
//! README draws the flow.

mod algorithm;
mod base64url;
mod binding;
mod certificate;
mod challenge;
mod check;
mod claims;
mod client;
mod client_key;
mod config;
mod credentials;
mod facts;
mod fingerprint;
mod introspection;
mod jws;
mod key;
mod key_set;
mod metadata;
mod nonce;
mod number;
mod object;
mod proof;
mod query;
mod reason;
mod resource;
mod scope;
mod secret;
mod step_up;
mod token;
mod uri;

pub use algorithm::Algorithm;
pub use binding::Binding;
pub use certificate::Certificate;
pub use challenge::{Challenge, Wanted};
pub use check::{Accepted, Decision, Refused, Replay, check};
pub use client::{Client, Posted};
pub use client_key::{ClientKey, ClientKeyError, Unsigned};
pub use config::{AudienceMode, Config, ConfigError, Dpop, Issuer, Settings};
pub use credentials::{Credentials, Head, Scheme};
pub use facts::Facts;
pub use fingerprint::fingerprint;
pub use introspection::{Inquiry, Introspection, Judged, MalformedIntrospection};
pub use key_set::{KeySet, KeySetError, KeySource, Keys, Refetch};
pub use metadata::{Document, Links};
pub use nonce::Nonces;
pub use reason::{Reason, Schemes};
pub use resource::{Resource, ResourceError};
pub use scope::{
    Clause, Decided, Definition, DefinitionError, Denial, Gates, GatesError, Hierarchy,
    HierarchyError, Operation, Scope, Scopes, Selection, decide, union,
};
pub use secret::Secret;
pub use step_up::{SignIn, StepUp};
pub use token::{TokenDigest, Verified};

//! The Model Context Protocol for a server as a state machine: bytes and time in, steps out.
//!
//! An [`Exchange`] serves one HTTP request or one line of a pipe. It returns a [`Step`]: answer, compute, or ask a
//! [`Question`] that only a driver, the host or a store can settle; the driver feeds the [`Input`] back. There are no
//! sockets, clocks, threads or BEAM terms here. Revisions 2026-07-28, 2025-11-25 and 2025-06-18 are served side by
//! side, each message by its own.

mod buckets;
mod cache;
mod call;
mod catalog;
mod change;
mod config;
mod context;
mod cursor;
mod digest;
mod encode;
mod envelope;
mod error;
mod event;
mod excerpt;
mod exchange;
mod extension;
mod head;
mod http;
mod inquiry;
mod job;
mod keys;
mod log_level;
mod meta;
mod method;
mod methods;
mod notice;
mod offer;
mod outcome;
mod principal;
mod question;
mod rate;
mod rates;
mod relay;
mod request_id;
mod request_state;
mod revision;
mod session;
mod step;
mod subscription;
mod task;
mod time;
mod verdict;
mod word;

pub use buckets::Buckets;
pub use cache::{CacheChoice, CacheHint, CacheHints, CacheScope};
pub use call::{Call, Completing, Reading, Source, Target};
pub use catalog::{
    Access, Catalog, Category, Completion, CompletionDefinition, CompletionKey, Definition,
    DefinitionFault, Edit, Edited, Handler, Key, Place, Prompt, PromptArgument, PromptDefinition,
    Reference, Resource, ResourceDefinition, Template, TemplateDefinition, Tool, ToolDefinition,
    ToolLimits, Variables,
};
pub use change::{Change, Filter, Listing, MAX_URIS, TaskIds, Uris};
pub use config::{Config, Endpoint, Hosts, Origins, ScopePolicy, Shared};
pub use context::{Json, RequestContext, TRACE_KEYS, Transport};
pub use error::{Code, Error};
pub use event::{EventId, StreamKind};
pub use exchange::{Exchange, Line, Pipe};
pub use head::{Peer, RequestHead, Single, Tls, TlsVersion};
pub use http::Headers;
pub use inquiry::{
    Awaited, ClientResponse, Heard, InputAnswer, InputKind, InputQuestion, Inquired, Inquiry,
};
pub use job::{Ended, Job, JobAsked};
pub use keys::Keys;
pub use log_level::LogLevel;
pub use method::{Kind, Method};
pub use notice::{Amount, Frame, FrameKind, Notice, Notifier, Unsent};
pub use offer::{Offer, OfferKind, Permission};
pub use outcome::{
    Body, CallOutcome, CompletionResult, Contents, Piece, PromptResult, SafeError, ToolResult,
};
pub use principal::{Identity, Principal};
pub use question::{
    Ask, Authorized, BodyFault, Computation, Computed, Grant, Input, Limit, PermitAsk, Question,
    Scope, Unanswered,
};
pub use rate::Rate;
pub use rates::{Account, Rates};
pub use relay::{Relay, Relayed};
pub use request_id::{IdKey, InvalidId, MAX_ID_BYTES, RequestId};
pub use revision::{Era, Revision};
pub use session::{Session, SessionAnswer, SessionAsk};
pub use step::{Answer, Connection, Delivery, Step, StreamHead, Summary, Unlisted};
pub use subscription::{Owner, Subscription};
pub use task::{Task, TaskAnswer, TaskAsk, TaskRequest, TaskResponses, TaskStatus, TaskSupport};
pub use time::Now;
pub use verdict::{Stage, Verdict};

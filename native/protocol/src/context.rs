//! What a handler may know of the request it serves.

use std::sync::Arc;

use crate::{
    head::RequestHead, method::Method, principal::Identity, request_id::RequestId,
    revision::Revision,
};

/// The request as a handler sees it; decoded into the host's terms by its own process.
#[derive(Clone, Debug)]
pub struct RequestContext {
    /// The request's id.
    pub id: RequestId,
    /// Its method.
    pub method: Method,
    /// The revision that serves it.
    pub revision: Revision,
    /// The client's `Implementation` as JSON text; unverified (META-6).
    pub client_info: Option<Arc<str>>,
    /// The client's capabilities as JSON text: of the request (modern) or the session (legacy).
    pub client_capabilities: Arc<str>,
    /// `params._meta` as JSON text.
    pub meta: Option<Box<str>>,
    /// Who calls, when a hook said so.
    pub identity: Option<Identity>,
    /// The legacy session.
    pub session: Option<Arc<str>>,
    /// The head, for the headers that the host asked to see; absent on stdio.
    pub head: Option<Arc<RequestHead>>,
    /// When the call's time is up, in milliseconds of the Unix epoch.
    pub deadline_ms: u64,
}

//! The words that say why a request was refused, for telemetry and logs; never shown to a peer.

/// The host's `authorize` hook raised or gave no decision.
pub(crate) const AUTHORIZE: &str = "authorize";
/// Arguments that break the tool's input schema, or lack what a prompt requires.
pub(crate) const ARGUMENTS: &str = "arguments";
/// A body that broke off.
pub(crate) const BODY: &str = "body";
/// A body that came too slowly.
pub(crate) const BODY_TIMEOUT: &str = "body_timeout";
/// A body over the limit.
pub(crate) const BODY_TOO_LARGE: &str = "body_too_large";
/// `max_buffered_bytes` are held already.
pub(crate) const BUFFERS: &str = "buffers";
/// `max_calls` run already, or as many of one tool as may.
pub(crate) const BUSY: &str = "busy";
/// The client does not declare what the handler asks it for.
pub(crate) const CAPABILITY: &str = "capability";
/// The client cancelled the request.
pub(crate) const CANCELLED: &str = "cancelled";
/// A body that is compressed, or encoded in another way.
pub(crate) const CONTENT_ENCODING: &str = "content_encoding";
/// A cursor that is none of this list's.
pub(crate) const CURSOR: &str = "cursor";
/// The instance drains.
pub(crate) const DRAINING: &str = "draining";
/// A driver broke the contract of an exchange: a fault of ours.
pub(crate) const DRIVER: &str = "driver";
/// An id that another running request has.
pub(crate) const DUPLICATE_ID: &str = "duplicate_id";
/// `authorize` or `authorize_body` said no.
pub(crate) const FORBIDDEN: &str = "forbidden";
/// `Host` or `Transfer-Encoding` could be read in two ways.
pub(crate) const FRAMING: &str = "framing";
/// A protocol header that is missing, repeated, malformed or at odds with the body.
pub(crate) const HEADER: &str = "header";
/// A definition that this caller is not to know of, or that does not exist.
pub(crate) const HIDDEN: &str = "hidden";
/// A `Host` that `allowed_hosts` does not cover.
pub(crate) const HOST: &str = "host";
/// The host's handler refused in words of its own.
pub(crate) const HOST_ERROR: &str = "host_error";
/// The host's handler, hook or catalog failed.
pub(crate) const HOST_FAULT: &str = "host_fault";
/// An id that is neither a string nor an integer, or is too long.
pub(crate) const ID: &str = "id";
/// A line over the limit.
pub(crate) const LINE_TOO_LONG: &str = "line_too_long";
/// A body that is not declared as JSON.
pub(crate) const MEDIA_TYPE: &str = "media_type";
/// A `_meta` that is missing or malformed.
pub(crate) const META: &str = "meta";
/// An HTTP method that the endpoint does not serve, or a JSON-RPC method that the revision does not have.
pub(crate) const METHOD: &str = "method";
/// An `Accept` that excludes whatever could be answered.
pub(crate) const NOT_ACCEPTABLE: &str = "not_acceptable";
/// An `Origin` that `allowed_origins` does not cover.
pub(crate) const ORIGIN: &str = "origin";
/// Parameters of the wrong shape, or naming what does not exist.
pub(crate) const PARAMS: &str = "params";
/// Bytes that are not JSON.
pub(crate) const PARSE: &str = "parse";
/// A resource that does not exist.
pub(crate) const NOT_FOUND: &str = "not_found";
/// Not the endpoint's path.
pub(crate) const PATH: &str = "path";
/// `max_calls_per_principal` of this principal run already.
pub(crate) const PRINCIPAL_BUSY: &str = "principal_busy";
/// More often than `rate_limits` allows.
pub(crate) const RATE: &str = "rate";
/// A request state that is not this request's, or has expired, or responses of the wrong shape.
pub(crate) const REQUEST_STATE: &str = "request_state";
/// The handler wants to be called again later.
pub(crate) const RETRY_LATER: &str = "retry_later";
/// The caller was not granted the scopes of the operation.
pub(crate) const SCOPE: &str = "insufficient_scope";
/// A session is needed, or exists already.
pub(crate) const SESSION: &str = "session";
/// The session store failed.
pub(crate) const SESSION_STORE: &str = "session_store";
/// A session that does not exist, has ended, or is another caller's.
pub(crate) const SESSION_UNKNOWN: &str = "session_unknown";
/// As many sessions as allowed exist.
pub(crate) const SESSIONS_FULL: &str = "sessions_full";
/// Not one JSON-RPC message.
pub(crate) const SHAPE: &str = "shape";
/// The operation needs a stronger or more recent sign-in.
pub(crate) const STEP_UP: &str = "step_up";
/// The stream to be resumed is not kept.
pub(crate) const STREAM_GONE: &str = "stream_gone";
/// As many subscriptions as allowed are open.
pub(crate) const SUBSCRIPTIONS_FULL: &str = "subscriptions_full";
/// The task store failed.
pub(crate) const TASK_STORE: &str = "task_store";
/// A task that does not exist, has expired, or is another caller's.
pub(crate) const TASK_UNKNOWN: &str = "task_unknown";
/// As many tasks as allowed exist.
pub(crate) const TASKS_FULL: &str = "tasks_full";
/// The host asked for credentials.
pub(crate) const UNAUTHENTICATED: &str = "unauthenticated";
/// A version that is not served.
pub(crate) const VERSION: &str = "version";

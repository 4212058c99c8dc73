//! The words that say why a head was refused, for telemetry and logs.

/// `Host` or `Transfer-Encoding` could be read in two ways.
pub(crate) const FRAMING: &str = "framing";
/// Not the endpoint's path.
pub(crate) const PATH: &str = "path";
/// A `Host` that `allowed_hosts` does not cover.
pub(crate) const HOST: &str = "host";
/// An `Origin` that `allowed_origins` does not cover.
pub(crate) const ORIGIN: &str = "origin";
/// An HTTP method that the endpoint does not serve.
pub(crate) const METHOD: &str = "method";
/// A body that is not declared as JSON.
pub(crate) const MEDIA_TYPE: &str = "media_type";
/// A protocol header that is missing, repeated, malformed or at odds with the body.
pub(crate) const HEADER: &str = "header";

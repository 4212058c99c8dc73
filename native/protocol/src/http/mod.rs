//! What the head of an HTTP request must look like, and the response headers that follow from it.
//!
//! Pure decisions over a [`RequestHead`](crate::head::RequestHead), in the order an exchange asks for them:
//!
//! 1. [`admission`]: framing, path, [`host`], [`origin`], method. Nothing of the body is needed.
//! 2. [`media`] and [`content_encoding`]: what the body is, and `Accept`.
//! 3. [`mirror`] and [`param`]: headers that repeat values of the body; [`base64_form`] decodes them.
//!
//! [`cors`] writes the headers that browsers ask for. Accepting a request allocates nothing, unless a
//! header uses the Base64 form. A refusal is an [`Error`](crate::error::Error) whose word stands in
//! [`crate::word`]; it shows at most 100 characters of each value, escaped.

use std::borrow::Cow;

mod admission;
mod ascii;
mod authority;
mod base64_form;
mod content_encoding;
mod cors;
mod decimal;
#[cfg(test)]
mod fixture;
mod host;
mod media;
mod mirror;
mod mismatch;
mod origin;
mod param;
mod unlisted;

pub(crate) use admission::{Admission, Verb, admit};
pub(crate) use content_encoding::content_encoding;
pub(crate) use cors::{preflight_headers, response_headers};
pub(crate) use media::{Accepts, accepts, content_type};
pub(crate) use mirror::{
    VersionHeader, check_method, check_name, check_version, name, session_id, version,
};
pub(crate) use param::check_params;
pub(crate) use unlisted::unlisted;

/// Response headers: lower-case names, as HTTP/2 needs them, and values.
pub type Headers = Vec<(&'static str, Cow<'static, str>)>;

//! URI templates (RFC 6570, levels 1 to 3) matched backwards: from a URI to the values of its variables.
//!
//! [`Template::parse`] refuses what could be read back in two ways; [`Template::matches`] then answers
//! with the only values that expand to the URI, or with nothing. Each byte of the URI is looked at a
//! fixed number of times, whatever the template, and nothing is ever tried twice.
//!
//! ```
//! use mcp_uri_template::Template;
//!
//! let template = Template::parse("repo://{owner}/{+path}{?line}")?;
//! let values = template.matches("repo://ada/src/main.rs?line=7").expect("a match");
//! let values: Vec<_> = values.iter().map(|(name, value)| (&**name, value.as_str())).collect();
//! assert_eq!(values, [("owner", "ada"), ("path", "src/main.rs"), ("line", "7")]);
//! assert!(template.matches("repo://ada/..%2Fsecrets").is_none());
//! # Ok::<(), mcp_uri_template::TemplateError>(())
//! ```
//!
//! # What a template may say
//!
//! | form | its values |
//! |---|---|
//! | `{a}` `{a,b}` `{.a}` `{/a,b}` | one path segment each, never empty |
//! | `{+a}` `{#a}` | text with slashes, never empty |
//! | `{;a,b}` | named, in any order, empty or absent |
//! | `{?a,b}` `{&a,b}` | named, in any order, empty or absent, may hold slashes |
//!
//! Level 4 (`{a*}`, `{a:3}`) is refused, and so is a template whose parts cannot be told apart:
//!
//! 1. A template and a URI both fall into path, query and fragment at the first `?` and `#` that the
//!    template has (RFC 3986 section 3); the three are matched on their own.
//! 2. A variable is closed when the character after it cannot be part of its value: `{a}/..`, `{a}:..`.
//!    One variable of each part may be open (`{name}.json`, `{+path}/raw`); whatever follows it is then
//!    matched from the end, and each variable there needs such a character in front of it:
//!    `{+path}/{name}` is served, `{a}.{b}`, `{a}{b}` and `{+a}/{+b}` are refused.
//! 3. In an expression of several variables no value holds the separator: `{.a,b}` matches `.1.2` and
//!    not `.1.2.3`.
//! 4. A named expression ends its part, with every variable before it closed.
//!
//! # What a URI may say
//!
//! Literals are compared byte for byte. Values are percent-decoded once. The reserved characters
//! `:@!$&'()*+,;=`, which an expansion would encode, are taken as they stand where they delimit nothing,
//! and so are characters beyond ASCII. A URI does not match when a name in its query is unknown or comes
//! twice, or when a value decodes to something that is not UTF-8 or not safe to use as a path: a segment
//! `.` or `..`, a backslash, a NUL, a slash in the value of one segment, or a slash at the start of
//! `{+path}` where the template has one already.

mod byte_set;
mod error;
mod named;
mod operator;
mod parser;
mod percent;
mod piece;
mod template;
mod value;
mod zone;

pub use error::{ErrorKind, TemplateError};
pub use template::Template;

//! What is wrong with a file.

use std::{
    error, fmt,
    path::{Path, PathBuf},
};

/// A file that TLS cannot use. Nothing of its content is in here.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TlsFault {
    /// The option that names the file.
    pub option: &'static str,
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

impl TlsFault {
    pub(super) fn new(option: &'static str, path: &Path, reason: impl ToString) -> Self {
        Self {
            option,
            path: path.to_owned(),
            reason: reason.to_string(),
        }
    }
}

/// Begins with the option.
impl fmt::Display for TlsFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            option,
            path,
            reason,
        } = self;
        write!(out, "{option}: {}: {reason}", path.display())
    }
}

impl error::Error for TlsFault {}

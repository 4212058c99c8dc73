//! What the options that guard an endpoint refused, for the host's log.

use crate::{excerpt::excerpt, head::RequestHead, step::Unlisted, word};

/// The option that a refusal in `word` is about, and what it does not list.
pub(crate) fn unlisted(word: &str, head: &RequestHead) -> Option<Unlisted> {
    let (option, header) = match word {
        word::HOST => ("allowed_hosts", "host"),
        word::ORIGIN => ("allowed_origins", "origin"),
        _ => return None,
    };
    let value = head.values(header).next().map(excerpt);
    Some(Unlisted {
        option,
        value: value.unwrap_or_default(),
    })
}

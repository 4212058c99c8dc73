//! `Content-Encoding` (RFC 9110 §8.4): bodies are read as they come.

use crate::{
    error::{Code, Error},
    excerpt::excerpt,
    head::RequestHead,
    word,
};

/// Checks that the body is not compressed. Expanding one would cost a peer little and the server much.
///
/// # Errors
/// 415 naming what came.
pub(crate) fn content_encoding(head: &RequestHead) -> Result<(), Error> {
    match head
        .values("content-encoding")
        .find(|value| !is_identity(value))
    {
        None => Ok(()),
        Some(value) => {
            let message = format!(
                "Content-Encoding {} is not served: send the body without one",
                excerpt(value)
            );
            Err(Error::new(Code::InvalidRequest, word::CONTENT_ENCODING, message).with_status(415))
        }
    }
}

/// `identity` is no coding, and neither is an empty list.
fn is_identity(value: &[u8]) -> bool {
    value
        .split(|&byte| byte == b',')
        .map(<[u8]>::trim_ascii)
        .all(|coding| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::fixture::head;

    fn check(lines: &[&str]) -> Result<(), Error> {
        let headers: Vec<_> = lines
            .iter()
            .map(|line| ("Content-Encoding", *line))
            .collect();
        content_encoding(&head("POST", &headers))
    }

    #[test]
    fn no_coding_passes() {
        for lines in [
            &[][..],
            &[""],
            &["identity"],
            &["Identity, identity", "identity"],
        ] {
            assert!(check(lines).is_ok(), "{lines:?}");
        }
    }

    #[test]
    fn any_coding_is_refused_by_name() {
        for lines in [
            &["gzip"][..],
            &["identity, br"],
            &["identity", "zstd"],
            &["x"],
        ] {
            let error = check(lines).expect_err("refused");
            assert_eq!((error.status, error.word), (415, word::CONTENT_ENCODING));
            assert!(
                error.message.contains(lines[lines.len() - 1]),
                "{}",
                error.message
            );
        }
    }
}

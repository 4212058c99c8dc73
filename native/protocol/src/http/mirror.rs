//! Standard request headers, which repeat values of the body for intermediaries; the body is the
//! source of truth (MCP 2026-07-28 basic/transports/streamable-http, "Request Headers").

use std::borrow::Cow;

use crate::{
    error::{Code, Error},
    head::{RequestHead, Single},
    word,
};

use super::{
    ascii::{plain, visible},
    base64_form::{self, Invalid},
    mismatch::Mismatch,
};

/// What `MCP-Protocol-Version` says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum VersionHeader<'a> {
    /// Nothing.
    Absent,
    /// This, which may be no version at all.
    Value(&'a str),
    /// Something with other characters than visible ASCII.
    Invalid,
    /// More than one line, equal or not.
    Repeated,
}

/// Reads `MCP-Protocol-Version`, by which an exchange tells the era before it has a body.
pub(crate) fn version(head: &RequestHead) -> VersionHeader<'_> {
    match head.single(VERSION.lower) {
        Single::Absent => VersionHeader::Absent,
        Single::Repeated => VersionHeader::Repeated,
        Single::Value(value) => visible(value).map_or(VersionHeader::Invalid, VersionHeader::Value),
    }
}

/// Checks that `MCP-Protocol-Version` is there once and equals `body`, the version in `params._meta`.
///
/// # Errors
/// -32020 naming the header and both values; so for the other checks.
pub(crate) fn check_version(head: &RequestHead, body: &str) -> Result<(), Error> {
    compare_plain(head, &VERSION, body).map_err(|mismatch| {
        mismatch.into_error(VERSION.name, "params._meta's protocolVersion", body)
    })
}

/// Checks that `Mcp-Method` is there once and equals `body`, the message's method, with regard to case.
pub(crate) fn check_method(head: &RequestHead, body: &str) -> Result<(), Error> {
    compare_plain(head, &METHOD, body)
        .map_err(|mismatch| mismatch.into_error(METHOD.name, "method", body))
}

/// Checks that `Mcp-Name` is there once and, decoded, equals `body`, the value of `params.{member}`, byte by
/// byte: a URI is not normalised.
pub(crate) fn check_name(head: &RequestHead, member: &str, body: &str) -> Result<(), Error> {
    let compare = || {
        let value = one_line(head, &NAME)?;
        let text = base64_form::decode(value).map_err(|why| Mismatch::Invalid(why, value))?;
        if text == body {
            Ok(())
        } else {
            Err(Mismatch::Differs(value))
        }
    };
    compare().map_err(|mismatch| mismatch.into_error(NAME.name, &format!("params.{member}"), body))
}

/// Reads `Mcp-Name` for those who only want a hint: none where it is absent, repeated, or no text.
pub(crate) fn name(head: &RequestHead) -> Option<Cow<'_, str>> {
    base64_form::decode(one_line(head, &NAME).ok()?).ok()
}

/// Reads `Mcp-Session-Id` (MCP 2025-11-25 basic/transports, "Session Management").
///
/// # Errors
/// -32600 when it is repeated, or not 1 to 256 characters of visible ASCII. The value is not shown: it
/// may belong to somebody.
pub(crate) fn session_id(head: &RequestHead) -> Result<Option<&str>, Error> {
    let fault = match head.single("mcp-session-id") {
        Single::Absent => return Ok(None),
        Single::Value(value) => match visible(value) {
            Some(id) if (1..=MAX_SESSION_ID_BYTES).contains(&id.len()) => return Ok(Some(id)),
            _ => "is not 1 to 256 characters of visible ASCII",
        },
        Single::Repeated => "is repeated",
    };
    let message =
        format!("Mcp-Session-Id {fault}: send the id that initialize answered with, once");
    Err(Error::new(Code::InvalidRequest, word::HEADER, message))
}

/// A header's name as heads keep it and as people write it.
struct Header {
    lower: &'static str,
    name: &'static str,
}

/// Compares a header that never uses the Base64 form.
fn compare_plain<'a>(
    head: &'a RequestHead,
    header: &'static Header,
    body: &str,
) -> Result<(), Mismatch<'a>> {
    let value = one_line(head, header)?;
    match plain(value) {
        Some(text) if text == body => Ok(()),
        Some(_) => Err(Mismatch::Differs(value)),
        None => Err(Mismatch::Invalid(Invalid::Character, value)),
    }
}

fn one_line<'a>(head: &'a RequestHead, header: &'static Header) -> Result<&'a [u8], Mismatch<'a>> {
    match head.single(header.lower) {
        Single::Value(value) => Ok(value),
        Single::Absent => Err(Mismatch::Missing),
        Single::Repeated => Err(Mismatch::Repeated),
    }
}

const VERSION: Header = Header {
    lower: "mcp-protocol-version",
    name: "MCP-Protocol-Version",
};
const METHOD: Header = Header {
    lower: "mcp-method",
    name: "Mcp-Method",
};
const NAME: Header = Header {
    lower: "mcp-name",
    name: "Mcp-Name",
};

const MAX_SESSION_ID_BYTES: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::fixture::head;

    type Check = fn(&RequestHead, &str) -> Result<(), Error>;

    /// Each check with its header and a body value.
    const CHECKS: [(&str, &str, Check); 4] = [
        ("MCP-Protocol-Version", "2026-07-28", check_version),
        ("Mcp-Method", "tools/call", check_method),
        ("Mcp-Name", "echo", |head, body| {
            check_name(head, "name", body)
        }),
        ("Mcp-Name", "file:///a%20b", |head, body| {
            check_name(head, "uri", body)
        }),
    ];

    fn assert_mismatch(answer: Result<(), Error>, header: &str) {
        let error = answer.expect_err(header);
        assert_eq!(
            (error.code, error.status, error.word),
            (Code::HeaderMismatch, 400, word::HEADER)
        );
        assert!(error.message.starts_with(header), "{}", error.message);
    }

    #[test]
    fn hdr1_to_4_headers_are_there_and_equal() {
        for (header, body, check) in CHECKS {
            assert_eq!(check(&head("POST", &[(header, body)]), body), Ok(()));
            assert_mismatch(check(&head("POST", &[]), body), header);
            for wrong in [
                "",
                "other",
                &body.to_uppercase(),
                &format!("{body},{body}"),
                &format!("{body}/"),
            ] {
                if wrong != body {
                    assert_mismatch(check(&head("POST", &[(header, wrong)]), body), header);
                }
            }
        }
    }

    #[test]
    fn hdr6_and_x34_names_in_any_case_and_white_space_around() {
        for (header, body, check) in CHECKS {
            let spaced = format!(" \t {body} \t");
            for name in [header.to_lowercase(), header.to_uppercase()] {
                assert_eq!(
                    check(&head("POST", &[(&name, &spaced)]), body),
                    Ok(()),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn g09_repeats_are_refused_even_when_equal() {
        for (header, body, check) in CHECKS {
            for second in [body, "other"] {
                assert_mismatch(
                    check(&head("POST", &[(header, body), (header, second)]), body),
                    header,
                );
            }
        }
    }

    #[test]
    fn hdr23_other_characters_are_refused() {
        for (header, _, check) in CHECKS {
            for body in ["日本", "a\u{7f}", "a\0"] {
                assert_mismatch(check(&head("POST", &[(header, body)]), body), header);
            }
        }
    }

    #[test]
    fn hdr21_and_27_only_names_are_decoded() {
        let encoded = "=?base64?SGVsbG8=?=";
        let name = head("POST", &[("Mcp-Name", encoded)]);
        assert_eq!(check_name(&name, "name", "Hello"), Ok(()));
        assert_mismatch(check_name(&name, "name", encoded), "Mcp-Name");
        assert_mismatch(
            check_method(&head("POST", &[("Mcp-Method", encoded)]), "Hello"),
            "Mcp-Method",
        );
        for malformed in ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?="] {
            assert_mismatch(
                check_name(&head("POST", &[("Mcp-Name", malformed)]), "name", "Hello"),
                "Mcp-Name",
            );
        }
    }

    #[test]
    fn hdr26_an_empty_name_is_there_or_not() {
        for empty in ["", "=?base64??="] {
            assert_eq!(
                check_name(&head("POST", &[("Mcp-Name", empty)]), "name", ""),
                Ok(())
            );
        }
        assert_mismatch(check_name(&head("POST", &[]), "name", ""), "Mcp-Name");
    }

    #[test]
    fn a27_uris_are_not_normalised() {
        let name = head("POST", &[("Mcp-Name", "file:///a/./b")]);
        assert_mismatch(check_name(&name, "uri", "file:///a/b"), "Mcp-Name");
    }

    #[test]
    fn refusals_name_both_values() {
        let error = check_method(&head("POST", &[("Mcp-Method", "TOOLS/LIST")]), "tools/list")
            .expect_err("refused");
        assert_eq!(
            error.message,
            r#"Mcp-Method is "TOOLS/LIST", but method is "tools/list""#
        );
        let long = "x".repeat(10_000);
        let error =
            check_name(&head("POST", &[("Mcp-Name", &long)]), "name", "echo").expect_err("refused");
        assert!(
            error.message.ends_with(r#"…", but params.name is "echo""#)
                && error.message.len() < 200
        );
    }

    #[test]
    fn versions_are_read_before_they_are_compared() {
        let with = |values: &[&str]| {
            let lines: Vec<_> = values
                .iter()
                .map(|value| ("MCP-Protocol-Version", *value))
                .collect();
            head("POST", &lines)
        };
        assert_eq!(version(&with(&[])), VersionHeader::Absent);
        assert_eq!(
            version(&with(&["2026-07-28"])),
            VersionHeader::Value("2026-07-28")
        );
        assert_eq!(
            version(&with(&["v999.0.0"])),
            VersionHeader::Value("v999.0.0")
        );
        assert_eq!(version(&with(&["2026 07"])), VersionHeader::Invalid);
        assert_eq!(version(&with(&["é"])), VersionHeader::Invalid);
        assert_eq!(
            version(&with(&["2026-07-28", "2026-07-28"])),
            VersionHeader::Repeated
        );
    }

    #[test]
    fn lht41_session_ids_are_visible_and_short() {
        let with = |value: &str| head("POST", &[("MCP-Session-Id", value)]);
        assert_eq!(session_id(&head("POST", &[])), Ok(None));
        assert_eq!(session_id(&with("a~1")), Ok(Some("a~1")));
        assert!(session_id(&with(&"x".repeat(256))).is_ok());
        for bad in ["", "a b", "é", &"x".repeat(257)] {
            let error = session_id(&with(bad)).expect_err(bad);
            assert_eq!(
                (error.code, error.status, error.word),
                (Code::InvalidRequest, 400, word::HEADER)
            );
        }
        let line = ("Mcp-Session-Id", "a");
        assert!(session_id(&head("POST", &[line, line])).is_err());
    }
}

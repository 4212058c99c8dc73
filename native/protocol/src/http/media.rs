//! Media types: what the body must be, and what the answer may be.

use std::cmp::Ordering;

use crate::{
    error::{Code, Error},
    excerpt::excerpt,
    head::{RequestHead, Single},
    word,
};

/// Checks that the body is declared as JSON in UTF-8: `application/json`, any case, any parameter but a
/// `charset` other than UTF-8. Compared as a whole, so that no form of a CORS-simple request passes.
///
/// # Errors
/// 415 naming what came.
pub(crate) fn content_type(head: &RequestHead) -> Result<(), Error> {
    let fault = match head.single("content-type") {
        Single::Value(value) if is_utf8_json(value) => return Ok(()),
        Single::Value(value) => format!("{} is not served", excerpt(value)),
        Single::Absent => "is missing".to_owned(),
        Single::Repeated => "is repeated".to_owned(),
    };
    let message = format!("Content-Type {fault}: send application/json");
    Err(Error::new(Code::InvalidRequest, word::MEDIA_TYPE, message).with_status(415))
}

/// Which media types the client takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Accepts {
    /// `application/json`: one object.
    pub json: bool,
    /// `text/event-stream`.
    pub event_stream: bool,
}

/// Reads every `Accept` line as one list (RFC 9110 §12.5.1). For each type the most specific range
/// decides; `q=0` excludes. Without any range everything is accepted; a malformed one admits nothing.
pub(crate) fn accepts(head: &RequestHead) -> Accepts {
    if head.single("accept") == Single::Value(AS_ASKED) {
        return Accepts {
            json: true,
            event_stream: true,
        };
    }
    let mut json = Preference::default();
    let mut event_stream = Preference::default();
    let mut is_open = true;
    for range in head
        .values("accept")
        .flat_map(|line| parts(line, b','))
        .filter(|range| !range.is_empty())
    {
        is_open = false;
        let mut fields = parts(range, b';');
        let range = fields.next().unwrap_or_default();
        let admits = !fields.any(is_zero_quality);
        json.weigh(specificity(range, JSON), admits);
        event_stream.weigh(specificity(range, EVENT_STREAM), admits);
    }
    Accepts {
        json: is_open || json.admits,
        event_stream: is_open || event_stream.admits,
    }
}

/// What the protocol asks clients to send (MCP 2026-07-28 basic/transports/streamable-http), so nearly all requests.
const AS_ASKED: &[u8] = b"application/json, text/event-stream";

/// How nearly all of them name what they send.
const AS_SENT: &[u8] = b"application/json";

/// What the ranges read so far say of one media type.
#[derive(Default)]
struct Preference {
    specificity: Specificity,
    admits: bool,
}

/// How closely a range names a media type.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
enum Specificity {
    #[default]
    Other,
    Everything,
    Type,
    Exact,
}

impl Preference {
    fn weigh(&mut self, specificity: Specificity, admits: bool) {
        match specificity.cmp(&self.specificity) {
            Ordering::Less => {}
            Ordering::Equal => self.admits |= admits && specificity != Specificity::Other,
            Ordering::Greater => {
                *self = Self {
                    specificity,
                    admits,
                }
            }
        }
    }
}

fn specificity(range: &[u8], (kind, subtype): (&[u8], &[u8])) -> Specificity {
    let mut names = range.splitn(2, |&byte| byte == b'/');
    let (this_kind, Some(this_subtype)) = (names.next().unwrap_or_default(), names.next()) else {
        return Specificity::Other;
    };
    match (this_kind.eq_ignore_ascii_case(kind), this_subtype) {
        (true, this) if this.eq_ignore_ascii_case(subtype) => Specificity::Exact,
        (true, b"*") => Specificity::Type,
        (false, b"*") if this_kind == b"*" => Specificity::Everything,
        _ => Specificity::Other,
    }
}

fn is_utf8_json(value: &[u8]) -> bool {
    if value == AS_SENT {
        return true;
    }
    let mut fields = parts(value, b';');
    let media_type = fields.next().unwrap_or_default();
    specificity(media_type, JSON) == Specificity::Exact
        && fields
            .filter_map(|field| parameter(field, b"charset"))
            .all(|charset| charset.eq_ignore_ascii_case(b"utf-8"))
}

/// Whether `field` is `q=0`, with any more zeros.
fn is_zero_quality(field: &[u8]) -> bool {
    parameter(field, b"q").is_some_and(|quality| {
        quality.first() == Some(&b'0') && quality.iter().all(|byte| matches!(byte, b'0' | b'.'))
    })
}

/// The value of `field` without quotation marks, if its name is `name`.
fn parameter<'a>(field: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let at = field.iter().position(|&byte| byte == b'=')?;
    let value = field[at + 1..].trim_ascii();
    let unquoted = value
        .strip_prefix(b"\"")
        .and_then(|value| value.strip_suffix(b"\""));
    field[..at]
        .trim_ascii()
        .eq_ignore_ascii_case(name)
        .then_some(unquoted.unwrap_or(value))
}

/// The parts between separators outside of quoted strings (RFC 9110 §5.6.4), without white space around.
fn parts(value: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut is_quoted = false;
    let mut is_escaped = false;
    let ends_part = move |&byte: &u8| {
        let was_escaped = std::mem::take(&mut is_escaped);
        match byte {
            b'"' if !was_escaped => is_quoted = !is_quoted,
            b'\\' if !was_escaped => is_escaped = is_quoted,
            _ => {}
        }
        byte == separator && !is_quoted
    };
    value.split(ends_part).map(<[u8]>::trim_ascii)
}

const JSON: (&[u8], &[u8]) = (b"application", b"json");
const EVENT_STREAM: (&[u8], &[u8]) = (b"text", b"event-stream");

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{head::Peer, http::fixture::head};

    fn accepts_of(lines: &[&str]) -> (bool, bool) {
        let lines: Vec<_> = lines.iter().map(|line| ("Accept", *line)).collect();
        let Accepts { json, event_stream } = accepts(&head("POST", &lines));
        (json, event_stream)
    }

    #[test]
    fn x01_json_in_every_spelling() {
        for good in [
            "application/json",
            "Application/JSON ; charset=\"utf-8\"",
            "application/json;charset=UTF-8",
            "application/json;",
            "application/json; profile=\"a;charset=latin1\"",
        ] {
            assert!(
                content_type(&head("POST", &[("Content-Type", good)])).is_ok(),
                "{good}"
            );
        }
    }

    #[test]
    fn g08_nothing_else_is_json() {
        for bad in [
            "text/plain; a=application/json",
            "application/json-seq",
            "application/json, text/plain",
            "application/*",
            "*/*",
            "json",
            "",
            "application/ json",
            "application/json; charset=utf-16",
            "application/json; charset = latin1",
            "application/json; charset=utf-8; charset=utf-16",
            "application/json; charset=\"utf-8",
        ] {
            let error = content_type(&head("POST", &[("Content-Type", bad)])).expect_err(bad);
            assert_eq!(
                (error.status, error.word, error.code),
                (415, word::MEDIA_TYPE, Code::InvalidRequest)
            );
        }
        let json = ("Content-Type", "application/json");
        assert!(content_type(&head("POST", &[])).is_err());
        assert!(content_type(&head("POST", &[json, json])).is_err());
    }

    #[test]
    fn g07_ranges_and_absence_admit() {
        for lines in [
            &[][..],
            &[""],
            &["*/*"],
            &["application/*, text/*;q=0.5"],
            &["application/json, text/event-stream"],
            &["application/json", "text/event-stream"],
            &["TEXT/Event-Stream;q=0.1 , Application/Json; charset=utf-8"],
            &["text/html;a=\"x,application/json;q=0\", */*"],
        ] {
            assert_eq!(accepts_of(lines), (true, true), "{lines:?}");
        }
    }

    #[test]
    fn a11_the_most_specific_range_decides() {
        for (line, json, event_stream) in [
            ("application/json", true, false),
            ("text/event-stream", false, true),
            ("text/*", false, true),
            ("application/json;q=0, */*", false, true),
            ("*/*, application/json ; q=0.000", false, true),
            ("*/*;q=0, text/event-stream", false, true),
            ("application/*;q=0, application/json;q=0.001", true, false),
            ("application/json;q=0, application/json", true, false),
            ("text/html", false, false),
            ("*/*;q=0", false, false),
            ("*/json, application, *, */", false, false),
        ] {
            assert_eq!(accepts_of(&[line]), (json, event_stream), "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 0..4)) {
            let mut head = RequestHead::new("POST", "/mcp", Peer::Unix);
            for line in &lines {
                head.push("accept", line);
                head.push("content-type", line);
            }
            accepts(&head);
            let _ = content_type(&head);
        }

        #[test]
        fn lines_join_into_one_list(
            ranges in prop::collection::vec("(application/json|text/event-stream|(text|\\*)/\\*)(;q=[01])?", 0..5)
        ) {
            let lines: Vec<_> = ranges.iter().map(String::as_str).collect();
            prop_assert_eq!(accepts_of(&lines), accepts_of(&[&ranges.join(", ")]));
        }
    }
}

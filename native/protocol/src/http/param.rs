//! Param headers: `Mcp-Param-{Name}` repeats the argument whose property is annotated with
//! `x-mcp-header` (MCP 2026-07-28 server/tools, basic/transports/streamable-http).

use std::borrow::Cow;

use mcp_json::{Kind, Node};
use mcp_schema::HeaderBinding;

use crate::{
    error::Error,
    head::{RequestHead, Single},
};

use super::{base64_form, decimal::Decimal, mismatch::Mismatch};

/// How the name of every param header starts, in lower case.
pub(super) const PREFIX: &str = "mcp-param-";

/// Checks each bound argument against its header; headers that bind nothing are ignored.
///
/// An argument that is there and not null needs its header, once, with the same value after decoding; numbers
/// compare by value. Where there is no argument there must be no header, or an intermediary would
/// have acted on a value that the tool never sees. An argument that no header can carry - array, object,
/// fraction, integer beyond ±(2^53 - 1) - needs none and is left to the input schema.
///
/// # Errors
/// -32020 naming the header and both values.
pub(crate) fn check_params(
    head: &RequestHead,
    bindings: &[HeaderBinding],
    arguments: Option<Node<'_>>,
) -> Result<(), Error> {
    bindings.iter().try_for_each(|binding| {
        let argument = Argument::read(arguments, &binding.path);
        check(head, binding, &argument).map_err(|mismatch| {
            let header = format!("Mcp-Param-{}", binding.name);
            let source = format!("params.arguments.{}", binding.path.join("."));
            mismatch.into_error(&header, &source, argument.shown())
        })
    })
}

fn check<'a>(
    head: &'a RequestHead,
    binding: &HeaderBinding,
    argument: &Argument<'_>,
) -> Result<(), Mismatch<'a>> {
    let value = match line(head, &binding.name) {
        Single::Value(value) => value,
        Single::Absent if argument.needs_header() => return Err(Mismatch::Missing),
        Single::Absent => return Ok(()),
        Single::Repeated => return Err(Mismatch::Repeated),
    };
    let text = base64_form::decode(value).map_err(|why| Mismatch::Invalid(why, value))?;
    match argument {
        Argument::Nothing => Err(Mismatch::Unexpected(value)),
        _ if argument.equals(&text) => Ok(()),
        _ => Err(Mismatch::Differs(value)),
    }
}

/// The one line of a binding's header. Names compare without regard to case (RFC 9110 §5.1).
fn line<'a>(head: &'a RequestHead, name: &str) -> Single<'a> {
    let is_bound = |header: &str| {
        header
            .strip_prefix(PREFIX)
            .is_some_and(|it| it.eq_ignore_ascii_case(name))
    };
    let mut values = head
        .headers()
        .filter(|(header, _)| is_bound(header))
        .map(|(_, value)| value);
    match (values.next(), values.next()) {
        (None, _) => Single::Absent,
        (Some(value), None) => Single::Value(value),
        (Some(_), Some(_)) => Single::Repeated,
    }
}

/// The value of a bound argument, as a header would carry it.
enum Argument<'a> {
    /// None, or null.
    Nothing,
    /// A string, or the word of a boolean.
    Text(Cow<'a, str>),
    /// A number without exponent.
    Number(Cow<'a, str>),
    /// An array or object as JSON text.
    Compound(&'a str),
}

impl<'a> Argument<'a> {
    fn read(arguments: Option<Node<'a>>, path: &[String]) -> Self {
        let node = path
            .iter()
            .fold(arguments, |node, key| node.and_then(|node| node.get(key)));
        let Some(node) = node else {
            return Self::Nothing;
        };
        match node.kind() {
            Kind::Null => Self::Nothing,
            Kind::String => Self::Text(node.as_str().unwrap_or_default()),
            Kind::Bool => Self::Text(Cow::Borrowed(node.raw())),
            Kind::Number => Self::Number(without_exponent(node.raw())),
            Kind::Array | Kind::Object => Self::Compound(node.raw()),
        }
    }

    fn needs_header(&self) -> bool {
        match self {
            Self::Nothing | Self::Compound(_) => false,
            Self::Text(_) => true,
            Self::Number(number) => {
                Decimal::parse(number).is_some_and(|number| number.is_safe_integer())
            }
        }
    }

    fn equals(&self, header: &str) -> bool {
        match self {
            Self::Nothing | Self::Compound(_) => false,
            Self::Text(text) => text == header,
            Self::Number(number) => {
                Decimal::parse(header).is_some_and(|it| Some(it) == Decimal::parse(number))
            }
        }
    }

    fn shown(&self) -> &str {
        match self {
            Self::Nothing => "null",
            Self::Text(text) | Self::Number(text) => text,
            Self::Compound(json) => json,
        }
    }
}

/// A JSON number written out: `1e2` as `100`. It is a finite float where it has an exponent, so the digits
/// stay below 800.
fn without_exponent(number: &str) -> Cow<'_, str> {
    if !number.contains(['e', 'E']) {
        return Cow::Borrowed(number);
    }
    number
        .parse::<f64>()
        .map_or(Cow::Borrowed(number), |float| Cow::Owned(float.to_string()))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use mcp_json::{Document, Limits};
    use proptest::prelude::*;

    use super::*;
    use crate::{
        error::Code,
        head::Peer,
        http::{base64_form::encode, fixture::head},
    };

    fn binding(name: &str, path: &[&str]) -> HeaderBinding {
        HeaderBinding {
            name: name.into(),
            path: path.iter().map(ToString::to_string).collect(),
        }
    }

    /// Checks one binding, `Region` to `region`, or to the path given with dots.
    fn checked_at(path: &str, headers: &[(&str, &str)], arguments: &str) -> Result<(), Error> {
        let path: Vec<_> = path.split('.').collect();
        let document = Document::parse(
            Bytes::copy_from_slice(arguments.as_bytes()),
            &Limits::default(),
        )
        .unwrap();
        check_params(
            &head("POST", headers),
            &[binding("Region", &path)],
            Some(document.root()),
        )
    }

    fn checked(headers: &[(&str, &str)], region: &str) -> Result<(), Error> {
        checked_at("region", headers, &format!(r#"{{"region":{region}}}"#))
    }

    fn accepts(value: &str, region: &str) -> bool {
        checked(&[("Mcp-Param-Region", value)], region).is_ok()
    }

    #[test]
    fn hdr49_a_value_needs_its_header() {
        for (value, region) in [
            ("eu", r#""eu""#),
            (" \t eu ", r#""eu""#),
            ("", r#""""#),
            ("=?base64??=", r#""""#),
            ("=?base64?SGVsbG8=?=", r#""Hello""#),
            ("=?base64?SGVsbG8=", r#""=?base64?SGVsbG8=""#),
            ("SGVsbG8=?=", r#""SGVsbG8=?=""#),
            ("a/b", r#""a\/b""#),
            ("true", "true"),
            ("42", "42"),
        ] {
            assert!(accepts(value, region), "{value} {region}");
        }
        for (value, region) in [
            ("us", r#""eu""#),
            ("EU", r#""eu""#),
            ("", r#""eu""#),
            ("True", "true"),
            ("1", "true"),
            ("43", "42"),
            ("=?base64?SGVsbG8?=", r#""Hello""#),
            ("=?base64?SGVs!!!bG8=?=", r#""Hello""#),
        ] {
            assert!(!accepts(value, region), "{value} {region}");
        }
        for region in [r#""eu""#, r#""""#, "42", "0", "1e2", "false"] {
            let error = checked(&[], region).expect_err(region);
            assert_eq!((error.code, error.status), (Code::HeaderMismatch, 400));
        }
    }

    #[test]
    fn a14_no_value_means_no_header() {
        for arguments in ["{}", r#"{"region":null}"#, r#"{"Region":"eu"}"#] {
            assert!(checked_at("region", &[], arguments).is_ok());
            for value in ["eu", "", "null"] {
                let error = checked_at("region", &[("Mcp-Param-Region", value)], arguments)
                    .expect_err(value);
                assert_eq!(error.code, Code::HeaderMismatch);
            }
        }
        let bindings = [binding("Region", &["region"])];
        assert!(check_params(&head("POST", &[]), &bindings, None).is_ok());
        assert!(
            check_params(
                &head("POST", &[("Mcp-Param-Region", "eu")]),
                &bindings,
                None
            )
            .is_err()
        );
    }

    #[test]
    fn hdr51_numbers_compare_by_value() {
        for (value, region) in [
            ("42.0", "42"),
            ("42", "42.0"),
            ("-0", "0"),
            ("100", "1e2"),
            ("9007199254740991", "9007199254740991"),
        ] {
            assert!(accepts(value, region), "{value} {region}");
        }
        for (value, region) in [
            ("0x2a", "42"),
            ("+42", "42"),
            ("4.2e1", "42"),
            ("1e2", "1e2"),
            ("42.5", "42"),
        ] {
            assert!(!accepts(value, region), "{value} {region}");
        }
    }

    #[test]
    fn a35_what_no_header_carries_is_left_to_the_schema() {
        for region in [
            "[]",
            r#"{"a":1}"#,
            "1.5",
            "9007199254740992",
            "-1e300",
            "123456789012345678901234567890",
        ] {
            assert!(checked(&[], region).is_ok(), "{region}");
            assert!(!accepts("1", region), "{region}");
        }
        assert!(accepts("1.50", "1.5") && accepts("9007199254740992", "9007199254740992"));
        assert!(!accepts("9007199254740993", "9007199254740992"));
        assert!(!accepts("[]", "[]"));
    }

    #[test]
    fn hdr48_the_path_is_exact() {
        let eu = [("Mcp-Param-Region", "eu")];
        assert!(checked_at("to.region", &eu, r#"{"to":{"region":"eu"}}"#).is_ok());
        for arguments in [
            r#"{"to.region":"eu"}"#,
            r#"{"region":"eu"}"#,
            r#"{"to":["eu"]}"#,
            r#"{"to":"eu"}"#,
        ] {
            assert!(
                checked_at("to.region", &eu, arguments).is_err(),
                "{arguments}"
            );
            assert!(
                checked_at("to.region", &[], arguments).is_ok(),
                "{arguments}"
            );
        }
    }

    #[test]
    fn hdr6_names_compare_without_case_and_others_are_ignored() {
        for name in ["mcp-param-region", "MCP-PARAM-REGION"] {
            assert!(checked(&[(name, "eu"), ("Mcp-Param-Other", "\u{e9}")], r#""eu""#).is_ok());
        }
        assert!(checked(&[("Mcp-Param-Regions", "eu")], r#""eu""#).is_err());
    }

    #[test]
    fn hdr8_repeats_are_refused() {
        let line = ("Mcp-Param-Region", "eu");
        let error = checked(&[line, line], r#""eu""#).expect_err("repeated");
        assert_eq!(error.code, Code::HeaderMismatch);
    }

    #[test]
    fn refusals_name_header_and_values() {
        let message = |headers: &[_], region| {
            checked(headers, region)
                .expect_err("refused")
                .message
                .into_owned()
        };
        assert_eq!(
            message(&[("Mcp-Param-Region", "us")], r#""eu""#),
            r#"Mcp-Param-Region is "us", but params.arguments.region is "eu""#
        );
        assert_eq!(
            message(&[], r#""eu""#),
            r#"Mcp-Param-Region is missing: send "eu", the value of params.arguments.region"#
        );
        assert_eq!(
            message(&[("Mcp-Param-Region", "us")], "null"),
            r#"Mcp-Param-Region is "us", but the body has no params.arguments.region: leave the header out"#
        );
        assert!(message(&[("Mcp-Param-Region", "é")], r#""é""#).contains("visible ASCII"));
        assert!(
            message(
                &[("Mcp-Param-Region", &"x".repeat(10_000))],
                &format!("\"{}\"", "y".repeat(10_000))
            )
            .len()
                < 400
        );
    }

    /// An argument as JSON text, and what a conforming client puts in its header.
    fn argument() -> impl Strategy<Value = (String, Option<String>)> {
        let quote = |text: &str| serde_json::Value::from(text).to_string();
        prop_oneof![
            any::<String>().prop_map(move |text| (quote(&text), Some(encode(&text)))),
            (-MAX_SAFE..=MAX_SAFE)
                .prop_map(|number| (number.to_string(), Some(number.to_string()))),
            any::<bool>().prop_map(|word| (word.to_string(), Some(word.to_string()))),
            Just(("null".to_owned(), None)),
        ]
    }

    const MAX_SAFE: i64 = (1 << 53) - 1;

    proptest! {
        #[test]
        fn conforming_clients_are_accepted(first in argument(), second in argument(), tamper in "[ -~]{0,9}") {
            let arguments = format!(r#"{{"a":{},"to":{{"b":{}}},"c":7}}"#, first.0, second.0);
            let document = Document::parse(Bytes::from(arguments), &Limits::default()).unwrap();
            let bindings = [binding("A", &["a"]), binding("B", &["to", "b"]), binding("None", &["none"])];
            let sent = |values: [&Option<String>; 2]| {
                let mut head = RequestHead::new("POST", "/mcp", Peer::Unix);
                for (name, value) in ["Mcp-Param-A", "Mcp-Param-B"].into_iter().zip(values) {
                    if let Some(value) = value {
                        head.push(&name.to_ascii_lowercase(), value.as_bytes());
                    }
                }
                check_params(&head, &bindings, Some(document.root()))
            };
            prop_assert_eq!(sent([&first.1, &second.1]), Ok(()));
            let tampered = Some(format!("{tamper}!"));
            prop_assert!(sent([&tampered, &second.1]).is_err() || tampered == first.1);
        }
    }
}

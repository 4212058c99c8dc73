//! What holds for every text, with `serde_json` as the second opinion.

use mcp_json::{Document, Error, ErrorKind, Limits, Number, id_in_prefix, write};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;

proptest! {
    #[test]
    fn a_valid_text_reads_as_the_same_tree(text in json()) {
        let document = parse(text.as_bytes()).expect("valid");
        let value: Value = serde_json::from_str(&text).expect("valid");
        prop_assert_eq!(document.root().to_value(), value);
        prop_assert_eq!(document.root().raw(), text.trim());
        prop_assert_eq!(document.root().entries(), document.len());
    }

    #[test]
    fn random_bytes_never_panic(bytes in vec(any::<u8>(), 0..200)) {
        agree(&bytes)?;
        id_in_prefix(&bytes);
    }

    #[test]
    fn random_marks_never_panic(bytes in vec(mark(), 0..60)) {
        agree(&bytes)?;
        id_in_prefix(&bytes);
    }

    #[test]
    fn a_mutated_text_is_judged_alike(text in json(), edits in vec(edit(), 1..4)) {
        let mut bytes = text.into_bytes();
        for (place, removed, inserted) in edits {
            let start = place.index(bytes.len() + 1);
            let end = bytes.len().min(start + removed);
            bytes.splice(start..end, inserted);
        }
        agree(&bytes)?;
    }

    #[test]
    fn a_prefix_gives_the_id_once_it_is_complete(
        before in json(), id in select(ID_TEXTS), after in json(),
    ) {
        let head = format!(r#"{{"before":{before},"id":{id}"#);
        let text = format!(r#"{head},"after":{after}}}"#);
        let bytes = text.as_bytes();
        let complete = head.len() + usize::from(!id.starts_with('"'));
        for cut in 0..=bytes.len() {
            let expected = (cut >= complete).then_some(id);
            let found = id_in_prefix(&bytes[..cut]);
            prop_assert_eq!(found.as_deref(), expected, "cut at {}", cut);
        }
    }

    #[test]
    fn a_written_string_reads_back(text in any::<String>()) {
        let mut out = Vec::new();
        write::string(&mut out, &text);
        prop_assert!(out.iter().all(|byte| *byte >= b' '));
        let document = parse(&out).expect("valid");
        prop_assert_eq!(document.root().as_str(), Some(text.as_str().into()));
        prop_assert_eq!(serde_json::from_slice::<String>(&out).expect("valid"), text);
    }

    #[test]
    fn a_written_number_reads_back(integer in any::<i64>(), float in any::<f64>()) {
        let mut out = Vec::new();
        write::integer(&mut out, integer);
        let document = parse(&out).expect("valid");
        prop_assert_eq!(document.root().number(), Some(Number::Integer(integer)));
        out.clear();
        prop_assert_eq!(write::float(&mut out, float).is_ok(), float.is_finite());
        if float.is_finite() {
            let document = parse(&out).expect("valid");
            let Some(Number::Float(read)) = document.root().number() else {
                panic!("{float} was not written as a float");
            };
            prop_assert_eq!(read.to_bits(), float.to_bits());
        } else {
            prop_assert!(out.is_empty());
        }
    }
}

/// We refuse more than `serde_json` does, for the reasons listed; otherwise both judge alike.
fn agree(bytes: &[u8]) -> Result<(), TestCaseError> {
    let other = serde_json::from_slice::<Value>(bytes);
    match parse(bytes) {
        Ok(document) => {
            prop_assert_eq!(
                document.root().to_value(),
                other.map_err(|error| {
                    TestCaseError::fail(format!("only serde_json refuses: {error}"))
                })?
            );
        }
        Err(error) => {
            prop_assert!(error.offset <= bytes.len());
            let refused_by_us_alone = matches!(
                error.kind,
                ErrorKind::DuplicateKey(_)
                    | ErrorKind::TooDeep { .. }
                    | ErrorKind::NumberTooLong { .. }
                    | ErrorKind::NumberNotFinite
            );
            prop_assert!(
                refused_by_us_alone || other.is_err(),
                "only we refuse: {}",
                error
            );
        }
    }
    Ok(())
}

fn parse(bytes: &[u8]) -> Result<Document, Error> {
    Document::parse(bytes.to_vec().into(), &Limits::default())
}

/// Valid texts with white space, escapes and odd numbers.
fn json() -> impl Strategy<Value = String> {
    let number = "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?";
    let scalar = prop_oneof![
        select(["null", "true", "false"].as_slice()).prop_map(str::to_owned),
        number,
        string(),
    ];
    scalar.prop_recursive(4, 40, 6, |inner| {
        let spaced = (space(), inner, space())
            .prop_map(|(left, value, right)| left + &value + &right)
            .boxed();
        let array = vec(spaced.clone(), 0..6).prop_map(|items| format!("[{}]", items.join(",")));
        let object = btree_map("[a-z]{0,3}", (string(), spaced), 0..12).prop_map(|members| {
            let members = members.into_iter().map(|(key, (suffix, value))| {
                // The generated part keeps keys distinct: its end is marked.
                format!("\"{key}=\\n{}:{value}", &suffix[1..])
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        });
        prop_oneof![array, object]
    })
}

fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[ !#-\\[\\]-~]{1,12}",
        1 => "[\u{80}-\u{ffff}\u{10000}-\u{10ffff}]{1,4}",
        1 => r#"\\["\\/bfnrt]"#,
        1 => r"\\u[0-9a-cA-CefEF][0-9a-fA-F]{3}",
        1 => r"\\u[dD][89abAB][0-9a-f]{2}\\u[dD][c-fC-F][0-9a-f]{2}",
    ];
    vec(piece, 0..5).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn space() -> impl Strategy<Value = String> {
    prop_oneof![3 => Just(String::new()), 1 => "[ \t\r\n]{1,3}"]
}

/// Where to edit, how many bytes to take out there, and what to put in.
fn edit() -> impl Strategy<Value = (Index, usize, Vec<u8>)> {
    (any::<Index>(), 0..3_usize, vec(mark(), 0..3))
}

/// Bytes that mean something in JSON, and some that do not.
fn mark() -> impl Strategy<Value = u8> {
    select(b"{}[]:,\"\\/ \t\n0123456789-+.eEtruefalsn\x00\x1f\x7fudD8c\xc3\xa9\xff".as_slice())
}

/// Texts of request ids.
const ID_TEXTS: &[&str] = &[
    "7",
    "-0",
    "18446744073709551616",
    r#""""#,
    r#""a-1""#,
    r#""\u00e9\n\"x""#,
];

//! Texts built to cost much: none may take more than a pass over its bytes.

use bytes::Bytes;
use mcp_json::{Document, Error, ErrorKind, Limits, Node};

#[test]
fn a_mebibyte_of_brackets_costs_sixty_five_steps() {
    for text in ["[".repeat(1 << 20), r#"{"":"#.repeat(1 << 18)] {
        let step = text.len() / text.matches(['[', '{']).count();
        let error = parse(text).expect_err("too deep");
        assert_eq!(
            error,
            Error {
                kind: ErrorKind::TooDeep { limit: 64 },
                offset: 64 * step
            }
        );
    }
}

#[test]
fn a_hundred_thousand_keys_are_compared_in_linear_time() {
    let mut members: Vec<String> = (0..100_000)
        .map(|key| format!("\"{key:05}\":{key}"))
        .collect();
    let document = parse(object(&members)).expect("all keys differ");
    assert_eq!((document.root().len(), document.len()), (100_000, 200_001));
    assert_eq!(document.root().get("99999").map(Node::raw), Some("99999"));
    members.push("\"0000\\u0030\":0".into());
    let error = parse(object(&members)).expect_err("the first key once more");
    assert_eq!(error.kind, ErrorKind::DuplicateKey("00000".into()));
}

#[test]
fn a_hundred_thousand_escaped_keys_are_compared_in_linear_time() {
    let members: Vec<String> = (0..100_000).map(|key| format!("\"\\n{key}\":0")).collect();
    assert_eq!(
        parse(object(&members))
            .expect("all keys differ")
            .root()
            .len(),
        100_000
    );
}

#[test]
fn half_a_million_integers_take_one_entry_each() {
    let document = parse(format!("[{}0]", "1,".repeat(499_999))).expect("valid");
    assert_eq!((document.root().len(), document.len()), (500_000, 500_001));
    assert_eq!(
        document
            .root()
            .items()
            .filter(|item| item.raw() == "1")
            .count(),
        499_999
    );
}

#[test]
fn a_string_of_a_mebibyte_takes_one_entry() {
    let document = parse(format!("\"{}\"", "é".repeat(1 << 19))).expect("valid");
    assert_eq!(document.len(), 1);
    assert_eq!(
        document.root().as_str().map(|text| text.len()),
        Some(1 << 20)
    );
    let escaped = parse(format!("\"{}\"", "\\u0041".repeat(1 << 17))).expect("valid");
    assert_eq!(
        escaped.root().as_str().map(|text| text.len()),
        Some(1 << 17)
    );
}

#[test]
#[cfg(target_pointer_width = "64")]
fn a_text_beyond_32_bit_offsets_is_refused_unread() {
    let got = 1 << 32;
    let error = parse(vec![0; got]).expect_err("too large");
    let limit = got - 1;
    assert_eq!(
        error,
        Error {
            kind: ErrorKind::TooLarge { limit, got },
            offset: limit
        }
    );
    assert_eq!(
        error.to_string(),
        "a text of 4294967296 bytes, at most 4294967295 are allowed"
    );
    assert!(!error.is_syntax());
}

fn object(members: &[String]) -> String {
    format!("{{{}}}", members.join(","))
}

fn parse(text: impl Into<Bytes>) -> Result<Document, Error> {
    Document::parse(text.into(), &Limits::default())
}

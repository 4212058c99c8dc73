//! What a document's values tell about themselves.

use std::borrow::Cow;

use bytes::Bytes;
use mcp_json::{Document, Kind, Limits, Node, Number};
use serde_json::{Value, json};

#[test]
fn a_value_knows_its_kind_and_source() {
    let document = parse(r#" [null, true ,-1.50,"a\/b",[ ],{ "k" : 0 }] "#);
    let items: Vec<_> = document
        .root()
        .items()
        .map(|item| (item.kind(), item.raw()))
        .collect();
    let expected = [
        (Kind::Null, "null"),
        (Kind::Bool, "true"),
        (Kind::Number, "-1.50"),
        (Kind::String, r#""a\/b""#),
        (Kind::Array, "[ ]"),
        (Kind::Object, r#"{ "k" : 0 }"#),
    ];
    assert_eq!(items, expected);
    assert_eq!(document.root().span(), 1..document.bytes().len() - 1);
}

#[test]
fn a_reader_of_another_kind_finds_nothing() {
    let document = parse(r#"[null,false,0,"s",[1],{"k":1}]"#);
    for item in document.root().items() {
        let kind = item.kind();
        assert_eq!(item.is_null(), kind == Kind::Null);
        assert_eq!(item.as_bool(), (kind == Kind::Bool).then_some(false));
        assert_eq!(
            item.number(),
            (kind == Kind::Number).then_some(Number::Integer(0))
        );
        assert_eq!(
            item.as_str().as_deref(),
            (kind == Kind::String).then_some("s")
        );
        assert_eq!(item.items().count(), usize::from(kind == Kind::Array));
        assert_eq!(item.members().count(), usize::from(kind == Kind::Object));
        assert_eq!(item.get("k").is_some(), kind == Kind::Object);
        assert_eq!(
            item.len(),
            usize::from(matches!(kind, Kind::Array | Kind::Object))
        );
    }
}

#[test]
fn strings_are_borrowed_unless_escaped() {
    let text = |raw: &'static str| {
        let document = parse(raw);
        let text = document.root().as_str().expect("a string");
        (matches!(text, Cow::Borrowed(_)), text.into_owned())
    };
    assert_eq!(text(r#""""#), (true, String::new()));
    assert_eq!(
        text("\"gr\u{fc}n \u{7f}\u{2028}\u{1F600}\""),
        (true, "grün \u{7f}\u{2028}😀".into())
    );
    assert_eq!(text(r#""+\/8=""#), (false, "+/8=".into()));
    assert_eq!(
        text(r#""\"\\\/\b\f\n\r\t""#),
        (false, "\"\\/\u{8}\u{c}\n\r\t".into())
    );
    assert_eq!(
        text(r#""a\u0000\u00e9\uD83D\ude00z""#),
        (false, "a\0é😀z".into())
    );
    assert_eq!(
        text(r#""\ud800\udc00\uDBFF\uDFFF\ud7ff\ue000""#).1,
        "\u{10000}\u{10FFFF}\u{D7FF}\u{E000}"
    );
}

#[test]
fn numbers_are_exact() {
    let number = |raw: &'static str, expected: Number<'_>| {
        let document = parse(raw);
        assert_eq!(document.root().number(), Some(expected), "{raw}");
        assert_eq!(
            Ok(document.root().to_value()),
            serde_json::from_str(raw).map_err(drop)
        );
    };
    number("0", Number::Integer(0));
    number("-0", Number::Integer(0));
    number("-12", Number::Integer(-12));
    number("9223372036854775807", Number::Integer(i64::MAX));
    number("-9223372036854775808", Number::Integer(i64::MIN));
    number("9223372036854775808", Number::Big("9223372036854775808"));
    number("-9223372036854775809", Number::Big("-9223372036854775809"));
    number("1.0", Number::Float(1.0));
    number("1e2", Number::Float(100.0));
    number("-0.0", Number::Float(-0.0));
    number("12.5E-1", Number::Float(1.25));
    number("5e-324", Number::Float(5e-324));
    number("1e-400", Number::Float(0.0));
}

#[test]
fn members_are_found_by_decoded_name_with_regard_to_case() {
    let document = parse(r#"{"Method":1,"m\u0065thod":{"x":[1,{"id":2}]},"":3,"ID":4}"#);
    let root = document.root();
    let raw = |key| root.get(key).map(Node::raw);
    assert_eq!(raw("Method"), Some("1"));
    assert_eq!(raw("method"), Some(r#"{"x":[1,{"id":2}]}"#));
    assert_eq!(raw(""), Some("3"));
    assert_eq!(raw("id"), None, "neither another case nor another level");
    assert_eq!(raw("x"), None);
    let keys: Vec<_> = root.members().map(|(key, _)| key).collect();
    assert_eq!(keys, ["Method", "method", "", "ID"]);
    assert_eq!(root.len(), 4);
}

#[test]
fn entries_count_values_and_keys() {
    let document = parse(r#"[1,[],{"a":[2,3],"b":{}}]"#);
    let entries: Vec<_> = document.root().items().map(Node::entries).collect();
    assert_eq!(entries, [1, 1, 7]);
    assert_eq!((document.root().entries(), document.len()), (10, 10));
}

#[test]
fn a_node_is_found_again_by_its_id() {
    let document = parse(r#"{"a":{"b":[1,2]}}"#);
    let id = document
        .root()
        .get("a")
        .and_then(|a| a.get("b"))
        .expect("present")
        .id();
    let moved = document.clone();
    drop(document);
    assert_eq!(moved.node(id).raw(), "[1,2]");
    assert_eq!(moved.node(id).id(), id);
    assert_eq!(moved.node(moved.root().id()).raw(), r#"{"a":{"b":[1,2]}}"#);
}

#[test]
#[should_panic(expected = "a node of another document")]
fn an_id_beyond_the_document_panics() {
    let id = parse("[1,2,3]")
        .root()
        .items()
        .last()
        .expect("present")
        .id();
    parse("[]").node(id);
}

#[test]
fn a_document_becomes_a_tree() {
    let text = r#"{"b":[null,true,{"c\n":"\u00e9"}],"a":-1.5}"#;
    let value = parse(text).root().to_value();
    assert_eq!(value, json!({"b": [null, true, {"c\n": "é"}], "a": -1.5}));
    let keys: Vec<_> = value.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["b", "a"], "source order");
}

#[test]
fn a_big_number_survives_the_tree() {
    let digits = "123456789".repeat(40);
    let document = Document::parse(digits.clone().into(), &Limits::default()).expect("valid");
    assert_eq!(document.root().number(), Some(Number::Big(&digits)));
    assert!(
        matches!(document.root().to_value(), Value::Number(number) if number.as_str() == digits)
    );
}

#[test]
fn debug_shows_no_payload() {
    let document = parse(r#"{"secret":"hunter2"}"#);
    let shown = format!("{document:?} {:?}", document.root());
    assert_eq!(
        shown,
        "Document { bytes: 20, len: 3 } Node { kind: Object, span: 0..20 }"
    );
}

#[test]
fn documents_cross_threads() {
    fn assert_shared<T: Send + Sync>() {}
    assert_shared::<Document>();
    assert_shared::<Node<'_>>();
}

fn parse(text: &'static str) -> Document {
    Document::parse(Bytes::from_static(text.as_bytes()), &Limits::default()).expect("valid")
}

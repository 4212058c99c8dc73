//! Each refusal of `Document::parse`: what is named, and where.

use mcp_json::{Document, Error, ErrorKind, Limits};

#[test]
fn faults_of_grammar_name_what_was_expected_and_where() {
    let table: &[(&str, &str, usize)] = &[
        ("x", "a value", 0),
        ("\u{FEFF}{}", "a value", 0),
        ("[", "a value", 1),
        ("[1,]", "a value", 3),
        ("[,1]", "a value", 1),
        ("{\"a\":}", "a value", 5),
        ("[+1]", "a value", 1),
        ("[.5]", "a value", 1),
        ("[NaN]", "a value", 1),
        ("['a']", "a value", 1),
        ("// no\n1", "a value", 0),
        ("[1 2]", "`,` or `]`", 3),
        ("[1", "`,` or `]`", 2),
        ("[1}", "`,` or `]`", 2),
        ("{\"a\":1 \"b\":2}", "`,` or `}`", 7),
        ("{\"a\":1]", "`,` or `}`", 6),
        ("{\"a\":1", "`,` or `}`", 6),
        ("{", "a key in quotation marks", 1),
        ("{1:2}", "a key in quotation marks", 1),
        ("{a:2}", "a key in quotation marks", 1),
        ("{\"a\":1,}", "a key in quotation marks", 7),
        ("{\"a\" 1}", "`:`", 5),
        ("{\"a\"}", "`:`", 4),
        ("tru", "true", 3),
        ("trUe", "true", 2),
        ("fals", "false", 4),
        ("nul]", "null", 3),
        ("\"abc", "the end of a string", 4),
        ("\"tab\there\"", "control characters of a string escaped", 4),
        (
            "\"line\nbreak, far enough on\"",
            "control characters of a string escaped",
            5,
        ),
        ("\"\\x41\"", "one of \"\\/bfnrtu after a backslash", 2),
        ("\"\\", "one of \"\\/bfnrtu after a backslash", 2),
        ("\"\\u12g4\"", "a hexadecimal digit", 5),
        ("\"\\u12", "a hexadecimal digit", 5),
        ("\"\\ud83d", "the other half of a surrogate pair", 7),
        ("-", "a digit", 1),
        ("1.", "a digit", 2),
        ("[1.e5]", "a digit", 3),
        ("1e", "a digit", 2),
        ("1e+", "a digit", 3),
        ("-a", "a digit", 1),
        ("01", "no digit after a leading zero", 1),
        ("-00", "no digit after a leading zero", 2),
    ];
    for (text, what, offset) in table {
        let error = refused(text.as_bytes());
        let ErrorKind::Syntax(expected) = error.kind else {
            panic!("{text}: {error:?}");
        };
        assert_eq!((expected, error.offset), (*what, *offset), "{text}");
        assert!(error.is_syntax());
        assert_eq!(
            error.to_string(),
            format!("expected {what} at byte {offset}")
        );
    }
}

#[test]
fn bytes_that_are_not_utf_8_are_refused() {
    assert_refused(b"\"ab\xFF\"", ErrorKind::NotUtf8, 3);
    assert_refused(b"\"\xC3\"", ErrorKind::NotUtf8, 1);
    assert_refused(b"\"\xED\xA0\x80\"", ErrorKind::NotUtf8, 1);
    assert_refused(b"\xFF\xFE{\0}\0", ErrorKind::NotUtf8, 0);
    assert!(refused(b"\xFF").is_syntax());
}

#[test]
fn nothing_is_no_value() {
    assert_refused(b"", ErrorKind::Empty, 0);
    assert_refused(b" \r\n\t", ErrorKind::Empty, 4);
    assert_eq!(
        refused(b" ").to_string(),
        "expected a JSON value, found none in 1 bytes"
    );
    assert!(refused(b"").is_syntax());
}

#[test]
fn bytes_after_the_value_are_refused() {
    assert_refused(b"{} {}", ErrorKind::TrailingBytes, 3);
    assert_refused(b"1 2", ErrorKind::TrailingBytes, 2);
    assert_refused(b"null\0", ErrorKind::TrailingBytes, 4);
    assert_refused(b"[]]", ErrorKind::TrailingBytes, 2);
    assert!(refused(b"{}x").is_syntax());
    assert!(parse(b" {} \r\n").is_ok());
}

#[test]
fn lone_surrogates_are_refused_in_values_and_keys() {
    assert_refused(br#""\ud83d""#, ErrorKind::LoneSurrogate, 1);
    assert_refused(br#""ab\udE00""#, ErrorKind::LoneSurrogate, 3);
    assert_refused(br#""\ude00\ud83d""#, ErrorKind::LoneSurrogate, 1);
    assert_refused(br#""\ud83d\ud83d\ude00""#, ErrorKind::LoneSurrogate, 1);
    assert_refused(br#""\ud83d\n""#, ErrorKind::LoneSurrogate, 1);
    assert_refused(br#""\ud83d\u0041""#, ErrorKind::LoneSurrogate, 1);
    assert_refused(br#"{"\ud83d":1}"#, ErrorKind::LoneSurrogate, 2);
    assert!(refused(br#""\ud83d""#).is_syntax());
}

#[test]
fn equal_keys_are_refused_at_any_depth_after_decoding() {
    let name = || ErrorKind::DuplicateKey("name".into());
    assert_refused(br#"{"name":"a","name":"b"}"#, name(), 12);
    assert_refused(br#"{"name":"a","\u006eame":"b"}"#, name(), 12);
    assert_refused(br#"{"\u006eame":"a","name":"b"}"#, name(), 17);
    assert_refused(br#"[{"a":[{"name":1,"x":{},"name":1}]}]"#, name(), 24);
    assert_refused(br#"{"":1,"":2}"#, ErrorKind::DuplicateKey(String::new()), 6);
    assert!(!refused(br#"{"a":1,"a":1}"#).is_syntax());
    assert!(parse(br#"{"a":{"a":{"a":1}},"A":[{"a":1},{"a":1}]}"#).is_ok());
}

#[test]
fn equal_keys_are_found_among_many() {
    for repeated in [0, 7, 8, 41] {
        let mut keys: Vec<String> = (0..42).map(|key| format!(r#""k{key}":0"#)).collect();
        keys.push(format!(r#""k{repeated}":0"#));
        let error = refused(format!("{{{}}}", keys.join(",")).as_bytes());
        assert_eq!(error.kind, ErrorKind::DuplicateKey(format!("k{repeated}")));
    }
}

#[test]
fn a_duplicate_key_is_shown_shortened_and_escaped() {
    let key = "é".repeat(100);
    let error = refused(format!(r#"{{"{key}":1,"{key}":2}}"#).as_bytes());
    assert_eq!(error.kind, ErrorKind::DuplicateKey("é".repeat(64)));
    let error = refused(br#"{"a\n":1,"a\n":2}"#);
    assert_eq!(error.to_string(), r#"duplicate key "a\n" at byte 9"#);
}

#[test]
fn the_level_beyond_the_depth_is_refused_where_it_opens() {
    let limits = Limits {
        max_depth: 3,
        ..Limits::default()
    };
    let too_deep = |text: &str| Document::parse(text.to_owned().into(), &limits).map(|_| ());
    assert_eq!(too_deep(r#"[{"a":[1]},[[]]]"#), Ok(()));
    let error = Error {
        kind: ErrorKind::TooDeep { limit: 3 },
        offset: 7,
    };
    assert_eq!(too_deep(r#"[{"a":[[1]]}]"#), Err(error.clone()));
    assert_eq!(too_deep("[[1],[[[]]]]"), Err(error.clone()));
    assert_eq!(error.to_string(), "nested deeper than 3 levels at byte 7");
    assert!(!error.is_syntax());
    let scalars = Limits {
        max_depth: 0,
        ..limits
    };
    assert!(Document::parse("1".into(), &scalars).is_ok());
    assert!(Document::parse("[]".into(), &scalars).is_err());
}

#[test]
fn sixty_four_levels_are_the_default() {
    let nested = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(parse(nested(64).as_bytes()).is_ok());
    assert_refused(nested(65).as_bytes(), ErrorKind::TooDeep { limit: 64 }, 64);
}

#[test]
fn numbers_are_refused_beyond_the_digit_limit() {
    let long = |got| ErrorKind::NumberTooLong { limit: 4096, got };
    assert!(parse(format!("-{}", "7".repeat(4096)).as_bytes()).is_ok());
    assert!(parse(format!("0.{}", "7".repeat(4095)).as_bytes()).is_ok());
    assert_refused("7".repeat(4097).as_bytes(), long(4097), 0);
    assert_refused(format!("[-{}]", "7".repeat(4097)).as_bytes(), long(4097), 1);
    assert_refused(format!("0.{}", "7".repeat(4096)).as_bytes(), long(4097), 0);
    assert_refused(
        format!("12.5e{}", "0".repeat(5000)).as_bytes(),
        long(5003),
        0,
    );
    let error = refused("7".repeat(5000).as_bytes());
    assert_eq!(
        error.to_string(),
        "a number of 5000 digits at byte 0, at most 4096 are allowed"
    );
    assert!(error.is_syntax());
}

#[test]
fn numbers_that_are_no_finite_float_are_refused() {
    assert_refused(b"[1e400]", ErrorKind::NumberNotFinite, 1);
    assert_refused(b"-1E+309", ErrorKind::NumberNotFinite, 0);
    assert_refused(b"1e99999999999999999999", ErrorKind::NumberNotFinite, 0);
    assert_refused(b"1.7976931348623159e308", ErrorKind::NumberNotFinite, 0);
    assert_refused(
        format!("{}.5", "9".repeat(309)).as_bytes(),
        ErrorKind::NumberNotFinite,
        0,
    );
    assert!(refused(b"1e400").is_syntax());
    assert!(parse(format!("{}.5", "9".repeat(308)).as_bytes()).is_ok());
    assert!(
        parse("9".repeat(400).as_bytes()).is_ok(),
        "an integer has no such bound"
    );
    assert!(parse(b"[1.7976931348623157e308,1e-400,0e99999]").is_ok());
}

fn parse(text: &[u8]) -> Result<Document, Error> {
    Document::parse(text.to_vec().into(), &Limits::default())
}

fn refused(text: &[u8]) -> Error {
    parse(text).expect_err("this text is to be refused")
}

#[track_caller]
fn assert_refused(text: &[u8], kind: ErrorKind, offset: usize) {
    assert_eq!(refused(text), Error { kind, offset });
}

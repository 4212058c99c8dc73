//! Every refusal of a template: its kind, its place and its text.

use mcp_uri_template::{ErrorKind, Template, TemplateError};

#[test]
fn texts_that_are_no_template() {
    refused("", 0, ErrorKind::Empty);
    refused("a{b", 1, ErrorKind::Unclosed);
    refused("a{b{c}", 2, name("b{c"));
    refused("a}b", 1, ErrorKind::Unopened);
    refused("a{b}}", 4, ErrorKind::Unopened);
    refused("a%", 1, ErrorKind::Percent);
    refused("a%4{b}", 1, ErrorKind::Percent);
    for char in [
        ' ', '"', '<', '>', '\\', '^', '`', '|', '\n', '\0', '\u{7F}', '\u{85}',
    ] {
        refused(&format!("é{char}"), 2, ErrorKind::Character { found: char });
    }
}

#[test]
fn names_that_are_no_names() {
    for found in [
        "", " a", "a ", "a-b", ".a.", "a.", "a..b", "é", "$a", "*", "a%2", "+a",
    ] {
        refused(&format!("x{{+{found}}}"), 3, name(found));
        refused(&format!("x{{ok,{found}}}"), 5, name(found));
    }
    for sound in ["a", "a.b", "a_b", "9", "%20", "A.%4F.z"] {
        Template::parse(&format!("{{{sound}}}")).expect(sound);
    }
    for found in ['=', ',', '!', '@', '|'] {
        refused(&format!("x{{{found}a}}"), 2, ErrorKind::Operator { found });
    }
}

#[test]
fn level_four_by_name() {
    refused("{/a*}", 2, ErrorKind::Explode { name: "a".into() });
    refused("{?b,a*}", 4, ErrorKind::Explode { name: "a".into() });
    refused("{a:3}", 1, ErrorKind::Prefix { name: "a".into() });
    refused("{+a:3000}", 2, ErrorKind::Prefix { name: "a".into() });
}

#[test]
fn a_name_twice() {
    let kind = || ErrorKind::Duplicate { name: "a".into() };
    refused("{a}/{a}", 5, kind());
    refused("{a,b,a}", 5, kind());
    refused("{a}{?b,a}", 7, kind());
    Template::parse("{a}/{A}").expect("names differ in case");
}

#[test]
fn too_many_bytes() {
    let longest = "x".repeat(Template::MAX_BYTES);
    Template::parse(&longest).expect("the limit itself");
    let kind = ErrorKind::TooLong {
        found: 4_097,
        allowed: 4_096,
    };
    refused(&format!("{longest}x"), 4_096, kind);
}

#[test]
fn neighbours_that_cannot_be_told_apart() {
    for (template, offset) in [
        ("{a}{b}", 4),
        ("{a}.{b}", 5),
        ("{a}-x{b}", 6),
        ("{a}{.b}", 5),
        ("{a}%20{b}", 7),
        ("{+a}{b}", 5),
        ("{+a}{+b}", 6),
        ("{+a}/{+b}", 7),
        ("{+a}{/b,c}{;d}", 12),
        ("{+a}{;b}", 6),
        ("{a}.x{;b}", 7),
        ("{a}/{+b}/{c}-{d}", 14),
        ("x{#a}{b}", 6),
        ("?a={+a}{&b}", 9),
    ] {
        let error = Template::parse(template).expect_err(template);
        assert!(
            matches!(error.kind, ErrorKind::Ambiguous { .. }),
            "{template} {error}"
        );
        assert_eq!(error.offset, offset, "{template}");
    }
    for template in [
        "{a}/{b}",
        "{a}:{b}",
        "{a}{/b}",
        "{a}{;b}",
        "{a}{?b}",
        "{a}{#b}",
        "{a}.png",
        "{+a}/{b}",
        "{a}/{+b}",
        "{+a}{?b}",
        "{+a}{#b}",
        "{+a}/x{?b}",
        "{.a,b}",
        "{+a,b}",
        "?a={a}{&b}",
    ] {
        Template::parse(template).expect(template);
    }
}

#[test]
fn a_named_expression_ends_its_part() {
    refused("a{?b}c", 5, ErrorKind::NamedNotLast);
    refused("a{?b}{&c}", 6, ErrorKind::NamedNotLast);
    refused("a{?b}{?c}", 6, ErrorKind::NamedNotLast);
    refused("a{;b}/c", 5, ErrorKind::NamedNotLast);
    Template::parse("a{;b}{?c}{#d}").expect("three parts");
    Template::parse("a{;b}?c{&d}#e{&f}").expect("three parts");
}

#[test]
fn refusals_say_what_to_do() {
    for (template, text) in [
        (
            "",
            "at byte 0: the template is empty; write one such as \"notes://{id}\"",
        ),
        ("a b", "at byte 1: no URI holds ' '; percent-encode it"),
        (
            "{a",
            "at byte 0: the expression has no end; close it with \"}\"",
        ),
        (
            "{|a}",
            "at byte 1: RFC 6570 has no operator '|'; use one of + # . / ; ? & or none",
        ),
        (
            "{a*}",
            "at byte 1: the explode modifier of \"a*\" (level 4) cannot be matched; remove the \"*\"",
        ),
        (
            "{a}{a}",
            "at byte 4: the variable \"a\" occurs twice; give each variable its own name",
        ),
        (
            "{a}{b}",
            "at byte 4: a URI does not tell where the variable \"a\" ends and \"b\" begins; separate simple \
             variables by \"/\", and keep \"+\" for the last one",
        ),
    ] {
        let error = Template::parse(template).expect_err(template);
        assert_eq!(error.to_string(), text);
    }
}

fn refused(template: &str, offset: usize, kind: ErrorKind) {
    let error = Template::parse(template).expect_err(template);
    assert_eq!(error, TemplateError { kind, offset }, "{template}");
}

fn name(found: &str) -> ErrorKind {
    ErrorKind::Name {
        found: found.into(),
    }
}

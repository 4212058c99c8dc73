//! What templates match, by the forms of RFC 6570 and by the rules of the crate.

use mcp_uri_template::Template;

#[test]
fn the_forms_of_levels_one_to_three_match_their_expansions() {
    // RFC 6570 sections 3.2.2 to 3.2.9, as far as no value is absent or ambiguous.
    for (template, uri, values) in [
        ("{var}", "value", "var=value"),
        ("{hello}", "Hello%20World%21", "hello=Hello World!"),
        ("map?{x,y}", "map?1024,768", "x=1024 y=768"),
        (
            "{x,hello,y}",
            "1024,Hello%20World%21,768",
            "x=1024 hello=Hello World! y=768",
        ),
        ("{+path}/here", "/foo/bar/here", "path=/foo/bar"),
        ("here?ref={+path}", "here?ref=/foo/bar", "path=/foo/bar"),
        ("up{+path}{x}", "", "refused"),
        (
            "{+x,hello,y}",
            "1024,Hello%20World!,768",
            "x=1024 hello=Hello World! y=768",
        ),
        (
            "{+path,x}/here",
            "/foo/bar,1024/here",
            "path=/foo/bar x=1024",
        ),
        ("X{#var}", "X#value", "var=value"),
        (
            "{#x,hello,y}",
            "#1024,Hello%20World!,768",
            "x=1024 hello=Hello World! y=768",
        ),
        (
            "{#path,x}/here",
            "#/foo/bar,1024/here",
            "path=/foo/bar x=1024",
        ),
        ("X{.var}", "X.value", "var=value"),
        ("X{.x,y}", "X.1024.768", "x=1024 y=768"),
        ("{/var}", "/value", "var=value"),
        ("{/var,x}/here", "/value/1024/here", "var=value x=1024"),
        ("{;x,y}", ";x=1024;y=768", "x=1024 y=768"),
        ("{;x,y,empty}", ";x=1024;y=768;empty", "x=1024 y=768 empty="),
        ("{?x,y}", "?x=1024&y=768", "x=1024 y=768"),
        (
            "{?x,y,empty}",
            "?x=1024&y=768&empty=",
            "x=1024 y=768 empty=",
        ),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024", "x=1024"),
        (
            "{&x,y,empty}",
            "&x=1024&y=768&empty=",
            "x=1024 y=768 empty=",
        ),
    ] {
        match Template::parse(template) {
            Ok(template) => assert_eq!(shown(&template, uri).as_deref(), Some(values)),
            Err(_) => assert_eq!(values, "refused", "{template}"),
        }
    }
}

#[test]
fn a_template_without_variables_matches_itself() {
    matches("test://static", "test://static", Some(""));
    matches("test://static", "test://static/", None);
    matches("a?b#c", "a?b#c", Some(""));
    matches("a?b#c", "a?b", None);
}

#[test]
fn unnamed_variables_are_never_empty() {
    matches(
        "test://template/{id}/data",
        "test://template/123/data",
        Some("id=123"),
    );
    matches("test://template/{id}/data", "test://template//data", None);
    matches("{a,b}", "1,", None);
    matches("{/a}", "/", None);
    matches("{/a}", "", None);
    matches("x{#a}", "x#", None);
    matches("file:///{+path}", "file:///", None);
}

#[test]
fn a_simple_value_is_one_segment() {
    matches("notes://{id}", "notes://a/b", None);
    matches("notes://{id}", "notes://a?b", None);
    matches("notes://{id}", "notes://a#b", None);
    matches("notes://{id}", "notes://a b", None);
    matches("notes://{id}", "notes://a\n", None);
    matches("notes://{id}", "notes://a%20b", Some("id=a b"));
    matches("notes://{id}", "Notes://a", None);
    matches("notes://{id}", "xnotes://a", None);
}

#[test]
fn one_variable_of_a_part_may_be_open() {
    matches("img://{name}.png", "img://a.b.png", Some("name=a.b"));
    matches("img://{name}.png", "img://.png", None);
    matches("img://{name}.png", "img://a.png.gif", None);
    matches(
        "file:///{+dir}/{name}",
        "file:///a/b/c",
        Some("dir=a/b name=c"),
    );
    matches("file:///{+dir}/{name}", "file:///c", None);
    matches(
        "file:///{+dir}/{name}/raw",
        "file:///a/b/raw/raw",
        Some("dir=a/b name=raw"),
    );
    matches(
        "r://{owner}/{+path}/at:{m}",
        "r://o/a/b/at:2",
        Some("owner=o path=a/b m=2"),
    );
}

#[test]
fn the_parts_of_a_uri_are_matched_on_their_own() {
    matches(
        "file:///{+path}{?rev}",
        "file:///a/b?rev=1",
        Some("path=a/b rev=1"),
    );
    matches("file:///{+path}{?rev}", "file:///a/b", Some("path=a/b"));
    matches("file:///{+path}", "file:///a?b#c", Some("path=a?b#c"));
    matches(
        "file:///{+path}{#at}",
        "file:///a?b#c#d",
        Some("path=a?b at=c#d"),
    );
    matches(
        "img://{name}.png{?w}{#at}",
        "img://a.b.png?w=1#x",
        Some("name=a.b w=1 at=x"),
    );
    matches("s://{a}?q={b}", "s://x?q=y", Some("a=x b=y"));
    matches("s://{a}?q={b}", "s://x", None);
    matches("s://{a}?q={b}{&c}", "s://x?q=y&c=z", Some("a=x b=y c=z"));
}

#[test]
fn names_come_in_any_order_and_at_most_once() {
    let template = "docs://search{?q,page,size}";
    matches(template, "docs://search?size=3&q=x", Some("q=x size=3"));
    matches(template, "docs://search", Some(""));
    matches(template, "docs://search?", None);
    matches(template, "docs://search?q", Some("q="));
    matches(template, "docs://search?q=", Some("q="));
    matches(template, "docs://search?q=1&q=2", None);
    matches(template, "docs://search?q=1&other=2", None);
    matches(template, "docs://search?q=1&", None);
    matches(template, "docs://search?&q=1", None);
    matches(template, "docs://search?Q=1", None);
    matches(template, "docs://search?q=1#x", None);
    matches("m://a{;x,y}", "m://a;y=2;x=1", Some("x=1 y=2"));
    matches("m://a{;x,y}", "m://a;y=2;y=1", None);
}

#[test]
fn reserved_characters_stand_as_they_are_where_they_delimit_nothing() {
    matches(
        "users://{mail}/profile",
        "users://a@b.c/profile",
        Some("mail=a@b.c"),
    );
    matches("geo:{lat},{lon}", "geo:1.5,2.5", Some("lat=1.5 lon=2.5"));
    matches(
        "geo:{lat},{lon}",
        "geo:1.5,2.5,3.5",
        Some("lat=1.5 lon=2.5,3.5"),
    );
    matches("x:{a,b}", "x:1,2,3", None);
    matches("x:{a,b}", "x:1%2C2,3", Some("a=1,2 b=3"));
    matches("s://{?q}", "s://?q=a=b+c/d?e", Some("q=a=b+c/d?e"));
    matches("m://a{;x}", "m://a;x=1=2", Some("x=1=2"));
}

#[test]
fn values_are_decoded_once() {
    matches("n://{id}", "n://a%2525", Some("id=a%25"));
    matches("n://{id}", "n://caf%C3%A9", Some("id=café"));
    matches("n://{id}", "n://café", Some("id=café"));
    matches("n://é/{id}", "n://%C3%A9/a", Some("id=a"));
    matches("n://é/{id}", "n://é/a", Some("id=a"));
    for malformed in [
        "n://%",
        "n://%4",
        "n://%4g",
        "n://%ff",
        "n://%C3",
        "n://a%C3/",
    ] {
        matches("n://{id}", malformed, None);
        matches("n://{+id}", malformed, None);
    }
    matches("n://{id}", "n://a+b", Some("id=a+b"));
    matches("{+a}41", "%4141", Some("a=A"));
    matches("{+a}41", "x%41", None);
}

#[test]
fn no_value_leads_elsewhere() {
    for hostile in [
        "..", ".", "%2e%2E", "a%2Fb", "%2Fa", "a%5Cb", "a%00", "..%5c", "..%2f",
    ] {
        matches("f:///{a}", &format!("f:///{hostile}"), None);
        matches("f:///{a}/x", &format!("f:///{hostile}/x"), None);
        matches("f://{/a}", &format!("f:///{hostile}"), None);
        matches("f://x{.a}", &format!("f://x.{hostile}"), None);
        matches("f://x{;a}", &format!("f://x;a={hostile}"), None);
    }
    for hostile in [
        "..",
        ".",
        "a/..",
        "../a",
        "a/%2e%2e/b",
        "a%2F..%2Fb",
        "/a",
        "%2Fa",
        "a%5C..%5Cb",
        "%00",
    ] {
        matches("f:///{+a}", &format!("f:///{hostile}"), None);
        matches("f:///{+a}/x", &format!("f:///{hostile}/x"), None);
    }
    for hostile in ["..", "../a", "a/../b", "..%2Fa", "a%5Cb", "%00", "%2e."] {
        matches("f:///x{?a}", &format!("f:///x?a={hostile}"), None);
        matches("f:///x{#a}", &format!("f:///x#{hostile}"), None);
    }
    matches("f://{+a}", "f:///etc/hosts", Some("a=/etc/hosts"));
    matches("f:///x{?a}", "f:///x?a=and/or", Some("a=and/or"));
    matches("f:///x{?a}", "f:///x?a=%2Fetc", Some("a=/etc"));
    matches("f:///{a}", "f:///...", Some("a=..."));
}

#[test]
fn a_template_says_what_it_is() {
    let template = Template::parse("repo://{owner}/{+path}{?line}").expect("valid");
    assert_eq!(template.as_str(), "repo://{owner}/{+path}{?line}");
    let names: Vec<&str> = template.variables().iter().map(|name| &**name).collect();
    assert_eq!(names, ["owner", "path", "line"]);
    assert_eq!(
        format!("{template:?}"),
        r#"Template("repo://{owner}/{+path}{?line}")"#
    );
}

#[test]
fn the_literal_prefix_begins_every_match() {
    for (template, prefix) in [
        ("repo://{owner}", "repo://"),
        ("{+uri}", ""),
        ("a{/b}", "a/"),
        ("a{?b}", "a"),
        ("a?b=c{&d}", "a?b=c"),
        ("a{#b}", "a#"),
        ("a?b#c", "a?b#c"),
        ("?a", "?a"),
        ("a{;b}#c", "a"),
        ("n://caf%C3%A9/{a}", "n://caf"),
        ("n://café/{a}", "n://caf"),
    ] {
        let template = Template::parse(template).expect("valid");
        assert_eq!(template.literal_prefix(), prefix, "{template:?}");
    }
}

/// Checks the values of `uri`, shown as `name=value` with spaces between.
fn matches(template: &str, uri: &str, expected: Option<&str>) {
    let template = Template::parse(template).expect(template);
    assert_eq!(
        shown(&template, uri).as_deref(),
        expected,
        "{template:?} {uri}"
    );
}

fn shown(template: &Template, uri: &str) -> Option<String> {
    let values = template.matches(uri)?;
    let pairs: Vec<String> = values
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    Some(pairs.join(" "))
}

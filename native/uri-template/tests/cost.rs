//! URIs built to cost much. Work that grew with their square would take hours here, so each test is that it ends.

use mcp_uri_template::Template;

const BYTES: usize = 1 << 19;

#[test]
fn a_long_uri_is_matched_in_passes() {
    for template in TEMPLATES {
        let template = Template::parse(template).expect(template);
        for text in [
            "a", "/", "a/", ".png", "a.", "?a=", "&a", "?", "#", "%41", "%", "é", "..", ";a",
        ] {
            let uri = format!("x://{}", text.repeat(BYTES / text.len()));
            template.matches(&uri);
            template.matches(&uri[4..]);
        }
    }
}

#[test]
fn the_longest_query_costs_a_look_at_each_pair() {
    let names: Vec<String> = (0..900).map(|at| format!("{at:03}")).collect();
    let template = Template::parse(&format!("x{{?{}}}", names.join(","))).expect("valid");
    let pairs: Vec<String> = names
        .iter()
        .rev()
        .map(|name| format!("{name}={name}"))
        .collect();
    let values = template
        .matches(&format!("x?{}", pairs.join("&")))
        .expect("a match");
    assert_eq!(values.len(), 900);
    let pairs = format!("{}&", pairs.join("&")).repeat(BYTES / 8_000);
    assert!(template.matches(&format!("x?{pairs}")).is_none());
}

#[test]
fn the_longest_template_is_parsed_in_one_pass() {
    for text in ["{", "}", "%41", "a", "{a}", "/{a}", "{a,", "é"] {
        let template = text.repeat(Template::MAX_BYTES / text.len());
        let _ = Template::parse(&template);
    }
    let many: Vec<String> = (0..500).map(|at| format!("/{{{at:03}}}")).collect();
    let template = Template::parse(&many.concat()).expect("valid");
    assert_eq!(template.variables().len(), 500);
    let values = template.matches(&"/a".repeat(500)).expect("a match");
    assert_eq!(values.len(), 500);
}

const TEMPLATES: &[&str] = &[
    "x://{a}",
    "x://{a}.png",
    "x://{+a}",
    "x://{+a}/{b}",
    "x://{+a}.png",
    "{+a}/a/a/a/a/a{?b}{#c}",
    "{a}/{b}/{+c}/{d}/{e}",
    "x://{/a,b,c}{?d}",
    "x://{?a,b}",
    "x://{;a}{#b}",
];

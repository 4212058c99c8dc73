//! What holds for every template and every URI.

mod support;

use std::collections::BTreeMap;

use mcp_uri_template::Template;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use support::expand;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_096))]

    #[test]
    fn an_expansion_matches_back_to_its_values(
        (text, values) in template().prop_flat_map(|expressions| {
            (Just(written(&expressions)), values_of(&expressions))
        })
    ) {
        if let Ok(template) = Template::parse(&text) {
            let uri = expand(&text, &values);
            prop_assert_eq!(matched(&template, &uri), Some(values), "{} {}", text, uri);
            prop_assert!(uri.starts_with(template.literal_prefix()));
        }
    }

    #[test]
    fn what_matches_is_the_only_reading(expressions in template(), uri in "[ab.,/:;?&=#@-]{0,24}") {
        let text = written(&expressions);
        if let Ok(template) = Template::parse(&text)
            && let Some(values) = matched(&template, &uri)
        {
            let expanded = expand(&text, &values);
            prop_assert_eq!(matched(&template, &expanded), Some(values), "{} {}", text, uri);
            prop_assert!(uri.starts_with(template.literal_prefix()));
        }
    }

    #[test]
    fn no_text_makes_a_panic(template in any::<String>(), uri in any::<String>()) {
        matches_quietly(&template, &uri);
    }

    #[test]
    fn no_mark_makes_a_panic(template in "[ab0{}%,+#./;?&=é*:]{0,24}", uri in "[ab0%+#./;?&=é\\\\]{0,24}") {
        matches_quietly(&template, &uri);
    }

    #[test]
    fn a_refusal_names_a_place_within_the_text(template in "[ab{}%,+#./;?&=é*:!]{0,16}") {
        if let Err(error) = Template::parse(&template) {
            prop_assert!(template.is_char_boundary(error.offset), "{} {}", template, error);
        }
    }

    #[test]
    fn no_value_leads_upwards(uri in "f:///(\\.|/|a|%2[eEfF]|%5C){0,8}") {
        for text in ["f:///{a}", "f:///{+a}", "f:///{a}/{b}", "f:///{+a}/{b}", "f://{/a,b,c}"] {
            let template = Template::parse(text).expect("valid");
            for value in matched(&template, &uri).unwrap_or_default().values() {
                prop_assert!(!value.contains('\\'));
                prop_assert!(value.split('/').all(|segment| segment != "." && segment != ".."));
            }
        }
    }
}

/// An expression: the literal in front of it, its sign and how many variables it has.
type Expression = (String, &'static str, usize);

fn template() -> impl Strategy<Value = Vec<Expression>> {
    let literal = select(
        &[
            "", "", "/", ":", "-", "x", ".png", "@", ",", "é/", "%20", "a://",
        ][..],
    );
    let sign = select(&["", "", "", "+", "#", ".", "/", ";", "?", "&"][..]);
    vec((literal.prop_map(String::from), sign, 1..4_usize), 1..5)
}

fn written(expressions: &[Expression]) -> String {
    let texts = expressions
        .iter()
        .enumerate()
        .map(|(at, (literal, sign, count))| {
            let names: Vec<String> = (0..*count).map(|place| name(at, place)).collect();
            format!("{literal}{{{sign}{}}}", names.join(","))
        });
    texts.collect::<Vec<_>>().concat()
}

fn values_of(
    expressions: &[Expression],
) -> impl Strategy<Value = BTreeMap<String, String>> + use<> {
    let values: Vec<_> = (expressions.iter().enumerate())
        .flat_map(|(at, (_, sign, count))| {
            (0..*count)
                .map(move |place| value(sign).prop_map(move |value| (name(at, place), value)))
        })
        .collect();
    values.prop_map(|values| {
        let defined = values
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        defined.collect()
    })
}

/// A value that an expression with this sign can give back.
fn value(sign: &'static str) -> BoxedStrategy<Option<String>> {
    let text = match sign {
        "+" | "#" => "[a-c0 é:@!*;=-][a-c0 é:@!*;=/-]{0,6}",
        "." => "[a-c0 é:@!,%;?#&=+-]{1,6}",
        "?" | "&" => "[a-c0 é:@!,%;?#&=+/-]{0,6}",
        ";" => "[a-c0 é:@!,%;?#&=+.-]{0,6}",
        _ => "[a-c0 é:@!,%;?#&=+.-]{1,6}",
    };
    let text = text.prop_filter("leads upwards", |text| text != "." && text != "..");
    match sign {
        ";" | "?" | "&" => option::of(text).boxed(),
        _ => text.prop_map(Some).boxed(),
    }
}

fn name(expression: usize, place: usize) -> String {
    format!("v{expression}_{place}")
}

fn matched(template: &Template, uri: &str) -> Option<BTreeMap<String, String>> {
    let values = template.matches(uri)?;
    Some(
        values
            .into_iter()
            .map(|(name, value)| (name.to_string(), value))
            .collect(),
    )
}

fn matches_quietly(template: &str, uri: &str) {
    for text in [template, "n://{a}{?b}", "{+a}/{b}.x{#c}", "{;a,b}"] {
        if let Ok(template) = Template::parse(text) {
            template.matches(uri);
            template.matches(template.as_str());
        }
    }
}

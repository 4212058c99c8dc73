//! RFC 6570 forwards, up to level 3, by the table of its appendix A.

use std::collections::BTreeMap;

/// The URI that `template` expands to; variables without a value are undefined.
pub fn expand(template: &str, values: &BTreeMap<String, String>) -> String {
    let mut uri = String::new();
    let mut rest = template;
    while let Some((literal, after)) = rest.split_once('{') {
        let (expression, after) = after.split_once('}').expect("a valid template");
        uri.push_str(&encode(literal, true));
        uri.push_str(&expand_expression(expression, values));
        rest = after;
    }
    uri + &encode(rest, true)
}

fn expand_expression(expression: &str, values: &BTreeMap<String, String>) -> String {
    let names = expression.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']);
    let sign = &expression[..expression.len() - names.len()];
    let (first, separator, is_named, if_empty, reserved) = match sign {
        "" => ("", ",", false, "", false),
        "+" => ("", ",", false, "", true),
        "#" => ("#", ",", false, "", true),
        "." => (".", ".", false, "", false),
        "/" => ("/", "/", false, "", false),
        ";" => (";", ";", true, "", false),
        "?" => ("?", "&", true, "=", false),
        "&" => ("&", "&", true, "=", false),
        _ => panic!("no operator: {sign}"),
    };
    let defined = names
        .split(',')
        .filter_map(|name| Some((name, values.get(name)?)));
    let texts: Vec<String> = defined
        .map(|(name, value)| match (is_named, value.is_empty()) {
            (false, _) => encode(value, reserved),
            (true, true) => format!("{name}{if_empty}"),
            (true, false) => format!("{name}={}", encode(value, reserved)),
        })
        .collect();
    if texts.is_empty() {
        return String::new();
    }
    format!("{first}{}", texts.join(separator))
}

fn encode(text: &str, reserved: bool) -> String {
    let kept = if reserved {
        "-._~:/?#[]@!$&'()*+,;=%"
    } else {
        "-._~"
    };
    text.bytes()
        .map(|byte| match char::from(byte) {
            char if char.is_ascii_alphanumeric() || kept.contains(char) => char.to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

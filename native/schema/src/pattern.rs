//! Regular expressions: only those that match in linear time.

use serde_json::Value;

use crate::{Error, ErrorKind, document::Document, pointer, text::quoted};

/// Bytes that one compiled expression may take.
pub(crate) const MAX_COMPILED_BYTES: usize = 1024 * 1024;

/// Refuses a `pattern`, or a name in `patternProperties`, that looks around or refers back.
pub(crate) fn check(document: &Document<'_>) -> Result<(), Error> {
    for subschema in document.subschemas() {
        let place = |keyword| pointer::join(&subschema.pointer, keyword);
        if let Some(pattern) = subschema.value.get("pattern").and_then(Value::as_str) {
            check_one(pattern).map_err(|kind| Error::new(place("pattern"), kind))?;
        }
        let named = subschema
            .value
            .get("patternProperties")
            .and_then(Value::as_object);
        for pattern in named.into_iter().flat_map(|members| members.keys()) {
            let place = || pointer::join(&place("patternProperties"), pattern);
            check_one(pattern).map_err(|kind| Error::new(place(), kind))?;
        }
    }
    Ok(())
}

fn check_one(pattern: &str) -> Result<(), ErrorKind> {
    let mut is_in_class = false;
    let mut rest = pattern;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        match character {
            '\\' => {
                let escaped = after.chars().next();
                if !is_in_class && refers_back(after) {
                    return Err(ErrorKind::BackReference {
                        pattern: quoted(pattern),
                    });
                }
                rest = &after[escaped.map_or(0, char::len_utf8)..];
                continue;
            }
            '[' => is_in_class = true,
            ']' => is_in_class = false,
            '(' if !is_in_class && looks_around(after) => {
                return Err(ErrorKind::LookAround {
                    pattern: quoted(pattern),
                });
            }
            _ => {}
        }
        rest = after;
    }
    Ok(())
}

fn looks_around(group: &str) -> bool {
    ["?=", "?!", "?<=", "?<!"]
        .iter()
        .any(|start| group.starts_with(start))
}

/// `\1` to `\9` and `\k<name>` (ECMA-262 §22.2.1, `AtomEscape`).
fn refers_back(escape: &str) -> bool {
    escape.starts_with(|character| matches!(character, '1'..='9')) || escape.starts_with("k<")
}

#[cfg(test)]
mod tests {
    use super::check_one;
    use crate::ErrorKind;

    #[test]
    fn look_around_is_named() {
        for pattern in [
            "(?=a)",
            "^(?!a)b",
            "(?<=a)b",
            "(?<!a)b",
            "x(y(?=z))",
            r"\\(?=a)",
            "[a](?=b)",
        ] {
            let refused = check_one(pattern);
            assert!(
                matches!(refused, Err(ErrorKind::LookAround { .. })),
                "{pattern}"
            );
        }
    }

    #[test]
    fn back_references_are_named() {
        for pattern in [r"(a)\1", r"(?<n>a)\k<n>", r"\\\1", r"(a)\9"] {
            let refused = check_one(pattern);
            assert!(
                matches!(refused, Err(ErrorKind::BackReference { .. })),
                "{pattern}"
            );
        }
    }

    #[test]
    fn what_only_resembles_them_passes() {
        for pattern in [
            "",
            "^a$",
            r"\(?=a",
            "[(?=a)]",
            r"[\]](?:a)",
            "(?<name>a)",
            "(?:a)",
            r"\\1",
            r"\0",
            r"[\1]",
            r"\k",
            r"\d+\p{L}",
            "\\",
            "[",
            "ü\\ü",
        ] {
            assert_eq!(check_one(pattern), Ok(()), "{pattern}");
        }
    }
}

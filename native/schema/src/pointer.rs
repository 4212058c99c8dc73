//! JSON Pointers (RFC 6901) as text.

use std::borrow::Cow;

use serde_json::Value;

/// `pointer` followed by one more segment.
pub(crate) fn join(pointer: &str, segment: &str) -> String {
    let mut joined = String::with_capacity(pointer.len() + segment.len() + 1);
    joined.push_str(pointer);
    joined.push('/');
    for character in segment.chars() {
        match character {
            '~' => joined.push_str("~0"),
            '/' => joined.push_str("~1"),
            other => joined.push(other),
        }
    }
    joined
}

/// The segments of `pointer`, unescaped.
pub(crate) fn segments(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(unescape)
}

/// The child of `value` that `segment` names.
pub(crate) fn child<'a>(value: &'a Value, segment: &str) -> Option<&'a Value> {
    match value {
        Value::Object(members) => members.get(segment),
        Value::Array(items) => items.get(index(segment)?),
        _ => None,
    }
}

/// The value that `pointer` leads to from `root`.
pub(crate) fn lookup<'a>(root: &'a Value, pointer: &str) -> Option<&'a Value> {
    segments(pointer).try_fold(root, |value, segment| child(value, &segment))
}

/// RFC 6901 §4: array indices have no leading zeros and no sign.
fn index(segment: &str) -> Option<usize> {
    let canonical = segment == "0" || !segment.starts_with(['0', '+']);
    canonical.then(|| segment.parse().ok()).flatten()
}

fn unescape(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') {
        Cow::Owned(segment.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(segment)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{join, lookup};

    #[test]
    fn segments_survive_escaping() {
        for name in ["", "a", "a/b", "m~n", "~1", "0", "ü"] {
            let pointer = join("", name);
            assert_eq!(
                lookup(&json!({ name: 1 }), &pointer),
                Some(&json!(1)),
                "{pointer}"
            );
        }
    }

    #[test]
    fn arrays_take_canonical_indices_only() {
        let root = json!({"a": [10, 20]});
        assert_eq!(lookup(&root, "/a/1"), Some(&json!(20)));
        for pointer in ["/a/01", "/a/+1", "/a/2", "/a/-", "/a/", "/a/1/x", "/b"] {
            assert_eq!(lookup(&root, pointer), None, "{pointer}");
        }
        assert_eq!(lookup(&root, ""), Some(&root));
    }
}

//! `uniqueItems` in time linear to the items.

use std::{
    collections::HashMap,
    hash::{Hash, Hasher},
};

use jsonschema::json::cmp;
use serde_json::{Number, Value};

/// The positions of the first item that equals an earlier one, earlier first.
///
/// The validator's own check hashes numbers through `f64`, so that a client could make all its items
/// collide; here every digit counts.
pub(crate) fn first_repeat(items: &[Value]) -> Option<(usize, usize)> {
    let mut seen = HashMap::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        if let Some(earlier) = seen.insert(Item(item), index) {
            return Some((earlier, index));
        }
    }
    None
}

/// A value compared as JSON Schema does: numbers by value, objects without order.
struct Item<'a>(&'a Value);

impl Eq for Item<'_> {}

impl PartialEq for Item<'_> {
    fn eq(&self, other: &Self) -> bool {
        cmp::equal(self.0, other.0)
    }
}

impl Hash for Item<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self.0).hash(state);
        match self.0 {
            Value::Null => {}
            Value::Bool(value) => value.hash(state),
            Value::Number(number) => hash_number(number, state),
            Value::String(text) => text.hash(state),
            Value::Array(items) => items.iter().for_each(|item| Item(item).hash(state)),
            Value::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                members.sort_unstable_by_key(|(name, _)| *name);
                for (name, member) in members {
                    name.hash(state);
                    Item(member).hash(state);
                }
            }
        }
    }
}

/// Hashes sign, significant digits and magnitude, which `1`, `1.0` and `10e-1` share.
fn hash_number<H: Hasher>(number: &Number, state: &mut H) {
    let text = number.as_str();
    let (text, is_negative) = text
        .strip_prefix('-')
        .map_or((text, false), |text| (text, true));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    let leading = digits().take_while(|&digit| digit == b'0').count();
    let trailing = digits().rev().take_while(|&digit| digit == b'0').count();
    let significant = (whole.len() + fraction.len()).saturating_sub(leading + trailing);
    if significant == 0 {
        return state.write_u8(b'0');
    }
    state.write_u8(u8::from(is_negative));
    digits()
        .skip(leading)
        .take(significant)
        .for_each(|digit| state.write_u8(digit));
    // An exponent beyond i64 only costs a collision.
    let exponent: i64 = exponent.parse().unwrap_or(i64::MAX);
    let magnitude = whole.len() as i64 - leading as i64;
    state.write_i64(exponent.saturating_add(magnitude));
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::first_repeat;

    fn items(text: &str) -> Vec<Value> {
        serde_json::from_str(text).expect(text)
    }

    #[test]
    fn equal_numbers_repeat_however_they_are_written() {
        for text in [
            "[1, 1.0]",
            "[10, 1e1]",
            "[0, -0.0]",
            "[0.5, 5e-1]",
            "[100, 1.00E+2]",
            "[-2, -2.0]",
        ] {
            assert_eq!(first_repeat(&items(text)), Some((0, 1)), "{text}");
        }
    }

    #[test]
    fn different_values_do_not_repeat() {
        for text in [
            "[]",
            "[1]",
            "[1, -1]",
            "[1, 10, 100, 0.1]",
            r#"[1, "1", true, null, [1], {"a": 1}]"#,
            "[9007199254740993, 9007199254740992]",
            "[[1, 2], [2, 1]]",
            "[0, false]",
        ] {
            assert_eq!(first_repeat(&items(text)), None, "{text}");
        }
    }

    #[test]
    fn objects_repeat_in_any_order() {
        let text = r#"[1, {"a": 1, "b": [2]}, {"b": [2.0], "a": 1}]"#;
        assert_eq!(first_repeat(&items(text)), Some((1, 2)));
    }

    /// A hundred thousand integers that all round to the same double: hours in the validator's own check.
    #[test]
    fn neighbouring_large_integers_do_not_collide() {
        let numbers: Vec<String> = (0..100_000)
            .map(|low| format!("9007199254740993{low:015}"))
            .collect();
        let items = items(&format!("[{}]", numbers.join(",")));
        assert_eq!(first_repeat(&items), None);
        assert_eq!(first_repeat(&[json!(1), json!(2), json!(1)]), Some((0, 2)));
    }
}

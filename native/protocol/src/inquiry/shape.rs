//! The shapes that members of an input request have, checked where the host wrote them.

use serde_json::{Map, Value};

/// What a member is.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    String,
    Boolean,
    Number,
    /// An integer from 0.
    Count,
    /// An integer from 1.
    Positive,
    /// A number from 0 to 1.
    Share,
    Object,
    Array,
    Strings,
    /// Objects with the strings `const` and `title`.
    Choices,
    OneOf(&'static [&'static str]),
}

/// Checks that `value` is an object whose members all stand in `rules` and have their shapes; an error says in one
/// sentence what the host has to mend.
pub(super) fn check_members(
    value: &Value,
    place: &str,
    rules: &[(&str, Shape)],
) -> Result<(), String> {
    let members = value
        .as_object()
        .ok_or_else(|| format!("{place} must be an object"))?;
    for (name, member) in members {
        let Some((_, shape)) = rules.iter().find(|(known, _)| known == name) else {
            let known: Vec<&str> = rules.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "{place}.{name} is unknown here: there may be {}",
                known.join(", ")
            ));
        };
        if !shape.fits(member) {
            return Err(format!("{place}.{name} must be {}", shape.in_words()));
        }
    }
    Ok(())
}

/// A member that is there.
pub(super) fn member<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.as_object().and_then(|members| members.get(name))
}

/// The values and the titles of choices.
pub(super) fn choices(choices: &Value) -> (Vec<Value>, Vec<Value>) {
    let choices = choices.as_array().map(Vec::as_slice).unwrap_or_default();
    let all = choices.iter();
    all.map(|choice| (choice["const"].clone(), choice["title"].clone()))
        .unzip()
}

impl Shape {
    fn fits(self, value: &Value) -> bool {
        let all = |fits: fn(&Value) -> bool| {
            let items = value.as_array();
            items.is_some_and(|items| items.iter().all(fits))
        };
        match self {
            Self::String => value.is_string(),
            Self::Boolean => value.is_boolean(),
            Self::Number => value.is_number(),
            Self::Count => value.is_u64(),
            Self::Positive => value.as_u64().is_some_and(|number| number > 0),
            Self::Share => value
                .as_f64()
                .is_some_and(|share| (0.0..=1.0).contains(&share)),
            Self::Object => value.is_object(),
            Self::Array => value.is_array(),
            Self::Strings => all(Value::is_string),
            Self::Choices => all(|choice| choice.as_object().is_some_and(is_choice)),
            Self::OneOf(texts) => value.as_str().is_some_and(|text| texts.contains(&text)),
        }
    }

    fn in_words(self) -> String {
        let words = match self {
            Self::String => "a string",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::Count => "an integer from 0",
            Self::Positive => "an integer from 1",
            Self::Share => "a number from 0 to 1",
            Self::Object => "an object",
            Self::Array => "an array",
            Self::Strings => "an array of strings",
            Self::Choices => "an array of objects with the strings const and title",
            Self::OneOf(texts) => return format!("one of {}", texts.join(", ")),
        };
        words.into()
    }
}

fn is_choice(choice: &Map<String, Value>) -> bool {
    choice.len() == 2
        && ["const", "title"]
            .iter()
            .all(|name| choice.get(*name).is_some_and(Value::is_string))
}

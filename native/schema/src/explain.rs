//! From what the validator reports to [`Faults`].

use std::collections::HashSet;

use jsonschema::{
    JsonType, ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

use crate::{
    Fault, Faults,
    alternatives::{self, Told},
    declared::Declared,
    fault::MAX_FAULTS,
    instance::{Instance, Metered, is_reliable},
    meter::Meter,
    order, pointer,
    text::{counted, cut_middle, quoted, short, typed},
    unique,
};

/// Reads that explaining any instance may do.
const EXPLAIN_READS: u64 = 100_000;
/// Reads that explaining may do for each read that finding the instance invalid took.
const EXPLAIN_FACTOR: u64 = 4;
/// Options of an `enum` and names of unknown properties that a fault lists.
const SHOWN: usize = 10;

/// What it takes to explain why a schema refuses an instance.
#[derive(Debug)]
pub(crate) struct Explainer {
    pub(crate) declared: Declared,
    /// The schema with its tagged unions rewritten, where it has any.
    pub(crate) rewritten: Option<Validator<Instance>>,
}

impl Explainer {
    /// What is wrong with `instance`, which `validator` found invalid after `used` reads.
    ///
    /// The validator collects the faults of every alternative at every level, which doubles with each
    /// level of a recursive schema; the meter ends that.
    pub(crate) fn faults(
        &self,
        validator: &Validator<Instance>,
        instance: &Value,
        used: u64,
    ) -> Faults {
        let meter = Meter::of(EXPLAIN_READS + EXPLAIN_FACTOR * used, instance);
        let validator = self.rewritten.as_ref().unwrap_or(validator);
        let errors = validator.iter_errors(Metered::new(instance, &meter));
        let errors: Vec<_> = errors.filter(is_reliable).collect();
        let told = order::sorted(instance, alternatives::told(&errors), |told| {
            told.error.instance_path().as_str()
        });
        let mut seen = HashSet::new();
        let mut faults = told
            .iter()
            .map(|told| self.fault(told, instance))
            .filter(|fault| {
                seen.insert((
                    fault.pointer.clone(),
                    fault.expected.clone(),
                    fault.received.clone(),
                ))
            });
        let first: Vec<Fault> = faults.by_ref().take(MAX_FAULTS).collect();
        let more = faults.next().is_some() || meter.is_spent();
        if first.is_empty() {
            Faults::too_much_work()
        } else {
            Faults {
                faults: first,
                more,
            }
        }
    }

    fn fault(&self, told: &Told<'_>, instance: &Value) -> Fault {
        let error = told.error;
        let place = error.instance_path();
        let value = pointer::lookup(instance, place.as_str()).unwrap_or(&Value::Null);
        let mut fault = Fault {
            pointer: cut_middle(place.as_str()),
            keyword: error.kind().keyword().to_owned(),
            expected: expectation(error),
            received: receipt(error.kind(), value),
        };
        match (error.kind(), value) {
            (
                ValidationErrorKind::AdditionalProperties { .. }
                | ValidationErrorKind::UnevaluatedProperties { .. },
                _,
            ) => fault.expected = self.declared.expectation(error),
            (ValidationErrorKind::FalseSchema, Value::Object(members))
                if self.declared.is_closed(error) =>
            {
                "additionalProperties".clone_into(&mut fault.keyword);
                fault.expected = self.declared.expectation(error);
                fault.received = properties(members.keys().map(String::as_str));
            }
            (kind, _) if alternatives::is_missing(place, kind) => {
                "required".clone_into(&mut fault.keyword);
            }
            _ => {}
        }
        if let Some(count) = told.nearest_of {
            fault.expected = format!("{} in the nearest of {count} alternatives", fault.expected);
        }
        fault
    }
}

/// What the keyword that `error` comes from asks for.
pub(crate) fn expectation(error: &ValidationError<'_>) -> String {
    use ValidationErrorKind as Kind;
    match error.kind() {
        Kind::Type {
            kind: TypeKind::Single(kind),
        } => kind.as_str().to_owned(),
        Kind::Type {
            kind: TypeKind::Multiple(kinds),
        } => {
            let names: Vec<_> = kinds.iter().map(JsonType::as_str).collect();
            names.join(" or ")
        }
        Kind::Enum { options } => one_of(options),
        Kind::Constant { expected_value } => short(expected_value),
        Kind::Minimum { limit } => format!("at least {}", short(limit)),
        Kind::Maximum { limit } => format!("at most {}", short(limit)),
        Kind::ExclusiveMinimum { limit } => format!("more than {}", short(limit)),
        Kind::ExclusiveMaximum { limit } => format!("less than {}", short(limit)),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {}", short(multiple_of)),
        Kind::MinLength { limit } => format!("at least {}", counted(*limit, "character")),
        Kind::MaxLength { limit } => format!("at most {}", counted(*limit, "character")),
        Kind::MinItems { limit } => format!("at least {}", counted(*limit, "item")),
        Kind::MaxItems { limit } => format!("at most {}", counted(*limit, "item")),
        Kind::AdditionalItems { limit } => format!("at most {}", counted(*limit as u64, "item")),
        Kind::UnevaluatedItems { .. } => "no further items".to_owned(),
        Kind::MinProperties { limit } => format!("at least {}", members(*limit)),
        Kind::MaxProperties { limit } => format!("at most {}", members(*limit)),
        Kind::UniqueItems => "items that all differ".to_owned(),
        Kind::Pattern { pattern } => format!("a match of the pattern {}", quoted(pattern)),
        Kind::Format { format } => format!("a valid {format}"),
        Kind::ContentEncoding { content_encoding } => format!("{content_encoding} text"),
        Kind::ContentMediaType { content_media_type } => format!("{content_media_type} text"),
        Kind::Contains => "the number of matching items that \"contains\" asks for".to_owned(),
        Kind::Not { schema } => format!("a value that does not match {}", short(schema)),
        Kind::FalseSchema => "no value".to_owned(),
        Kind::Required { property } => format!("property {}", short(property)),
        Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. } => {
            "no other property".to_owned()
        }
        Kind::PropertyNames { error } => format!("property names to be {}", expectation(error)),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            alternatives::expectation(error.instance_path(), context)
        }
        Kind::OneOfMultipleValid { .. } => "a match of exactly one alternative".to_owned(),
        kind => format!("what the keyword {} admits", quoted(kind.keyword())),
    }
}

/// What came, seen the way the keyword sees it.
fn receipt(kind: &ValidationErrorKind, value: &Value) -> String {
    use ValidationErrorKind as Kind;
    match (kind, value) {
        (Kind::Required { .. }, _) => "nothing".to_owned(),
        (
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected },
            _,
        ) => properties(unexpected.iter().map(String::as_str)),
        (Kind::PropertyNames { error }, _) => typed(error.instance()),
        (Kind::MinLength { .. } | Kind::MaxLength { .. }, Value::String(text)) => {
            format!(
                "{} ({})",
                short(value),
                counted(text.chars().count() as u64, "character")
            )
        }
        (Kind::UniqueItems, Value::Array(items)) => match unique::first_repeat(items) {
            Some((earlier, later)) => format!("item {later} equal to item {earlier}"),
            None => typed(value),
        },
        (
            Kind::MinItems { .. }
            | Kind::MaxItems { .. }
            | Kind::AdditionalItems { .. }
            | Kind::UnevaluatedItems { .. },
            Value::Array(items),
        ) => counted(items.len() as u64, "item"),
        (Kind::MinProperties { .. } | Kind::MaxProperties { .. }, Value::Object(found)) => {
            members(found.len() as u64)
        }
        (Kind::Enum { .. } | Kind::Constant { .. }, _) => short(value),
        (_, Value::Number(_)) if !matches!(kind, Kind::Type { .. }) => short(value),
        _ => typed(value),
    }
}

fn one_of(options: &Value) -> String {
    match options.as_array().map(Vec::as_slice) {
        Some([only]) => short(only),
        Some(options) => format!("one of {}", list(options.iter().map(short))),
        None => short(options),
    }
}

fn properties<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let noun = if names.len() == 1 {
        "property"
    } else {
        "properties"
    };
    format!("{noun} {}", list(names.map(quoted)))
}

fn list(mut words: impl ExactSizeIterator<Item = String>) -> String {
    let shown: Vec<String> = words.by_ref().take(SHOWN).collect();
    let shown = shown.join(", ");
    match words.len() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn members(count: u64) -> String {
    match count {
        1 => "1 property".to_owned(),
        _ => format!("{count} properties"),
    }
}

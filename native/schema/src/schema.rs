//! A compiled schema.

use jsonschema::{
    PatternOptions, ValidationError, Validator, error::ValidationErrorKind, json::Json,
};
use serde_json::Value;

use crate::{
    Dialect, Error, ErrorKind, Faults, Limits, cost,
    declared::Declared,
    document::Document,
    explain::{self, Explainer},
    extent,
    instance::{Instance, Metered},
    message::{self, Message, Part},
    meter::Meter,
    pattern, pointer, text, union,
};

/// A JSON Schema, checked against every rule and budget, ready to check instances.
///
/// ```
/// use mcp_schema::{Limits, Role, Schema};
/// use serde_json::json;
///
/// let document = json!({"type": "object", "properties": {"days": {"type": "integer"}}});
/// let schema = Schema::compile(Role::Input, &document, &Limits::default())?;
/// assert!(schema.check(&json!({"days": 3})).is_ok());
/// let faults = schema.check(&json!({"days": "three"})).unwrap_err();
/// assert_eq!(faults.to_string(), r#"/days: expected integer, got string "three""#);
/// # Ok::<(), mcp_schema::Error>(())
/// ```
#[derive(Debug)]
pub struct Schema {
    validator: Validator<Instance>,
    /// The same schema for instances that lie in a message.
    in_message: Validator<Message>,
    explainer: Explainer,
    dialect: Dialect,
    max_reads_per_value: u64,
}

/// What a schema describes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// A tool's arguments: the root must say `"type": "object"` (`MCP 2026-07-28 schema`, Tool).
    Input,
    /// A tool's structured result: any schema object.
    Output,
}

impl Schema {
    /// Checks `document` and compiles it.
    ///
    /// `MCP 2026-07-28 basic/index`, JSON Schema usage: without `$schema` the dialect is 2020-12; draft-07
    /// is the other one. References stay in the document and nothing is fetched; `format` annotates and
    /// never asserts. Costs about 0.1 ms for a small tool.
    ///
    /// # Errors
    ///
    /// The first rule or limit the document breaks.
    pub fn compile(role: Role, document: &Value, limits: &Limits) -> Result<Self, Error> {
        if !document.is_object() {
            let found = text::type_name(document);
            return Err(Error::new("", ErrorKind::NotAnObject { found }));
        }
        extent::check(document, limits)?;
        let dialect = dialect(document)?;
        check_root(role, document)?;
        let mut parts = Document::read(document, dialect)?;
        cost::check(&mut parts, limits)?;
        pattern::check(&parts)?;
        check_rules(dialect, document)?;
        Ok(Self {
            validator: build(dialect, document)?,
            in_message: build(dialect, document)?,
            explainer: explainer(document, &mut parts)?,
            dialect,
            max_reads_per_value: limits.max_reads_per_value,
        })
    }

    /// Checks `instance`, without allocating when it is valid.
    ///
    /// Costs about 0.1 µs for a small valid instance, and in any case no more than
    /// [`Limits::max_reads_per_value`] says; an instance that would cost more is a fault.
    ///
    /// # Errors
    ///
    /// The first faults of the instance in document order.
    pub fn check(&self, instance: &Value) -> Result<(), Faults> {
        let meter = Meter::for_instance(instance, self.max_reads_per_value);
        let is_valid = self.validator.is_valid(Metered::new(instance, &meter));
        if meter.is_spent() {
            return Err(Faults::too_much_work());
        }
        if is_valid {
            return Ok(());
        }
        Err(self
            .explainer
            .faults(&self.validator, instance, meter.used()))
    }

    /// Checks a value where it lies in its message; a small valid one without building a tree.
    ///
    /// # Errors
    ///
    /// Those of [`Schema::check`].
    pub fn check_node(&self, instance: mcp_json::Node<'_>) -> Result<(), Faults> {
        if instance.entries() <= message::MAX_ENTRIES {
            let meter = Meter::of(VERDICT_READS, &Value::Null);
            let is_valid = self.in_message.is_valid(Part::new(instance, &meter));
            if is_valid && !meter.is_spent() {
                return Ok(());
            }
        }
        self.check(&instance.to_value())
    }

    /// The dialect the schema was read in.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }
}

/// Reads that a verdict on a small instance may do before the tree is asked: about 1 ms.
const VERDICT_READS: u64 = 100_000;

fn dialect(document: &Value) -> Result<Dialect, Error> {
    let Some(name) = document.get("$schema") else {
        return Ok(Dialect::Draft202012);
    };
    let dialect = name.as_str().and_then(Dialect::named);
    dialect.ok_or_else(|| {
        Error::new(
            "/$schema",
            ErrorKind::Dialect {
                found: text::short(name),
            },
        )
    })
}

fn check_root(role: Role, document: &Value) -> Result<(), Error> {
    let kind = document.get("type");
    if role == Role::Output || kind.is_some_and(|kind| kind == "object") {
        return Ok(());
    }
    let place = if kind.is_some() { "/type" } else { "" };
    Err(Error::new(
        place,
        ErrorKind::RootType {
            found: kind.map(text::short),
        },
    ))
}

/// Checks the document against the meta-schema of its dialect.
fn check_rules(dialect: Dialect, document: &Value) -> Result<(), Error> {
    let checked = match dialect {
        Dialect::Draft202012 => jsonschema::draft202012::meta::validate(document),
        Dialect::Draft07 => jsonschema::draft7::meta::validate(document),
    };
    checked.map_err(|error| refusal(document, &error))
}

fn explainer(document: &Value, parts: &mut Document<'_>) -> Result<Explainer, Error> {
    let Some(rewritten) = union::rewritten(document, parts) else {
        return Ok(Explainer {
            declared: Declared::in_document(parts),
            rewritten: None,
        });
    };
    let dialect = parts.dialect();
    let parts = Document::read(&rewritten, dialect)?;
    let validator = build(dialect, &rewritten)?;
    Ok(Explainer {
        declared: Declared::in_document(&parts),
        rewritten: Some(validator),
    })
}

fn build<F: Json>(dialect: Dialect, document: &Value) -> Result<Validator<F>, Error> {
    jsonschema::options_for::<F>()
        .with_draft(dialect.draft())
        .offline()
        .should_validate_formats(false)
        .with_pattern_options(PatternOptions::regex().size_limit(pattern::MAX_COMPILED_BYTES))
        .build(document)
        .map_err(|error| refusal(document, &error))
}

/// A document the validator refuses, in our terms.
fn refusal(document: &Value, error: &ValidationError<'_>) -> Error {
    let place = error.instance_path().as_str();
    if let Some(pattern) = malformed_pattern(error) {
        return Error::new(
            place,
            ErrorKind::Pattern {
                pattern: text::short(pattern),
            },
        );
    }
    let found = pointer::lookup(document, place).unwrap_or(&Value::Null);
    let expected = explain::expectation(error);
    Error::new(
        place,
        ErrorKind::Malformed {
            expected,
            found: text::typed(found),
        },
    )
}

/// The regular expression that `error` is about: the validator calls that a broken format.
fn malformed_pattern<'e>(error: &'e ValidationError<'_>) -> Option<&'e Value> {
    match error.kind() {
        ValidationErrorKind::Format { format } if format == "regex" => Some(error.instance()),
        ValidationErrorKind::PropertyNames { error } => malformed_pattern(error),
        _ => None,
    }
}

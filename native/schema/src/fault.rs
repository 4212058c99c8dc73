//! Faults of an instance, worded for the model that has to correct it.

use std::fmt;

use crate::text;

/// Faults that one check reports; what is over this is `more`.
pub(crate) const MAX_FAULTS: usize = 20;

/// Why an instance does not match its schema.
///
/// The text has one line for each fault, short enough that a model corrects all of them in one retry:
///
/// ```text
/// (root): missing required property "place"
/// /days: expected integer, got string "three"
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Faults {
    /// The first 20 faults in document order of the instance.
    pub faults: Vec<Fault>,
    /// Whether there are more.
    pub more: bool,
}

/// One place where an instance does not match.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// Where in the instance, as a JSON Pointer; empty for the instance itself. Over 400 characters the
    /// middle is cut out.
    pub pointer: String,
    /// The keyword that is not satisfied.
    pub keyword: String,
    /// What the schema asks for.
    pub expected: String,
    /// What came; long values are cut.
    pub received: String,
}

impl Faults {
    pub(crate) fn too_much_work() -> Self {
        let fault = Fault {
            pointer: String::new(),
            keyword: String::new(),
            expected: "a value that can be checked with bounded work".to_owned(),
            received: "one that cannot: nest it less or make it smaller".to_owned(),
        };
        Self {
            faults: vec![fault],
            more: false,
        }
    }
}

impl std::error::Error for Faults {}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{fault}")?;
        }
        if self.more {
            write!(f, "\nand more")
        } else {
            Ok(())
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pointer,
            keyword,
            expected,
            received,
        } = self;
        let place = text::place(pointer);
        match keyword.as_str() {
            "required" => write!(f, "{place}: missing required {expected}"),
            "additionalProperties" | "unevaluatedProperties" => {
                write!(f, "{place}: unknown {received}, expected {expected}")
            }
            _ => write!(f, "{place}: expected {expected}, got {received}"),
        }
    }
}

//! The JSON Schema dialects spoken here.

use std::fmt;

use jsonschema::Draft;

/// A JSON Schema dialect (`MCP 2026-07-28 basic/index`, JSON Schema usage).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Dialect {
    /// The default: a schema that names no dialect is of this one.
    Draft202012,
    /// Chosen by `$schema` alone.
    Draft07,
}

impl Dialect {
    /// The dialect that the URI of a `$schema` names: `http` or `https`, an empty fragment or none.
    pub(crate) fn named(uri: &str) -> Option<Self> {
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        let path = uri
            .strip_prefix("https://")
            .or_else(|| uri.strip_prefix("http://"))?;
        match path {
            "json-schema.org/draft/2020-12/schema" => Some(Self::Draft202012),
            "json-schema.org/draft-07/schema" => Some(Self::Draft07),
            _ => None,
        }
    }

    /// The same dialect in the validator's terms.
    pub(crate) fn draft(self) -> Draft {
        match self {
            Self::Draft202012 => Draft::Draft202012,
            Self::Draft07 => Draft::Draft7,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Draft202012 => "https://json-schema.org/draft/2020-12/schema",
            Self::Draft07 => "http://json-schema.org/draft-07/schema#",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Dialect;

    #[test]
    fn both_schemes_and_an_empty_fragment_name_a_dialect() {
        for scheme in ["http", "https"] {
            for end in ["", "#"] {
                let new = format!("{scheme}://json-schema.org/draft/2020-12/schema{end}");
                let old = format!("{scheme}://json-schema.org/draft-07/schema{end}");
                assert_eq!(Dialect::named(&new), Some(Dialect::Draft202012));
                assert_eq!(Dialect::named(&old), Some(Dialect::Draft07));
            }
        }
    }

    #[test]
    fn other_names_name_none() {
        for uri in [
            "https://json-schema.org/draft/2019-09/schema",
            "http://json-schema.org/draft-06/schema#",
            "http://json-schema.org/draft-04/schema#",
            "https://json-schema.org/schema",
            "https://json-schema.org/draft/2020-12/schema##",
            "json-schema.org/draft-07/schema",
            "",
        ] {
            assert_eq!(Dialect::named(uri), None, "{uri}");
        }
    }

    #[test]
    fn the_written_name_names_the_dialect() {
        for dialect in [Dialect::Draft202012, Dialect::Draft07] {
            assert_eq!(Dialect::named(&dialect.to_string()), Some(dialect));
        }
    }
}

//! Which scopes a definition needs beyond those of its methods (MCP 2026-07-28 basic/authorization, "Scope Challenge
//! Handling").

use mcp_auth::{DefinitionError, Denial};

use super::definition::{DefinitionFault, fault};

/// The scopes of a definition as the host declares them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Access {
    /// All of these are needed.
    pub required_scopes: Vec<String>,
    /// Or all of one of these.
    pub alternative_scope_sets: Vec<Vec<String>>,
    /// What a caller without them is told; none for what is usual of the method.
    pub denial: Option<Denial>,
}

impl Access {
    /// The clauses, for the definition with this key.
    pub(super) fn compile(
        &self,
        definition: &str,
    ) -> Result<mcp_auth::Definition, DefinitionFault> {
        let (required, alternatives) = (&self.required_scopes, &self.alternative_scope_sets);
        mcp_auth::Definition::new(required, alternatives, self.denial)
            .map_err(|error| fault(definition, self.place(&error), error.to_string()))
    }

    /// The field that is at fault.
    fn place(&self, error: &DefinitionError) -> &'static str {
        let is_required = match error {
            DefinitionError::TooManyScopes | DefinitionError::TooLong => true,
            DefinitionError::Malformed(start) => {
                let begins = |scope: &String| scope.starts_with(start.as_str());
                self.required_scopes.iter().any(begins)
            }
            DefinitionError::Repeated(scope) => self.required_scopes.contains(scope),
            _ => false,
        };
        match is_required {
            true => "required_scopes",
            false => "alternative_scope_sets",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(required: &[&str], alternatives: &[&[&str]]) -> String {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let access = Access {
            required_scopes: owned(required),
            alternative_scope_sets: alternatives.iter().map(|clause| owned(clause)).collect(),
            denial: None,
        };
        access.compile("tool").expect_err("it is wrong").place
    }

    #[test]
    fn a_fault_names_the_field() {
        assert_eq!(place(&["a b"], &[]), "required_scopes");
        assert_eq!(place(&["a", "a"], &[]), "required_scopes");
        assert_eq!(place(&["a"], &[&["b", "b"]]), "alternative_scope_sets");
        assert_eq!(place(&["a"], &[&["\u{fc}"]]), "alternative_scope_sets");
        assert_eq!(place(&[], &[&["a"]]), "alternative_scope_sets");
        assert_eq!(place(&["a"], &[&["a"]]), "alternative_scope_sets");
    }
}

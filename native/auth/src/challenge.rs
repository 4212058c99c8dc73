//! `WWW-Authenticate` (RFC 9110 §11.6.1, RFC 6750 §3, RFC 9449 §7.1, RFC 9470 §3, RFC 9728 §5.1).

use crate::{
    config::{Config, Dpop},
    credentials::Scheme,
    reason::{Reason, Schemes, description},
};

/// What a client that comes again should bring.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Wanted {
    /// Scopes, separated by spaces.
    pub scope: Option<String>,
    /// Classes of sign-in, any of which does, separated by spaces.
    pub acr_values: Option<String>,
    /// How many seconds ago the sign-in may have been.
    pub max_age_s: Option<u64>,
}

/// The challenges of one answer.
#[derive(Clone, Copy, Debug)]
pub struct Challenge<'a> {
    /// The configuration of the resource.
    pub config: &'a Config,
    /// Why the request is refused.
    pub reason: Reason,
    /// The scheme that it used, or that its token asks for.
    pub scheme: Scheme,
    /// What would help.
    pub wanted: &'a Wanted,
}

impl Challenge<'_> {
    /// The values of the header, one a line; none where other credentials would not help.
    pub fn lines(&self) -> Vec<String> {
        let schemes = self.schemes();
        schemes
            .into_iter()
            .map(|scheme| self.line(scheme))
            .collect()
    }

    fn schemes(&self) -> Vec<Scheme> {
        let dpop = self.config.settings().dpop;
        match (self.reason.schemes(), dpop) {
            (Schemes::Silent, _) => Vec::new(),
            (_, Dpop::Off) => vec![Scheme::Bearer],
            (Schemes::Dpop, _) | (Schemes::Enabled, Dpop::Required) => vec![Scheme::Dpop],
            (Schemes::Enabled, Dpop::Optional) => vec![Scheme::Bearer, Scheme::Dpop],
            (Schemes::Used, _) => vec![self.scheme],
        }
    }

    /// The order of parameters has no meaning; ours is fixed.
    fn line(&self, scheme: Scheme) -> String {
        let mut line = Line {
            text: scheme.as_str().to_owned(),
            separator: " ",
        };
        if let Some(error) = self.reason.error() {
            line.parameter("error", error);
            line.optional("error_description", description(error));
        }
        if scheme == Scheme::Dpop {
            line.parameter("algs", &self.config.dpop_alg_names().join(" "));
        }
        let max_age = self.wanted.max_age_s.map(|seconds| seconds.to_string());
        line.optional("scope", self.wanted.scope.as_deref());
        line.optional("acr_values", self.wanted.acr_values.as_deref());
        line.optional("max_age", max_age.as_deref());
        line.parameter("resource_metadata", &self.config.resource().metadata_url());
        line.text
    }
}

struct Line {
    text: String,
    separator: &'static str,
}

impl Line {
    fn optional(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.parameter(name, value);
        }
    }

    /// Appends a parameter as quoted string (RFC 9110 §5.6.4). One that no header may hold is left out.
    fn parameter(&mut self, name: &str, value: &str) {
        if !value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return;
        }
        self.text.push_str(self.separator);
        self.text.push_str(name);
        self.text.push_str("=\"");
        for character in value.chars() {
            if matches!(character, '"' | '\\') {
                self.text.push('\\');
            }
            self.text.push(character);
        }
        self.text.push('"');
        self.separator = ", ";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_value_early() {
        let mut line = Line {
            text: "Bearer".to_owned(),
            separator: " ",
        };
        line.parameter("scope", "a\" b\\");
        line.parameter("error", "x\r\nSet-Cookie: a=b");
        line.optional("max_age", Some(""));
        assert_eq!(line.text, r#"Bearer scope="a\" b\\""#);
    }
}

//! A URI template and what it matches.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use crate::error::{ErrorKind, TemplateError};
use crate::parser::{self, Parsed};
use crate::percent;
use crate::value::Values;
use crate::zone::Zone;

/// A URI template (RFC 6570, levels 1 to 3) that can be matched backwards.
pub struct Template {
    text: Arc<str>,
    literal_prefix: String,
    names: Vec<Arc<str>>,
    path: Zone,
    query: Zone,
    fragment: Zone,
}

impl Template {
    /// The bytes that a template may have. Parsing takes time in proportion to them.
    pub const MAX_BYTES: usize = 4_096;

    /// Reads a template.
    ///
    /// # Errors
    ///
    /// [`TemplateError`] names the first place that breaks RFC 6570, is of its level 4, or could be read
    /// back in two ways; the [crate's documentation](crate) has the rules.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let (found, allowed) = (text.len(), Self::MAX_BYTES);
        if found == 0 {
            return Err(TemplateError::new(ErrorKind::Empty, 0));
        }
        if found > allowed {
            let kind = ErrorKind::TooLong { found, allowed };
            return Err(TemplateError::new(kind, allowed));
        }
        let Parsed {
            names,
            path,
            query,
            fragment,
        } = parser::parse(text)?;
        Ok(Self {
            text: text.into(),
            literal_prefix: literal_prefix([&path, &query, &fragment]),
            names,
            path,
            query,
            fragment,
        })
    }

    /// The values that expand to `uri`, in the order of the template, or nothing when there are none.
    ///
    /// A variable of `{?..}`, `{&..}` or `{;..}` that the URI leaves out is left out here. Costs a fixed
    /// number of passes over `uri`, without backtracking: the parts are split at `?` and `#`, each part is
    /// scanned at most once from its start and once from its end, and each value is decoded and checked
    /// once. Allocates the values, and one copy of a `uri` that has characters beyond ASCII.
    pub fn matches(&self, uri: &str) -> Option<Vec<(Arc<str>, String)>> {
        let uri = percent::ascii(uri);
        let (rest, fragment) = cut(&uri, '#', &self.fragment);
        let (path, query) = cut(rest, '?', &self.query);
        let mut values = Values::new(self.names.len());
        self.path.matches(path, &mut values)?;
        self.query.matches(query, &mut values)?;
        self.fragment.matches(fragment, &mut values)?;
        Some(values.named(&self.names))
    }

    /// The text with which every URI that matches begins, for an index; ends before a percent sign or a
    /// character beyond ASCII, which URIs may write in two ways.
    pub fn literal_prefix(&self) -> &str {
        &self.literal_prefix
    }

    /// The names of the variables, each once, in the order of the template.
    pub fn variables(&self) -> &[Arc<str>] {
        &self.names
    }

    /// The template as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl Debug for Template {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Template").field(&self.text).finish()
    }
}

/// `text` before the first `mark` and from there on; all of it where the template has no such `zone`.
fn cut<'t>(text: &'t str, mark: char, zone: &Zone) -> (&'t str, &'t str) {
    let at = if zone.is_empty() {
        None
    } else {
        text.find(mark)
    };
    text.split_at(at.unwrap_or(text.len()))
}

fn literal_prefix(zones: [&Zone; 3]) -> String {
    let mut prefix = String::new();
    for zone in zones {
        let (literal, is_all) = zone.literal();
        prefix.push_str(literal);
        if !is_all {
            break;
        }
    }
    let end = prefix.find('%').unwrap_or(prefix.len());
    prefix.truncate(end);
    prefix
}

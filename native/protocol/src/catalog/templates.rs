//! Which template a URI belongs to, found without trying them all.

use std::sync::Arc;

use imbl::OrdMap;

use super::{
    section::{Put, Section},
    template::Template,
};

/// A template's variables with the values that a URI gives them.
pub type Variables = Vec<(Arc<str>, String)>;

/// The templates, and an index of the literal text that they begin with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Templates {
    section: Section<Template>,
    /// For each literal prefix its templates by their numbers, which ascend in the order of registration.
    by_prefix: OrdMap<Arc<str>, OrdMap<u64, Arc<Template>>>,
}

impl Templates {
    pub(crate) fn put(&mut self, template: Template) -> Put {
        let (put, template) = self.section.put(template);
        if let Put::Added(serial) | Put::Replaced(serial) = put {
            let prefix = template.matcher.literal_prefix();
            let mut family = self.by_prefix.get(prefix).cloned().unwrap_or_default();
            family.insert(serial, Arc::clone(&template));
            self.by_prefix.insert(prefix.into(), family);
        }
        put
    }

    pub(crate) fn remove(&mut self, uri_template: &str) -> bool {
        let Some((serial, template)) = self.section.remove(uri_template) else {
            return false;
        };
        let prefix = template.matcher.literal_prefix();
        if let Some(family) = self.by_prefix.get_mut(prefix) {
            family.remove(&serial);
            if family.is_empty() {
                self.by_prefix.remove(prefix);
            }
        }
        true
    }

    /// The templates in order.
    pub(crate) fn section(&self) -> &Section<Template> {
        &self.section
    }

    /// The template registered first among those that match `uri` (RES-15).
    ///
    /// Looks at the prefixes that `uri` begins with, and at one more for each of their lengths at most: the cost does
    /// not grow with templates of other prefixes.
    pub(crate) fn find(&self, uri: &str) -> Option<(&Arc<Template>, Variables)> {
        let mut candidates: Vec<_> = self.families(uri).flat_map(OrdMap::iter).collect();
        candidates.sort_unstable_by_key(|(serial, _)| **serial);
        candidates
            .into_iter()
            .find_map(|(_, template)| Some((template, template.matcher.matches(uri)?)))
    }

    /// The families whose prefix `uri` begins with, the longest first.
    fn families<'t, 'u>(
        &'t self,
        uri: &'u str,
    ) -> impl Iterator<Item = &'t OrdMap<u64, Arc<Template>>> + use<'t, 'u> {
        let mut bound = Some(uri);
        std::iter::from_fn(move || {
            while let Some(text) = bound {
                let (prefix, family) = self.by_prefix.get_prev(text)?;
                let common = common_length(prefix, uri);
                let found = common == prefix.len();
                // What else is a prefix of `uri` is shorter than what the two have in common.
                bound = match found {
                    true => shorter(&uri[..common]),
                    false => Some(&uri[..common]),
                };
                if found {
                    return Some(family);
                }
            }
            None
        })
    }
}

/// How many bytes of whole characters two texts have in common.
fn common_length(one: &str, other: &str) -> usize {
    let pairs = one.char_indices().zip(other.chars());
    let mut differing = pairs.filter(|((_, left), right)| left != right);
    let end = one.len().min(other.len());
    differing.next().map_or(end, |((position, _), _)| position)
}

/// The text without its last character; nothing when it has none.
fn shorter(text: &str) -> Option<&str> {
    let mut chars = text.chars();
    chars.next_back().map(|_| chars.as_str())
}

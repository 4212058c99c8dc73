//! A definition's place in a list: its JSON text for every revision, written once.

use std::sync::Arc;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::revision::Revision;

/// The texts of a list entry, and the digest of the newest.
pub(crate) struct ListEntry {
    /// By [`Revision::index`]; equal ones are one text.
    texts: [Arc<str>; 3],
    digest: [u8; 32],
}

impl ListEntry {
    /// An entry of the members that have a value. A legacy client sees no field that its revision lacks (requirements
    /// 0.4, A-17): none of `modern_alone`, and no icons before 2025-11-25.
    pub(crate) fn new<const N: usize>(
        members: [(&str, Option<Value>); N],
        modern_alone: &[&str],
    ) -> Self {
        let mut entry: Map<String, Value> = members
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?)))
            .collect();
        let newest = text(&entry);
        let r25 = without(&mut entry, modern_alone, &newest);
        let r06 = without(&mut entry, &["icons"], &r25);
        Self {
            digest: Sha256::digest(newest.as_bytes()).into(),
            texts: [r06, r25, newest],
        }
    }

    /// The text for clients of a revision.
    pub(crate) fn text(&self, revision: Revision) -> &str {
        &self.texts[revision.index()]
    }

    /// SHA-256 of the newest text.
    pub(crate) fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
}

/// The text once `members` are gone; `before` when there were none.
fn without(entry: &mut Map<String, Value>, members: &[&str], before: &Arc<str>) -> Arc<str> {
    let size = entry.len();
    for member in members {
        entry.shift_remove(*member);
    }
    if entry.len() == size {
        Arc::clone(before)
    } else {
        text(entry)
    }
}

fn text(entry: &Map<String, Value>) -> Arc<str> {
    serde_json::to_string(entry)
        .expect("the keys of a map are strings")
        .into()
}

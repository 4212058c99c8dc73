//! The definitions of one kind: in the order of their registration, and found by key.

use std::{
    borrow::Borrow,
    fmt,
    hash::Hash,
    sync::{Arc, OnceLock},
};

use imbl::{HashMap, OrdMap};
use sha2::{Digest, Sha256};

use super::entry::ListEntry;
use crate::revision::Revision;

/// A definition as a section keeps it.
pub(crate) trait Defined {
    /// What it is known by.
    type Key: Clone + Eq + Hash;

    /// Its own key.
    fn key(&self) -> &Self::Key;

    /// Whether `other` would be served and run just as this one.
    fn is_same(&self, other: &Self) -> bool;

    /// Takes over what outlives the definition that it replaces.
    fn succeed(&mut self, _before: &Self) {}
}

/// A definition that clients list.
pub(crate) trait Listed: Defined {
    /// Its list entry.
    fn entry(&self) -> &ListEntry;

    /// Which scopes its callers need.
    fn access(&self) -> &mcp_auth::Definition;

    /// Its name among its kind.
    fn name(&self) -> &str;
}

/// A persistent list with an index: a copy shares all but what a change touches, so a change costs O(log n) however
/// many definitions there are (D6).
pub(crate) struct Section<D: Defined> {
    /// By serial. A list would find positions, but takes a hundred times as long to give up its middle.
    order: OrdMap<u64, Arc<D>>,
    index: HashMap<D::Key, Slot<D>>,
    next_serial: u64,
    /// Made at most once for each state of the section.
    survey: OnceLock<Survey>,
}

/// What takes a walk over the whole list.
#[derive(Clone)]
struct Survey {
    /// SHA-256 over the digests of the list entries.
    digest: [u8; 32],
    /// The serials of the definitions at positions 0, [`STRIDE`] and so on.
    marks: Arc<[u64]>,
    /// Whether no definition needs scopes.
    is_open: bool,
}

/// A definition and when it was added; one that replaces another keeps its number.
struct Slot<D> {
    serial: u64,
    definition: Arc<D>,
}

/// What putting a definition came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Put {
    /// Its key is new; this is its number.
    Added(u64),
    /// It took the place of another, whose number it keeps.
    Replaced(u64),
    /// An equal one was there, and still is.
    Same,
}

impl<D: Defined> Section<D> {
    /// Adds a definition at the end, or in the place of the one with its key.
    pub(crate) fn put(&mut self, mut definition: D) -> (Put, Arc<D>) {
        let Some(before) = self.index.get(definition.key()) else {
            let serial = self.next_serial;
            self.next_serial += 1;
            let slot = Slot::new(serial, Arc::new(definition));
            return (Put::Added(serial), self.keep(slot));
        };
        if before.definition.is_same(&definition) {
            return (Put::Same, Arc::clone(&before.definition));
        }
        definition.succeed(&before.definition);
        let slot = Slot::new(before.serial, Arc::new(definition));
        (Put::Replaced(slot.serial), self.keep(slot))
    }

    /// Takes out the definition with this key, and says which it was.
    pub(crate) fn remove<Q>(&mut self, key: &Q) -> Option<(u64, Arc<D>)>
    where
        D::Key: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let slot = self.index.remove(key)?;
        self.order.remove(&slot.serial);
        self.survey = OnceLock::new();
        Some((slot.serial, slot.definition))
    }

    /// The definition with this key.
    pub(crate) fn get<Q>(&self, key: &Q) -> Option<&Arc<D>>
    where
        D::Key: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.index.get(key).map(|slot| &slot.definition)
    }

    /// The definition with this number.
    pub(super) fn row(&self, serial: u64) -> Option<&Arc<D>> {
        self.order.get(&serial)
    }

    /// All of them with their numbers, in order.
    pub(super) fn rows(&self) -> impl Iterator<Item = (u64, &Arc<D>)> {
        self.order
            .iter()
            .map(|(serial, definition)| (*serial, definition))
    }

    /// All of them, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<D>> {
        self.order.values()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    fn keep(&mut self, slot: Slot<D>) -> Arc<D> {
        let definition = Arc::clone(&slot.definition);
        self.order.insert(slot.serial, Arc::clone(&definition));
        self.index.insert(definition.key().clone(), slot);
        self.survey = OnceLock::new();
        definition
    }
}

impl<D: Listed> Section<D> {
    /// List entries from `position` on, at most `count`. A position other than 0 takes what [`Section::digest`] takes.
    pub(crate) fn page(
        &self,
        revision: Revision,
        position: usize,
        count: usize,
    ) -> impl Iterator<Item = &str> {
        self.mark(position)
            .into_iter()
            .flat_map(|serial| self.order.range(serial..))
            .skip(position % STRIDE)
            .take(count)
            .map(move |(_, definition)| definition.entry().text(revision))
    }

    /// SHA-256 over the digests of the list entries in order: equal for equal lists on any node.
    pub(crate) fn digest(&self) -> &[u8; 32] {
        &self.survey().digest
    }

    /// Whether [`Section::digest`] takes no time to speak of.
    pub(crate) fn digest_is_at_hand(&self) -> bool {
        self.is_short() || self.survey.get().is_some()
    }

    /// Whether walking the list takes no time to speak of.
    pub(crate) fn is_short(&self) -> bool {
        self.len() <= QUICKLY_HASHED
    }

    /// Whether every caller sees all of it, as far as that is known without a long walk.
    pub(crate) fn is_open(&self) -> bool {
        self.digest_is_at_hand() && self.survey().is_open
    }

    /// Whether clients see another list, or other clients see it.
    pub(crate) fn differs(&self, other: &Self) -> bool {
        let mut pairs = self.iter().zip(other.iter());
        self.digest() != other.digest() || pairs.any(|(one, other)| one.access() != other.access())
    }

    /// Names and digests of the list entries in order.
    pub(crate) fn digests(&self) -> impl Iterator<Item = (&str, &[u8; 32])> {
        self.order
            .values()
            .map(|definition| (definition.name(), definition.entry().digest()))
    }

    pub(crate) fn hash_into(&self, hash: &mut Sha256) {
        for (_, digest) in self.digests() {
            hash.update(digest);
        }
    }

    /// The serial at `position`, or at the mark before it.
    fn mark(&self, position: usize) -> Option<u64> {
        match position / STRIDE {
            0 => Some(0),
            mark => self.survey().marks.get(mark).copied(),
        }
    }

    fn survey(&self) -> &Survey {
        self.survey.get_or_init(|| {
            let mut hash = Sha256::new();
            self.hash_into(&mut hash);
            Survey {
                digest: hash.finalize().into(),
                marks: self.order.keys().step_by(STRIDE).copied().collect(),
                is_open: self.iter().all(|one| one.access().is_open()),
            }
        })
    }
}

/// Definitions from one mark to the next: a page starts with a search for its mark and so many steps at most.
const STRIDE: usize = 64;

/// A section of so many definitions is hashed in less than a quarter of a millisecond.
const QUICKLY_HASHED: usize = 2_000;

impl<D> Slot<D> {
    fn new(serial: u64, definition: Arc<D>) -> Self {
        Self { serial, definition }
    }
}

impl<D> Clone for Slot<D> {
    fn clone(&self) -> Self {
        Self::new(self.serial, Arc::clone(&self.definition))
    }
}

impl<D: Defined> Clone for Section<D> {
    fn clone(&self) -> Self {
        Self {
            order: self.order.clone(),
            index: self.index.clone(),
            next_serial: self.next_serial,
            survey: self.survey.clone(),
        }
    }
}

impl<D: Defined> Default for Section<D> {
    fn default() -> Self {
        Self {
            order: OrdMap::new(),
            index: HashMap::new(),
            next_serial: 0,
            survey: OnceLock::new(),
        }
    }
}

/// Says how many definitions there are.
impl<D: Defined> fmt::Debug for Section<D> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Section({})", self.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Numbered {
        number: u8,
        version: u8,
        access: mcp_auth::Definition,
        entry: ListEntry,
    }

    impl Numbered {
        fn new(number: u8, version: u8) -> Self {
            let name = format!("{number} {version}");
            Self {
                number,
                version,
                access: mcp_auth::Definition::default(),
                entry: ListEntry::new([("name", Some(name.into()))], &[]),
            }
        }
    }

    impl Defined for Numbered {
        type Key = u8;

        fn key(&self) -> &u8 {
            &self.number
        }

        fn is_same(&self, other: &Self) -> bool {
            self.version == other.version
        }
    }

    impl Listed for Numbered {
        fn entry(&self) -> &ListEntry {
            &self.entry
        }

        fn access(&self) -> &mcp_auth::Definition {
            &self.access
        }

        fn name(&self) -> &str {
            self.entry.text(Revision::R20260728)
        }
    }

    /// The same in a plain list.
    fn put(list: &mut Vec<(u8, u8)>, number: u8, version: u8) {
        match list.iter_mut().find(|(known, _)| *known == number) {
            Some(one) => one.1 = version,
            None => list.push((number, version)),
        }
    }

    proptest! {
        #[test]
        fn pages_are_those_of_a_plain_list(
            edits in prop::collection::vec((any::<u8>(), 0..3_u8), 0..600),
            position in 0..300_usize,
            count in 0..300_usize,
        ) {
            let (mut section, mut list) = (Section::default(), Vec::new());
            for (number, version) in edits {
                if version == 0 {
                    let removed = section.remove(&number).is_some();
                    prop_assert_eq!(removed, list.iter().any(|(known, _)| *known == number));
                    list.retain(|(known, _)| *known != number);
                } else {
                    section.put(Numbered::new(number, version));
                    put(&mut list, number, version);
                }
            }
            let page: Vec<_> = section.page(Revision::R20260728, position, count).collect();
            let expected: Vec<_> = list
                .iter()
                .skip(position)
                .take(count)
                .map(|(number, version)| format!(r#"{{"name":"{number} {version}"}}"#))
                .collect();
            prop_assert_eq!(section.len(), list.len());
            prop_assert_eq!(page, expected);
        }
    }
}

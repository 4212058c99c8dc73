//! The definitions of one kind: in the order of their registration, and found by key.

use std::{
    borrow::Borrow,
    fmt,
    hash::Hash,
    sync::{Arc, OnceLock},
};

use imbl::{HashMap, Vector};
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

    /// Its name among its kind.
    fn name(&self) -> &str;
}

/// A persistent list with an index: a copy shares all but what a change touches, so a change costs O(log n) however
/// many definitions there are (D6).
pub(crate) struct Section<D: Defined> {
    /// Ascending by serial.
    order: Vector<Slot<D>>,
    index: HashMap<D::Key, Slot<D>>,
    next_serial: u64,
    /// Of the list; computed at most once for each state of the section.
    digest: OnceLock<[u8; 32]>,
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
            self.order.push_back(slot.clone());
            return (Put::Added(serial), self.keep(slot));
        };
        if before.definition.is_same(&definition) {
            return (Put::Same, Arc::clone(&before.definition));
        }
        definition.succeed(&before.definition);
        let slot = Slot::new(before.serial, Arc::new(definition));
        let position = self.position(slot.serial);
        self.order.set(position, slot.clone());
        (Put::Replaced(slot.serial), self.keep(slot))
    }

    /// Takes out the definition with this key, and says which it was.
    pub(crate) fn remove<Q>(&mut self, key: &Q) -> Option<(u64, Arc<D>)>
    where
        D::Key: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let slot = self.index.remove(key)?;
        self.order.remove(self.position(slot.serial));
        self.digest = OnceLock::new();
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
        self.index.insert(definition.key().clone(), slot);
        self.digest = OnceLock::new();
        definition
    }

    fn position(&self, serial: u64) -> usize {
        self.order
            .binary_search_by(|slot| slot.serial.cmp(&serial))
            .expect("order and index hold the same definitions")
    }
}

impl<D: Listed> Section<D> {
    /// List entries from `position` on, at most `count`.
    pub(crate) fn page(
        &self,
        revision: Revision,
        position: usize,
        count: usize,
    ) -> impl Iterator<Item = &str> {
        (position..self.len())
            .take(count)
            .filter_map(|position| self.order.get(position))
            .map(move |slot| slot.definition.entry().text(revision))
    }

    /// SHA-256 over the digests of the list entries in order: equal for equal lists on any node.
    pub(crate) fn digest(&self) -> &[u8; 32] {
        self.digest.get_or_init(|| {
            let mut hash = Sha256::new();
            self.hash_into(&mut hash);
            hash.finalize().into()
        })
    }

    /// Whether [`Section::digest`] takes no time to speak of.
    pub(crate) fn digest_is_at_hand(&self) -> bool {
        self.len() <= QUICKLY_HASHED || self.digest.get().is_some()
    }

    /// Names and digests of the list entries in order.
    pub(crate) fn digests(&self) -> impl Iterator<Item = (&str, &[u8; 32])> {
        self.order.iter().map(|slot| {
            let definition = &*slot.definition;
            (definition.name(), definition.entry().digest())
        })
    }

    pub(crate) fn hash_into(&self, hash: &mut Sha256) {
        for (_, digest) in self.digests() {
            hash.update(digest);
        }
    }
}

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
            digest: self.digest.clone(),
        }
    }
}

impl<D: Defined> Default for Section<D> {
    fn default() -> Self {
        Self {
            order: Vector::new(),
            index: HashMap::new(),
            next_serial: 0,
            digest: OnceLock::new(),
        }
    }
}

/// Says how many definitions there are.
impl<D: Defined> fmt::Debug for Section<D> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Section({})", self.len())
    }
}

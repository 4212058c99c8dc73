//! Equal keys of one object.

use std::collections::HashSet;

use crate::{Error, Node};

/// Refuses an object in which one key stands twice, compared after decoding.
///
/// The cost is linear in the object: a few plain keys are compared with each other, others go through a
/// hash set with a random seed, so no choice of keys makes it slow.
pub(crate) fn check_unique(object: Node<'_>) -> Result<(), Error> {
    match find_repeated(object) {
        Some(key) => Err(Error::duplicate(&key.string(), key.span().start)),
        None => Ok(()),
    }
}

fn find_repeated(object: Node<'_>) -> Option<Node<'_>> {
    let mut seen: [&[u8]; MAX_COMPARED] = Default::default();
    for (count, key) in object.keys().enumerate() {
        let Some(text) = key.plain().filter(|_| count < MAX_COMPARED) else {
            return find_by_hashing(object);
        };
        if seen[..count].contains(&text) {
            return Some(key);
        }
        seen[count] = text;
    }
    None
}

fn find_by_hashing(object: Node<'_>) -> Option<Node<'_>> {
    let mut seen = HashSet::with_capacity(object.len());
    object.keys().find(|key| !seen.insert(key.string()))
}

/// Keys up to which comparing all pairs costs less than hashing.
const MAX_COMPARED: usize = 8;

use std::collections::HashSet;

use crate::{Error, Node};

/// Refuses an object in which one key stands twice, compared after decoding.
///
/// The cost is linear in the object: few keys are compared with each other, many go through a hash set
/// with a random seed, so no choice of keys makes it slow.
pub(crate) fn check_unique(object: Node<'_>) -> Result<(), Error> {
    let repeated = if object.len() <= MAX_COMPARED {
        find_by_comparing(object)
    } else {
        find_by_hashing(object)
    };
    match repeated {
        Some(key) => Err(Error::duplicate(&key.string(), key.span().start)),
        None => Ok(()),
    }
}

fn find_by_comparing(object: Node<'_>) -> Option<Node<'_>> {
    let mut keys = object.keys().enumerate();
    keys.find(|(index, key)| {
        object
            .keys()
            .take(*index)
            .any(|earlier| earlier.same_text(*key))
    })
    .map(|(_, key)| key)
}

fn find_by_hashing(object: Node<'_>) -> Option<Node<'_>> {
    let mut seen = HashSet::with_capacity(object.len());
    object.keys().find(|key| !seen.insert(key.string()))
}

/// Keys up to which comparing all pairs costs less than hashing.
const MAX_COMPARED: usize = 8;

//! Equal keys of one object.

use std::collections::HashSet;

use crate::{Error, Node};

/// Refuses an object in which one key stands twice, compared after decoding.
///
/// The cost is linear in the object: keys that look different are not compared, a few plain keys are compared with
/// each other, others go through a hash set with a random seed, so no choice of keys makes it slow.
pub(crate) fn check_unique(object: Node<'_>) -> Result<(), Error> {
    if look_different(object) {
        return Ok(());
    }
    match find_repeated(object) {
        Some(key) => Err(Error::duplicate(&key.string(), key.span().start)),
        None => Ok(()),
    }
}

/// Whether each key has a mark of its own, by which most are told apart.
fn look_different(object: Node<'_>) -> bool {
    let mut marks: u64 = 0;
    object.keys().all(|key| {
        let Some(text) = key.plain() else {
            return false;
        };
        let mark = mark(text);
        let is_new = marks & mark == 0;
        marks |= mark;
        is_new
    })
}

/// One bit of 64, chosen by the length of a key in its quotation marks and by two of its bytes.
fn mark(text: &[u8]) -> u64 {
    let (first, last) = (text[1], text[text.len() - 2]);
    let looks = text.len() as u32 ^ u32::from(first) << 8 ^ u32::from(last) << 16;
    1 << (looks.wrapping_mul(0x9E37_79B1) >> 26)
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

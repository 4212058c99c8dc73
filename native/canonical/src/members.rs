//! The members of an object in the order in which they are written.

use std::borrow::Cow;

use crate::{Key, nfc, utf16_order};

/// Why the keys of an object have no canonical bytes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum KeyFault<V> {
    /// A key that names no member, such as a number.
    NoName(V),
    /// A key that is not UTF-8.
    NotUtf8(Vec<u8>),
    /// A key that stands twice once both are in NFC.
    Twice(String),
}

/// Members with their keys in NFC, by UTF-16 code units.
///
/// # Errors
///
/// The first key that is none, in the order given; then the first that stands twice, in the order of the result.
pub fn sorted<V>(members: Vec<(Key<'_, V>, V)>) -> Result<Vec<(Cow<'_, str>, V)>, KeyFault<V>> {
    let mut named = members
        .into_iter()
        .map(|(key, member)| Ok((name(key)?, member)))
        .collect::<Result<Vec<_>, _>>()?;
    named.sort_by(|(left, _), (right, _)| utf16_order(left, right));
    match named.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(KeyFault::Twice(pair[0].0.to_string())),
        None => Ok(named),
    }
}

fn name<V>(key: Key<'_, V>) -> Result<Cow<'_, str>, KeyFault<V>> {
    let text = match key {
        Key::Text(text) => text,
        Key::Other(other) => return Err(KeyFault::NoName(other)),
    };
    match text {
        Cow::Borrowed(bytes) => nfc(bytes),
        Cow::Owned(ref bytes) => nfc(bytes).map(|name| Cow::Owned(name.into_owned())),
    }
    .ok_or_else(|| KeyFault::NotUtf8(text.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(names: &[&[u8]]) -> Result<Vec<String>, KeyFault<usize>> {
        let members = names.iter().enumerate();
        let members = members.map(|(at, name)| (Key::Text(Cow::Owned(name.to_vec())), at));
        let sorted = sorted(members.collect())?;
        Ok(sorted.into_iter().map(|(name, _)| name.into()).collect())
    }

    #[test]
    fn keys_stand_in_order() {
        let names = ["b", "", "a", "B", "10", "9", "ab"].map(str::as_bytes);
        let expected = ["", "10", "9", "B", "a", "ab", "b"].map(String::from);
        assert_eq!(keys(&names), Ok(expected.to_vec()));
    }

    #[test]
    fn keys_are_refused() {
        assert_eq!(
            keys(&[b"a", b"k\xff"]),
            Err(KeyFault::NotUtf8(b"k\xff".to_vec()))
        );
        let twice = ["cafe\u{301}".as_bytes(), b"x", "caf\u{e9}".as_bytes()];
        assert_eq!(keys(&twice), Err(KeyFault::Twice("caf\u{e9}".into())));
        assert_eq!(
            sorted(vec![
                (Key::Text(Cow::Borrowed(b"a")), 1),
                (Key::Other(7), 2)
            ]),
            Err(KeyFault::NoName(7))
        );
    }
}

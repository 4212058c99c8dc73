//! The values of variables: decoded once, and safe to use as a path.

use std::sync::Arc;

use crate::percent;

/// What the value of a variable must look like.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Shape {
    /// One segment: no slash.
    Segment,
    /// Segments, of which none leads upwards.
    Path,
    /// The same after a slash of the template: not absolute.
    RelativePath,
}

impl Shape {
    /// Whether a host that uses `value` as a path stays below where it started, on any system (MCP
    /// 2026-07-28 server/resources, security considerations).
    fn admits(self, value: &str) -> bool {
        let shaped = match self {
            Self::Segment => !value.contains('/'),
            Self::Path => true,
            Self::RelativePath => !value.starts_with('/'),
        };
        let mut segments = value.split('/');
        shaped
            && !value.contains(['\\', '\0'])
            && !segments.any(|segment| matches!(segment, "." | ".."))
    }
}

/// The values found so far, one place for each variable.
pub(crate) struct Values(Vec<Option<String>>);

impl Values {
    pub(crate) fn new(count: usize) -> Self {
        Self(vec![None; count])
    }

    /// Decodes `text` and keeps it, if it has the `shape` and its place is free.
    pub(crate) fn note(&mut self, slot: usize, shape: Shape, text: &str) -> Option<()> {
        let value = percent::decoded(text)?;
        let fits = shape.admits(&value) && self.0[slot].is_none();
        fits.then(|| self.0[slot] = Some(value))
    }

    /// The values with the names of their variables.
    pub(crate) fn named(self, names: &[Arc<str>]) -> Vec<(Arc<str>, String)> {
        let places = names.iter().zip(self.0);
        places
            .filter_map(|(name, value)| Some((Arc::clone(name), value?)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Shape, Values};

    const SHAPES: [Shape; 3] = [Shape::Segment, Shape::Path, Shape::RelativePath];

    #[test]
    fn no_shape_admits_what_leads_upwards() {
        for hostile in [".", "..", "a\\b", "a\0", "..\\x"] {
            assert!(
                SHAPES.iter().all(|shape| !shape.admits(hostile)),
                "{hostile:?}"
            );
        }
        for harmless in ["", "...", "a..b", ".a", "a.", "a b"] {
            assert!(
                SHAPES.iter().all(|shape| shape.admits(harmless)),
                "{harmless:?}"
            );
        }
    }

    #[test]
    fn shapes_differ_in_their_slashes() {
        let admitted = |value| SHAPES.map(|shape| shape.admits(value));
        assert_eq!(admitted("a/..b/c.."), [false, true, true]);
        assert_eq!(admitted("/a"), [false, true, false]);
        assert_eq!(admitted("a/../b"), [false; 3]);
        assert_eq!(admitted("a/."), [false; 3]);
    }

    #[test]
    fn a_place_is_filled_once() {
        let mut values = Values::new(2);
        assert!(values.note(1, Shape::Segment, "a%20").is_some());
        assert!(values.note(1, Shape::Segment, "b").is_none());
        let names = ["x".into(), "y".into()];
        assert_eq!(values.named(&names), [("y".into(), "a ".into())]);
    }
}

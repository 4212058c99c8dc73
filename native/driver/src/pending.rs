//! Changes that wait for a client to read them: each once, and never more than a bound (D8).

use std::collections::VecDeque;

use mcp_protocol::{Change, Filter};

/// The queue of one subscriber. However many changes come, it holds each list and each resource once.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    queue: VecDeque<Change>,
}

/// What became of a change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Added {
    /// It waits.
    Waits,
    /// The same waits already.
    Coalesced,
    /// Too many parts of resources wait: the resource that it is part of stands for it.
    Folded,
}

impl Pending {
    /// Adds a change that `filter` wants, itself or as part of `within`.
    pub(crate) fn add(&mut self, change: &Change, within: Option<&str>, filter: &Filter) -> Added {
        if self.queue.contains(change) {
            return Added::Coalesced;
        }
        let whole = match (change, within) {
            (Change::Resource(uri), Some(within)) if !filter.uris.contains(uri) => {
                filter.uris.get(within)
            }
            _ => None,
        };
        match whole {
            Some(whole) if self.queue.len() >= MAX_PARTS => {
                let whole = Change::Resource(whole.clone());
                if !self.queue.contains(&whole) {
                    self.queue.push_back(whole);
                }
                Added::Folded
            }
            _ => {
                self.queue.push_back(change.clone());
                Added::Waits
            }
        }
    }

    /// Adds every change that `filter` can want: the client missed some, and nobody knows which.
    pub(crate) fn add_all(&mut self, filter: &Filter) {
        let lists = filter.lists().map(Change::List);
        let resources = filter.uris.iter().cloned().map(Change::Resource);
        for change in lists.chain(resources) {
            self.add(&change, None, filter);
        }
    }

    pub(crate) fn take(&mut self) -> Option<Change> {
        self.queue.pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.queue.len()
    }
}

/// From so many changes on, parts of resources are told as their resource. A filter has 128 resources and 128 tasks at
/// most, so the queue holds this and 259 more at most.
const MAX_PARTS: usize = 128;

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, sync::Arc};

    use mcp_protocol::Listing;

    use super::*;

    fn filter(uris: &[&str]) -> Filter {
        let uris: BTreeSet<Arc<str>> = uris.iter().map(|uri| Arc::from(*uri)).collect();
        Listing::ALL
            .into_iter()
            .fold(Filter::default(), Filter::with_list)
            .with_uris(Arc::new(uris))
    }

    fn resource(uri: &str) -> Change {
        Change::resource(uri).expect("a URI")
    }

    #[test]
    fn a_burst_is_one_change_in_the_place_of_the_first() {
        let (mut pending, filter) = (Pending::default(), filter(&["a:b"]));
        let tools = Change::List(Listing::Tools);
        for round in 0..1_000 {
            let expected = match round {
                0 => Added::Waits,
                _ => Added::Coalesced,
            };
            assert_eq!(pending.add(&tools, None, &filter), expected);
            assert_eq!(pending.add(&resource("a:b"), None, &filter), expected);
        }
        assert_eq!(pending.take(), Some(tools));
        assert_eq!(pending.take(), Some(resource("a:b")));
        assert_eq!(pending.take(), None);
    }

    #[test]
    fn too_many_parts_are_told_as_the_whole() {
        let (mut pending, filter) = (Pending::default(), filter(&["a:dir"]));
        for number in 0..MAX_PARTS {
            let part = resource(&format!("a:dir/{number}"));
            assert_eq!(pending.add(&part, Some("a:dir"), &filter), Added::Waits);
        }
        for number in MAX_PARTS..10_000 {
            let part = resource(&format!("a:dir/{number}"));
            assert_eq!(pending.add(&part, Some("a:dir"), &filter), Added::Folded);
        }
        assert_eq!(pending.len(), MAX_PARTS + 1);
        let last = std::iter::from_fn(|| pending.take()).last();
        assert_eq!(last, Some(resource("a:dir")));
    }

    #[test]
    fn a_client_that_missed_something_hears_of_everything() {
        let (mut pending, filter) = (Pending::default(), filter(&["a:b", "a:c"]));
        pending.add_all(&filter);
        assert_eq!(pending.len(), 5);
    }
}

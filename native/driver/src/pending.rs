//! Changes that wait for a client to read them: each once, and never more than a bound (D8).

use std::{collections::VecDeque, sync::Arc};

use mcp_protocol::{Change, Filter, Listing, MAX_URIS};

/// The queue of one subscriber. However many changes come, it holds each list and each resource once, and
/// [`MAX_CHANGES`] at most.
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
    /// Too many wait: the resource that it is part of stands for it, or a change of everything.
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
                self.push(Change::Resource(whole.clone()));
                Added::Folded
            }
            _ if self.queue.len() >= MAX_CHANGES => {
                // Of resources that the client has unsubscribed from since.
                self.queue.clear();
                self.add_all(filter);
                Added::Folded
            }
            _ => {
                self.push(change.clone());
                Added::Waits
            }
        }
    }

    /// Adds every change that `filter` can want: the client missed some, and nobody knows which.
    pub(crate) fn add_all(&mut self, filter: &Filter) {
        let lists = filter.lists().map(Change::List);
        let resources = filter.uris.iter().cloned().map(Change::Resource);
        let tasks = filter.tasks.iter().cloned().map(Change::Task);
        let all = lists.chain(resources).chain(tasks);
        all.for_each(|change| self.push(change));
    }

    /// Forgets a change of a resource of which the client does not want to hear any more.
    pub(crate) fn forget(&mut self, uri: &Arc<str>) {
        self.queue
            .retain(|change| !matches!(change, Change::Resource(waits) if waits == uri));
    }

    /// The one that has waited longest.
    pub(crate) fn first(&self) -> Option<&Change> {
        self.queue.front()
    }

    /// Takes one out; `false` when it does not wait any more.
    pub(crate) fn remove(&mut self, change: &Change) -> bool {
        let position = self.queue.iter().position(|waits| waits == change);
        position.is_some_and(|position| self.queue.remove(position).is_some())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    fn push(&mut self, change: Change) {
        if !self.queue.contains(&change) {
            self.queue.push_back(change);
        }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.queue.len()
    }
}

/// From so many changes on, parts of resources are told as their resource.
const MAX_PARTS: usize = 128;

/// The parts, and all that a filter can want besides: as many tasks as resources.
const MAX_CHANGES: usize = MAX_PARTS + 2 * MAX_URIS + Listing::ALL.len();

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn filter(uris: &[&str]) -> Filter {
        let uris: BTreeSet<Arc<str>> = uris.iter().map(|uri| Arc::from(*uri)).collect();
        Listing::ALL
            .into_iter()
            .fold(Filter::default(), Filter::with_list)
            .with_uris(Arc::new(uris))
    }

    fn take(pending: &mut Pending) -> Option<Change> {
        let first = pending.first()?.clone();
        pending.remove(&first).then_some(first)
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
        assert_eq!(take(&mut pending), Some(tools));
        assert_eq!(take(&mut pending), Some(resource("a:b")));
        assert_eq!(take(&mut pending), None);
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
        let last = std::iter::from_fn(|| take(&mut pending)).last();
        assert_eq!(last, Some(resource("a:dir")));
    }

    #[test]
    fn a_client_that_subscribes_on_and_on_without_reading_is_bounded() {
        let mut pending = Pending::default();
        for number in 0..10_000 {
            let uri = format!("a:{number}");
            let changed = pending.add(&resource(&uri), None, &filter(&[&uri]));
            assert!(matches!(changed, Added::Waits | Added::Folded));
            assert!(pending.len() <= MAX_CHANGES);
        }
        let told: Vec<_> = std::iter::from_fn(|| take(&mut pending)).collect();
        assert!(told.contains(&resource("a:9999")), "the newest is told");
    }

    #[test]
    fn a_client_that_missed_something_hears_of_everything() {
        let (mut pending, filter) = (Pending::default(), filter(&["a:b", "a:c"]));
        pending.add_all(&filter);
        assert_eq!(pending.len(), 5);
    }
}

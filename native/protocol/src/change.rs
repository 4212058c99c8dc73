//! What changes in what a server offers, and who wants to hear of it (MCP 2026-07-28 basic/patterns/subscriptions).

use std::{collections::BTreeSet, fmt, sync::Arc};

use crate::catalog::{Category, check_uri};

/// One change that clients may hear of.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Change {
    /// A list is not what it was.
    List(Listing),
    /// A resource may have to be read again.
    Resource(Arc<str>),
    /// A task is further on, by its id. What it is now is asked for when it is told.
    Task(Arc<str>),
}

/// The lists that clients keep.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Listing {
    /// `tools/list`
    Tools,
    /// `resources/list` and `resources/templates/list`
    Resources,
    /// `prompts/list`
    Prompts,
}

/// URIs that somebody subscribed to.
pub type Uris = Arc<BTreeSet<Arc<str>>>;

/// Ids of tasks that somebody listens to.
pub type TaskIds = Arc<BTreeSet<Arc<str>>>;

/// What one subscriber wants to hear of.
#[derive(Clone, Default, Eq, PartialEq)]
pub struct Filter {
    lists: [bool; 3],
    /// The resources.
    pub uris: Uris,
    /// The tasks, which are the subscriber's own.
    pub tasks: TaskIds,
}

/// The most URIs of one subscription, and the most tasks.
pub const MAX_URIS: usize = 128;

/// The most bytes of those URIs together: they are kept for as long as a stream or a session is.
pub const MAX_URIS_BYTES: usize = 65_536;

impl Change {
    /// A change of a resource.
    ///
    /// # Errors
    /// What is wrong with the URI, in one sentence.
    pub fn resource(uri: &str) -> Result<Self, String> {
        check_uri(uri).map(|()| Self::Resource(uri.into()))
    }

    /// The member of a filter that asks for it.
    pub(crate) fn filter_member(&self) -> &'static str {
        match self {
            Self::List(list) => list.filter_member(),
            Self::Resource(_) => "resourceSubscriptions",
            Self::Task(_) => "taskIds",
        }
    }

    /// The notification's method.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::List(list) => list.method(),
            Self::Resource(_) => "notifications/resources/updated",
            Self::Task(_) => "notifications/tasks",
        }
    }
}

impl Listing {
    /// All of them, in the order of their positions.
    pub const ALL: [Self; 3] = [Self::Tools, Self::Resources, Self::Prompts];

    /// The list that shows definitions of a category; completions are in none.
    pub fn of(category: Category) -> Option<Self> {
        match category {
            Category::Tools => Some(Self::Tools),
            Category::Resources => Some(Self::Resources),
            Category::Prompts => Some(Self::Prompts),
            Category::Completions => None,
        }
    }

    /// The member of a `subscriptions/listen` filter that asks for it.
    pub(crate) fn filter_member(self) -> &'static str {
        match self {
            Self::Tools => "toolsListChanged",
            Self::Resources => "resourcesListChanged",
            Self::Prompts => "promptsListChanged",
        }
    }

    fn method(self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Resources => "notifications/resources/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
        }
    }
}

impl Filter {
    /// The same, and a list.
    #[must_use]
    pub fn with_list(mut self, list: Listing) -> Self {
        self.lists[list as usize] = true;
        self
    }

    /// The same with these resources.
    #[must_use]
    pub fn with_uris(mut self, uris: Uris) -> Self {
        self.uris = uris;
        self
    }

    /// The same with these tasks.
    #[must_use]
    pub fn with_tasks(mut self, tasks: TaskIds) -> Self {
        self.tasks = tasks;
        self
    }

    /// The lists that are asked for.
    pub fn lists(&self) -> impl Iterator<Item = Listing> {
        Listing::ALL
            .into_iter()
            .filter(|list| self.lists[*list as usize])
    }

    /// Whether a change concerns the subscriber: itself, or as part of the resource `within`, whose subscribers hear of
    /// its parts too (SUB-10).
    pub fn wants(&self, change: &Change, within: Option<&str>) -> bool {
        match change {
            Change::List(list) => self.lists[*list as usize],
            Change::Resource(uri) => {
                self.uris.contains(uri) || within.is_some_and(|within| self.uris.contains(within))
            }
            Change::Task(id) => self.tasks.contains(id),
        }
    }
}

/// Shows how much is asked for: URIs are the client's.
impl fmt::Debug for Filter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list()
            .entries(self.lists())
            .entry(&format_args!("{} resources", self.uris.len()))
            .entry(&format_args!("{} tasks", self.tasks.len()))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(uri: &str) -> Change {
        Change::resource(uri).expect("a URI")
    }

    #[test]
    fn wants_what_was_asked_for_and_nothing_else() {
        let uris = Arc::new(BTreeSet::from(["a:dir".into()]));
        let filter = Filter::default()
            .with_list(Listing::Prompts)
            .with_uris(uris);
        assert!(filter.wants(&Change::List(Listing::Prompts), None));
        assert!(!filter.wants(&Change::List(Listing::Tools), None));
        assert!(filter.wants(&resource("a:dir"), None));
        assert!(!filter.wants(&resource("a:dir/file"), None));
        assert!(filter.wants(&resource("a:dir/file"), Some("a:dir")));
        assert!(!filter.wants(&resource("a:dir/file"), Some("a:other")));
    }

    #[test]
    fn a_changed_resource_has_a_uri() {
        for wrong in ["", "no scheme", "a:b c"] {
            assert!(Change::resource(wrong).is_err(), "{wrong}");
        }
    }
}

//! The one table of methods: wire name, revisions, kind, what must be offered, and where `Mcp-Name` comes from.

use crate::{
    change::Listing,
    revision::Revision::{self, R20250618 as R06, R20251125 as R25, R20260728 as R26},
};

/// A method of the protocol, or of our own additions, that a client may send.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Method {
    /// `server/discover`
    Discover,
    /// `initialize`
    Initialize,
    /// `notifications/initialized`
    Initialized,
    /// `ping`
    Ping,
    /// `tools/list`
    ToolsList,
    /// `tools/call`
    ToolsCall,
    /// `resources/list`
    ResourcesList,
    /// `resources/templates/list`
    ResourceTemplatesList,
    /// `resources/read`
    ResourcesRead,
    /// `resources/subscribe`
    ResourcesSubscribe,
    /// `resources/unsubscribe`
    ResourcesUnsubscribe,
    /// `prompts/list`
    PromptsList,
    /// `prompts/get`
    PromptsGet,
    /// `completion/complete`
    Complete,
    /// `logging/setLevel`
    SetLogLevel,
    /// `subscriptions/listen`
    Listen,
    /// `tasks/get`, of the extension for tasks like the next two.
    TasksGet,
    /// `tasks/update`
    TasksUpdate,
    /// `tasks/cancel`
    TasksCancel,
    /// `notifications/cancelled`
    Cancelled,
    /// `shutdown`, accepted on stdio as the language-server habit that earlier systems served.
    Shutdown,
    /// `exit`, the notification that follows it.
    Exit,
}

/// What a method's messages are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Answered with a result or an error.
    Request,
    /// Never answered (JSON-RPC 2.0 §4.1).
    Notification,
}

/// What a server offers; a method of a feature is served where its capability is advertised (ERR-9).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Feature {
    /// `completions`
    Completions,
    /// `logging`
    Logging,
    /// `prompts`
    Prompts,
    /// `resources`
    Resources,
    /// `extensions["io.modelcontextprotocol/tasks"]`
    Tasks,
    /// `tools`
    Tools,
    /// Whatever can change: it has no capability of its own.
    Changes,
}

impl Feature {
    /// What a list is of.
    pub(crate) fn of(list: Listing) -> Self {
        match list {
            Listing::Tools => Self::Tools,
            Listing::Resources => Self::Resources,
            Listing::Prompts => Self::Prompts,
        }
    }
}

/// Where a method may be used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum On {
    Both,
    Stdio,
}

struct Row {
    method: Method,
    wire: &'static str,
    kind: Kind,
    on: On,
    revisions: &'static [Revision],
    feature: Option<Feature>,
    /// The member of `params` that the `Mcp-Name` header mirrors (MCP 2026-07-28 basic/transports/streamable-http).
    name_member: Option<&'static str>,
}

const LEGACY: &[Revision] = &[R06, R25];
const MODERN: &[Revision] = &[R26];
const ALL: &[Revision] = &[R06, R25, R26];

#[rustfmt::skip]
const TABLE: &[Row] = &[
    Row { method: Method::ToolsCall,             wire: "tools/call",                kind: Kind::Request,      on: On::Both,  revisions: ALL,    feature: Some(Feature::Tools),       name_member: Some("name") },
    Row { method: Method::ToolsList,             wire: "tools/list",                kind: Kind::Request,      on: On::Both,  revisions: ALL,    feature: Some(Feature::Tools),       name_member: None },
    Row { method: Method::ResourcesList,         wire: "resources/list",            kind: Kind::Request,      on: On::Both,  revisions: ALL,    feature: Some(Feature::Resources),   name_member: None },
    Row { method: Method::ResourceTemplatesList, wire: "resources/templates/list",  kind: Kind::Request,      on: On::Both,  revisions: ALL,    feature: Some(Feature::Resources),   name_member: None },
    Row { method: Method::ResourcesRead,         wire: "resources/read",            kind: Kind::Request,      on: On::Both,  revisions: ALL,    feature: Some(Feature::Resources),   name_member: Some("uri") },
    Row { method: Method::ResourcesSubscribe,    wire: "resources/subscribe",       kind: Kind::Request,      on: On::Both,  revisions: LEGACY, feature: Some(Feature::Resources),   name_member: None },
    Row { method: Method::ResourcesUnsubscribe,  wire: "resources/unsubscribe",     kind: Kind::Request,      on: On::Both,  revisions: LEGACY, feature: Some(Feature::Resources),   name_member: None },
    Row { method: Method::PromptsList,           wire: "prompts/list",              kind: Kind::Request,      on: On::Both,  revisions: ALL,    feature: Some(Feature::Prompts),     name_member: None },
    Row { method: Method::PromptsGet,            wire: "prompts/get",               kind: Kind::Request,      on: On::Both,  revisions: ALL,    feature: Some(Feature::Prompts),     name_member: Some("name") },
    Row { method: Method::Complete,              wire: "completion/complete",       kind: Kind::Request,      on: On::Both,  revisions: ALL,    feature: Some(Feature::Completions), name_member: None },
    Row { method: Method::Discover,              wire: "server/discover",           kind: Kind::Request,      on: On::Both,  revisions: MODERN, feature: None,                       name_member: None },
    Row { method: Method::Initialize,            wire: "initialize",                kind: Kind::Request,      on: On::Both,  revisions: LEGACY, feature: None,                       name_member: None },
    Row { method: Method::Initialized,           wire: "notifications/initialized", kind: Kind::Notification, on: On::Both,  revisions: LEGACY, feature: None,                       name_member: None },
    Row { method: Method::Ping,                  wire: "ping",                      kind: Kind::Request,      on: On::Both,  revisions: LEGACY, feature: None,                       name_member: None },
    Row { method: Method::SetLogLevel,           wire: "logging/setLevel",          kind: Kind::Request,      on: On::Both,  revisions: LEGACY, feature: Some(Feature::Logging),     name_member: None },
    Row { method: Method::Listen,                wire: "subscriptions/listen",      kind: Kind::Request,      on: On::Both,  revisions: MODERN, feature: Some(Feature::Changes),     name_member: None },
    Row { method: Method::TasksGet,              wire: "tasks/get",                 kind: Kind::Request,      on: On::Both,  revisions: MODERN, feature: Some(Feature::Tasks),       name_member: Some("taskId") },
    Row { method: Method::TasksUpdate,           wire: "tasks/update",              kind: Kind::Request,      on: On::Both,  revisions: MODERN, feature: Some(Feature::Tasks),       name_member: Some("taskId") },
    Row { method: Method::TasksCancel,           wire: "tasks/cancel",              kind: Kind::Request,      on: On::Both,  revisions: MODERN, feature: Some(Feature::Tasks),       name_member: Some("taskId") },
    Row { method: Method::Cancelled,             wire: "notifications/cancelled",   kind: Kind::Notification, on: On::Both,  revisions: ALL,    feature: None,                       name_member: None },
    Row { method: Method::Shutdown,              wire: "shutdown",                  kind: Kind::Request,      on: On::Stdio, revisions: ALL,    feature: None,                       name_member: None },
    Row { method: Method::Exit,                  wire: "exit",                      kind: Kind::Notification, on: On::Stdio, revisions: ALL,    feature: None,                       name_member: None },
];

impl Method {
    /// Finds a method by its wire name, whatever the revision.
    pub fn parse(wire: &str) -> Option<Self> {
        TABLE
            .iter()
            .find(|row| row.wire == wire)
            .map(|row| row.method)
    }

    /// The wire name.
    pub fn as_str(self) -> &'static str {
        self.row().wire
    }

    /// Whether messages of this method are answered.
    pub fn kind(self) -> Kind {
        self.row().kind
    }

    /// Whether `revision` has this method on a transport (`stdio` tells which).
    pub fn served(self, revision: Revision, stdio: bool) -> bool {
        let row = self.row();
        row.revisions.contains(&revision) && (stdio || row.on == On::Both)
    }

    /// The member of `params` that `Mcp-Name` mirrors.
    pub fn name_member(self) -> Option<&'static str> {
        self.row().name_member
    }

    /// What must be offered for the method to be served.
    pub(crate) fn feature(self) -> Option<Feature> {
        self.row().feature
    }

    fn row(self) -> &'static Row {
        TABLE
            .iter()
            .find(|row| row.method == self)
            .expect("every method has a row, which a test proves")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_exactly_one_row() {
        for row in TABLE {
            assert_eq!(Method::parse(row.wire), Some(row.method));
            assert_eq!(row.method.as_str(), row.wire);
            assert_eq!(
                TABLE
                    .iter()
                    .filter(|other| other.method == row.method)
                    .count(),
                1
            );
        }
    }

    #[test]
    fn removed_methods_are_not_served_by_the_modern_revision() {
        for method in [Method::Initialize, Method::Initialized, Method::Ping] {
            assert!(!method.served(R26, true));
            assert!(method.served(R25, false) && method.served(R06, false));
        }
        assert!(!Method::Discover.served(R25, true));
        assert!(!Method::Shutdown.served(R26, false));
    }
}

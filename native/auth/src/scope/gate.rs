//! What a method needs, whatever it is about.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet},
    error, fmt,
    sync::LazyLock,
};

use super::{Clause, Denial, Scope, Scopes, union};

/// The gates of all methods, as the host set them.
#[derive(Clone, Debug, Default)]
pub struct Gates {
    map: HashMap<String, Clause>,
    policy: HashSet<String>,
    defaults: Clause,
    /// What every subscription needs beside that.
    subscription: Clause,
}

/// What of an operation its gate depends on.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a> {
    /// Any method but the two below.
    Method(&'a str),
    /// `completion/complete` with this `ref.type`.
    Complete(&'a str),
    /// `subscriptions/listen` to these members of its filter.
    Listen(&'a [&'a str]),
}

/// How definitions take the place of a gate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Selection {
    /// A list shows those that the caller may use.
    VisibleDefinitions,
    /// The one that is named decides.
    SelectedDefinition,
}

/// Why gates are refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum GatesError {
    /// `scope_map` names what is no method.
    UnknownMethod(String),
    /// `scope_policy` names a method that has no definitions, or the other selection's.
    NoSelection(String),
    /// A method in both.
    Both(String),
    /// A scope that is none.
    Malformed(String),
}

impl Gates {
    /// From the options of the same names.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn new(
        scope_map: &BTreeMap<String, Vec<String>>,
        scope_policy: &BTreeMap<String, Selection>,
        default_scopes: &[String],
    ) -> Result<Self, GatesError> {
        for (method, selection) in scope_policy {
            if !SELECTIONS.contains(&(&**method, *selection)) {
                return Err(GatesError::NoSelection(method.clone()));
            }
            if scope_map.contains_key(method) {
                return Err(GatesError::Both(method.clone()));
            }
        }
        let mut map = HashMap::new();
        for (method, scopes) in scope_map {
            if !is_method(method) {
                return Err(GatesError::UnknownMethod(method.clone()));
            }
            map.insert(method.clone(), clause(scopes)?);
        }
        Ok(Self {
            map,
            policy: scope_policy.keys().cloned().collect(),
            defaults: clause(default_scopes)?,
            subscription: Clause::new(),
        })
    }

    /// The same, with scopes that `subscriptions/listen` needs beside those of what it asks for.
    ///
    /// # Errors
    /// A scope that is none.
    pub fn with_subscription_scopes(mut self, scopes: &[String]) -> Result<Self, GatesError> {
        self.subscription = clause(scopes)?;
        Ok(self)
    }

    /// Whether the definitions of a method take the place of its gate.
    pub fn selects(&self, method: &str) -> bool {
        self.policy.contains(method)
    }

    /// What a caller is told that lacks the scopes of a definition which does not say: under a policy nothing, so that
    /// nobody learns what there is; else what it needs, so that it can ask for more.
    pub fn denial(&self, method: &str) -> Denial {
        match self.selects(method) {
            true => Denial::Neutral,
            false => Denial::Challenge,
        }
    }

    /// What a client should ask for that does not say what it wants: the default scopes, or what all methods together
    /// need of which `is_offered` says so.
    pub fn basics(&self, is_offered: impl Fn(&str) -> bool) -> Clause {
        if !self.defaults.is_empty() {
            return self.defaults.clone();
        }
        let methods = METHODS.iter().map(|(method, _)| *method);
        let gates = methods
            .filter(|method| is_offered(method))
            .flat_map(|method| self.gate(Operation::Method(method)).into_owned());
        gates.collect::<Scopes>().0
    }

    /// What an operation needs. An empty entry of the map is none: nobody opens a method by leaving scopes out. That of
    /// a subscription is needed beside what the subscription asks for.
    pub fn gate(&self, operation: Operation<'_>) -> Cow<'_, [Scope]> {
        let method = operation.method();
        if self.selects(method) {
            return Cow::default();
        }
        let entry = self.map.get(method).filter(|clause| !clause.is_empty());
        match (entry, operation) {
            (None, Operation::Listen(_)) if !self.defaults.is_empty() => {
                union(self.defaults.iter().chain(&self.subscription)).into()
            }
            (entry, Operation::Listen(_)) => {
                let more = entry.into_iter().flatten().chain(&self.subscription);
                union(usual(operation).iter().chain(more)).into()
            }
            (Some(clause), _) => clause.into(),
            _ if !self.defaults.is_empty() => (&self.defaults).into(),
            _ => usual(operation),
        }
    }
}

impl Operation<'_> {
    fn method(&self) -> &str {
        match self {
            Self::Method(method) => method,
            Self::Complete(_) => COMPLETE,
            Self::Listen(_) => LISTEN,
        }
    }
}

/// Every method that a gate can be set for.
fn is_method(method: &str) -> bool {
    METHODS.iter().any(|(name, _)| *name == method) || [COMPLETE, LISTEN].contains(&method)
}

/// What is needed where the host sets nothing.
fn usual(operation: Operation<'_>) -> Cow<'static, [Scope]> {
    let needed = |name: &str| USUAL.get(name).map_or(&[][..], Vec::as_slice);
    match operation {
        Operation::Method(method) => needed(method).into(),
        Operation::Complete(reference) => {
            // A client says what it is: it may say anything.
            let is_one = REFERENCES.iter().any(|(name, _)| *name == reference);
            if is_one { needed(reference) } else { &[] }.into()
        }
        Operation::Listen(members) => {
            let asked = CATEGORIES.iter().map(|(member, _)| *member);
            let asked = asked.filter(|member| members.contains(member));
            union(asked.flat_map(needed)).into()
        }
    }
}

fn clause(texts: &[String]) -> Result<Clause, GatesError> {
    let parse = |text: &String| {
        Scope::parse(text).ok_or_else(|| GatesError::Malformed(text.chars().take(64).collect()))
    };
    texts.iter().map(parse).collect()
}

impl fmt::Display for GatesError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownMethod(method) => write!(out, "{method:?} is no method"),
            Self::NoSelection(method) => write!(
                out,
                "{method:?} has no such policy: lists of tools, resources and templates have `visible_definitions`, tools/call and resources/read `selected_definition`"
            ),
            Self::Both(method) => write!(out, "{method:?} is in scope_map and in scope_policy"),
            Self::Malformed(scope) => write!(out, "{scope:?} is no scope"),
        }
    }
}

impl error::Error for GatesError {}

const COMPLETE: &str = "completion/complete";
const LISTEN: &str = "subscriptions/listen";

const READ_TOOLS: &str = "mcp:tools:read";
const CALL_TOOLS: &str = "mcp:tools:call";
const READ_RESOURCES: &str = "mcp:resources:read";
const READ_PROMPTS: &str = "mcp:prompts:read";

/// By the name of a method, of a reference to complete for, or of a member of a subscription's filter: no two share one.
static USUAL: LazyLock<HashMap<&str, Clause>> = LazyLock::new(|| {
    let clause = |scope: Option<&str>| scope.map(|scope| Scope(scope.into())).into_iter().collect();
    let names = METHODS.iter().chain(REFERENCES).chain(CATEGORIES);
    names.map(|(name, scope)| (*name, clause(*scope))).collect()
});

const METHODS: &[(&str, Option<&str>)] = &[
    ("tools/list", Some(READ_TOOLS)),
    ("tools/call", Some(CALL_TOOLS)),
    ("resources/list", Some(READ_RESOURCES)),
    ("resources/templates/list", Some(READ_RESOURCES)),
    ("resources/read", Some(READ_RESOURCES)),
    ("resources/subscribe", Some(READ_RESOURCES)),
    ("resources/unsubscribe", Some(READ_RESOURCES)),
    ("prompts/list", Some(READ_PROMPTS)),
    ("prompts/get", Some(READ_PROMPTS)),
    ("tasks/get", Some(CALL_TOOLS)),
    ("tasks/update", Some(CALL_TOOLS)),
    ("tasks/cancel", Some(CALL_TOOLS)),
    ("server/discover", None),
    ("initialize", None),
    ("ping", None),
    ("logging/setLevel", None),
];

const REFERENCES: &[(&str, Option<&str>)] = &[
    ("ref/prompt", Some(READ_PROMPTS)),
    ("ref/resource", Some(READ_RESOURCES)),
];

const CATEGORIES: &[(&str, Option<&str>)] = &[
    ("toolsListChanged", Some(READ_TOOLS)),
    ("promptsListChanged", Some(READ_PROMPTS)),
    ("resourcesListChanged", Some(READ_RESOURCES)),
    ("resourceSubscriptions", Some(READ_RESOURCES)),
    ("taskIds", Some(CALL_TOOLS)),
];

const SELECTIONS: &[(&str, Selection)] = &[
    ("tools/list", Selection::VisibleDefinitions),
    ("resources/list", Selection::VisibleDefinitions),
    ("resources/templates/list", Selection::VisibleDefinitions),
    ("tools/call", Selection::SelectedDefinition),
    ("resources/read", Selection::SelectedDefinition),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(clause: &[Scope]) -> Vec<&str> {
        clause.iter().map(Scope::as_str).collect()
    }

    fn gates(map: &[(&str, &str)], defaults: &[&str], subscription: &[&str]) -> Gates {
        let owned = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| (*text).to_owned())
                .collect::<Vec<_>>()
        };
        let map = map
            .iter()
            .map(|(key, scope)| ((*key).to_owned(), owned(&[*scope])));
        Gates::new(&map.collect(), &BTreeMap::new(), &owned(defaults))
            .and_then(|gates| gates.with_subscription_scopes(&owned(subscription)))
            .unwrap()
    }

    /// What is set for subscriptions is added, never put in the place of what is asked for.
    #[test]
    fn a_subscription_needs_more_and_never_less() {
        let operation = Operation::Listen(&["toolsListChanged"]);
        let gate = |map: &[(&str, &str)], defaults: &[&str], subscription: &[&str]| {
            let gates = gates(map, defaults, subscription);
            texts(&gates.gate(operation)).join(" ")
        };
        let listen = [(LISTEN, "listen")];
        assert_eq!(gate(&[], &[], &[]), "mcp:tools:read");
        assert_eq!(gate(&listen, &[], &[]), "mcp:tools:read listen");
        assert_eq!(gate(&listen, &["all"], &[]), "mcp:tools:read listen");
        assert_eq!(gate(&[], &["all"], &["hear"]), "all hear");
        assert_eq!(
            gate(&listen, &[], &["hear", "listen"]),
            "mcp:tools:read listen hear"
        );
    }

    #[test]
    fn what_is_no_reference_needs_nothing_of_a_method_of_that_name() {
        let gates = Gates::default();
        let completing = |reference| gates.gate(Operation::Complete(reference)).len();
        assert_eq!(completing("ref/prompt"), 1);
        assert_eq!(completing("tools/call"), 0);
        assert_eq!(completing("toolsListChanged"), 0);
    }

    #[test]
    fn what_a_policy_selects_is_denied_without_a_word() {
        let policy = [("tools/call".to_owned(), Selection::SelectedDefinition)];
        let gates = Gates::new(&BTreeMap::new(), &policy.into(), &[]).unwrap();
        assert_eq!(gates.denial("tools/call"), Denial::Neutral);
        assert_eq!(gates.denial("prompts/get"), Denial::Challenge);
    }
}

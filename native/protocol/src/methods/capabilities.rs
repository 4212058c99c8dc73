//! The server's capabilities: just what it can serve (DISC-5), the same for `server/discover` and `initialize`.

use crate::{
    catalog::Catalog,
    config::Config,
    encode::Members,
    extension,
    method::Feature,
    revision::{Era, Revision},
};

/// Every list may change, and whoever asks hears of it; so may every resource.
const FEATURES: [(Feature, &str, &str); 5] = [
    (Feature::Completions, "completions", "{}"),
    (Feature::Logging, "logging", "{}"),
    (Feature::Prompts, "prompts", r#"{"listChanged":true}"#),
    (
        Feature::Resources,
        "resources",
        r#"{"listChanged":true,"subscribe":true}"#,
    ),
    (Feature::Tools, "tools", r#"{"listChanged":true}"#),
];

/// The capabilities as a JSON object.
pub(crate) fn capabilities(config: &Config, catalog: &Catalog, revision: Revision) -> Vec<u8> {
    let mut out = Vec::new();
    let mut members = Members::open(&mut out);
    for (feature, name, details) in FEATURES {
        if offers(feature, config, catalog) {
            members.raw(name, details);
        }
    }
    let extensions = extensions(config, catalog, revision);
    if !extensions.is_empty() {
        let mut named = members.object("extensions");
        for extension in extensions {
            named.raw(extension, "{}");
        }
        named.close();
    }
    members.close();
    out
}

/// The extensions that a definition uses (EXT-4), or that kept tasks need. Tasks are of the modern era alone (TASK-22),
/// apps are of both (APP-1).
fn extensions(config: &Config, catalog: &Catalog, revision: Revision) -> Vec<&'static str> {
    let tasks = (config.keeps_tasks || catalog.has_tasks()) && revision.era() == Era::Modern;
    [
        (tasks, extension::TASKS),
        (catalog.has_apps(), extension::APPS),
    ]
    .into_iter()
    .filter_map(|(used, extension)| used.then_some(extension))
    .collect()
}

/// Whether a feature is served: something of it exists, or the caller decides what does.
pub(crate) fn offers(feature: Feature, config: &Config, catalog: &Catalog) -> bool {
    match feature {
        Feature::Completions => {
            config.completes || config.caller_catalog || catalog.has_completions()
        }
        // Whatever is called may write log messages (LOG-1).
        Feature::Logging => true,
        Feature::Prompts => config.caller_catalog || catalog.prompt_count() > 0,
        Feature::Resources => {
            config.caller_catalog || catalog.resource_count() + catalog.template_count() > 0
        }
        // A caller's own tools are not known yet when the method is looked up.
        Feature::Tasks => config.caller_catalog || config.keeps_tasks || catalog.has_tasks(),
        Feature::Tools => config.caller_catalog || catalog.tool_count() > 0,
        Feature::Changes => [Feature::Prompts, Feature::Resources, Feature::Tools]
            .into_iter()
            .any(|feature| offers(feature, config, catalog)),
    }
}

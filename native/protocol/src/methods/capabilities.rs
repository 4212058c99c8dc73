//! The server's capabilities: just what it can serve (DISC-5), the same for `server/discover` and `initialize`.

use crate::{catalog::Catalog, config::Config, encode::Members, method::Feature};

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
pub(crate) fn capabilities(config: &Config, catalog: &Catalog) -> Vec<u8> {
    let mut out = Vec::new();
    let mut members = Members::open(&mut out);
    for (feature, name, details) in FEATURES {
        if offers(feature, config, catalog) {
            members.raw(name, details);
        }
    }
    members.close();
    out
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
        Feature::Tools => config.caller_catalog || catalog.tool_count() > 0,
        Feature::Changes => [Feature::Prompts, Feature::Resources, Feature::Tools]
            .into_iter()
            .any(|feature| offers(feature, config, catalog)),
    }
}

//! How long answers may be kept, and who may share them: CACHE-*.

use mcp_protocol::{
    Body, CacheChoice, CacheHint, CacheScope, CallOutcome, Config, Contents, Definition, Input,
    ResourceDefinition, TemplateDefinition,
};
use serde_json::{Value, json};

use crate::harness::{Server, json_text, modern, offers, piece, resource, template};

fn hint(ttl_ms: u64, scope: CacheScope) -> CacheHint {
    CacheHint { ttl_ms, scope }
}

fn told(server: &mut Server, method: &str, params: Value) -> (Value, Value) {
    let mut result = server.line(&modern(method, params)).result();
    (result["ttlMs"].take(), result["cacheScope"].take())
}

fn public_everywhere(config: &mut Config) {
    config.allow_public_cache = true;
    config.cache.discover = hint(1, CacheScope::Public);
    config.cache.tools = hint(2, CacheScope::Public);
    config.cache.resources = hint(3, CacheScope::Public);
    config.cache.prompts = hint(4, CacheScope::Public);
    config.cache.contents = hint(5, CacheScope::Public);
}

const LISTS: [(&str, u64); 5] = [
    ("server/discover", 1),
    ("tools/list", 2),
    ("resources/list", 3),
    ("resources/templates/list", 3),
    ("prompts/list", 4),
];

#[test]
fn cache1_each_category_has_its_hint() {
    let mut server = Server::offering(offers(), public_everywhere);
    for (method, ttl_ms) in LISTS {
        assert_eq!(
            told(&mut server, method, json!({})),
            (json!(ttl_ms), json!("public")),
            "{method}"
        );
    }
}

#[test]
fn cache7_public_takes_the_hosts_word_and_a_catalog_for_everybody() {
    for (allowed, caller_catalog) in [(false, false), (true, true), (false, true)] {
        let mut server = Server::offering(offers(), |config| {
            public_everywhere(config);
            config.allow_public_cache = allowed;
            config.caller_catalog = caller_catalog;
        });
        let catalog = server.shared.catalog.clone();
        server.world.catalog = Box::new(move |_| Input::Catalog(catalog.clone()));
        for (method, ttl_ms) in LISTS {
            let expected = (json!(ttl_ms), json!("private"));
            assert_eq!(told(&mut server, method, json!({})), expected, "{method}");
        }
    }
}

/// CACHE-4: the scope is the list's, whichever page.
#[test]
fn cache4_every_page_has_the_same_scope() {
    let mut server = Server::offering(offers(), |config| {
        public_everywhere(config);
        config.page_size = 1;
    });
    let first = server.line(&modern("resources/list", json!({}))).result();
    let cursor = json!({"cursor": first["nextCursor"]});
    assert_eq!(
        told(&mut server, "resources/list", cursor).1,
        first["cacheScope"]
    );
}

/// What the handler says goes before the definition, and that before the category.
#[test]
fn contents_may_know_better() {
    let cache = CacheChoice {
        ttl_ms: Some(60),
        scope: None,
    };
    let definitions: Vec<Definition> = vec![
        ResourceDefinition {
            cache,
            ..resource("test://a")
        }
        .into(),
        TemplateDefinition {
            cache: CacheChoice {
                ttl_ms: None,
                scope: Some(CacheScope::Private),
            },
            ..template("test://{id}")
        }
        .into(),
    ];
    let by_handler = CacheChoice {
        ttl_ms: Some(7),
        scope: Some(CacheScope::Private),
    };
    for (uri, choice, expected) in [
        (
            "test://a",
            CacheChoice::default(),
            (json!(60), json!("public")),
        ),
        (
            "test://b",
            CacheChoice::default(),
            (json!(5), json!("private")),
        ),
        ("test://a", by_handler, (json!(7), json!("private"))),
    ] {
        let mut server =
            Server::offering(definitions.clone(), public_everywhere).handling(move |_| {
                Input::Outcome(CallOutcome::Contents(Contents {
                    pieces: vec![piece(Body::Text(json_text("a")))],
                    cache: choice,
                    meta: None,
                }))
            });
        assert_eq!(
            told(&mut server, "resources/read", json!({"uri": uri})),
            expected
        );
    }
}

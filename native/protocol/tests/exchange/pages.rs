//! `tools/list` page by page: PAG-*, CACHE-*, TOOL-2, TOOL-4, X33.

use std::sync::Arc;

use mcp_protocol::{Catalog, Definition, Keys, Shared};
use serde_json::{Value, json};

use crate::harness::{META, Post, Reply, Server, config, definition, modern, resource};

fn names(count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("tool-{number:03}"))
        .collect()
}

fn offering(count: usize) -> Server {
    let names = names(count);
    let tools = names.iter().map(|name| definition(name, None));
    Server::offering(tools, |config| config.page_size = 100)
}

fn list(server: &mut Server, cursor: Option<&Value>) -> Reply {
    let params = cursor.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
    server.post(&Post::modern(&modern("tools/list", params)))
}

fn tool_names(result: &Value) -> Vec<String> {
    let tools = result["tools"].as_array().unwrap();
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn pag1_a_walk_meets_every_tool_once_in_order() {
    let mut server = offering(250);
    let (mut sizes, mut seen, mut cursor) = (Vec::new(), Vec::new(), None);
    loop {
        let result = list(&mut server, cursor.as_ref()).result();
        assert_eq!(
            (&result["ttlMs"], &result["cacheScope"]),
            (&json!(0), &json!("private")),
            "CACHE-1, CACHE-4"
        );
        let page = tool_names(&result);
        sizes.push(page.len());
        seen.extend(page);
        match result.get("nextCursor") {
            Some(next) => cursor = Some(next.clone()),
            None => break,
        }
    }
    assert_eq!(sizes, [100, 100, 50]);
    assert_eq!(seen, names(250));
}

#[test]
fn pag2_the_last_page_has_no_cursor_even_when_it_is_full() {
    for (count, has_next) in [(1, false), (99, false), (100, false), (101, true)] {
        let result = list(&mut offering(count), None).result();
        assert_eq!(
            result.get("nextCursor").is_some(),
            has_next,
            "{count} tools"
        );
    }
}

#[test]
fn pag3_a_wrong_cursor_is_refused() {
    let mut server = offering(250);
    let next = list(&mut server, None).result()["nextCursor"].take();
    let text = next.as_str().unwrap();
    let swapped: String = text.chars().rev().collect();
    for wrong in [
        json!(""),
        json!("next-page-cursor"),
        json!(swapped),
        json!(&text[1..]),
        json!(format!("{text}=")),
        json!(100),
        Value::Null,
    ] {
        let reply = list(&mut server, Some(&wrong));
        assert_eq!(
            reply.refusal(),
            (200, Some(-32602), Some(json!(1))),
            "{wrong}"
        );
    }
    assert_eq!(list(&mut server, Some(&next)).code(), None);
}

#[test]
fn pag5_a_cursor_is_good_on_every_node_with_the_secret_and_the_catalog() {
    let next = list(&mut offering(250), None).result()["nextCursor"].take();
    assert_eq!(
        tool_names(&list(&mut offering(250), Some(&next)).result())[0],
        "tool-100"
    );
    let mut foreign = offering(250);
    foreign.shared = with_secret(&foreign, 9);
    assert_eq!(list(&mut foreign, Some(&next)).code(), Some(-32602));
}

#[test]
fn d16_a_cursor_outlives_a_rotation_of_secrets() {
    let mut server = offering(250);
    let next = list(&mut server, None).result()["nextCursor"].take();
    for (secrets, code) in [([9, 7], None), ([9, 8], Some(-32602))] {
        let keys = Arc::new(Keys::derive(&secrets.map(|byte| vec![byte; 32])));
        server.shared = Arc::new(Shared {
            keys,
            ..(*server.shared).clone()
        });
        assert_eq!(list(&mut server, Some(&next)).code(), code, "{secrets:?}");
    }
}

#[test]
fn pag5_a_cursor_of_another_catalog_is_stale() {
    let mut server = offering(250);
    let next = list(&mut server, None).result()["nextCursor"].take();
    let mut tools: Vec<_> = names(250)
        .iter()
        .map(|name| definition(name, None))
        .collect();
    tools[249].description = Some("Changed".into());
    let catalog = Catalog::compile(tools, &config()).unwrap();
    server.shared = Arc::new(Shared {
        catalog: Arc::new(catalog),
        ..(*server.shared).clone()
    });
    let reply = list(&mut server, Some(&next));
    assert_eq!(reply.code(), Some(-32602));
    assert!(
        reply.message().contains("without a cursor"),
        "{}",
        reply.message()
    );
}

#[test]
fn pag5_a_cursor_serves_every_revision() {
    let mut server = offering(250);
    let next = list(&mut server, None).result()["nextCursor"].take();
    let mut message = modern("tools/list", json!({"cursor": next}));
    message["params"]["_meta"][META[0]] = json!("2025-06-18");
    assert_eq!(tool_names(&server.line(&message).result())[0], "tool-100");
}

#[test]
fn x33_equal_catalogs_are_listed_in_equal_bytes() {
    let first = list(&mut offering(100), None).answer.body;
    for _ in 0..20 {
        assert_eq!(list(&mut offering(100), None).answer.body, first);
    }
}

/// D6: the digest of a long list is computed off the thread that serves sockets, once for a state of the catalog.
#[test]
fn a_long_list_is_digested_elsewhere() {
    let mut server = offering(5_000);
    let first = server.line(&modern("tools/list", json!({})));
    assert_eq!(first.asked, ["compute"]);
    let cursor = json!({"cursor": first.result()["nextCursor"]});
    let next = server.line(&modern("tools/list", cursor));
    assert!(next.asked.is_empty());
    assert_eq!(tool_names(&next.result())[0], "tool-100");
    assert!(
        offering(1_000)
            .line(&modern("tools/list", json!({})))
            .asked
            .is_empty()
    );
}

#[test]
fn cursors_of_one_list_are_none_of_another() {
    let resources = ["test://0", "test://1"].map(|uri| Definition::from(resource(uri)));
    let tools = ["one", "two"].map(|name| Definition::from(definition(name, None)));
    let definitions = resources.into_iter().chain(tools);
    let mut server = Server::offering(definitions, |config| config.page_size = 1);
    let first = server.line(&modern("tools/list", json!({}))).result();
    let cursor = json!({"cursor": first["nextCursor"]});
    assert_eq!(
        server.line(&modern("tools/list", cursor.clone())).code(),
        None
    );
    assert_eq!(
        server.line(&modern("resources/list", cursor)).code(),
        Some(-32602)
    );
}

#[test]
fn cache2_freshness_is_the_hosts_to_set() {
    let mut server = Server::with(|config| {
        config.cache.discover.ttl_ms = 300_000;
        config.cache.tools.ttl_ms = 300_000;
    });
    for method in ["tools/list", "server/discover"] {
        let result = server.line(&modern(method, json!({}))).result();
        assert_eq!(result["ttlMs"], json!(300_000), "{method}");
    }
}

fn with_secret(server: &Server, byte: u8) -> Arc<Shared> {
    let keys = Arc::new(Keys::derive(&[vec![byte; 32]]));
    Arc::new(Shared {
        keys,
        ..(*server.shared).clone()
    })
}

//! Tools that are shown as pages (requirements 27).

use mcp_protocol::{
    Catalog, Definition, DefinitionFault, Edit, Key, ResourceDefinition, Revision, ToolDefinition,
};
use serde_json::{Value, json};

use crate::{
    harness::{Post, Server, config, definition, legacy, modern, resource, template},
    schemas::Schema,
};

const APPS: &str = "io.modelcontextprotocol/ui";
const PAGE: &str = "ui://clock/main.html";

fn clock(meta: Value) -> Definition {
    ToolDefinition {
        meta: Some(meta),
        ..definition("clock", None)
    }
    .into()
}

fn shown() -> Definition {
    clock(json!({"ui": {"resourceUri": PAGE}}))
}

fn page(mime_type: &str) -> Definition {
    ResourceDefinition {
        mime_type: Some(mime_type.into()),
        ..resource(PAGE)
    }
    .into()
}

fn right_page() -> Definition {
    page("text/html;profile=mcp-app")
}

fn faults(definitions: Vec<Definition>) -> Vec<DefinitionFault> {
    match Catalog::compile(definitions, &config()) {
        Ok(catalog) => panic!("{catalog:?} has no faults"),
        Err(faults) => faults,
    }
}

/// APP-1, APP-8, EXT-7: to everybody, and in every revision.
#[test]
fn the_extension_is_offered_while_a_tool_names_a_page() {
    let mut server = Server::offering([shown(), right_page()], |_| ());
    let reply = server.line(&modern("server/discover", json!({})));
    Schema::of(Revision::R20260728).check_result("DiscoverResult", &reply.json());
    assert_eq!(
        reply.result()["capabilities"]["extensions"],
        json!({APPS: {}})
    );
    for revision in ["2025-11-25", "2025-06-18"] {
        let client = json!({"name": "client", "version": "1"});
        let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client});
        let reply = server.post(&Post::plain(&legacy("initialize", params)));
        let capabilities = &reply.result()["capabilities"];
        assert_eq!(capabilities["extensions"], json!({APPS: {}}), "{revision}");
        let schema = Schema::of(Revision::parse(revision).unwrap());
        schema.check_result("InitializeResult", &reply.json());
    }
    let listed = server.line(&modern("tools/list", json!({}))).result();
    assert_eq!(listed["tools"][0]["_meta"]["ui"]["resourceUri"], PAGE);

    server.edit(vec![Edit::Delete(Key::Tool("clock".into()))]);
    let reply = server.line(&modern("server/discover", json!({})));
    assert!(reply.result()["capabilities"].get("extensions").is_none());
}

/// APP-3: the older spelling is one too.
#[test]
fn a_tool_names_its_page_in_either_spelling() {
    for meta in [
        json!({"ui": {"resourceUri": PAGE}}),
        json!({"ui/resourceUri": PAGE}),
    ] {
        let mut server = Server::offering([right_page(), clock(meta)], |_| ());
        let reply = server.line(&modern("server/discover", json!({})));
        assert_eq!(
            reply.result()["capabilities"]["extensions"],
            json!({APPS: {}})
        );
    }
}

/// APP-2, APP-4
#[test]
fn a_page_that_nobody_could_read_is_refused_with_its_tool() {
    let place = "_meta/ui/resourceUri";
    for uri in [json!("https://example.com"), json!(7), json!("")] {
        let wrong = faults(vec![
            clock(json!({"ui": {"resourceUri": uri}})),
            right_page(),
        ]);
        assert_eq!(
            (wrong[0].definition.as_str(), wrong[0].place.as_str()),
            ("clock", place)
        );
    }
    let missing = faults(vec![shown()]);
    assert_eq!(missing.len(), 1);
    assert_eq!(missing[0].place, place);
    assert!(missing[0].message.contains(PAGE), "{}", missing[0].message);

    for wrong in ["text/html", "text/html;profile=other"] {
        let wrong = faults(vec![page(wrong)]);
        assert_eq!(
            (wrong[0].definition.as_str(), wrong[0].place.as_str()),
            (PAGE, "mime_type")
        );
    }
    let family = template("ui://clock/{face}");
    assert!(Catalog::compile([shown(), family.into()], &config()).is_ok());
}

#[test]
fn a_page_may_come_with_its_tool_and_not_after_it() {
    let server = Server::offering([right_page()], |_| ());
    let put = |definition| Edit::Put(Box::new(definition));
    let catalog = &server.shared.catalog;
    assert!(catalog.edit(vec![put(shown())], &config()).is_ok());

    let empty = Catalog::default();
    assert!(empty.edit(vec![put(shown())], &config()).is_err());
    assert!(
        empty
            .edit(vec![put(shown()), put(right_page())], &config())
            .is_ok()
    );
}

//! Catalogs that change (D6): what an edit does, what it costs, and what does not change with it.

use std::{collections::BTreeSet, sync::Arc};

use mcp_protocol::{
    Catalog, Category, Definition, Edit, Handler, Key, Line, Listing, Reference, ToolDefinition,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{
    Server, call, completion, config, definition, modern, offers, prompt, resource, template, text,
};

fn put(definition: impl Into<Definition>) -> Edit {
    Edit::Put(Box::new(definition.into()))
}

fn tool(name: &str) -> Key {
    Key::Tool(name.into())
}

fn names(server: &mut Server) -> Vec<String> {
    let result = server.line(&modern("tools/list", json!({}))).result();
    let tools = result["tools"].as_array().cloned().unwrap_or_default();
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn definitions_are_added_replaced_in_place_and_deleted() {
    let mut server = Server::offering(["a", "b", "c"].map(|name| definition(name, None)), |_| ());
    let changed = ToolDefinition {
        description: Some("Changed".into()),
        ..definition("b", None)
    };
    let categories = server.edit(vec![put(definition("d", None)), put(changed)]);
    assert_eq!(categories, BTreeSet::from([Category::Tools]));
    assert_eq!(names(&mut server), ["a", "b", "c", "d"]);
    server.edit(vec![Edit::Delete(tool("a")), put(definition("a", None))]);
    assert_eq!(names(&mut server), ["b", "c", "d", "a"]);
    assert_eq!(server.line(&call("b", json!({}))).text(), "done");
    server.edit(vec![Edit::Delete(tool("b"))]);
    assert_eq!(server.line(&call("b", json!({}))).code(), Some(-32602));
}

#[test]
fn each_kind_has_a_category() {
    let mut server = Server::offering(offers(), |_| ());
    for (edit, category) in [
        (put(definition("new", None)), Category::Tools),
        (put(resource("test://new")), Category::Resources),
        (put(template("test://new/{id}")), Category::Resources),
        (put(prompt("new", &[])), Category::Prompts),
        (
            put(completion(Reference::Prompt("new".into()), None)),
            Category::Completions,
        ),
        (Edit::Delete(tool("now")), Category::Tools),
        (
            Edit::Delete(Key::Resource("test://logo".into())),
            Category::Resources,
        ),
        (
            Edit::Delete(Key::Template("test://files/{+path}".into())),
            Category::Resources,
        ),
        (Edit::Delete(Key::Prompt("greet".into())), Category::Prompts),
    ] {
        assert_eq!(
            server.edit(vec![edit.clone()]),
            BTreeSet::from([category]),
            "{edit:?}"
        );
    }
    let read = modern("resources/read", json!({"uri": "test://files/a"}));
    assert_eq!(
        server.line(&read).code(),
        Some(-32602),
        "the template is gone"
    );
    let read = modern("resources/read", json!({"uri": "test://new/7"}));
    assert_eq!(server.line(&read).asked, ["read test://new/7 with id=7"]);
}

#[test]
fn edits_that_change_nothing_say_so() {
    let mut server = Server::offering(offers(), |_| ());
    let again = offers().into_iter().map(put).collect();
    assert_eq!(server.edit(again), BTreeSet::new());
    assert_eq!(
        server.edit(vec![Edit::Delete(tool("absent"))]),
        BTreeSet::new()
    );
}

/// Tells its functions apart.
struct Numbered(u32);

impl Handler for Numbered {
    fn is_same(&self, other: &dyn Handler) -> bool {
        let other = (other as &dyn std::any::Any).downcast_ref::<Self>();
        other.is_some_and(|other| other.0 == self.0)
    }
}

#[test]
fn another_handler_is_a_change() {
    let numbered = |number| ToolDefinition {
        handler: Arc::new(Numbered(number)),
        ..definition("tool", None)
    };
    let mut server = Server::offering([numbered(1)], |_| ());
    assert_eq!(server.edit(vec![put(numbered(1))]), BTreeSet::new());
    assert_eq!(
        server.edit(vec![put(numbered(2))]),
        BTreeSet::from([Category::Tools])
    );
}

/// What subscribers are told: a client sees no handler.
#[test]
fn another_handler_is_no_other_list() {
    let handled = |number| ToolDefinition {
        handler: Arc::new(Numbered(number)),
        ..definition("tool", None)
    };
    let server = Server::offering([handled(1)], |_| ());
    let listed = |edit| {
        let edited = server.shared.catalog.edit(vec![edit], &config()).unwrap();
        edited.listed
    };
    assert_eq!(listed(put(handled(2))), BTreeSet::new());
    assert_eq!(
        listed(put(definition("more", None))),
        BTreeSet::from([Listing::Tools])
    );
    assert_eq!(
        listed(Edit::Delete(tool("tool"))),
        BTreeSet::from([Listing::Tools])
    );
}

#[test]
fn an_edit_with_a_fault_changes_nothing() {
    let server = Server::offering([definition("a", None)], |_| ());
    let before = server.shared.catalog.digest().to_owned();
    let edits = vec![
        put(definition("good", None)),
        put(definition("not good", None)),
        put(template("test://{a}{b}")),
        put(resource("no uri")),
    ];
    let faults = server.shared.catalog.edit(edits, &config()).unwrap_err();
    let places: Vec<_> = faults.iter().map(|fault| fault.place.as_str()).collect();
    assert_eq!(places, ["name", "uri_template", "uri"]);
    assert_eq!(*server.shared.catalog.digest(), before);
}

/// D6: a call in flight keeps the definition that it started with.
#[test]
fn calls_in_flight_stay_on_the_old_definition() {
    let mut server = Server::offering([definition("tool", None)], |_| ());
    let line = call("tool", json!({})).to_string();
    let pending = server.begin_line(Line::Whole(line.into()));
    let pending = server.until_called(pending);
    server.edit(vec![Edit::Delete(tool("tool"))]);
    let reply = pending.feed(server.now, text("still here")).reply();
    assert_eq!(reply.text(), "still here");
}

/// An edited catalog is byte for byte the one that its definitions would have made at once (CACHE, X33).
#[test]
fn digests_do_not_tell_how_a_catalog_came_about() {
    let all = Catalog::compile(offers(), &config()).unwrap();
    let edits = offers().into_iter().map(put).collect();
    let edited = Catalog::default().edit(edits, &config()).unwrap().catalog;
    assert_eq!(edited.digest(), all.digest());
    assert!(edited.tool_digests().eq(all.tool_digests()));
    assert!(edited.template_digests().eq(all.template_digests()));
    assert_ne!(Catalog::default().digest(), all.digest());
}

/// A catalog of tools as a plain list of names and descriptions.
#[derive(Default)]
struct Model(Vec<(String, String)>);

impl Model {
    /// Whether anything changed.
    fn put(&mut self, name: &str, description: &str) -> bool {
        let new = (name.to_owned(), description.to_owned());
        if let Some(old) = self.0.iter_mut().find(|(known, _)| known == name) {
            return std::mem::replace(old, new.clone()) != new;
        }
        self.0.push(new);
        true
    }

    fn delete(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|(known, _)| known != name);
        self.0.len() < before
    }

    fn names(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _)| name.as_str()).collect()
    }
}

/// The tool of an edit, and the description to put it with; without one it is deleted.
fn steps() -> impl Strategy<Value = Vec<(&'static str, Option<&'static str>)>> {
    let name = prop::sample::select(vec!["a", "b", "c", "d", "e", "f", "g"]);
    let description = prop::sample::select(vec![None, Some("one"), Some("other")]);
    prop::collection::vec((name, description), 0..40)
}

proptest! {
    /// Any sequence of edits keeps order, index and pages together, as a plain list would.
    #[test]
    fn edits_behave_like_a_list(steps in steps()) {
        let mut model = Model::default();
        let mut catalog = Catalog::default();
        for (name, description) in steps {
            let (edit, differs) = match description {
                Some(description) => {
                    let described = ToolDefinition {
                        description: Some(description.into()),
                        ..definition(name, None)
                    };
                    (put(described), model.put(name, description))
                }
                None => (Edit::Delete(tool(name)), model.delete(name)),
            };
            let edited = catalog.edit(vec![edit], &config()).unwrap();
            prop_assert_eq!(!edited.changed.is_empty(), differs);
            catalog = edited.catalog;
        }
        let listed: Vec<&str> = catalog.tool_digests().map(|(name, _)| name).collect();
        prop_assert_eq!(listed, model.names());
        for name in ["a", "b", "c", "d", "e", "f", "g"] {
            prop_assert_eq!(catalog.tool(name).is_some(), model.names().contains(&name));
        }
    }

    /// Whatever the sizes, the pages put together are the list (PAG-2).
    #[test]
    fn pages_put_together_are_the_list(count in 0..40_usize, page_size in 1..15_usize) {
        let uris: Vec<String> = (0..count).map(|number| format!("test://{number}")).collect();
        let definitions = uris.iter().map(|uri| Definition::from(resource(uri)));
        let template = Definition::from(template("test://{id}"));
        let mut server = Server::offering(definitions.chain([template]), |config| config.page_size = page_size);
        let mut listed = Vec::new();
        let mut params = json!({});
        loop {
            let result = server.line(&modern("resources/list", params)).result();
            let page = result["resources"].as_array().unwrap();
            prop_assert!(page.len() <= page_size);
            listed.extend(page.iter().map(|entry| entry["uri"].as_str().unwrap().to_owned()));
            match &result["nextCursor"] {
                Value::String(cursor) => params = json!({"cursor": cursor}),
                _ => break,
            }
        }
        prop_assert_eq!(listed, uris);
    }
}

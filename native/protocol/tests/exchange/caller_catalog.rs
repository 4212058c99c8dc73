//! Definitions that depend on the caller (`capabilities/1`): TOOL-3, CACHE-7, X24's core.

use std::sync::{Arc, mpsc::channel};

use mcp_protocol::{Catalog, Change, Config, Input, Listing, TRACE_KEYS, Transport, Unanswered};
use serde_json::{Value, json};

use crate::harness::{
    MAX_CALLS, Post, Server, admitted, call, config, definition, modern, nothing, resource,
};

/// Everybody sees `shared`; whoever sends `X-Role: admin` sees `secret` too.
fn server() -> Server {
    server_with(|_| ())
}

fn server_with(change: impl FnOnce(&mut Config)) -> Server {
    let mut server = Server::offering(nothing(), |config| {
        config.caller_catalog = true;
        config.context_headers = vec!["x-role".into()];
        change(config);
    });
    server.world.catalog = Box::new(|context| {
        let is_admin = context
            .head
            .as_ref()
            .is_some_and(|head| head.values("x-role").any(|role| role == b"admin"));
        let mut tools = vec![definition("shared", None)];
        if is_admin {
            tools.push(definition("secret", None));
        }
        Input::Catalog(Arc::new(Catalog::compile(tools, &config()).unwrap()))
    });
    server
}

fn names(result: &Value) -> Vec<&str> {
    result["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

#[test]
fn the_list_is_the_callers() {
    let list = Post::request("tools/list");
    let reply = server().post(&list);
    assert_eq!(reply.asked, ["body 1048576", "catalog for tools/list"]);
    assert_eq!(names(&reply.result()), ["shared"]);
    assert_eq!(reply.result()["cacheScope"], json!("private"));
    let reply = server().post(&list.set("X-Role", "admin"));
    assert_eq!(names(&reply.result()), ["shared", "secret"]);
}

/// What nobody is shown stays where it is.
#[test]
fn a_context_has_the_head_only_for_a_reason() {
    let shows_head = |shown: &[&str], name: &str| {
        let (heads, seen) = channel();
        let mut server = Server::offering(nothing(), |config| {
            config.caller_catalog = true;
            config.context_headers = shown.iter().map(|name| (*name).into()).collect();
        });
        server.world.catalog = Box::new(move |context| {
            assert_eq!(context.transport, Transport::Http);
            heads.send(context.head.is_some()).unwrap();
            Input::Catalog(Arc::default())
        });
        server.post(&Post::request("tools/list").set(name, "1"));
        seen.recv().unwrap()
    };
    assert!(!shows_head(&[], "X-Role"));
    assert!(shows_head(&["x-role"], "X-Role"));
    for name in TRACE_KEYS {
        assert!(shows_head(&[], name));
    }
}

#[test]
fn a_hidden_tool_is_an_unknown_one() {
    let post = |name: &str| Post::modern(&call(name, json!({})));
    assert_eq!(
        server().post(&post("secret").set("X-Role", "admin")).text(),
        "done"
    );
    let hidden = server().post(&post("secret"));
    let unknown = server().post(&post("absent"));
    assert_eq!(
        hidden.message().replace("secret", "absent"),
        unknown.message()
    );
    assert_eq!(
        (hidden.refusal(), hidden.called()),
        (unknown.refusal(), false)
    );
}

/// What the caller's own definitions need is needed to listen to them.
#[test]
fn a_subscription_is_judged_by_the_callers_definitions() {
    let mut server = server().at(|endpoint| endpoint.authorize = true);
    let mut secret = resource("test://secret");
    secret.access.required_scopes = vec!["secret.read".into()];
    server.world.catalog = Box::new(move |_| {
        let catalog = Catalog::compile([secret.clone()], &config());
        Input::Catalog(Arc::new(catalog.unwrap()))
    });
    server.world.authorize = Box::new(|_| admitted("ann", &["mcp:resources:read"]));
    let filter = json!({"notifications": {"resourceSubscriptions": ["test://secret"]}});
    let reply = server.post(&Post::modern(&modern("subscriptions/listen", filter)));
    assert_eq!(reply.answer.status, 403);
}

/// A change is heard of by the definitions that the caller has then, and by the scopes that the stream was opened with.
#[test]
fn each_change_is_judged_by_the_callers_definitions_of_then() {
    let mut server = server().at(|endpoint| endpoint.authorize = true);
    server.world.authorize = Box::new(|_| admitted("ann", &["mcp:resources:read"]));
    let uris = ["test://ours", "test://others"];
    let filter = json!({"notifications": {"resourceSubscriptions": uris}});
    let pending = server.begin(&Post::modern(&modern("subscriptions/listen", filter)));
    let mut pending = server.until_listening(pending);
    let ours = |scopes: &[&str]| {
        let mut ours = resource("test://ours");
        ours.access.required_scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        Input::Catalog(Arc::new(Catalog::compile([ours], &config()).unwrap()))
    };
    let nothing = || Input::Catalog(Arc::default());
    for (catalog, uri, told) in [
        (ours(&[]), "test://ours", "deliver Now"),
        (ours(&[]), "test://others", "deliver Withheld"),
        (ours(&["secret.read"]), "test://ours", "deliver Withheld"),
        (nothing(), "test://ours", "deliver Withheld"),
        (ours(&[]), "test://ours", "deliver Now"),
        (
            Input::Unanswered(Unanswered::Failed),
            "test://ours",
            "deliver Withheld",
        ),
        (
            Input::Unanswered(Unanswered::Deadline),
            "test://ours",
            "deliver Withheld",
        ),
        (
            Input::Unanswered(Unanswered::Busy(MAX_CALLS)),
            "test://ours",
            "deliver Later",
        ),
    ] {
        let mut catalog = Some(catalog);
        server.world.catalog = Box::new(move |context| {
            assert_eq!(context.method.as_str(), "subscriptions/listen");
            catalog.take().expect("a change asks once")
        });
        let change = Change::resource(uri).unwrap();
        pending = pending.permit_change(&mut server, &change);
        assert_eq!(pending.question(), Some(told), "{uri}");
    }
    server.world.catalog = Box::new(|_| panic!("lists are everybody's"));
    let pending = pending.permit_change(&mut server, &Change::List(Listing::Tools));
    assert_eq!(pending.question(), Some("deliver Withheld"));
}

#[test]
fn everything_listed_is_advertised_before_anybody_asked() {
    let reply = server().line(&modern("server/discover", json!({})));
    let all = json!({
        "completions": {},
        "logging": {},
        "prompts": {"listChanged": true},
        "resources": {"listChanged": true, "subscribe": true},
        "tools": {"listChanged": true},
    });
    assert_eq!(reply.result()["capabilities"], all);
}

#[test]
fn a_cursor_belongs_to_the_list_that_the_caller_saw() {
    let mut server = server_with(|config| config.page_size = 1);
    let list = |params: Value| Post::modern(&modern("tools/list", params));
    let first = server.post(&list(json!({})).set("X-Role", "admin"));
    let cursor = first.result()["nextCursor"].take();
    let next = list(json!({"cursor": cursor}));
    assert_eq!(
        server.post(&next).code(),
        Some(-32602),
        "another caller's cursor"
    );
    assert_eq!(
        names(&server.post(&next.set("X-Role", "admin")).result()),
        ["secret"]
    );
}

#[test]
fn a_catalog_that_fails_is_the_servers_error() {
    for (why, status, code) in [
        (Unanswered::Failed, 200, -32603),
        (Unanswered::Deadline, 503, -32603),
        (Unanswered::Busy(MAX_CALLS), 503, -31503),
    ] {
        let mut server = server();
        server.world.catalog = Box::new(move |_| Input::Unanswered(why));
        let reply = server.post(&Post::request("tools/list"));
        assert_eq!(
            reply.refusal(),
            (status, Some(code), Some(json!(1))),
            "{why:?}"
        );
    }
}

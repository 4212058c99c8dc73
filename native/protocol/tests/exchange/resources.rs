//! Resources and templates: RES-*, HDR-4, A-27, G09.

use base64::{Engine, engine::general_purpose::STANDARD};
use mcp_protocol::{Body, CallOutcome, Catalog, Contents, Definition, Edit, Input, Key, Piece};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{
    Post, Reply, Server, by_every_revision, config, contents, json_text, legacy, modern, not_found,
    offering_all, piece, pieces, resource, session, template,
};

fn read(uri: &str) -> Value {
    modern("resources/read", json!({"uri": uri}))
}

fn asked(server: &mut Server, uri: &str) -> Vec<String> {
    server.line(&read(uri)).asked
}

/// RES-15: the resource itself first, then templates by registration order.
#[test]
fn res15_the_first_that_matches_is_read() {
    let definitions: Vec<Definition> = vec![
        template("test://{+any}").into(),
        template("test://users/{id}").into(),
        resource("test://users/me").into(),
        template("other://users/{id}").into(),
    ];
    let mut server = Server::offering(definitions, |_| ());
    for (uri, question) in [
        ("test://users/me", "read test://users/me"),
        ("test://users/7", "read test://users/7 with any=users/7"),
        ("other://users/7", "read other://users/7 with id=7"),
    ] {
        assert_eq!(asked(&mut server, uri), [question]);
    }
    for uri in ["other://users/7/8", "TEST://users/7", "test://", "x", ""] {
        assert_eq!(server.line(&read(uri)).code(), Some(-32602), "{uri}");
    }
}

/// However many templates there are, the first registered wins among those of every prefix of the URI.
#[test]
fn templates_of_many_prefixes_are_found() {
    let families = (0..500).map(|number| template(&format!("test://family-{number}/{{id}}")));
    let nested = ["test://a/{+rest}", "test://a/b/{id}", "test://a/b/c/{id}"].map(template);
    let mut server = Server::offering(families.chain(nested), |_| ());
    for (uri, question) in [
        ("test://family-7/x", "read test://family-7/x with id=x"),
        ("test://family-77/x", "read test://family-77/x with id=x"),
        ("test://a/b/c/x", "read test://a/b/c/x with rest=b/c/x"),
    ] {
        assert_eq!(asked(&mut server, uri), [question]);
    }
    for uri in ["test://family-/x", "test://family-500/x", "test://\u{e9}"] {
        assert!(asked(&mut server, uri).is_empty(), "{uri}");
    }
}

proptest! {
    /// The index finds what trying every template in order would.
    #[test]
    fn the_index_finds_what_a_search_would(
        prefixes in prop::collection::vec("[ab/]{0,4}", 1..12),
        uri in "x:[ab/]{0,7}",
        removed in prop::collection::vec(any::<prop::sample::Index>(), 0..3),
    ) {
        let mut templates: Vec<String> = prefixes.iter().map(|it| format!("x:{it}{{+rest}}")).collect();
        templates.sort();
        templates.dedup();
        templates.reverse();
        let definitions = templates.iter().map(|text| template(text));
        let mut catalog = Catalog::compile(definitions, &config()).unwrap();
        for index in removed {
            let text = templates.remove(index.index(templates.len()));
            let delete = vec![Edit::Delete(Key::Template(text))];
            catalog = catalog.edit(delete, &config()).unwrap().catalog;
            if templates.is_empty() {
                break;
            }
        }
        let matches = |text: &&String| {
            let alone = Catalog::compile([template(text)], &config()).unwrap();
            alone.matching_template(&uri).is_some()
        };
        let expected = templates.iter().find(matches);
        let found = catalog.matching_template(&uri);
        prop_assert_eq!(found.map(|(template, _)| &*template.uri_template), expected.map(|text| &**text));
    }
}

/// RES-8: no value leads out of where it belongs.
#[test]
fn res8_traversal_is_not_found() {
    let mut server = offering_all();
    for path in [
        "..",
        "a/../b",
        "%2e%2e",
        "a/%2E%2E/b",
        "..%2fb",
        "a%00b",
        "a%5cb",
    ] {
        let reply = server.line(&read(&format!("test://files/{path}")));
        assert_eq!(reply.code(), Some(-32602), "{path}");
        assert!(!reply.called(), "{path}");
    }
}

/// HDR-4, A-27: the header repeats the URI, byte by byte.
#[test]
fn hdr4_the_uri_is_mirrored() {
    let post = Post::modern(&read("test://notes"));
    let status = |post: &Post| offering_all().post(post).refusal();
    let mismatch = (400, Some(-32020), Some(json!(1)));
    assert_eq!(status(&post).0, 200);
    for wrong in [
        post.clone().without("Mcp-Name"),
        post.clone().set("Mcp-Name", "test://logo"),
        post.clone().set("Mcp-Name", "test://notes/"),
        post.clone().set("Mcp-Name", "TEST://notes"),
        // G09
        post.clone().also("Mcp-Name", "test://notes"),
    ] {
        assert_eq!(status(&wrong), mismatch, "{wrong:?}");
    }
    let uri = "test://users/\u{e9}";
    let encoded = format!("=?base64?{}?=", STANDARD.encode(uri));
    let reply = offering_all().post(&Post::modern(&read(uri)).set("Mcp-Name", encoded));
    assert_eq!(reply.answer.status, 200, "{}", reply.message());
    // HDR-10: nothing to mirror in lists and completions.
    let list = Post::request("resources/list").set("Mcp-Name", "anything");
    assert_eq!(status(&list).0, 200);
}

#[test]
fn malformed_parameters_are_refused() {
    for params in [json!({}), json!({"uri": 1}), json!({"uri": null})] {
        let post = Post::modern(&modern("resources/read", params));
        let reply = offering_all().post(&post);
        assert_eq!(reply.refusal(), (200, Some(-32602), Some(json!(1))));
        assert!(reply.message().contains("params.uri"));
    }
}

/// What a client sends does not come back to it whole.
#[test]
fn an_endless_uri_is_not_echoed() {
    let uri = format!("test://{}", "x".repeat(100_000));
    let reply = offering_all().line(&read(&uri));
    assert_eq!(reply.refusal(), (200, Some(-32602), Some(json!(1))));
    assert!(reply.json().to_string().len() < 1_000);
}

/// RES-6, ERR-4: one code for each era, over HTTP with 200 (A-3).
#[test]
fn res6_what_does_not_exist_is_named() {
    let by_handler = || offering_all().handling(|_| not_found());
    for (uri, mut server) in [
        ("test://none", offering_all()),
        ("test://notes", by_handler()),
    ] {
        let reply = server.post(&Post::modern(&read(uri)));
        assert_eq!(reply.refusal(), (200, Some(-32602), Some(json!(1))));
        assert_eq!(reply.json()["error"]["data"], json!({"uri": uri}));
        server.world.sessions.insert("s1".into(), session(None));
        let message = legacy("resources/read", json!({"uri": uri}));
        let reply = server.post(&Post::legacy(Some("s1"), &message));
        assert_eq!(reply.refusal(), (200, Some(-32002), Some(json!(1))));
        assert_eq!(reply.json()["error"]["data"], json!({"uri": uri}));
    }
}

/// RES-7: a resource without contents is a fault of the host's, not an empty answer.
#[test]
fn res7_no_contents_are_a_host_fault() {
    let reply = offering_all()
        .handling(|_| pieces(Vec::new()))
        .line(&read("test://notes"));
    assert_eq!(reply.code(), Some(-32603));
    assert_eq!(reply.message(), "The server failed");
    let fault = reply.answer.summary.host_fault.unwrap();
    assert!(fault.contains(":not_found"), "{fault}");
}

/// RES-5: several pieces, each with a URI, a media type and metadata of its own.
#[test]
fn res5_pieces_may_say_what_they_are() {
    let outcome = || {
        let other = Piece {
            uri: Some("test://notes/2".into()),
            mime_type: Some("text/html".into()),
            body: Body::Blob(json_text("+/8=")),
            meta: Some(r#"{"com.example/page":2}"#.into()),
        };
        Input::Outcome(CallOutcome::Contents(Contents {
            pieces: vec![piece(Body::Text(json_text("one"))), other],
            meta: Some(br#"{"com.example/pages":2}"#.into()),
            ..Contents::default()
        }))
    };
    let mut server = offering_all().handling(move |_| outcome());
    let result = server.line(&read("test://notes")).result();
    assert_eq!(
        result["contents"],
        json!([
            {"uri": "test://notes", "mimeType": "text/plain", "text": "one"},
            {"uri": "test://notes/2", "mimeType": "text/html", "blob": "+/8=", "_meta": {"com.example/page": 2}},
        ])
    );
    assert_eq!(result["_meta"]["com.example/pages"], json!(2));
}

#[test]
fn an_answer_of_another_kind_is_a_host_fault() {
    let mut server = offering_all().handling(|_| crate::harness::text("a tool's"));
    let reply = server.line(&read("test://notes"));
    assert_eq!(
        (reply.code(), reply.message()),
        (Some(-32603), "The server failed".into())
    );
    let mut server = offering_all().handling(|_| contents("a resource's"));
    assert_eq!(
        server.line(&crate::harness::call("now", json!({}))).text(),
        "The tool failed."
    );
    let mut server = offering_all().handling(|_| not_found());
    let reply = server.line(&modern(
        "prompts/get",
        json!({"name": "greet", "arguments": {"name": "a"}}),
    ));
    assert_eq!(reply.code(), Some(-32603));
    assert!(
        reply
            .answer
            .summary
            .host_fault
            .unwrap()
            .contains("NotFound")
    );
}

/// DISC-5, X32: templates alone make a server offer resources; the list is then empty (RES-2).
#[test]
fn res2_the_list_answers_when_only_templates_exist() {
    let mut server = Server::offering([template("test://{id}")], |_| ());
    let result = server.line(&modern("resources/list", json!({}))).result();
    assert_eq!(result["resources"], json!([]));
    let mut without = Server::new();
    for method in [
        "resources/list",
        "resources/templates/list",
        "resources/read",
    ] {
        let reply = without.post(&Post::request(method).set("Mcp-Name", "x"));
        assert_eq!(
            reply.refusal(),
            (404, Some(-32601), Some(json!(1))),
            "{method}"
        );
    }
}

/// X15: `resultType` in every modern result, in no legacy one.
#[test]
fn x15_result_types_are_modern_alone() {
    for (method, params) in [
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({"uri": "test://notes"})),
        ("prompts/list", json!({})),
    ] {
        let mut server = offering_all().handling(|_| contents("text"));
        let [newest, older, oldest] = by_every_revision(&mut server, method, &params);
        let has_type = |reply: &Reply| reply.result().get("resultType").is_some();
        assert_eq!(
            [&newest, &older, &oldest].map(has_type),
            [true, false, false]
        );
        let has_ttl = |reply: &Reply| reply.result().get("ttlMs").is_some();
        assert_eq!(
            [&newest, &older, &oldest].map(has_ttl),
            [true, false, false]
        );
    }
}

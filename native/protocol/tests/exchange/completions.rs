//! Completion: CMP-*, A-34.

use mcp_protocol::{CallOutcome, CompletionResult, Definition, Input, Reference};
use serde_json::{Value, json};

use crate::harness::{
    Post, Server, completion, modern, offering_all, prompt, resource, template, values,
};

fn complete(reference: Value, argument: &str) -> Value {
    let argument = json!({"name": argument, "value": "A"});
    modern(
        "completion/complete",
        json!({"ref": reference, "argument": argument}),
    )
}

fn of_prompt(name: &str) -> Value {
    json!({"type": "ref/prompt", "name": name})
}

fn of_resource(uri: &str) -> Value {
    json!({"type": "ref/resource", "uri": uri})
}

/// The most specific completion is asked; the host's own function for all when there is none.
#[test]
fn the_most_specific_completion_is_asked() {
    let greet = || Reference::Prompt("greet".into());
    let definitions: Vec<Definition> = vec![
        prompt("greet", &["name", "style"]).into(),
        completion(greet(), None).into(),
        completion(greet(), Some("name")).into(),
        prompt("other", &["a"]).into(),
    ];
    for (message, argument, by_host) in [
        (complete(of_prompt("greet"), "name"), Some("name"), false),
        (complete(of_prompt("greet"), "style"), None, false),
        (complete(of_prompt("other"), "a"), None, true),
    ] {
        let mut server = Server::offering(definitions.clone(), |config| config.completes = true)
            .handling(move |call| {
                let mcp_protocol::Target::Completion(completing) = &call.target else {
                    panic!("not a completion: {call:?}");
                };
                let asked = completing.completion.as_ref();
                assert_eq!(asked.is_none(), by_host);
                let key = asked.and_then(|completion| completion.key.argument.clone());
                assert_eq!(key.as_deref(), argument);
                values(&["Ada"])
            });
        assert!(server.line(&message).result()["completion"].is_object());
    }
}

/// A template is named by its text or by a URI that it matches.
#[test]
fn resources_are_named_by_template_or_uri() {
    for uri in ["test://users/{id}", "test://users/7"] {
        let reply = offering_all()
            .handling(|_| values(&["7"]))
            .line(&complete(of_resource(uri), "id"));
        assert_eq!(reply.asked, [format!("complete id of {uri}: A {{}}")]);
    }
}

/// CMP-6: nobody completes these, and the host is not asked.
#[test]
fn cmp6_an_argument_without_completion_has_no_values() {
    for (reference, argument) in [
        (of_prompt("greet"), "style"),
        (of_prompt("greet"), "none"),
        (of_resource("test://notes"), "id"),
        (of_resource("test://users/{id}"), "none"),
        (of_resource("test://files/{+path}"), "path"),
    ] {
        let reply = offering_all().line(&complete(reference, argument));
        assert_eq!(reply.result()["completion"], json!({"values": []}));
        assert!(reply.asked.is_empty());
    }
}

/// RES-15: a listed resource is itself, and none of a template that would match it, whoever may complete that.
#[test]
fn a_listed_resource_is_not_completed_as_one_of_a_template() {
    let by_template = Reference::Resource("db://{table}".into());
    let definitions: Vec<Definition> = vec![
        resource("db://public").into(),
        template("db://{table}").into(),
        completion(by_template, Some("table")).into(),
    ];
    let mut server = Server::offering(definitions, |_| ()).handling(|_| values(&["secret"]));
    let reply = server.line(&complete(of_resource("db://public"), "table"));
    assert_eq!(reply.result()["completion"], json!({"values": []}));
    assert!(reply.asked.is_empty());
    let reply = server.line(&complete(of_resource("db://other"), "table"));
    assert_eq!(reply.result()["completion"]["values"], json!(["secret"]));
}

/// A-34, CMP-6
#[test]
fn a34_unknown_references_and_malformed_parameters_are_refused() {
    let right = json!({"name": "name", "value": ""});
    for (reference, argument) in [
        (of_prompt("none"), right.clone()),
        (of_resource("test://none"), right.clone()),
        (json!({"type": "ref/none", "name": "greet"}), right.clone()),
        (json!({"type": "ref/prompt"}), right.clone()),
        (json!({"type": "ref/prompt", "name": 1}), right.clone()),
        (json!("greet"), right),
        (of_prompt("greet"), json!({"name": "name"})),
        (of_prompt("greet"), json!({"value": "A"})),
        (of_prompt("greet"), json!({"name": "name", "value": 1})),
        (of_prompt("greet"), Value::Null),
    ] {
        let params = json!({"ref": reference, "argument": argument});
        let reply = offering_all().post(&Post::modern(&modern("completion/complete", params)));
        assert_eq!(
            reply.refusal(),
            (200, Some(-32602), Some(json!(1))),
            "{reference} {argument}"
        );
    }
    for context in [
        json!(1),
        json!({"arguments": []}),
        json!({"arguments": {"a": 1}}),
    ] {
        let mut message = complete(of_prompt("greet"), "name");
        message["params"]["context"] = context.clone();
        assert_eq!(
            offering_all().line(&message).code(),
            Some(-32602),
            "{context}"
        );
    }
}

/// CMP-3: at most a hundred values, and how many there are.
#[test]
fn cmp3_many_values_are_cut() {
    let many: Vec<String> = (0..250).map(|number| format!("A{number}")).collect();
    for (total, has_more, count, told) in [
        (None, None, 250, json!({"total": 250, "hasMore": true})),
        (
            Some(900),
            Some(false),
            250,
            json!({"total": 900, "hasMore": true}),
        ),
        (None, None, 100, json!({})),
        (
            Some(100),
            Some(false),
            100,
            json!({"total": 100, "hasMore": false}),
        ),
        (None, Some(true), 1, json!({"hasMore": true})),
    ] {
        let values = many[..count].to_vec();
        let mut server = offering_all().handling(move |_| {
            Input::Outcome(CallOutcome::Completion(CompletionResult {
                values: values.clone(),
                total,
                has_more,
            }))
        });
        let mut result = server.line(&complete(of_prompt("greet"), "name")).result();
        let mut completion = result["completion"].take();
        let values = completion
            .as_object_mut()
            .unwrap()
            .remove("values")
            .unwrap();
        assert_eq!(values.as_array().unwrap().len(), count.min(100));
        assert_eq!(completion, told);
    }
}

/// CMP-1
#[test]
fn cmp1_completion_is_served_where_something_completes() {
    let message = complete(of_prompt("greet"), "name");
    let offers = || [prompt("greet", &["name"])];
    let reply = Server::offering(offers(), |_| ()).post(&Post::modern(&message));
    assert_eq!(reply.refusal(), (404, Some(-32601), Some(json!(1))));
    let mut server = Server::offering(offers(), |config| config.completes = true);
    let discovered = server.line(&modern("server/discover", json!({}))).result();
    assert_eq!(
        discovered["capabilities"],
        json!({"completions": {}, "logging": {}, "prompts": {"listChanged": true}})
    );
    let reply = server.handling(|_| values(&[])).line(&message);
    assert_eq!(reply.result()["completion"], json!({"values": []}));
}

#[test]
fn definitions_that_cannot_be_meant_are_refused() {
    for key in [
        completion(Reference::Prompt("".into()), None),
        completion(Reference::Prompt("greet".into()), Some("")),
    ] {
        let faults = mcp_protocol::Catalog::compile([key], &crate::harness::config());
        assert_eq!(faults.unwrap_err()[0].place, "ref");
    }
}

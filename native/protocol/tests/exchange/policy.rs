//! Scopes of definitions, and what the host says of them: who sees which, and what the others are told.

use std::{collections::BTreeMap, sync::Arc};

use mcp_auth::{Denial, Gates, Issuer, Scheme, Scope, Selection, Settings, SignIn, StepUp};
use mcp_protocol::{
    Access, Authorized, Change, Config, Definition, Edit, Grant, Identity, Input, Listing,
    Permission, PermitAsk, Reference, ScopePolicy, Unanswered,
};
use serde_json::{Value, json};

use crate::harness::{
    Post, Reply, Server, call, completion, definition, identity, modern, prompt, resource, template,
};

/// What every definition under test needs.
fn access(denial: Option<Denial>) -> Access {
    Access {
        required_scopes: vec!["secret.read".into()],
        alternative_scope_sets: vec![vec!["secret.admin".into(), "secret.audit".into()]],
        denial,
    }
}

/// One open definition of each kind, and one that needs scopes.
fn offers(denial: Option<Denial>) -> Vec<Definition> {
    let mut secrets = (
        definition("secret", None),
        resource("test://secret"),
        template("test://secrets/{id}"),
        prompt("secret", &["about!"]),
    );
    secrets.0.access = access(denial);
    secrets.1.access = access(denial);
    secrets.2.access = access(denial);
    secrets.3.access = access(denial);
    vec![
        definition("open", None).into(),
        secrets.0.into(),
        resource("test://open").into(),
        secrets.1.into(),
        template("test://opens/{id}").into(),
        secrets.2.into(),
        prompt("open", &[]).into(),
        secrets.3.into(),
        completion(Reference::Prompt("secret".into()), None).into(),
        completion(Reference::Resource("test://secrets/{id}".into()), None).into(),
    ]
}

/// A server whose caller has all scopes of methods and `more`.
fn server(denial: Option<Denial>, policy: ScopePolicy, more: &[&str]) -> Server {
    let change = move |config: &mut Config| config.scopes = policy;
    let mut server =
        Server::offering(offers(denial), change).at(|endpoint| endpoint.guarded = true);
    let granted = [
        "mcp:tools:read",
        "mcp:tools:call",
        "mcp:resources:read",
        "mcp:prompts:read",
    ];
    grant(&mut server, "ann", &[&granted, more].concat());
    server
}

fn grant(server: &mut Server, name: &'static str, scopes: &[&str]) {
    let scopes = scopes.iter().map(|scope| Scope::parse(scope).unwrap());
    let granted = Arc::new(scopes.collect());
    let issuers = vec![Issuer::new("https://auth.example.com")];
    let settings = Settings::new("https://mcp.example.com/mcp", issuers);
    let resource = Arc::new(mcp_auth::Config::new(settings).unwrap());
    server.world.authorize = Box::new(move |_| {
        Input::Authorized(Authorized::Grant(Box::new(Grant {
            identity: Identity {
                scopes: Some(Arc::clone(&granted)),
                ..identity(name)
            },
            ends_ms: u64::MAX,
            headers: Vec::new(),
            again: None,
            resource: Arc::clone(&resource),
            scheme: Scheme::Bearer,
            token: None,
            sign_in: SignIn {
                acr: Some("pwd".into()),
                auth_time: Some(1_799_999_000.0),
            },
        })))
    });
}

/// Under a policy that selects definitions for lists and calls.
fn selecting() -> ScopePolicy {
    let policy = [
        ("tools/list", Selection::VisibleDefinitions),
        ("resources/list", Selection::VisibleDefinitions),
        ("resources/templates/list", Selection::VisibleDefinitions),
        ("tools/call", Selection::SelectedDefinition),
        ("resources/read", Selection::SelectedDefinition),
    ];
    let policy = policy.map(|(method, selection)| (method.to_owned(), selection));
    ScopePolicy {
        gates: Gates::new(&BTreeMap::new(), &policy.into(), &[]).unwrap(),
        ..ScopePolicy::default()
    }
}

/// A policy whose host decides too.
fn asking(steps_up: bool) -> ScopePolicy {
    ScopePolicy {
        authorizes_definitions: true,
        steps_up,
        ..ScopePolicy::default()
    }
}

/// Every request that names a definition, for one whose name ends with `name`.
fn requests(name: &str) -> Vec<Value> {
    let uri = format!("test://{name}");
    let member = format!("test://{name}s/7");
    let named = json!({"type": "ref/prompt", "name": name});
    let listed = json!({"type": "ref/resource", "uri": format!("test://{name}s/{{id}}")});
    vec![
        call(name, json!({"wrong": 1})),
        modern("resources/read", json!({"uri": uri})),
        modern("resources/read", json!({"uri": member})),
        modern("prompts/get", json!({"name": name})),
        complete(&named, "about"),
        complete(&listed, "id"),
    ]
}

fn complete(reference: &Value, argument: &str) -> Value {
    let argument = json!({"name": argument, "value": ""});
    modern(
        "completion/complete",
        json!({"ref": reference, "argument": argument}),
    )
}

/// The answer with the name that was asked for taken out.
fn neutral(reply: &Reply, name: &str) -> (u16, String) {
    let body = String::from_utf8(reply.answer.body.clone()).unwrap();
    (reply.answer.status, body.replace(name, "*"))
}

#[test]
fn a_hidden_definition_is_answered_as_none() {
    let mut server = server(Some(Denial::Neutral), ScopePolicy::default(), &[]);
    for (hidden, unknown) in requests("secret").iter().zip(requests("nobody")) {
        let hidden = server.post(&Post::modern(hidden));
        let unknown = server.post(&Post::modern(&unknown));
        assert_eq!(neutral(&hidden, "secret"), neutral(&unknown, "nobody"));
        assert_eq!(hidden.asked, unknown.asked);
        let refusal = hidden.answer.summary.refusal;
        assert_eq!(refusal, unknown.answer.summary.refusal);
        assert!(hidden.code().is_some());
    }
}

#[test]
fn one_clause_opens_it_and_half_of_one_does_not() {
    for (more, status) in [
        (&["secret.read"][..], 200),
        (&["secret.admin", "secret.audit"], 200),
        (&["secret.admin"], 403),
        (&["secret.read.more", "SECRET.READ"], 403),
    ] {
        let mut server = server(None, ScopePolicy::default(), more);
        let reply = server.post(&Post::modern(&call("secret", json!({}))));
        assert_eq!(reply.answer.status, status, "{more:?}");
    }
}

/// AUTH-15: gate and primary clause in one challenge, whether the gate is passed or not; never the alternatives.
#[test]
fn a_challenge_names_the_gate_and_the_primary_clause() {
    let mut server = server(None, ScopePolicy::default(), &[]);
    let reply = server.post(&Post::modern(&call("secret", json!({}))));
    assert_eq!(reply.refusal(), (403, Some(-31403), Some(json!(1))));
    let challenge = reply.header("www-authenticate").unwrap();
    assert!(challenge.contains(r#"scope="mcp:tools:call secret.read", "#));
    let data = json!({"requiredScopes": ["mcp:tools:call", "secret.read"]});
    assert_eq!(reply.json()["error"]["data"], data);

    grant(&mut server, "ann", &[]);
    let reply = server.post(&Post::modern(&call("secret", json!({}))));
    assert_eq!(reply.json()["error"]["data"], data);
    let read = modern("resources/read", json!({"uri": "test://secrets/7"}));
    let data = json!({"requiredScopes": ["mcp:resources:read", "secret.read"]});
    assert_eq!(
        server.post(&Post::modern(&read)).json()["error"]["data"],
        data
    );
}

/// One that is not to be known is in no challenge.
#[test]
fn a_gate_that_is_not_passed_says_nothing_of_a_hidden_definition() {
    let mut server = server(Some(Denial::Neutral), ScopePolicy::default(), &[]);
    grant(&mut server, "ann", &[]);
    for (hidden, unknown) in requests("secret").iter().zip(requests("nobody")) {
        let hidden = server.post(&Post::modern(hidden));
        let unknown = server.post(&Post::modern(&unknown));
        assert_eq!(hidden.answer.status, 403);
        assert_eq!(hidden.answer.body, unknown.answer.body);
        assert_eq!(hidden.answer.headers, unknown.answer.headers);
    }
}

#[test]
fn a_policy_puts_definitions_in_the_place_of_the_gate() {
    let mut server = server(None, selecting(), &[]);
    grant(&mut server, "ann", &["secret.read"]);
    for name in ["open", "secret"] {
        let reply = server.post(&Post::modern(&call(name, json!({}))));
        assert_eq!(reply.answer.status, 200);
    }
    grant(&mut server, "ann", &["mcp:tools:call"]);
    let hidden = server.post(&Post::modern(&call("secret", json!({}))));
    let unknown = server.post(&Post::modern(&call("nobody", json!({}))));
    assert_eq!(neutral(&hidden, "secret"), neutral(&unknown, "nobody"));
    assert_eq!(names(&mut server, "tools/list", "tools"), ["open"]);
    assert_eq!(
        names(&mut server, "resources/templates/list", "resourceTemplates").len(),
        1
    );
}

/// All lists, with the number of rows in each.
fn lists(server: &mut Server) -> [usize; 4] {
    [
        ("tools/list", "tools"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ]
    .map(|(method, member)| names(server, method, member).len())
}

fn names(server: &mut Server, method: &str, member: &str) -> Vec<String> {
    let reply = server.post(&Post::request(method));
    let rows = reply.result()[member].as_array().unwrap().clone();
    let name = |row: &Value| row["name"].as_str().unwrap().to_owned();
    rows.iter().map(name).collect()
}

#[test]
fn lists_leave_out_what_is_hidden_and_show_what_can_be_asked_for() {
    let hiding = ScopePolicy {
        hide_unauthorized: true,
        ..ScopePolicy::default()
    };
    let shown = |denial, policy: &ScopePolicy, more: &[&str]| {
        lists(&mut server(denial, policy.clone(), more))
    };
    assert_eq!(
        shown(Some(Denial::Neutral), &ScopePolicy::default(), &[]),
        [1; 4]
    );
    assert_eq!(shown(None, &ScopePolicy::default(), &[]), [2; 4]);
    assert_eq!(shown(None, &hiding, &[]), [1; 4]);
    assert_eq!(
        shown(Some(Denial::Neutral), &hiding, &["secret.read"]),
        [2; 4]
    );
    assert_eq!(shown(None, &selecting(), &[]), [1, 1, 1, 2]);
}

/// 5 definitions of which every other is hidden, on pages of 2.
fn paged(policy: ScopePolicy) -> Server {
    let tools = (0..5).map(|number| {
        let mut tool = definition(&format!("tool-{number}"), None);
        if number % 2 == 1 {
            tool.access = access(Some(Denial::Neutral));
        }
        tool
    });
    let change = |config: &mut Config| {
        config.scopes = policy;
        config.page_size = 2;
    };
    Server::offering(tools, change).at(|endpoint| endpoint.guarded = true)
}

fn page(server: &mut Server, cursor: &Value) -> Reply {
    let params = match cursor {
        Value::Null => json!({}),
        cursor => json!({"cursor": cursor}),
    };
    server.post(&Post::modern(&modern("tools/list", params)))
}

#[test]
fn rows_are_left_out_before_pages_are_made() {
    let mut server = paged(ScopePolicy::default());
    grant(&mut server, "ann", &["mcp:tools:read"]);
    let first = page(&mut server, &Value::Null).result();
    assert_eq!(first["tools"][1]["name"], "tool-2");
    let second = page(&mut server, &first["nextCursor"]).result();
    assert_eq!(second["tools"][0]["name"], "tool-4");
    assert_eq!(second["tools"].as_array().unwrap().len(), 1);
    assert_eq!(second["nextCursor"], Value::Null);
}

#[test]
fn a_cursor_serves_its_caller_with_the_same_scopes() {
    let mut server = paged(ScopePolicy::default());
    grant(&mut server, "ann", &["mcp:tools:read", "a", "b"]);
    let cursor = page(&mut server, &Value::Null).result()["nextCursor"].clone();
    for (name, scopes, serves) in [
        ("ann", &["b", "a", "mcp:tools:read"][..], true),
        ("ann", &["mcp:tools:read", "a"], false),
        ("ann", &["mcp:tools:read", "secret.read", "a", "b"], false),
        ("bob", &["mcp:tools:read", "a", "b"], false),
    ] {
        grant(&mut server, name, scopes);
        let reply = page(&mut server, &cursor);
        assert_eq!(
            reply.code(),
            (!serves).then_some(-32602),
            "{name} {scopes:?}"
        );
    }
}

/// What becomes visible, or is hidden, changes the list for clients although its text is the same.
#[test]
fn other_scopes_are_another_list() {
    let mut server = server(None, ScopePolicy::default(), &[]);
    let before = (*server.shared.catalog).clone();
    let mut tool = definition("secret", None);
    tool.access = access(Some(Denial::Neutral));
    server.edit(vec![Edit::Put(Box::new(tool.into()))]);
    assert_eq!(server.shared.catalog.differences(&before), [Listing::Tools]);
}

#[test]
fn the_host_decides_after_scopes_and_before_anything_else_is_looked_at() {
    let mut server = server(Some(Denial::Neutral), asking(false), &[]);
    server.world.permit = Box::new(|ask: &PermitAsk| {
        assert_eq!(ask.context.method.as_str(), "tools/call");
        Input::Permission(match &*ask.offer.name {
            "open" => Permission::Denied,
            _ => Permission::Permitted,
        })
    });
    let answers = ["open", "secret", "nobody"].map(|name| {
        let reply = server.post(&Post::modern(&call(name, json!({"wrong": 1}))));
        let asked: Vec<_> = reply
            .asked
            .iter()
            .map(|asked| asked.replace(name, "*"))
            .collect();
        (neutral(&reply, name), asked)
    });
    assert!(answers[0].1.contains(&"permit Tool *".to_owned()));
    assert!(!answers[0].1.iter().any(|asked| asked.starts_with("call")));
    let unknown = answers[2].clone();
    for answer in answers {
        assert_eq!(answer, unknown);
    }
}

#[test]
fn a_host_that_fails_or_is_late_denies() {
    let mut server = server(None, asking(false), &["secret.read"]);
    for why in [Unanswered::Failed, Unanswered::Deadline] {
        server.world.permit = Box::new(move |_| Input::Unanswered(why));
        let reply = server.post(&Post::modern(&call("secret", json!({}))));
        assert_eq!(reply.code(), Some(-32602));
    }
    server.world.permit = Box::new(|_| Input::Permission(Permission::Permitted));
    let reply = server.post(&Post::modern(&call("secret", json!({}))));
    assert_eq!(reply.text(), "done");
}

#[test]
fn the_host_sifts_what_scopes_leave() {
    let mut server = server(Some(Denial::Neutral), asking(false), &[]);
    assert_eq!(lists(&mut server), [1; 4]);
    server.world.sees = Box::new(|name| !name.contains("open"));
    assert_eq!(lists(&mut server), [0; 4]);
    let reply = server.post(&Post::request("tools/list"));
    assert!(
        reply.asked.contains(&"sift open".to_owned()),
        "{:?}",
        reply.asked
    );
}

/// RFC 9470: scopes first, then the sign-in; a hidden definition asks for none.
#[test]
fn a_definition_may_take_a_better_sign_in() {
    let mut server = server(Some(Denial::Neutral), asking(true), &[]);
    let wants = |acr_values: &[&str], max_age_s| {
        let step_up = StepUp {
            acr_values: acr_values.iter().map(|acr| (*acr).into()).collect(),
            max_age_s,
        };
        Box::new(move |_: &PermitAsk| Input::Permission(Permission::StepUp(step_up.clone())))
    };
    server.world.permit = wants(&["phr", "phrh"], Some(300));
    let reply = server.post(&Post::modern(&call("open", json!({}))));
    assert_eq!(reply.refusal(), (401, Some(-31401), Some(json!(1))));
    let challenge = reply.header("www-authenticate").unwrap();
    assert!(challenge.contains(r#"error="insufficient_user_authentication""#));
    assert!(challenge.contains(r#"acr_values="phr phrh", max_age="300", "#));
    assert_eq!(reply.header("cache-control"), Some("no-store"));

    let hidden = server.post(&Post::modern(&call("secret", json!({}))));
    assert_eq!(hidden.code(), Some(-32602));
    server.world.permit = wants(&["pwd"], Some(1_000));
    let reply = server.post(&Post::modern(&call("open", json!({}))));
    assert_eq!(reply.answer.status, 200);

    grant(&mut server, "ann", &[]);
    let reply = server.post(&Post::modern(&call("open", json!({}))));
    assert_eq!(reply.answer.status, 403);
}

fn listen(uris: &[&str]) -> Post {
    let filter = json!({"notifications": {"resourceSubscriptions": uris}});
    Post::modern(&modern("subscriptions/listen", filter))
}

#[test]
fn a_subscription_is_challenged_for_what_says_so() {
    let mut challenging = server(None, ScopePolicy::default(), &[]);
    let reply = challenging.post(&listen(&[
        "test://open",
        "test://secret",
        "test://secrets/1",
    ]));
    let data = json!({"requiredScopes": ["mcp:resources:read", "secret.read"]});
    assert_eq!(reply.json()["error"]["data"], data);

    // What is hidden is subscribed to as what does not exist.
    let mut hiding = server(Some(Denial::Neutral), ScopePolicy::default(), &[]);
    let pending = hiding.begin(&listen(&["test://secret", "test://nobody"]));
    let pending = hiding.until_listening(pending);
    assert_eq!(pending.subscription().filter.uris.len(), 2);
}

#[test]
fn a_stream_tells_what_its_scopes_and_the_host_permit() {
    let mut server = server(Some(Denial::Neutral), asking(false), &[]);
    let uris = [
        "test://open",
        "test://secret",
        "test://secrets/1",
        "test://opens/1",
    ];
    let pending = server.begin(&listen(&uris));
    let mut pending = server.until_listening(pending);
    server.world.permit = Box::new(|ask: &PermitAsk| {
        assert_eq!(ask.context.method.as_str(), "subscriptions/listen");
        Input::Permission(match ask.offer.uri.as_deref() {
            Some("test://opens/1") => Permission::Denied,
            _ => Permission::Permitted,
        })
    });
    for (uri, told) in [
        ("test://open", "deliver Now"),
        ("test://secret", "deliver Withheld"),
        ("test://secrets/1", "deliver Withheld"),
        ("test://opens/1", "deliver Withheld"),
        ("test://nobody", "deliver Now"),
    ] {
        let change = Change::resource(uri).unwrap();
        pending = pending.permit_change(&mut server, &change);
        assert_eq!(pending.question(), Some(told), "{uri}");
    }
    let tools = Change::List(Listing::Tools);
    let pending = pending.permit_change(&mut server, &tools);
    assert_eq!(pending.question(), Some("deliver Now"));
}

/// Where nobody says what a caller was granted, scopes of definitions decide nothing.
#[test]
fn without_scopes_everybody_sees_everything() {
    let mut server = Server::offering(offers(Some(Denial::Neutral)), |_| ());
    assert_eq!(lists(&mut server), [2; 4]);
    let reply = server.line(&call("secret", json!({})));
    assert_eq!(reply.text(), "done");
}

#[test]
fn on_a_pipe_a_denial_has_no_http_parts() {
    let mut server = server(None, ScopePolicy::default(), &[]);
    let scopes = [Scope::parse("mcp:tools:call").unwrap()]
        .into_iter()
        .collect();
    server.pipe.identity = Some(Identity {
        scopes: Some(Arc::new(scopes)),
        ..identity("ann")
    });
    let reply = server.line(&call("secret", json!({})));
    assert_eq!(reply.code(), Some(-31403));
    assert!(reply.answer.headers.is_empty());
}

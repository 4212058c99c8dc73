//! Endpoints behind access tokens: what a driver's decision over one does to an exchange.

use std::{collections::BTreeMap, sync::Arc};

use mcp_auth::{
    Accepted, Binding, Denial, Gates, Hierarchy, Introspection, Issuer, Reason, Scheme, Scope,
    Selection, Settings, SignIn,
};
use mcp_protocol::{
    Access, Authorized, Code, Config, Definition, Error, Grant, Identity, Input, Peer, RequestHead,
    ScopePolicy,
};
use serde_json::json;

use crate::harness::{
    Post, Server, call, definition, identity, modern, prompt, resource as listed, said_bytes,
    template, text, tools,
};

fn guarded() -> Server {
    Server::new().at(|endpoint| endpoint.guarded = true)
}

fn resource() -> Arc<mcp_auth::Config> {
    let issuers = vec![Issuer::new("https://auth.example.com")];
    let settings = Settings::new("https://mcp.example.com/mcp", issuers);
    Arc::new(mcp_auth::Config::new(settings).unwrap())
}

fn granting(ends_ms: u64) -> Server {
    let mut server = guarded().handling(|call| {
        let identity = call.context.identity.as_ref();
        text(&format!("{}", identity.is_some()))
    });
    server.world.authorize = Box::new(move |_| {
        Input::Authorized(Authorized::Grant(Box::new(Grant {
            identity: identity("ann"),
            ends_ms,
            headers: vec![("dpop-nonce", "n".into())],
            again: None,
            resource: resource(),
            scheme: Scheme::Bearer,
            token: None,
            sign_in: SignIn::default(),
        })))
    });
    server
}

#[test]
fn a_grant_serves_and_brings_its_headers() {
    let reply = granting(u64::MAX).post(&Post::modern(&call("now", json!({}))));
    assert_eq!(reply.text(), "true");
    assert_eq!(reply.header("dpop-nonce"), Some("n"));
    assert_eq!(reply.header("vary"), Some("Authorization, DPoP, Origin"));
}

#[test]
fn a_refusal_is_answered_as_it_is() {
    let mut server = guarded();
    server.world.authorize = Box::new(|_| {
        let error = Error::new(Code::Unauthorized, "expired", "Unauthorized");
        let headers = vec![("www-authenticate", "Bearer".into())];
        Input::Authorized(Authorized::Refuse(error, headers))
    });
    let reply = server.post(&Post::modern(&call("now", json!({}))));
    assert_eq!(reply.refusal(), (401, Some(-31401), None));
    assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
    assert_eq!(reply.answer.summary.refusal, Some("expired"));
    assert!(!reply.keeps());
    assert_eq!(reply.asked.len(), 1);
}

#[test]
fn what_is_no_decision_lets_nobody_in() {
    let mut server = guarded();
    server.world.authorize = Box::new(|_| Input::Authorized(Authorized::Settled));
    let reply = server.post(&Post::modern(&call("now", json!({}))));
    assert_eq!(reply.asked.len(), 1);
    assert!(reply.code().is_some());
}

/// A stream holds what the token said: it is not checked again, and it ends with it.
#[test]
fn a_stream_ends_with_its_token() {
    let mut server = granting(0);
    let ends_ms = server.now.wall_ms + 1_000;
    server.world.authorize = granting(ends_ms).world.authorize;
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let pending = server.begin(&Post::modern(&modern("subscriptions/listen", filter)));
    let pending = server.until_listening(pending);

    server.world.authorize = Box::new(|_| panic!("the token is asked for again"));
    server.wait(999);
    let pending = pending.recheck(&mut server);
    assert_eq!(pending.question(), Some("deliver Now"));

    server.wait(1);
    let reply = pending.recheck(&mut server).reply();
    assert_eq!(reply.answer.status, 200);
    assert_eq!(
        said_bytes(&reply.answer.body)["result"]["resultType"],
        "complete"
    );
}

/// What a client without a token is told to ask for: by its headers, and never of what it is not to know.
#[test]
fn a_hint_names_what_everybody_is_told() {
    let access = |denial| Access {
        required_scopes: vec!["notes.delete".into()],
        alternative_scope_sets: Vec::new(),
        denial,
    };
    let tool = |name: &str, denial| {
        let mut tool = definition(name, None);
        tool.access = access(denial);
        tool
    };
    let mut note = listed("test://note");
    note.access = access(None);
    let mut ask = prompt("ask", &[]);
    ask.access = access(None);
    let offers: Vec<Definition> = vec![
        tool("told", Some(Denial::Challenge)).into(),
        tool("usual", None).into(),
        tool("hidden", Some(Denial::Neutral)).into(),
        definition("open", None).into(),
        note.into(),
        template("test://notes/{id}").into(),
        ask.into(),
    ];
    let usual = Server::offering(offers.clone(), |_| ());
    let selecting = Server::offering(offers, |config| {
        let selected = [("tools/call".to_owned(), Selection::SelectedDefinition)];
        config.scopes.gates = Gates::new(&BTreeMap::new(), &selected.into(), &[]).unwrap();
    });
    let suggested = |server: &Server, method: &str, names: &[&str]| {
        let mut head = RequestHead::new("POST", "/mcp", Peer::Unix);
        head.push("mcp-method", method.as_bytes());
        for name in names {
            head.push("mcp-name", name.as_bytes());
        }
        let scopes = server.shared.suggested(&head);
        let scopes: Vec<_> = scopes.iter().map(Scope::as_str).collect();
        scopes.join(" ")
    };
    let (call, both) = ("mcp:tools:call", "mcp:tools:call notes.delete");
    for (names, expected) in [
        (&["told"][..], both),
        (&["usual"], both),
        (&["=?base64?dG9sZA==?="], both),
        (&["hidden"], call),
        (&["unknown"], call),
        (&["open"], call),
        (&["told", "told"], call),
        (&["=?base64?!?="], call),
        (&[], call),
    ] {
        assert_eq!(
            suggested(&usual, "tools/call", names),
            expected,
            "{names:?}"
        );
    }
    let read = "mcp:resources:read notes.delete";
    assert_eq!(suggested(&usual, "resources/read", &["test://note"]), read);
    let read = "mcp:resources:read";
    assert_eq!(
        suggested(&usual, "resources/read", &["test://notes/1"]),
        read
    );
    let get = "mcp:prompts:read notes.delete";
    assert_eq!(suggested(&usual, "prompts/get", &["ask"]), get);
    assert_eq!(suggested(&usual, "tools/list", &["told"]), "mcp:tools:read");

    for (name, expected) in [("told", "notes.delete"), ("usual", ""), ("unknown", "")] {
        assert_eq!(
            suggested(&selecting, "tools/call", &[name]),
            expected,
            "{name}"
        );
    }
}

/// A token that its issuer was asked about is asked about again while a stream is open, by what the request showed.
#[test]
fn an_open_stream_asks_its_issuer_again() {
    let issuer = |asked| Issuer {
        introspection: asked,
        ..Issuer::new("https://auth.example.com")
    };
    let introspection = Introspection {
        allow_unbounded: false,
    };
    for (asked, expected) in [
        (Some(introspection), "settle after 41 bytes to the issuer"),
        (None, "settle"),
    ] {
        let settings = Settings::new("https://mcp.example.com/mcp", vec![issuer(asked)]);
        let resource = Arc::new(mcp_auth::Config::new(settings).unwrap());
        let accepted = accepted();
        let mut server = granting(u64::MAX);
        server.world.authorize = Box::new(move |_| {
            Input::Authorized(Authorized::Grant(Box::new(Grant {
                identity: identity("ann"),
                ends_ms: u64::MAX,
                headers: Vec::new(),
                again: Some(Arc::clone(&accepted)),
                resource: Arc::clone(&resource),
                scheme: Scheme::Bearer,
                token: None,
                sign_in: SignIn::default(),
            })))
        });
        let filter = json!({"notifications": {"toolsListChanged": true}});
        let post = Post::modern(&modern("subscriptions/listen", filter));
        let pending = server.begin(&post.set("Authorization", "Bearer opaque"));
        let pending = server.until_listening(pending);
        server.world.authorize = Box::new(|_| Input::Authorized(Authorized::Settled));
        let pending = pending.recheck(&mut server);
        assert_eq!(pending.question(), Some("deliver Now"));
        server.world.authorize =
            Box::new(|_| Input::Authorized(Authorized::Unsettled(Reason::Inactive)));
        let reply = pending.recheck(&mut server).reply();
        let said = &said_bytes(&reply.answer.body)["result"]["resultType"];
        assert_eq!(said, "complete");
        let settled = reply.asked.iter().filter(|asked| *asked == expected);
        assert_eq!(settled.count(), 2, "{:?}", reply.asked);
    }
}

/// A sender that was let in.
fn accepted() -> Arc<Accepted> {
    let issuer = Issuer {
        introspection: Some(Introspection {
            allow_unbounded: true,
        }),
        ..Issuer::new("https://auth.example.com")
    };
    let settings = Settings::new("https://mcp.example.com/mcp", vec![issuer]);
    let config = mcp_auth::Config::new(settings).unwrap();
    let answer = br#"{"active":true,"iss":"https://auth.example.com","aud":"https://mcp.example.com/mcp","sub":"ann"}"#;
    Arc::new(Accepted {
        facts: config.judge(0, answer, 0).unwrap().unwrap(),
        binding: Binding::Bearer,
        replay: None,
        renews_nonce: false,
    })
}

/// A server whose caller was granted `scopes`, with a policy.
fn scoped(scopes: &[&str], policy: ScopePolicy) -> Server {
    let change = move |config: &mut Config| config.scopes = policy.clone();
    let mut server = Server::offering(tools(), change).at(|endpoint| endpoint.guarded = true);
    let scopes = scopes.iter().map(|scope| Scope::parse(scope).unwrap());
    let granted = Arc::new(scopes.collect());
    server.world.authorize = Box::new(move |_| {
        Input::Authorized(Authorized::Grant(Box::new(Grant {
            identity: Identity {
                scopes: Some(Arc::clone(&granted)),
                ..identity("ann")
            },
            ends_ms: u64::MAX,
            headers: Vec::new(),
            again: None,
            resource: resource(),
            scheme: Scheme::Bearer,
            token: None,
            sign_in: SignIn::default(),
        })))
    });
    server
}

/// AUTH-14: the challenge names every scope of the operation, the body does so too.
#[test]
fn a_method_needs_its_scopes() {
    let mut server = scoped(&["mcp:tools:read"], ScopePolicy::default());
    assert_eq!(server.post(&Post::request("tools/list")).answer.status, 200);
    assert_eq!(
        server.post(&Post::request("server/discover")).answer.status,
        200
    );

    let reply = server.post(&Post::modern(&call("now", json!({}))));
    assert_eq!(reply.refusal(), (403, Some(-31403), Some(json!(1))));
    assert_eq!(
        reply.header("www-authenticate"),
        Some(
            "Bearer error=\"insufficient_scope\", \
             error_description=\"More scopes are needed for this operation\", scope=\"mcp:tools:call\", \
             resource_metadata=\"https://mcp.example.com/.well-known/oauth-protected-resource/mcp\""
        )
    );
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    let data = json!({"requiredScopes": ["mcp:tools:call"]});
    assert_eq!(reply.json()["error"]["data"], data);
    assert!(!reply.asked.iter().any(|asked| asked.starts_with("call")));
}

#[test]
fn a_subscription_needs_the_scopes_of_all_it_asks_for() {
    let mut server = scoped(&["mcp:tools:read"], ScopePolicy::default());
    let filter = |notifications| {
        let params = json!({"notifications": notifications});
        Post::modern(&modern("subscriptions/listen", params))
    };
    let reply = server.post(&filter(json!({
        "toolsListChanged": true,
        "promptsListChanged": false,
        "resourceSubscriptions": ["file:///a"],
    })));
    let data = json!({"requiredScopes": ["mcp:tools:read", "mcp:resources:read"]});
    assert_eq!(reply.json()["error"]["data"], data);
    let pending = server.begin(&filter(
        json!({"toolsListChanged": true, "resourceSubscriptions": []}),
    ));
    server.until_listening(pending);
}

/// Its stream tells at once what became of a task, as `tasks/get` does.
#[test]
fn a_subscription_to_tasks_needs_the_scopes_of_tasks() {
    let mut server = scoped(&["mcp:tools:read"], ScopePolicy::default());
    let filter = json!({"notifications": {"toolsListChanged": true, "taskIds": ["t-1"]}});
    let pending = server.begin(&Post::modern(&modern("subscriptions/listen", filter)));
    let reply = server.settle(pending);
    assert_eq!(reply.answer.status, 403);
    let data = json!({"requiredScopes": ["mcp:tools:read", "mcp:tools:call"]});
    assert_eq!(reply.json()["error"]["data"], data);
}

#[test]
fn the_policy_says_what_is_needed_and_what_implies_it() {
    let map = |key: &str, scope: &str| BTreeMap::from([(key.to_owned(), vec![scope.to_owned()])]);
    let policy = ScopePolicy {
        gates: Gates::new(&map("tools/call", "calls"), &BTreeMap::new(), &[]).unwrap(),
        hierarchy: Hierarchy::new(&map("admin", "calls")).unwrap(),
        ..ScopePolicy::default()
    };
    let status = |scope: &str| {
        let mut server = scoped(&[scope], policy.clone());
        server
            .post(&Post::modern(&call("now", json!({}))))
            .answer
            .status
    };
    assert_eq!(status("calls"), 200);
    assert_eq!(status("admin"), 200);
    assert_eq!(status("mcp:tools:call"), 403);
    assert_eq!(status("*"), 403);
}

//! Endpoints behind access tokens: what a driver's decision over one does to an exchange.

use std::{collections::BTreeMap, sync::Arc};

use mcp_auth::{Gates, Hierarchy, Issuer, Scheme, Scope, Settings, SignIn};
use mcp_protocol::{Authorized, Code, Config, Error, Grant, Identity, Input, ScopePolicy};
use serde_json::json;

use crate::harness::{Post, Server, call, identity, modern, said_bytes, text, tools};

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

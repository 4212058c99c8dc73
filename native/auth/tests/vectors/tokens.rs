//! Access tokens, with the one refetch of keys that a decision may ask for.

use std::sync::Arc;

use mcp_auth::{Accepted, Config, Decision, Head, KeySet, KeySource, Keys, Reason, Refetch, check};
use serde_json::Value;

use crate::fixture::{cases, config, key_set, load, now, strings, text};

#[test]
fn every_token_is_judged_as_recorded() {
    for case in cases("access-tokens.json", 99) {
        let id = text(&case["id"]);
        let (decision, fetches) = decide(&case);
        let expected = &case["expect"];
        match decision {
            Ok(accepted) => {
                assert_eq!(text(&expected["outcome"]), "accept", "{id}");
                assert_eq!(accepted.facts.subject, text(&expected["sub"]), "{id}");
                let scopes: Vec<_> = accepted.facts.scopes.iter().collect();
                assert_eq!(scopes, strings(&expected["scopes"]), "{id}");
            }
            Err(reason) => {
                assert_eq!(reason.word(), text(&expected["reason"]), "{id}");
                assert_eq!(reason.status(), expected["http"]["status"], "{id}");
                assert_eq!(reason.error(), expected["http"]["error"].as_str(), "{id}");
            }
        }
        if let Some(expected) = expected["refetches"].as_u64() {
            assert_eq!(fetches, expected, "{id}");
        }
    }
}

/// The decision after what a resource server does around it: fetching keys, and asking for revoked tokens.
fn decide(case: &Value) -> (Result<Accepted, Reason>, u64) {
    let config = config(case);
    let authorization = format!("Bearer {}", text(&case["token"]));
    let head = Head {
        method: "POST",
        target: "/mcp",
        authorization: vec![authorization.as_bytes()],
        dpop: Vec::new(),
        certificate: None,
    };
    let set = key_set(text(&case["jwks"]));
    let first = check(&head, &config, &keys(set, Refetch::Possible), now());
    let (decision, fetches) = match first {
        Decision::NeedKeys { issuer: 0, .. } => (refetched(case, &head, &config), 1),
        decision => (decision, 0),
    };
    let outcome = match decision {
        Decision::Accept(accepted) => unless_revoked(accepted),
        Decision::Refuse(refused) => Err(refused.reason),
        Decision::NeedKeys { .. } => panic!("{case} asks for keys twice"),
        Decision::Inquire(_) => panic!("no issuer is asked about a token"),
    };
    (outcome, fetches)
}

fn refetched(case: &Value, head: &Head<'_>, config: &Config) -> Decision {
    let expected = &case["expect"];
    let newer = expected["jwks_after_refetch"].as_str();
    let set = key_set(newer.unwrap_or(text(&case["jwks"])));
    let refetch = match expected["refetch"].as_str() {
        Some("fail") => Refetch::Failed,
        _ => Refetch::Done,
    };
    check(head, config, &keys(set, refetch), now())
}

fn keys(set: Arc<KeySet>, refetch: Refetch) -> Keys {
    Keys {
        sources: vec![KeySource {
            set: Some(set),
            refetch,
        }],
    }
}

fn unless_revoked(accepted: Accepted) -> Result<Accepted, Reason> {
    let lists = load("config.json");
    let on = |list: &str| {
        let ids = strings(&lists[list]);
        accepted
            .facts
            .jti
            .as_ref()
            .is_some_and(|jti| ids.contains(jti))
    };
    match (on("revoked_jti"), on("revocation_fails_for_jti")) {
        (true, _) => Err(Reason::Revoked),
        (_, true) => Err(Reason::RevocationUnavailable),
        _ => Ok(accepted),
    }
}

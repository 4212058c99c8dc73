//! Whole requests with proofs and certificates.

use mcp_auth::{Accepted, Challenge, Config, Decision, Keys, Reason, Refused, Wanted, check};
use serde_json::Value;

use crate::fixture::{cases, config, head, key_set, nonces, now, strings, text};

#[test]
fn every_proof_is_judged_as_recorded() {
    for case in cases("dpop.json", 60) {
        compare(&case);
    }
}

#[test]
fn every_certificate_is_judged_as_recorded() {
    for case in cases("mtls.json", 9) {
        compare(&case);
    }
}

#[test]
fn nonces_are_those_of_the_fixture() {
    let examples = crate::fixture::load("dpop.json")["nonce"]["examples"].clone();
    for example in examples.as_array().unwrap() {
        let issued_at = example["issued_at"].as_u64().unwrap();
        let nonce = nonces().issue(issued_at);
        assert_eq!(nonce.as_deref(), example["nonce"].as_str());
    }
}

fn compare(case: &Value) {
    let (id, config, expected) = (text(&case["id"]), config(case), &case["expect"]);
    match decide(case, &config) {
        Ok(accepted) => {
            assert_eq!(text(&expected["outcome"]), "accept", "{id}");
            compare_accepted(&accepted, expected, id);
        }
        Err(refused) => {
            let reason = refused.reason;
            assert_eq!(reason.word(), text(&expected["reason"]), "{id}");
            assert_eq!(reason.status(), expected["http"]["status"], "{id}");
            assert_eq!(reason.error(), expected["http"]["error"].as_str(), "{id}");
            let nonce = expected["dpop_nonce_header"].as_bool().unwrap_or(false);
            assert_eq!(reason.brings_nonce(), nonce, "{id}");
            let scheme = text(&expected["http"]["scheme"]);
            assert_eq!(schemes(refused, &config), [scheme], "{id}");
        }
    }
}

fn compare_accepted(accepted: &Accepted, expected: &Value, id: &str) {
    let replay = accepted.replay.as_ref();
    for (name, value) in [
        ("binding", Some(accepted.binding.as_str())),
        ("jkt", accepted.facts.jkt()),
        ("x5t#S256", accepted.facts.x5t()),
        ("replay_key", replay.map(|replay| &*replay.key)),
    ] {
        if let Some(expected) = expected[name].as_str() {
            assert_eq!(value, Some(expected), "{id} {name}");
        }
    }
    if let Some(ttl_s) = expected["replay_ttl_s"].as_u64() {
        assert_eq!(replay.map(|replay| replay.ttl_s), Some(ttl_s), "{id}");
    }
}

/// The decision, and the replay store's after it.
fn decide(case: &Value, config: &Config) -> Result<Accepted, Refused> {
    let head = head(&case["request"]);
    let keys = Keys::fixed(vec![key_set("jwks.json")]);
    match check(&head, config, &keys, now()) {
        Decision::Accept(accepted) => {
            let seen = case.get("already_seen").map(strings).unwrap_or_default();
            match &accepted.replay {
                Some(replay) if seen.contains(&replay.key) => Err(Refused {
                    reason: Reason::DpopReplay,
                    scheme: accepted.binding.scheme(),
                }),
                _ => Ok(accepted),
            }
        }
        Decision::Refuse(refused) => Err(refused),
        Decision::NeedKeys { .. } => panic!("fixed keys are asked for"),
        Decision::Inquire(_) => panic!("no issuer is asked about a token"),
    }
}

/// The schemes of the challenges, in order.
fn schemes(refused: Refused, config: &Config) -> Vec<String> {
    let challenge = Challenge {
        config,
        reason: refused.reason,
        scheme: refused.scheme,
        wanted: &Wanted::default(),
    };
    let lines = challenge.lines().into_iter();
    lines
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect()
}

//! Whatever comes in, and every bit of what is good turned round.

use std::sync::LazyLock;

use mcp_auth::{Config, Decision, Head, Keys, check};
use proptest::prelude::*;
use serde_json::json;

use crate::fixture::{cases, config, head, key_set, now, text};

/// The clock of the fixture.
const NOW: u64 = 1_800_000_000;

fn accepts(head: &Head<'_>) -> bool {
    static OURS: LazyLock<(Config, Keys)> = LazyLock::new(|| {
        let keys = Keys::fixed(vec![key_set("jwks.json")]);
        (config(&json!({})), keys)
    });
    let (config, keys) = &*OURS;
    matches!(check(head, config, keys, NOW), Decision::Accept(_))
}

fn bearer(authorization: &[u8]) -> bool {
    accepts(&Head {
        method: "POST",
        target: "/mcp",
        authorization: vec![authorization],
        dpop: Vec::new(),
        certificate: None,
    })
}

#[test]
fn any_other_bit_of_a_token_refuses_it() {
    for case in &cases("access-tokens.json", 99)[..4] {
        let good = format!("Bearer {}", text(&case["token"])).into_bytes();
        assert!(bearer(&good));
        for at in "Bearer ".len()..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 8);
            assert!(!bearer(&bad), "octet {at}");
        }
    }
}

#[test]
fn any_other_bit_of_a_proof_refuses_it() {
    let case = cases("dpop.json", 60)[0].clone();
    let good = head(&case["request"]);
    assert!(accepts(&good));
    assert_eq!(now(), NOW);
    for at in 0..good.dpop[0].len() {
        let mut proof = good.dpop[0].to_vec();
        proof[at] ^= 1 << (at % 8);
        let bad = Head {
            dpop: vec![&proof],
            ..good.clone()
        };
        assert!(!accepts(&bad), "octet {at}");
    }
}

#[test]
fn nothing_is_shown_of_a_token() {
    let case = cases("dpop.json", 60)[0].clone();
    let head = head(&case["request"]);
    let shown = format!("{head:?} {:?}", {
        let keys = Keys::fixed(vec![key_set("jwks.json")]);
        check(&head, &config(&json!({})), &keys, now())
    });
    let token = text(&case["request"]["authorization"])
        .split_once(' ')
        .unwrap()
        .1;
    for secret in token.split('.').chain(["user-7f3a", "at-dpop-a"]) {
        assert!(!shown.contains(secret), "{shown}");
    }
}

proptest! {
    #[test]
    fn no_header_reaches_a_panic(authorization: Vec<u8>, dpop: Vec<u8>, target in "\\PC*") {
        let head = Head {
            method: "POST",
            target: &target,
            authorization: vec![&authorization],
            dpop: vec![&dpop],
            certificate: None,
        };
        prop_assert!(!accepts(&head));
        let scheme = [b"DPoP ", &authorization[..]].concat();
        let head = Head { authorization: vec![&scheme], ..head };
        prop_assert!(!accepts(&head));
    }
}

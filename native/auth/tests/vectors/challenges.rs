//! Whole `WWW-Authenticate` lines.

use mcp_auth::{Challenge, Reason, Scheme, Wanted};
use serde_json::Value;

use crate::fixture::{cases, config, strings, text};

#[test]
fn every_challenge_is_as_recorded() {
    for case in cases("challenges.json", 12) {
        let id = text(&case["id"]);
        let reason = reason(&case);
        let wanted = Wanted {
            scope: case["scope"].as_str().map(str::to_owned),
            acr_values: case["acr_values"].as_str().map(str::to_owned),
            max_age_s: case["max_age"].as_u64(),
        };
        let challenge = Challenge {
            config: &config(&case),
            reason,
            scheme: match case["scheme"].as_str() {
                Some("DPoP") => Scheme::Dpop,
                _ => Scheme::Bearer,
            },
            wanted: &wanted,
        };
        assert_eq!(
            challenge.lines(),
            strings(&case["www_authenticate"]),
            "{id}"
        );
        assert_eq!(reason.status(), case["status"], "{id}");
        let retry = case["other_headers"]["Retry-After"].as_str();
        let retry_after_s = reason.retry_after_s().map(|seconds| seconds.to_string());
        assert_eq!(retry_after_s.as_deref(), retry, "{id}");
    }
}

/// The reason that a case is an example of.
fn reason(case: &Value) -> Reason {
    match text(&case["id"]) {
        "invalid-bearer" => Reason::Expired,
        "bound-as-bearer" => Reason::DpopProofRequired,
        "invalid-proof" => Reason::DpopSignature,
        "nonce" => Reason::DpopNonce,
        "insufficient-scope" | "insufficient-scope-dpop" => Reason::InsufficientScope,
        "step-up" => Reason::StepUp,
        "mount-denied" => Reason::MountDenied,
        "key-source-down" => Reason::KeySourceUnavailable,
        _ => Reason::NoCredentials,
    }
}

//! Reads the fixture: cases, configurations, keys.

use std::{fs, path::PathBuf, sync::Arc};

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use mcp_auth::{
    Algorithm, AudienceMode, Certificate, Config, Dpop, Head, Issuer, KeySet, Nonces, Secret,
    Settings,
};
use serde_json::Value;

/// A file of the fixture.
pub fn load(name: &str) -> Value {
    serde_json::from_slice(&read(name)).unwrap()
}

/// The cases of a file, of which there must be so many.
pub fn cases(name: &str, count: usize) -> Vec<Value> {
    let cases = load(name)["cases"].as_array().unwrap().clone();
    assert_eq!(cases.len(), count, "{name}");
    cases
}

pub fn key_set(name: &str) -> Arc<KeySet> {
    Arc::new(KeySet::parse(&read(name)).unwrap())
}

/// The second at which everything happens.
pub fn now() -> u64 {
    load("config.json")["now"].as_u64().unwrap()
}

/// The base configuration with the members of a case over it.
pub fn config(case: &Value) -> Config {
    let mut values = load("config.json");
    for (name, value) in case["config"].as_object().into_iter().flatten() {
        values[name] = value.clone();
    }
    Config::new(settings(&values)).unwrap()
}

fn settings(values: &Value) -> Settings {
    let issuer = Issuer {
        algs: algorithms(&values["algs"]),
        client_id_claims: strings(&values["client_id_claims"]),
        scope_claims: strings(&values["scope_claims"]),
        ..Issuer::new(text(&values["issuer"]))
    };
    Settings {
        audiences: strings(&values["audiences"]),
        aud_mode: match text(&values["aud_mode"]) {
            "any" => AudienceMode::Any,
            _ => AudienceMode::All,
        },
        accept_typ: strings(&values["accept_typ"]),
        leeway_s: values["leeway_s"].as_u64().unwrap() as u32,
        max_token_age_s: values["max_token_age_s"].as_u64(),
        required_claims: strings(&values["required_claims"]),
        max_token_bytes: values["max_token_bytes"].as_u64().unwrap() as usize,
        min_rsa_bits: values["min_rsa_bits"].as_u64().unwrap() as usize,
        dpop: dpop(&values["dpop"]),
        dpop_algs: algorithms(&values["dpop_algs"]),
        nonces: (text(&values["dpop_nonce"]) == "required").then(nonces),
        ..Settings::new(text(&values["resource"]), vec![issuer])
    }
}

pub fn dpop(value: &Value) -> Dpop {
    match text(value) {
        "off" => Dpop::Off,
        "optional" => Dpop::Optional,
        _ => Dpop::Required,
    }
}

pub fn nonces() -> Nonces {
    let secret = load("dpop.json")["nonce"]["secret_b64u"].clone();
    let secret = URL_SAFE_NO_PAD.decode(text(&secret)).unwrap();
    Nonces::new(vec![Secret::new(secret)])
}

/// The head of a case's request; `request` owns what it borrows.
pub fn head(request: &Value) -> Head<'_> {
    let url = text(&request["url"]);
    let certificate = request["client_certificate_der_b64"].as_str();
    Head {
        method: text(&request["method"]),
        target: url.strip_prefix("https://mcp.example.com").unwrap(),
        authorization: vec![text(&request["authorization"]).as_bytes()],
        dpop: request["dpop"]
            .as_array()
            .unwrap()
            .iter()
            .map(|proof| text(proof).as_bytes())
            .collect(),
        certificate: certificate
            .map(|base64| Certificate::from_der(&STANDARD.decode(base64).unwrap())),
    }
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

pub fn strings(value: &Value) -> Vec<String> {
    let items = value.as_array().unwrap().iter();
    items.map(|item| text(item).to_owned()).collect()
}

fn algorithms(value: &Value) -> Vec<Algorithm> {
    let names = strings(value).into_iter();
    names.map(|name| Algorithm::parse(&name).unwrap()).collect()
}

fn read(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../test/fixtures/auth");
    fs::read(folder.join(name)).unwrap()
}

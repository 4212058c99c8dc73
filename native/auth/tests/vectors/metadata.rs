//! Where the metadata is, and what it says.

use mcp_auth::{Config, Document, Issuer, Links, Resource, Scope, Settings};
use serde_json::Value;

use crate::fixture::{dpop, load, strings, text};

#[test]
fn every_location_is_found() {
    let rows = load("metadata.json")["locations"].clone();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 17);
    for row in rows {
        match Resource::parse(text(&row["resource"])) {
            Ok(resource) => assert_eq!(resource.metadata_url(), row["metadata_url"], "{row}"),
            Err(error) => assert_eq!(error.word(), row["error"], "{row}"),
        }
    }
}

#[test]
fn the_document_says_what_is_configured() {
    let example = load("metadata.json")["document"].clone();
    let values = &example["config"];
    let issuers = strings(&values["authorization_servers"]);
    let issuers = issuers.iter().map(|issuer| Issuer::new(issuer)).collect();
    let scopes = strings(&values["scopes_supported"]);
    let settings = Settings {
        scopes_supported: scopes
            .iter()
            .map(|one| Scope::parse(one).unwrap())
            .collect(),
        links: Links {
            name: Some(text(&values["resource_name"]).to_owned()),
            ..Links::default()
        },
        dpop: dpop(&values["dpop"]),
        mtls: values["mtls"].as_bool().unwrap(),
        ..Settings::new(text(&values["resource"]), issuers)
    };
    let document = Document::new(&Config::new(settings).unwrap());
    let body: Value = serde_json::from_slice(&document.body).unwrap();
    assert_eq!(body, example["expected"]);
    assert_eq!(document.target, "/.well-known/oauth-protected-resource/mcp");
    assert!(document.is_at(&document.target, false));
    assert!(document.is_at("/.well-known/oauth-protected-resource", true));
    assert!(!document.is_at("/.well-known/oauth-protected-resource", false));
}

//! Scope decisions.

use std::{collections::BTreeMap, error::Error, sync::Arc};

use mcp_auth::{
    Decided, Definition, Denial, Gates, Hierarchy, Operation, Scope, Scopes, Selection, decide,
};
use serde_json::Value;

use crate::fixture::{cases, load, strings, text};

#[test]
fn every_scope_is_judged_as_recorded() {
    for case in cases("scopes.json", 40) {
        let (id, expected) = (text(&case["id"]), &case["expect"]);
        match decided(&case) {
            Ok(Decided::Permit) => assert_eq!(expected["decision"], "permit", "{id}"),
            Ok(Decided::Unknown) => assert_eq!(expected["decision"], "unknown", "{id}"),
            Ok(Decided::Challenge(scopes)) => {
                let scopes: Vec<_> = scopes.iter().map(Scope::as_str).collect();
                assert_eq!(scopes.join(" "), expected["scope"], "{id}");
            }
            Err(error) => assert_eq!(expected["decision"], "config_error", "{id}: {error}"),
        }
    }
}

#[test]
fn the_tables_are_those_of_the_fixture() {
    let tables = load("scopes.json");
    let gates = Gates::default();
    for (method, scopes) in tables["default_scopes_by_method"].as_object().unwrap() {
        assert_eq!(names(&gates, Operation::Method(method)), strings(scopes));
    }
    for (reference, scopes) in tables["completion_by_reference"].as_object().unwrap() {
        assert_eq!(
            names(&gates, Operation::Complete(reference)),
            strings(scopes)
        );
    }
    for (member, scope) in tables["listen_by_category"].as_object().unwrap() {
        let operation = [&**member];
        assert_eq!(names(&gates, Operation::Listen(&operation)), [text(scope)]);
    }
}

fn names(gates: &Gates, operation: Operation<'_>) -> Vec<String> {
    let gate = gates.gate(operation);
    gate.iter().map(|scope| scope.as_str().to_owned()).collect()
}

fn decided(case: &Value) -> Result<Decided, Box<dyn Error>> {
    let policy = &case["policy"];
    let selections = policy["scope_policy"].as_object().into_iter().flatten();
    let selections = selections.map(|(method, mode)| (method.clone(), selection(text(mode))));
    let defaults = policy.get("default_scopes").map(strings);
    let gates = Gates::new(
        &map(&policy["scope_map"]),
        &selections.collect(),
        &defaults.unwrap_or_default(),
    )?;
    let hierarchy = Hierarchy::new(&map(&policy["implies"]))?;
    let definition = case.get("definition").map(definition).transpose()?;
    let granted = strings(&case["granted"]);
    let granted: Scopes = granted
        .iter()
        .map(|one| Scope::parse(one).unwrap())
        .collect();
    let members = listened(&case["params"]["notifications"]);
    let members: Vec<&str> = members.iter().map(|member| &**member).collect();
    let operation = match text(&case["method"]) {
        "completion/complete" => Operation::Complete(text(&case["params"]["ref"]["type"])),
        "subscriptions/listen" => Operation::Listen(&members),
        method => Operation::Method(method),
    };
    let gate = gates.gate(operation);
    Ok(decide(
        &hierarchy.expand(&Arc::new(granted)),
        &gate,
        definition.as_ref(),
        gates.denial(text(&case["method"])),
    ))
}

fn definition(value: &Value) -> Result<Definition, Box<dyn Error>> {
    let alternatives = value["alternatives"].as_array().unwrap();
    let alternatives: Vec<_> = alternatives.iter().map(strings).collect();
    let denial = match text(&value["denial"]) {
        "neutral" => Denial::Neutral,
        _ => Denial::Challenge,
    };
    Ok(Definition::new(
        &strings(&value["required"]),
        &alternatives,
        Some(denial),
    )?)
}

fn selection(mode: &str) -> Selection {
    match mode {
        "visible_definitions" => Selection::VisibleDefinitions,
        _ => Selection::SelectedDefinition,
    }
}

/// The members that ask for something.
fn listened(notifications: &Value) -> Vec<String> {
    let members = notifications.as_object().into_iter().flatten();
    members
        .filter(|(_, value)| **value != Value::Bool(false))
        .map(|(member, _)| member.clone())
        .collect()
}

fn map(value: &Value) -> BTreeMap<String, Vec<String>> {
    let entries = value.as_object().into_iter().flatten();
    entries
        .map(|(key, scopes)| (key.clone(), strings(scopes)))
        .collect()
}

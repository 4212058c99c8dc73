//! What an earlier implementation wrote of three graphs. Its files are known here by their digests alone.

mod support;

use mcp_canonical::Algorithm;
use mcp_connectome::{Diff, Form, Provenance, Side};
use mcp_json::{Document, Limits, Node};
use support::{Noted, form, text, vectors};

#[test]
fn every_file_has_the_published_digest() {
    let table = vectors("published");
    let rows = table.root().get("digests").expect("digests");
    assert_eq!(rows.items().count(), 16);
    for row in rows.items() {
        let algorithm = Algorithm::from_name(&text(row, "algorithm")).expect("an algorithm");
        let bytes = written(table.root(), row, algorithm);
        let digest = algorithm.hexadecimal(&bytes);
        assert_eq!(digest, text(row, "digest"), "{}", row.raw());
    }
}

fn written(table: Node<'_>, row: Node<'_>, algorithm: Algorithm) -> Vec<u8> {
    let version = row.get("schema_version").expect("a version").raw();
    let graph = |name: &str| graph(table, name, version);
    let of = graph(&text(row, "of"));
    match &*text(row, "as") {
        "graph" => of.bytes(algorithm),
        "graphml" => of.graphml().expect("XML").into_bytes(),
        "sidecar" => of.sidecar(),
        "diff" => {
            let observed = graph("observed");
            let diff = Diff::new(
                Side::new(&of, Provenance::Declared).expect("declared"),
                Side::new(&observed, Provenance::Observed).expect("observed"),
            );
            let window = Noted(table.get("window").expect("a window"));
            let bytes = diff.write(of.version, algorithm, window, Vec::new());
            bytes.expect("a window")
        }
        other => panic!("nothing is written as {other}"),
    }
}

/// A graph of the table in a version of the schema.
fn graph(table: Node<'_>, name: &str, version: &str) -> Form {
    let graphs = table.get("graphs").expect("graphs");
    let neutral = if version == "1" { "unknown" } else { "unset" };
    let json = graphs.get(name).expect("a graph").raw();
    let json = json
        .replace("\"VERSION\"", version)
        .replace("NEUTRAL", neutral);
    let document = Document::parse(json.into_bytes().into(), &Limits::default()).expect("JSON");
    form(document.root()).expect("a graph")
}

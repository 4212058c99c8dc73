//! Every vector: bytes, digests, refusals, weights, differences, envelopes.

mod support;

use mcp_canonical::Algorithm;
use mcp_connectome::{
    Diff, EdgeKind, Envelope, Federation, Form, GivenEdge, GivenNode, Graph, GraphFault, Level,
    NodeKind, Provenance, RecordFault, Refusal, Side, Sign, Version, Weight,
};
use mcp_json::{Node, Number};
use support::{Fault, Noted, form, raw, text, vectors};

#[test]
fn graphs_have_the_bytes_and_digests_of_the_vectors() {
    let document = vectors("graphs");
    for vector in document.root().items() {
        let name = text(vector, "name");
        let form = form(vector.get("input").expect("an input")).expect("a graph");
        for (algorithm, expected) in vector.get("expect").expect("what to expect").members() {
            let algorithm = Algorithm::from_name(&algorithm).expect("an algorithm");
            let bytes = form.bytes(algorithm);
            assert_eq!(
                String::from_utf8_lossy(&bytes),
                text(expected, "bytes_utf8"),
                "{name}"
            );
            assert_eq!(
                Ok(text(expected, "digest").into()),
                form.digest(form.version, algorithm)
            );
            if algorithm == Algorithm::Sha256 {
                assert_eq!(bytes, raw(&name), "{name}");
            }
            assert_eq!(reread(&bytes), bytes, "{name}");
        }
    }
}

#[test]
fn refusals_are_those_of_the_vectors() {
    let document = vectors("refusals");
    for vector in document.root().items() {
        let name = text(vector, "name");
        let refused: Vec<_> = vector.get("refused").expect("a refusal").items().collect();
        let fault = form(vector.get("input").expect("an input")).expect_err(&name);
        let expected = refused[0].as_str().expect("a name");
        let detail = |at: usize| refused[at].as_str().unwrap_or_default();
        match fault {
            Fault::Field(field) => {
                let reason: Vec<_> = refused[1].items().filter_map(Node::as_str).collect();
                assert_eq!((&*reason[0], &*reason[1]), ("invalid", field), "{name}");
            }
            Fault::Graph(fault) => {
                let reason: Vec<_> = refused[1].items().filter_map(Node::as_str).collect();
                match fault {
                    GraphFault::DuplicateNode(_) => assert_eq!(reason[0], "duplicate_node"),
                    GraphFault::DuplicateEdge(_) => assert_eq!(reason[0], "duplicate_edge"),
                    GraphFault::DanglingEdge(id) => {
                        assert_eq!((&*reason[0], reason[1].as_bytes()), ("dangling_edge", &*id));
                    }
                }
            }
            Fault::Form(refusal) => match refusal {
                Refusal::DuplicateId(id) => {
                    assert_eq!(
                        (&*expected, id),
                        ("duplicate_id_after_nfc", detail(1).into())
                    );
                }
                Refusal::LabelValue { id, label, value } => {
                    assert_eq!(
                        (&*expected, &*id, &*label),
                        ("label_value", &*detail(1), &*detail(2))
                    );
                    assert_eq!(spaceless(value.0), spaceless(refused[3]));
                }
                Refusal::LabelKey { id, key } => {
                    assert_eq!((&*expected, &*id), ("label_key", &*detail(1)));
                    assert_eq!(key.0.raw(), refused[2].raw());
                }
                Refusal::DuplicateLabelKey { id, key } => {
                    let named = ("duplicate_label_key", detail(1).into(), detail(2).into());
                    assert_eq!((&*expected, id, key), named);
                }
                Refusal::TextNotUtf8 { id, label } => {
                    assert_eq!(
                        (&*expected, id, label),
                        ("invalid_utf8", detail(1).into(), detail(2).into())
                    );
                }
                Refusal::KeyNotUtf8 { id, key } => {
                    assert_eq!(
                        (&*expected, id, key),
                        ("invalid_utf8", detail(1).into(), b"k\xff".to_vec())
                    );
                }
                Refusal::IdNotUtf8(_) => panic!("{name} has ids of text"),
            },
        }
    }
}

#[test]
fn sidecars_are_those_of_the_vectors() {
    let document = vectors("sidecars");
    for vector in document.root().items() {
        let form = form(vector.get("input").expect("an input")).expect("a graph");
        let sidecar = String::from_utf8(form.sidecar()).expect("UTF-8");
        assert_eq!(sidecar, text(vector, "bytes_utf8"));
    }
}

#[test]
fn floats_are_written_as_erlang_writes_them() {
    let document = vectors("floats");
    for vector in document.root().items() {
        let float = support::float(&text(vector, "float_hex"));
        let python = text(vector, "python_repr").parse::<f64>().expect("a float");
        assert_eq!(float.to_bits(), python.to_bits());
        assert_eq!(Weight::Float(float).text(), text(vector, "text"));
    }
}

#[test]
fn diffs_are_those_of_the_vectors() {
    let document = vectors("diffs");
    for vector in document.root().items() {
        let name = text(vector, "name");
        let side = |side| form(vector.get(side).expect("a graph")).expect("a graph");
        let (declared, observed) = (side("declared"), side("observed"));
        let diff = Diff::new(
            Side::new(&declared, Provenance::Declared).expect("declared"),
            Side::new(&observed, Provenance::Observed).expect("observed"),
        );
        let Some(Number::Integer(version)) = vector.get("record_version").and_then(Node::number)
        else {
            panic!("{name} has no version");
        };
        let version = Version::from_number(version).expect("a version");
        let algorithm = Algorithm::from_name(&text(vector, "algorithm")).unwrap_or_default();
        let window = Noted(vector.get("window").expect("a window"));
        let bytes = diff
            .write(version, algorithm, window, Vec::new())
            .expect("a window");
        assert_eq!(
            String::from_utf8_lossy(&bytes),
            text(vector, "bytes_utf8"),
            "{name}"
        );
        assert_eq!(
            algorithm.hexadecimal(&bytes),
            text(vector, "digest"),
            "{name}"
        );
    }
}

#[test]
fn federations_are_those_of_the_vectors() {
    let document = vectors("federations");
    for vector in document.root().items() {
        let name = text(vector, "name");
        let algorithm = Algorithm::from_name(&text(vector, "algorithm")).expect("an algorithm");
        let parts: Vec<_> = vector.get("parts").expect("parts").items().collect();
        let parts = parts.iter().map(|part| {
            let [member, graph] = [0, 1].map(|at| part.items().nth(at).expect("a pair"));
            let form = form(graph).expect("a graph");
            (member.as_str().expect("a name").into_owned(), form)
        });
        let parts: Vec<_> = parts.collect();
        let named = parts
            .iter()
            .map(|(member, form)| (member.as_bytes(), form.clone(), algorithm));
        let federation = Federation::new(named).expect("a federation");
        let bytes = federation.write(algorithm, Vec::new());
        assert_eq!(
            String::from_utf8_lossy(&bytes),
            text(vector, "bytes_utf8"),
            "{name}"
        );
        assert_eq!(
            federation.digest(algorithm),
            text(vector, "digest"),
            "{name}"
        );
        assert_eq!(reread(&bytes), bytes, "{name}");
    }
}

#[test]
fn envelopes_are_judged_as_the_vectors_say() {
    let document = vectors("envelopes");
    for vector in document.root().items() {
        let bytes = text(vector, "bytes_utf8").into_owned().into_bytes();
        let envelope = Envelope::read(bytes.into());
        match &*text(vector, "outcome") {
            "verify" => {
                let envelope = envelope.expect("an envelope");
                assert_eq!(
                    envelope.algorithm().name(),
                    text(vector, "digest_algorithm")
                );
                assert_eq!(envelope.digest(), text(vector, "digest"));
                assert!(envelope.content().is_ok());
            }
            "malformed" => assert!(matches!(envelope, Err(RecordFault::Malformed(_)))),
            "refuse" => assert!(envelope.and_then(|envelope| envelope.content()).is_err()),
            outcome => {
                assert!(outcome.starts_with("digest verifies, record refused"));
                let envelope = envelope.expect("an envelope");
                assert_eq!(envelope.digest(), text(vector, "digest"));
                let fault = envelope.content().expect_err("a sign of version 1");
                assert_eq!(
                    fault,
                    RecordFault::Field {
                        name: "sign",
                        value: "\"unknown\"".into()
                    }
                );
            }
        }
    }
}

#[test]
fn the_large_graph_has_its_digest() {
    let form = large();
    let vector = vectors("large");
    let bytes = form.bytes(Algorithm::Sha256);
    assert_eq!(
        bytes.len().to_string(),
        vector.root().get("length").expect("a length").raw()
    );
    assert_eq!(
        Algorithm::Sha256.hexadecimal(&bytes),
        text(vector.root(), "sha256")
    );
    assert_eq!(reread(&bytes), bytes);
}

fn spaceless(node: Node<'_>) -> String {
    node.raw().split_whitespace().collect()
}

fn large() -> Form {
    let mut state = 1_u64;
    let mut next = |count: u64| {
        state = (state * 1_103_515_245 + 12_345) % (1 << 31);
        (state >> 8) % count
    };
    let mut edges = Vec::new();
    for _ in 0..10_000 {
        let (from, to) = (1 + next(500), 1 + next(500));
        let kinds = ["invoke", "read", "message", "supervise"];
        let edge = (from, to, kinds[next(4) as usize]);
        if !edges.contains(&edge) {
            edges.push(edge);
        }
    }
    let tool = |number: u64| format!("bench/tool/t{number}");
    let ids: Vec<String> = (1..=500).map(tool).collect();
    let node = |id: &'static str| GivenNode {
        id: id.as_bytes(),
        kind: NodeKind::Tool,
        level: Level::Server,
    };
    let mut nodes: Vec<GivenNode<'_>> = vec![GivenNode {
        kind: NodeKind::Server,
        ..node("bench/server")
    }];
    nodes.extend(ids.iter().map(|id| GivenNode {
        id: id.as_bytes(),
        ..node("")
    }));
    let edges: Vec<_> = edges
        .iter()
        .map(|(from, to, kind)| GivenEdge {
            from: ids[*from as usize - 1].as_bytes(),
            to: ids[*to as usize - 1].as_bytes(),
            kind: EdgeKind::from_name(kind).expect("a kind"),
            provenance: Provenance::Declared,
            sign: Sign::Unset,
            weight: None,
        })
        .collect();
    let graph = Graph::new(Version::V3, &nodes, &edges).expect("a graph");
    let labels =
        mcp_json::Document::parse("{}".into(), &mcp_json::Limits::default()).expect("JSON");
    Form::new(&graph, |_| labels.root()).expect("a form")
}

/// The bytes of what bytes are read as.
fn reread(bytes: &[u8]) -> Vec<u8> {
    let envelope = Envelope::read(bytes.to_vec().into()).expect("an envelope");
    match envelope.content().expect("canonical bytes") {
        mcp_connectome::Content::Graph(form) => form.bytes(envelope.algorithm()),
        mcp_connectome::Content::Federation(federation) => {
            federation.write(envelope.algorithm(), Vec::new())
        }
    }
}

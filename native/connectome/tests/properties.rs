//! What holds for every graph.

use std::collections::{BTreeSet, VecDeque};

use mcp_canonical::Algorithm;
use mcp_connectome::reach::{Admitted, Dominators, Search};
use mcp_connectome::{
    Class, Content, Diff, EdgeKind, Effective, Envelope, Federation, Form, GivenEdge, GivenNode,
    Graph, Level, NodeKind, Part, Provenance, Side, Sign, Version, Weight,
};
use mcp_json::{Document, Limits};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};

proptest! {
    #[test]
    fn bytes_do_not_depend_on_order_and_read_back(parts in parts(), swaps in vec(any::<(Index, Index)>(), 0..20)) {
        let form = parts.form();
        let bytes = form.bytes(Algorithm::Sha384);
        let mut shuffled = parts.clone();
        for (left, right) in swaps {
            shuffled.ids.swap(left.index(parts.ids.len()), right.index(parts.ids.len()));
            if !parts.edges.is_empty() {
                let [left, right] = [left, right].map(|at| at.index(parts.edges.len()));
                shuffled.edges.swap(left, right);
            }
        }
        prop_assert_eq!(&shuffled.form().bytes(Algorithm::Sha384), &bytes);
        prop_assert_eq!(form.digest(form.version, Algorithm::Sha384).ok(), Some(Algorithm::Sha384.hexadecimal(&bytes)));

        let envelope = Envelope::read(bytes.clone().into()).expect("an envelope");
        prop_assert_eq!(envelope.digest(), Algorithm::Sha384.hexadecimal(&bytes));
        let Content::Graph(again) = envelope.content().expect("canonical bytes") else {
            panic!("a graph is read as a graph");
        };
        prop_assert_eq!(again.bytes(Algorithm::Sha384), bytes);
    }

    #[test]
    fn a_changed_byte_is_found(parts in parts(), at in any::<Index>(), byte in any::<u8>()) {
        let mut bytes = parts.form().bytes(Algorithm::Sha256);
        let at = at.index(bytes.len());
        prop_assume!(bytes[at] != byte);
        let digest = Algorithm::Sha256.hexadecimal(&bytes);
        bytes[at] = byte;
        if let Ok(envelope) = Envelope::read(bytes.into()) {
            prop_assert_ne!(envelope.digest(), digest);
            // Whatever is wrong is an error and never a panic.
            let _ = envelope.content();
        }
    }

    #[test]
    fn a_federation_reads_back_and_a_changed_byte_is_found(
        left in parts(), right in parts(), at in any::<Index>(), byte in any::<u8>(),
    ) {
        let members = [("a@h", left.form()), ("b@h", right.form())];
        let named = members.iter().map(|(name, form)| (name.as_bytes(), form.clone(), Algorithm::Sha256));
        let federation = Federation::new(named).expect("two members");
        let mut bytes = federation.write(Algorithm::Sha256, Vec::new());
        let digest = federation.digest(Algorithm::Sha256);
        let envelope = Envelope::read(bytes.clone().into()).expect("an envelope");
        prop_assert_eq!(&envelope.digest(), &digest);
        let Content::Federation(again) = envelope.content().expect("canonical bytes") else {
            panic!("a federation is read as a federation");
        };
        prop_assert_eq!(again.digest(Algorithm::Sha256), digest);

        let at = at.index(bytes.len());
        prop_assume!(bytes[at] != byte);
        bytes[at] = byte;
        // The parts have digests of their own, so that little but their members' names can change unnoticed.
        let changed = Envelope::read(bytes.into()).and_then(|envelope| envelope.content());
        if let Ok(Content::Federation(changed)) = changed {
            let digests = |parts: &[Part]| parts.iter().map(|part| part.digest.clone()).collect::<Vec<_>>();
            prop_assert_eq!(digests(changed.parts()), digests(federation.parts()));
        }
    }

    #[test]
    fn random_bytes_never_panic(bytes in vec(any::<u8>(), 0..200)) {
        prop_assert!(Envelope::read(bytes.into()).is_err());
    }

    #[test]
    fn classes_partition(declared in parts(), observed in parts()) {
        let [declared, observed] = [declared.with(Provenance::Declared), observed.with(Provenance::Observed)];
        let labels = |parts: &Parts| -> BTreeSet<(String, String, EdgeKind)> {
            let id = |at: usize| parts.ids[at].clone();
            parts.edges.iter().map(|edge| (id(edge.0), id(edge.1), edge.2)).collect()
        };
        let [left, right] = [labels(&declared), labels(&observed)];
        let [declared, observed] = [declared.form(), observed.form()];
        let diff = Diff::new(
            Side::new(&declared, Provenance::Declared).expect("declared"),
            Side::new(&observed, Provenance::Observed).expect("observed"),
        );
        let named = diff.labels.iter().map(|label| {
            let id = |at: u32| diff.ids[at as usize].to_string();
            ((id(label.from), id(label.to), label.kind), label.class)
        });
        let named: Vec<_> = named.collect();
        prop_assert_eq!(named.len(), left.union(&right).count());
        for (label, class) in named {
            let sides = (left.contains(&label), right.contains(&label));
            prop_assert_eq!(sides, match class {
                Class::DeclaredNeverObserved => (true, false),
                Class::ObservedButUndeclared => (false, true),
                _ => (true, true),
            });
        }
        let count = |name| diff.coverage.counts(Version::V3).find(|(found, _)| *found == name).map(|(_, count)| count);
        let both = count("declared_and_observed");
        prop_assert_eq!(both, Some(left.intersection(&right).count() as u64));
        prop_assert!(both <= count("declared_endpoint_covered"));
        prop_assert!(count("declared_endpoint_covered") <= count("declared_edges"));
        prop_assert!(both <= count("observed_endpoint_declared"));
        prop_assert!(count("observed_endpoint_declared") <= count("observed_edges"));
    }

    #[test]
    fn effective_weights_leave_the_bytes_alone(declared in parts(), observed in parts()) {
        let [declared, observed] = [declared.with(Provenance::Declared).form(), observed.with(Provenance::Observed).form()];
        let sides = [
            Side::new(&declared, Provenance::Declared).expect("declared"),
            Side::new(&observed, Provenance::Observed).expect("observed"),
        ];
        let effective = Effective::new(sides[0], sides[1]);
        let placed = effective.weights.iter().flatten().count();
        prop_assert_eq!(placed + effective.unplaced.len(), observed.edges.len());
        let form = effective.form(&declared);
        prop_assert_eq!(form.bytes(Algorithm::Sha256), declared.bytes(Algorithm::Sha256));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn dominators_are_what_cannot_be_removed(
        (nodes, edges) in (2_usize..9).prop_flat_map(|nodes| (Just(nodes), vec((0..nodes, 0..nodes), 0..24))),
        entries in vec(any::<Index>(), 1..3),
    ) {
        let graph = numbered(nodes, &edges);
        let entries: Vec<u32> = entries.iter().map(|entry| entry.index(nodes) as u32).collect();
        let dominators = Dominators::new(&graph, &Admitted::all(), &entries);
        for target in 0..nodes as u32 {
            let reached = |removed| reaches(&edges, &entries, target, removed);
            let expected = reached(None).then(|| {
                let is_needed = |node: &u32| *node != target && !reached(Some(*node));
                (0..nodes as u32).filter(is_needed).collect::<BTreeSet<_>>()
            });
            prop_assert_eq!(dominators.of(target).map(BTreeSet::from_iter), expected);
        }
    }

    #[test]
    fn a_witness_is_a_shortest_path(
        (nodes, edges) in (1_usize..9).prop_flat_map(|nodes| (Just(nodes), vec((0..nodes, 0..nodes), 0..24))),
        from in any::<Index>(), to in any::<Index>(), gate in any::<Index>(), max_hops in 1_usize..6,
    ) {
        let graph = numbered(nodes, &edges);
        let [from, to, gate] = [from, to, gate].map(|at| at.index(nodes) as u32);
        let (admitted, gates) = (Admitted::all(), [gate]);
        let search = |max_hops| Search { admitted: &admitted, gates: &gates, max_hops };
        let is_reached = from != gate && to != gate && reaches(&edges, &[from], to, Some(gate));
        let path = search(None).path(&graph, from, to);
        prop_assert_eq!(path.is_some(), is_reached);
        let Some(path) = path else { return Ok(()) };
        prop_assert_eq!((path.nodes[0], path.nodes[path.edges.len()]), (from, to));
        for (edge, ends) in path.edges.iter().zip(path.nodes.windows(2)) {
            prop_assert_eq!((edge.from, edge.to), (ends[0], ends[1]));
        }
        let bounded = search(Some(max_hops)).path(&graph, from, to);
        prop_assert_eq!(bounded.is_some(), path.edges.len() <= max_hops);
    }
}

#[test]
fn a_chain_of_a_million_nodes_needs_no_stack() {
    let edges: Vec<_> = (0..999_999).map(|node| (node, node + 1)).collect();
    let graph = numbered(1_000_000, &edges);
    let dominators = Dominators::new(&graph, &Admitted::all(), &[0]);
    assert_eq!(dominators.of(999_999).map(|all| all.len()), Some(999_999));
}

/// The removal definition: is `target` reached from the entries when a node is taken away?
fn reaches(edges: &[(usize, usize)], entries: &[u32], target: u32, removed: Option<u32>) -> bool {
    let mut seen: BTreeSet<u32> = BTreeSet::new();
    let mut waiting: VecDeque<u32> = entries.iter().copied().collect();
    while let Some(node) = waiting.pop_front() {
        if Some(node) == removed || !seen.insert(node) {
            continue;
        }
        let next = edges.iter().filter(|edge| edge.0 as u32 == node);
        waiting.extend(next.map(|edge| edge.1 as u32));
    }
    seen.contains(&target)
}

/// A graph whose nodes stand at their numbers.
fn numbered(nodes: usize, edges: &[(usize, usize)]) -> Graph {
    let ids: Vec<String> = (0..nodes).map(|node| format!("{node:07}")).collect();
    let distinct: BTreeSet<_> = edges.iter().collect();
    let edges = distinct.into_iter().map(|(from, to)| GivenEdge {
        from: ids[*from].as_bytes(),
        to: ids[*to].as_bytes(),
        kind: EdgeKind::Invoke,
        provenance: Provenance::Declared,
        sign: Sign::Unset,
        weight: None,
    });
    let nodes = ids.iter().map(|id| given(id));
    Graph::new(
        Version::V3,
        &nodes.collect::<Vec<_>>(),
        &edges.collect::<Vec<_>>(),
    )
    .expect("a graph")
}

fn given(id: &str) -> GivenNode<'_> {
    GivenNode {
        id: id.as_bytes(),
        kind: NodeKind::Tool,
        level: Level::Server,
    }
}

/// What a graph is made of; edges name ids by position.
#[derive(Clone, Debug)]
struct Parts {
    ids: Vec<String>,
    labels: Vec<String>,
    edges: Vec<(usize, usize, EdgeKind, Provenance, Sign)>,
}

impl Parts {
    fn with(mut self, provenance: Provenance) -> Self {
        let edges = self.edges.iter();
        let labels: BTreeSet<_> = edges.map(|edge| (edge.0, edge.1, edge.2)).collect();
        let sign = |at: usize| [Sign::Unset, Sign::Allow, Sign::Deny][at % 3];
        let edges = labels.into_iter().enumerate();
        self.edges = edges
            .map(|(at, (from, to, kind))| (from, to, kind, provenance, sign(at)))
            .collect();
        self
    }

    /// The order of the ids given decides nothing: edges know them by their text.
    fn form(&self) -> Form {
        let mut sorted = self.ids.clone();
        sorted.sort();
        let nodes: Vec<_> = self.ids.iter().map(|id| given(id)).collect();
        let edges = self
            .edges
            .iter()
            .map(|(from, to, kind, provenance, sign)| GivenEdge {
                from: sorted[*from].as_bytes(),
                to: sorted[*to].as_bytes(),
                kind: *kind,
                provenance: *provenance,
                sign: *sign,
                weight: Some(Weight::Integer(7)),
            });
        let graph = Graph::new(Version::V3, &nodes, &edges.collect::<Vec<_>>()).expect("a graph");
        let documents: Vec<_> = self
            .labels
            .iter()
            .map(|json| {
                Document::parse(json.clone().into_bytes().into(), &Limits::default()).expect("JSON")
            })
            .collect();
        // Labels go with the id, wherever it stands.
        let label = |place: u32| {
            let id = &self.ids[place as usize];
            let at = sorted.binary_search(id).expect("one of them");
            documents[at % documents.len()].root()
        };
        Form::new(&graph, label).expect("a form")
    }
}

fn parts() -> impl Strategy<Value = Parts> {
    let ids = btree_set("s/[a-d\u{e9}\u{ff01}\u{1f600}]{1,2}", 1..8);
    let labels = vec(
        r#"\{"[a-b\u{ff01}]": ?(\[1, -0, null\]|"\\u0065\\u0301"|\{"z": \{\}, "a": true\})\}"#,
        1..4,
    );
    (ids, labels)
        .prop_flat_map(|(ids, labels)| {
            let edge = (
                0..ids.len(),
                0..ids.len(),
                select(EdgeKind::ALL),
                select(Provenance::ALL),
            );
            let sign = select([Sign::Allow, Sign::Deny, Sign::Unset].as_slice());
            let ids: Vec<_> = ids.into_iter().collect();
            (
                Just(ids),
                Just(labels),
                btree_set(edge, 0..12),
                vec(sign, 12),
            )
        })
        .prop_map(|(ids, labels, edges, signs)| Parts {
            ids,
            labels,
            edges: edges
                .into_iter()
                .zip(signs)
                .map(|((from, to, kind, provenance), sign)| (from, to, kind, provenance, sign))
                .collect(),
        })
}

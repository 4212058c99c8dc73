//! Which nodes every path has to pass: Lengauer and Tarjan, 1979, with path compression.

use super::Admitted;
use crate::Graph;

/// The immediate dominators of whatever a set of entries reaches.
///
/// A root above all entries makes them one, so that two entries dominate nothing they share.
#[derive(Clone, Debug)]
pub struct Dominators {
    /// Preorder numbers by node; the root has 0 and is no node.
    numbers: Vec<Option<u32>>,
    /// Nodes by preorder number, from 1 on.
    nodes: Vec<u32>,
    /// Immediate dominators, both by preorder number.
    immediate: Vec<u32>,
}

impl Dominators {
    /// The dominators under the entries given.
    pub fn new(graph: &Graph, admitted: &Admitted, entries: &[u32]) -> Self {
        let walk = Walk::new(graph, admitted, entries);
        let immediate = walk.immediate_dominators();
        Self {
            numbers: walk.numbers,
            nodes: walk.nodes,
            immediate,
        }
    }

    /// The nodes that every path to `target` passes, from the last to the first, without `target` itself; `None` where
    /// no path reaches it.
    pub fn of(&self, target: u32) -> Option<Vec<u32>> {
        let mut number = self.immediate[self.numbers[target as usize]? as usize];
        let mut dominators = Vec::new();
        while number != ROOT {
            dominators.push(self.nodes[number as usize]);
            number = self.immediate[number as usize];
        }
        Some(dominators)
    }
}

/// The number of the root, the first in preorder.
const ROOT: u32 = 0;

/// A walk in depth from the root, which numbers what it reaches.
struct Walk {
    numbers: Vec<Option<u32>>,
    /// Nodes by number; no node stands at the root's place.
    nodes: Vec<u32>,
    /// Whence each was reached first, both by number.
    parents: Vec<u32>,
    /// Whence each can be reached in one step, both by number.
    before: Vec<Vec<u32>>,
}

impl Walk {
    fn new(graph: &Graph, admitted: &Admitted, entries: &[u32]) -> Self {
        let mut walk = Self {
            numbers: vec![None; graph.nodes().len()],
            nodes: vec![u32::MAX],
            parents: vec![ROOT],
            before: vec![Vec::new()],
        };
        let first: Vec<u32> = entries.to_vec();
        let mut open = vec![(ROOT, first.into_iter())];
        while let Some((number, targets)) = open.last_mut() {
            let number = *number;
            let Some(target) = targets.next() else {
                open.pop();
                continue;
            };
            if let Some(new) = walk.arrive(number, target) {
                let targets: Vec<u32> = admitted.from(graph, target).map(|edge| edge.to).collect();
                open.push((new, targets.into_iter()));
            }
        }
        walk
    }

    /// Notes a step to a node: its number, if it was not reached before.
    fn arrive(&mut self, from: u32, node: u32) -> Option<u32> {
        if let Some(number) = self.numbers[node as usize] {
            self.before[number as usize].push(from);
            return None;
        }
        let number = self.nodes.len() as u32;
        self.numbers[node as usize] = Some(number);
        self.nodes.push(node);
        self.parents.push(from);
        self.before.push(vec![from]);
        Some(number)
    }

    fn immediate_dominators(&self) -> Vec<u32> {
        let count = self.nodes.len();
        let mut forest = Forest::new(count);
        let mut immediate = vec![ROOT; count];
        let mut buckets = vec![Vec::new(); count];
        for number in (1..count).rev() {
            for before in &self.before[number] {
                let lowest = forest.lowest(*before);
                forest.semi[number] = forest.semi[number].min(forest.semi(lowest));
            }
            buckets[forest.semi[number] as usize].push(number as u32);
            let parent = self.parents[number];
            forest.ancestors[number] = Some(parent);
            for waiting in std::mem::take(&mut buckets[parent as usize]) {
                let lowest = forest.lowest(waiting);
                let is_below = forest.semi(lowest) < forest.semi(waiting);
                immediate[waiting as usize] = if is_below { lowest } else { parent };
            }
        }
        for number in 1..count {
            if immediate[number] != forest.semi[number] {
                immediate[number] = immediate[immediate[number] as usize];
            }
        }
        immediate
    }
}

/// The part of the walk's tree that was looked at, with semidominators; all by number.
struct Forest {
    semi: Vec<u32>,
    ancestors: Vec<Option<u32>>,
    /// Of those between a node and the end of its compressed path, the one whose semidominator is lowest.
    labels: Vec<u32>,
}

impl Forest {
    fn new(count: usize) -> Self {
        let numbers: Vec<u32> = (0..count as u32).collect();
        Self {
            semi: numbers.clone(),
            ancestors: vec![None; count],
            labels: numbers,
        }
    }

    fn semi(&self, number: u32) -> u32 {
        self.semi[number as usize]
    }

    /// The node with the lowest semidominator between `number` and its root in the forest, that root excluded.
    fn lowest(&mut self, number: u32) -> u32 {
        let mut path = Vec::new();
        let mut at = number;
        while let Some(ancestor) = self.ancestors[at as usize] {
            path.push((at, ancestor));
            at = ancestor;
        }
        // The last step leads to a root, which has nothing to hand down.
        let Some((_, root)) = path.pop() else {
            return number;
        };
        for (at, ancestor) in path.into_iter().rev() {
            let [label, above] = [at, ancestor].map(|number| self.labels[number as usize]);
            if self.semi(above) < self.semi(label) {
                self.labels[at as usize] = above;
            }
            self.ancestors[at as usize] = Some(root);
        }
        self.labels[number as usize]
    }
}

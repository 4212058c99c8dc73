//! Shortest paths, breadth first.

use std::collections::VecDeque;

use super::Admitted;
use crate::{Edge, Graph};

/// Which paths count.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    /// Along these edges.
    pub admitted: &'a Admitted,
    /// Around these nodes.
    pub gates: &'a [u32],
    /// Of at most so many edges.
    pub max_hops: Option<usize>,
}

/// A path of a graph: a witness that anybody can check against it.
#[derive(Clone, Debug)]
pub struct Path<'g> {
    /// The nodes in order.
    pub nodes: Vec<u32>,
    /// An edge for each step: of several that are admitted the first in the graph's order.
    pub edges: Vec<&'g Edge>,
}

impl Search<'_> {
    /// A shortest path, if there is one. A node reaches itself without a step; a gate is reached by nothing and
    /// reaches nothing.
    pub fn path<'g>(&self, graph: &'g Graph, from: u32, to: u32) -> Option<Path<'g>> {
        let mut closed = vec![false; graph.nodes().len()];
        for gate in self.gates {
            closed[*gate as usize] = true;
        }
        if closed[from as usize] || closed[to as usize] {
            return None;
        }
        let mut came: Vec<Option<&Edge>> = vec![None; closed.len()];
        let mut waiting = VecDeque::from([(from, 0_usize)]);
        closed[from as usize] = true;
        while let Some((node, hops)) = waiting.pop_front() {
            if node == to {
                return Some(trace(&came, from, to));
            }
            if self.max_hops.is_some_and(|most| hops >= most) {
                continue;
            }
            for edge in self.admitted.from(graph, node) {
                let next = edge.to as usize;
                if !closed[next] {
                    closed[next] = true;
                    came[next] = Some(edge);
                    waiting.push_back((edge.to, hops + 1));
                }
            }
        }
        None
    }
}

fn trace<'g>(came: &[Option<&'g Edge>], from: u32, to: u32) -> Path<'g> {
    let (mut nodes, mut edges, mut node) = (vec![to], Vec::new(), to);
    while node != from {
        let edge = came[node as usize].expect("each node but the first was reached by an edge");
        node = edge.from;
        nodes.push(node);
        edges.push(edge);
    }
    nodes.reverse();
    edges.reverse();
    Path { nodes, edges }
}

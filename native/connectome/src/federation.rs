//! The graphs of several nodes in one record, each assertion with the one who made it.
//!
//! Nothing is flattened. A *part* is one graph as one *member* - a node of a cluster, an organisation - asserts it. Its
//! ids are scoped by the member's name, every node and edge names its part, each part carries the digest of its own bytes,
//! and what members say differently of one thing is listed.

mod bytes;
mod conflict;
mod reading;

use std::cmp::Ordering;

use mcp_canonical::{Algorithm, nfc};

pub use conflict::{Claim, EdgeConflict, NodeConflict, NodeField};

use crate::Form;

/// The graphs of several members.
#[derive(Clone, Debug)]
pub struct Federation {
    parts: Vec<Part>,
}

/// One graph as one member asserts it.
#[derive(Clone, Debug)]
pub struct Part {
    /// The member's name, in NFC.
    pub member: Box<str>,
    /// The digest that the member's own bytes name.
    pub algorithm: Algorithm,
    /// The digest of the member's own bytes.
    pub digest: String,
    /// The graph.
    pub form: Form,
}

/// Why parts make no federation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum MergeFault {
    /// A member without a name, or with one that is not UTF-8.
    Member(Vec<u8>),
    /// A member asserts one graph twice.
    DuplicatePart(String),
}

impl Federation {
    /// Merges graphs, each with the name of its member and the digest that its own bytes name.
    ///
    /// # Errors
    ///
    /// A name that is none, then a part that comes twice.
    pub fn new<'a>(
        graphs: impl IntoIterator<Item = (&'a [u8], Form, Algorithm)>,
    ) -> Result<Self, MergeFault> {
        let part = |(member, form, algorithm)| Part::new(member, form, algorithm);
        Self::of(graphs.into_iter().map(part).collect::<Result<_, _>>()?)
    }

    fn of(mut parts: Vec<Part>) -> Result<Self, MergeFault> {
        parts.sort_by(Part::order);
        match parts
            .windows(2)
            .find(|pair| pair[0].order(&pair[1]).is_eq())
        {
            Some(pair) => Err(MergeFault::DuplicatePart(pair[0].member.to_string())),
            None => Ok(Self { parts }),
        }
    }

    /// The parts by member and digest.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }
}

impl Part {
    fn new(member: &[u8], form: Form, algorithm: Algorithm) -> Result<Self, MergeFault> {
        let name = nfc(member).filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| MergeFault::Member(member.to_vec()))?;
        let algorithm = form.version.algorithm(algorithm);
        let digest = algorithm.hexadecimal(&form.bytes(algorithm));
        Ok(Self {
            member: (&*name).into(),
            algorithm,
            digest,
            form,
        })
    }

    /// What stands before the ids of the member's nodes.
    fn scope(&self) -> String {
        scope(&self.member)
    }

    fn order(&self, other: &Self) -> Ordering {
        (&self.member, &self.digest).cmp(&(&other.member, &other.digest))
    }
}

fn scope(member: &str) -> String {
    format!("{}/", member.replace('%', "%25").replace('/', "%2F"))
}

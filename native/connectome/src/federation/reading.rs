//! A federation out of its bytes. Each part is put together again and has to have its own digest.

use std::borrow::Cow;

use mcp_canonical::Algorithm;
use mcp_json::{Node, Number};

use super::{Federation, Part};
use crate::Version;
use crate::record::{ReadEdge, ReadNode, RecordFault, array, field, graph, member, text, word};

impl Federation {
    /// Reads a record of version 4, without comparing its bytes.
    pub(crate) fn read(root: Node<'_>) -> Result<Self, RecordFault> {
        let claimed: Vec<_> = array(root, "parts")?
            .map(Claimed::read)
            .collect::<Result<_, _>>()?;
        let mut parts: Vec<_> = claimed.iter().map(|_| (Vec::new(), Vec::new())).collect();
        for node in array(root, "nodes")? {
            let at = part(node, parts.len())?;
            let mut read = ReadNode::read(node)?;
            read.id = claimed[at].unscoped(&read.id, node, "id")?;
            parts[at].0.push(read);
        }
        for edge in array(root, "edges")? {
            let at = part(edge, parts.len())?;
            let mut read = ReadEdge::read(edge, claimed[at].version)?;
            read.from = claimed[at].unscoped(&read.from, edge, "from")?;
            read.to = claimed[at].unscoped(&read.to, edge, "to")?;
            parts[at].1.push(read);
        }
        let checked = claimed.iter().zip(parts);
        let checked = checked.map(|(claimed, (nodes, edges))| claimed.check(&nodes, &edges));
        Self::of(checked.collect::<Result<_, _>>()?).map_err(RecordFault::Merge)
    }
}

/// What a record says about one of its parts.
struct Claimed {
    member: String,
    scope: String,
    version: Version,
    algorithm: Algorithm,
    digest: String,
}

impl Claimed {
    fn read(node: Node<'_>) -> Result<Self, RecordFault> {
        let number = member(node, "schema_version")?;
        let version = match number.number() {
            Some(Number::Integer(number)) => Version::from_number(number),
            _ => None,
        };
        let name = text(node, "member")?.into_owned();
        Ok(Self {
            scope: super::scope(&name),
            member: name,
            version: version.ok_or_else(|| field("schema_version", number))?,
            algorithm: word(node, "algorithm", Algorithm::from_name)?,
            digest: text(node, "digest")?.into_owned(),
        })
    }

    /// An id without the scope that it must have.
    fn unscoped<'a>(
        &self,
        id: &str,
        of: Node<'_>,
        name: &'static str,
    ) -> Result<Cow<'a, str>, RecordFault> {
        match id.strip_prefix(&self.scope) {
            Some(id) => Ok(id.to_owned().into()),
            None => Err(field(name, member(of, name)?)),
        }
    }

    fn check(&self, nodes: &[ReadNode<'_>], edges: &[ReadEdge<'_>]) -> Result<Part, RecordFault> {
        let form = graph(self.version, nodes, edges)?;
        let part = Part::new(self.member.as_bytes(), form, self.algorithm);
        let part = part.map_err(RecordFault::Merge)?;
        if part.digest == self.digest {
            return Ok(part);
        }
        Err(RecordFault::PartDigest {
            member: self.member.clone(),
            digest: part.digest,
        })
    }
}

/// The position of a part that a node or an edge names.
fn part(of: Node<'_>, parts: usize) -> Result<usize, RecordFault> {
    let named = member(of, "part")?;
    let position = match named.number() {
        Some(Number::Integer(position)) => usize::try_from(position).ok(),
        _ => None,
    };
    let position = position.filter(|position| *position < parts);
    position.ok_or_else(|| field("part", named))
}

//! What a schema may be, and what one check may cost.

/// Bounds on schemas and on the work of one check.
///
/// The first four are checked once, when a schema is compiled; the last bounds each check. A refusal
/// names what was found and what is allowed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Levels of JSON nesting in a schema document. Default 64.
    pub max_depth: usize,
    /// Bytes of the schema document written as compact JSON. Default 1 MiB.
    pub max_schema_bytes: usize,
    /// Keyword evaluations for one instance value, with references expanded. Default 10,000, about
    /// 0.2 ms.
    pub max_cost: u64,
    /// Subschemas that apply to one instance value each inside the other, references included: they
    /// become stack. Default 32.
    pub max_chain: usize,
    /// Reads of instance values that one check may do for each value in the instance. Every check may do
    /// a million reads (about 10 ms), larger instances more by this factor. Default 64.
    pub max_reads_per_value: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_depth: 64,
            max_schema_bytes: 1024 * 1024,
            max_cost: 10_000,
            max_chain: 32,
            max_reads_per_value: 64,
        }
    }
}

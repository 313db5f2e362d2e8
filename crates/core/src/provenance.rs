//! Provenance: which artifact serves which part of a function.

use crate::key::{ActionKey, BuildKey, Digest};

/// Which artifact serves a part of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// Printable signatures of the Applies that it serves, in order.
    pub ops: Vec<String>,
    /// Who computes them.
    pub served: Served,
}

/// Who computes a part of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Served {
    /// An artifact of a layer.
    Artifact {
        /// What was wanted.
        key: BuildKey,
        /// The layer.
        layer: String,
        /// How it was made.
        action: ActionKey,
        /// What was loaded.
        digest: Digest,
        /// The ISA level of the variant.
        isa: String,
    },
    /// Compiled in this process.
    Jit {
        /// What was wanted.
        key: BuildKey,
        /// What came out.
        digest: Digest,
        /// The ISA level.
        isa: String,
    },
    /// The reference `perform` of the ops.
    Interpreted,
}

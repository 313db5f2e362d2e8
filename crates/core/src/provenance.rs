//! Provenance: the artifact that serves each part of a function.

use crate::key::{ActionKey, BuildKey, Digest};

/// The origin of a part of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// Printable signatures of the Applies that it serves, in order.
    pub ops: Vec<String>,
    /// The artifact or interpreter that computes them.
    pub served: CodeOrigin,
}

/// The origin of the code that computes a part of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeOrigin {
    /// An artifact of a layer.
    Artifact {
        /// The key of the module.
        key: BuildKey,
        /// The layer.
        layer: String,
        /// The key of the action that built it.
        action: ActionKey,
        /// The digest of the archive.
        digest: Digest,
        /// The ISA level of the variant.
        isa: String,
    },
    /// Compiled in this process.
    Jit {
        /// The key of the module.
        key: BuildKey,
        /// The digest of the result.
        digest: Digest,
        /// The ISA level.
        isa: String,
    },
    /// The reference `perform` of the ops.
    Interpreted,
}

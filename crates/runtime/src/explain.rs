//! What would happen, and why, before anything is loaded.

use crate::miss::Miss;
use precast_graph::FunctionGraph;
use precast_store::{BuildKey, Digest};
use std::fmt;

/// Whether a graph would hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Check {
    /// One module serves the whole graph.
    Whole,
    /// Every group that fusion makes is served by a module of its own.
    Groups,
    /// Some groups are served whole, others by parts of them.
    Mixed,
    /// Every op is served by a module of its own.
    OpByOp,
    /// Something is missing.
    Miss,
}

impl Check {
    /// Whether the graph would be served without a compiler.
    #[must_use]
    pub const fn is_hit(self) -> bool {
        !matches!(self, Self::Miss)
    }
}

/// One look-up: a module, and where it is or why it is nowhere.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Lookup {
    /// A layer has it.
    Found {
        /// Printable signature.
        signature: String,
        /// Its key.
        key: BuildKey,
        /// The layer.
        layer: String,
        /// The archive.
        digest: Digest,
        /// The ISA level that this host would run.
        isa: String,
    },
    /// No layer has it.
    Missing(Miss),
}

impl Lookup {
    /// Whether a layer has it.
    #[must_use]
    pub const fn is_found(&self) -> bool {
        matches!(self, Self::Found { .. })
    }
}

impl fmt::Display for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found { signature, key, layer, isa, .. } => {
                write!(f, "hit: `{signature}` ({isa}, key {}) in {layer}", key.short())
            }
            Self::Missing(miss) => write!(f, "{miss}"),
        }
    }
}

/// How a graph would be served.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The look-up of the whole graph.
    pub whole: Lookup,
    /// The look-ups of groups that were not found, and so taken apart.
    pub groups: Vec<Lookup>,
    /// The look-ups of what would serve the graph by parts, in order: groups that were found, patterns, single ops. Empty when
    /// the whole graph was found.
    pub ops: Vec<Lookup>,
    pub(crate) graph: FunctionGraph,
    pub(crate) served: Vec<Lookup>,
    pub(crate) check: Check,
}

impl Explanation {
    /// The answer in one word.
    #[must_use]
    pub const fn check(&self) -> Check {
        self.check
    }

    /// The graph as it would be served: fused, and taken apart where only parts of a group were found.
    #[must_use]
    pub fn graph(&self) -> &FunctionGraph {
        &self.graph
    }

    /// The look-up of what would serve each Apply of [`Explanation::graph`], in order.
    #[must_use]
    pub fn served(&self) -> &[Lookup] {
        &self.served
    }

    /// What is missing, the whole graph first, then single ops.
    pub fn missing(&self) -> impl Iterator<Item = &Miss> {
        let lookups = std::iter::once(&self.whole).chain(&self.ops);
        lookups.filter_map(|lookup| match lookup {
            Lookup::Missing(miss) => Some(miss),
            Lookup::Found { .. } => None,
        })
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answer = match self.check() {
            Check::Whole => "hit: one module serves the whole graph",
            Check::Groups => "hit: every group is served by a module of its own",
            Check::Mixed => "hit: groups and parts of groups are served by modules of their own",
            Check::OpByOp => "hit: every op is served by a module of its own",
            Check::Miss => "miss",
        };
        write!(f, "{answer}\n  whole graph: {}", self.whole)?;
        self.ops
            .iter()
            .enumerate()
            .try_for_each(|(position, lookup)| write!(f, "\n  part {position}: {lookup}"))
    }
}

//! What would happen, and why, before anything is loaded.

use precast_acquire::Miss;
use precast_graph::FunctionGraph;
use precast_store::{BuildKey, Digest};
use std::fmt;

/// Whether a graph would hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Check {
    /// One module serves the whole graph, or, where C of authors stands in it, one each of its segments.
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

    fn miss(&self) -> Option<&Miss> {
        match self {
            Self::Found { .. } => None,
            Self::Missing(miss) => Some(miss),
        }
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
    /// The look-ups of the graph's segments, in order: for a graph without C of authors that of the whole graph.
    pub segments: Vec<Lookup>,
    /// The look-ups of groups that were not found, and so taken apart.
    pub groups: Vec<Lookup>,
    /// The look-ups of what would serve segments that were not found, in order: groups that were found, patterns, single ops.
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

    /// The ISA levels of the modules that would serve it, each once, in the order of the parts that they serve.
    #[must_use]
    pub fn isa(&self) -> Vec<&str> {
        let mut levels = Vec::new();
        for lookup in &self.served {
            let Lookup::Found { isa, .. } = lookup else { continue };
            if !levels.contains(&isa.as_str()) {
                levels.push(isa);
            }
        }
        levels
    }

    /// What is missing, segments first, then single ops; a segment that is a single op once.
    pub fn missing(&self) -> impl Iterator<Item = &Miss> {
        let segments: Vec<&Miss> = self.segments.iter().filter_map(Lookup::miss).collect();
        let ops: Vec<&Miss> = self.ops.iter().filter_map(Lookup::miss).collect();
        let is_new = |op: &&Miss| segments.iter().all(|segment| segment.key != op.key);
        let ops: Vec<&Miss> = ops.into_iter().filter(is_new).collect();
        segments.into_iter().chain(ops)
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answer = match self.check() {
            Check::Whole if self.segments.len() > 1 => "hit: a module serves each segment of the graph",
            Check::Whole => "hit: one module serves the whole graph",
            Check::Groups => "hit: every group is served by a module of its own",
            Check::Mixed => "hit: groups and parts of groups are served by modules of their own",
            Check::OpByOp => "hit: every op is served by a module of its own",
            Check::Miss => "miss",
        };
        f.write_str(answer)?;
        match &self.segments[..] {
            [whole] => write!(f, "\n  whole graph: {whole}")?,
            segments => (segments.iter().enumerate())
                .try_for_each(|(position, lookup)| write!(f, "\n  segment {position}: {lookup}"))?,
        }
        self.ops
            .iter()
            .enumerate()
            .try_for_each(|(position, lookup)| write!(f, "\n  part {position}: {lookup}"))
    }
}

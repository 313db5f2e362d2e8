//! Explanations: how a graph would be served, and why, without loading anything.

use precast_acquire::Miss;
use precast_graph::FunctionGraph;
use precast_store::{BuildKey, Digest};
use std::collections::BTreeSet;
use std::fmt;

/// The kinds of modules that would serve a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Check {
    /// One module serves the whole graph, or each of its segments if it contains user-written C.
    Whole,
    /// Each fused group has a module of its own.
    Groups,
    /// Some groups have a module, other groups are served by modules of their parts.
    Mixed,
    /// Each op has a module of its own.
    OpByOp,
    /// At least one module is missing.
    Miss,
}

impl Check {
    /// Returns whether the graph would be served without a compiler.
    #[must_use]
    pub const fn is_hit(self) -> bool {
        !matches!(self, Self::Miss)
    }
}

/// A look-up of a module: the layer that has it, or the reasons for the miss.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Lookup {
    /// A layer has the module.
    Found {
        /// The printable signature.
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
    /// No layer has the module.
    Missing(Miss),
}

impl Lookup {
    /// Returns whether a layer has the module.
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

/// The modules that would serve a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The look-ups of the graph's segments, in order; a graph without user-written C is one segment.
    pub segments: Vec<Lookup>,
    /// The look-ups of missing groups, which were then split.
    pub groups: Vec<Lookup>,
    /// The look-ups for missing segments, in order: groups that were found, patterns, single ops.
    pub ops: Vec<Lookup>,
    pub(crate) graph: FunctionGraph,
    pub(crate) served: Vec<Lookup>,
    pub(crate) check: Check,
}

impl Explanation {
    /// Returns the summary.
    #[must_use]
    pub const fn check(&self) -> Check {
        self.check
    }

    /// Returns the graph as it would be served: fused, with groups split if only parts of them were found.
    #[must_use]
    pub fn graph(&self) -> &FunctionGraph {
        &self.graph
    }

    /// Returns the look-up for each Apply of [`Explanation::graph`], in order.
    #[must_use]
    pub fn served(&self) -> &[Lookup] {
        &self.served
    }

    /// Returns the ISA levels of the modules, without duplicates, in the order of the parts they serve.
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

    /// Returns the misses: segments first, then single ops. Each module appears once.
    pub fn missing(&self) -> impl Iterator<Item = &Miss> {
        let mut known = BTreeSet::new();
        let misses = self.segments.iter().chain(&self.ops).filter_map(Lookup::miss);
        misses.filter(move |miss| known.insert(miss.key))
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answer = match self.check() {
            Check::Whole if self.segments.len() > 1 => "hit: one module for each segment of the graph",
            Check::Whole => "hit: one module for the whole graph",
            Check::Groups => "hit: one module for each group",
            Check::Mixed => "hit: modules for groups and parts of groups",
            Check::OpByOp => "hit: one module for each op",
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

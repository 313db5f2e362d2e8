//! The answer of a search: how a graph is served, with what was found, and what is missing.

#[cfg(feature = "jit")]
use crate::resolve::Names;
use precast_codegen::Module;
use precast_core::Provenance;
use precast_core::native::LoadedModule;
use precast_core::native::profiling::Symbols;
use precast_graph::FunctionGraph;
use precast_ops::rewrite;
use precast_store::{BuildKey, Fingerprint, Record};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// How a lowered graph is served.
pub(crate) struct Answer {
    /// The name of the graph; empty if it has none.
    #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "only a JIT loads modules later"))]
    pub(crate) name: String,
    /// The form of the graph that was searched for.
    pub(crate) lowered: FunctionGraph,
    /// Its segments, in order.
    pub(crate) segments: Vec<Segment>,
    /// The modules that single Applies need and no layer has, each once.
    pub(crate) missing: Vec<Missing>,
    /// The modules of whole groups that no layer has; the groups were then taken apart.
    pub(crate) groups: Vec<Missing>,
    /// The modules that a compiler would make of the graph, one for each segment, where no layer has them.
    pub(crate) wanted: Vec<Arc<Module>>,
    pub(super) found: BTreeMap<BuildKey, Option<Found>>,
    #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "only a JIT loads modules later"))]
    pub(super) symbols: Symbols,
}

/// A segment of a lowered graph.
pub(crate) struct Segment {
    /// Positions of its Applies.
    pub(crate) applies: Range<usize>,
    /// The modules that serve it.
    pub(crate) by: By,
    /// Its own module, if it was searched for and no layer has it.
    pub(crate) missing: Option<MissingSegment>,
}

/// The module of a segment that no layer has.
pub(crate) struct MissingSegment {
    /// The module.
    pub(crate) module: Arc<Module>,
    /// The fingerprint that leads to it.
    #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "only a JIT publishes modules"))]
    pub(crate) fingerprint: Option<Fingerprint>,
}

/// The module of an Apply that no layer has.
pub(crate) struct Missing {
    /// Position of the Apply in the lowered graph.
    pub(crate) apply: usize,
    /// The module.
    pub(crate) module: Arc<Module>,
}

/// The modules that serve a segment.
pub(crate) enum By {
    /// A module of its own.
    Own(BuildKey),
    /// Modules of its Applies; `None` where one is missing.
    Applies(Vec<Option<ApplyCover>>),
}

/// The modules that serve one Apply of a lowered graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ApplyCover {
    /// A module of its own.
    Group(BuildKey),
    /// Modules of parts of it, in order.
    Parts(Vec<Part>),
}

/// Some members of a group, in order, and the module that serves them.
pub(crate) type Part = (Vec<usize>, BuildKey);

/// The module that a layer has for a key.
#[derive(Debug, Clone)]
pub(crate) enum Found {
    /// Callable code.
    Loaded(LoadedModule, Provenance),
    /// A record in a layer; nothing was loaded.
    Seen(String, Arc<Record>),
}

impl Answer {
    /// Whether nothing is missing.
    pub(crate) fn is_complete(&self) -> bool {
        self.segments.iter().all(Segment::is_served)
    }

    /// The modules of the segments that are not served in full, in order.
    pub(crate) fn unserved(&self) -> impl Iterator<Item = &Arc<Module>> {
        let missing = self.segments.iter().filter(|segment| !segment.is_served());
        missing.filter_map(|segment| Some(&segment.missing.as_ref()?.module))
    }

    /// The names of the module of a key.
    #[cfg(feature = "jit")]
    pub(crate) fn names(&self, key: &BuildKey) -> Names<'_> {
        super::names(&self.name, &self.symbols, key)
    }

    /// The module that a layer has for a key.
    pub(crate) fn found(&self, key: &BuildKey) -> Option<&Found> {
        self.found.get(key)?.as_ref()
    }

    /// The code that was loaded for a key.
    pub(crate) fn loaded(&self, key: &BuildKey) -> Option<(LoadedModule, Provenance)> {
        match self.found(key)? {
            Found::Loaded(module, provenance) => Some((module.clone(), provenance.clone())),
            Found::Seen(..) => None,
        }
    }

    /// Serves a segment by its own module, which was compiled.
    #[cfg(feature = "jit")]
    pub(crate) fn serve(
        &mut self,
        segment: usize,
        key: BuildKey,
        (module, from): (LoadedModule, Provenance),
    ) {
        self.segments[segment].by = By::Own(key);
        self.found.insert(key, Some(Found::Loaded(module, from)));
    }
}

impl Segment {
    /// Whether nothing is missing.
    pub(crate) fn is_served(&self) -> bool {
        match &self.by {
            By::Own(_) => true,
            By::Applies(covers) => covers.iter().all(Option::is_some),
        }
    }
}

impl ApplyCover {
    /// The keys of the modules that serve the Apply, in order.
    pub(crate) fn keys(&self) -> Vec<BuildKey> {
        match self {
            Self::Group(key) => vec![*key],
            Self::Parts(parts) => parts.iter().map(|(_, key)| *key).collect(),
        }
    }

    /// The members of each part; `None` if the Apply stays whole.
    pub(crate) fn members(&self) -> Option<rewrite::Parts> {
        match self {
            Self::Group(_) => None,
            Self::Parts(parts) => Some(parts.iter().map(|(members, _)| members.clone()).collect()),
        }
    }
}

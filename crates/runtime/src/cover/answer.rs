//! The answer of a search: how a graph is served, the modules found, and the missing ones.

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

/// The modules that serve a lowered graph.
pub(crate) struct Answer {
    /// The name of the graph; empty if it has none.
    #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "only a JIT loads modules later"))]
    pub(crate) name: String,
    /// The form of the graph that was searched.
    pub(crate) lowered: FunctionGraph,
    /// Its segments, in order.
    pub(crate) segments: Vec<Segment>,
    /// Missing modules of single Applies, each once.
    pub(crate) missing: Vec<Missing>,
    /// Missing modules of whole groups, which were then split.
    pub(crate) groups: Vec<Missing>,
    /// The modules that compiling would produce for segments without one, one for each segment.
    pub(crate) wanted: Vec<Arc<Module>>,
    pub(super) found: BTreeMap<BuildKey, Option<Found>>,
    #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "only a JIT loads modules later"))]
    pub(super) symbols: Symbols,
}

/// A segment of a lowered graph.
pub(crate) struct Segment {
    /// The positions of its Applies.
    pub(crate) applies: Range<usize>,
    /// The modules that serve it.
    pub(crate) by: By,
    /// The segment's module, if it was looked up and not found.
    pub(crate) missing: Option<MissingSegment>,
}

/// The missing module of a segment.
pub(crate) struct MissingSegment {
    /// The module.
    pub(crate) module: Arc<Module>,
    /// The fingerprint that maps to it.
    #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "only a JIT publishes modules"))]
    pub(crate) fingerprint: Option<Fingerprint>,
}

/// The missing module of an Apply.
pub(crate) struct Missing {
    /// The position of the Apply in the lowered graph.
    pub(crate) apply: usize,
    /// The module.
    pub(crate) module: Arc<Module>,
}

/// The modules that serve a segment.
pub(crate) enum By {
    /// One module for the whole segment.
    Own(BuildKey),
    /// Modules of its Applies; `None` for each missing one.
    Applies(Vec<Option<ApplyCover>>),
}

/// The modules that serve an Apply of a lowered graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ApplyCover {
    /// One module for the whole Apply.
    Group(BuildKey),
    /// Modules of its parts, in order.
    Parts(Vec<Part>),
}

/// Some members of a group, in order, and their module.
pub(crate) type Part = (Vec<usize>, BuildKey);

/// The module found for a key.
#[derive(Debug, Clone)]
pub(crate) enum Found {
    /// Loaded code.
    Loaded(LoadedModule, Provenance),
    /// A record in a layer, whose code is not loaded.
    Seen(String, Arc<Record>),
}

impl Answer {
    /// Returns whether no module is missing.
    pub(crate) fn is_complete(&self) -> bool {
        self.segments.iter().all(Segment::is_served)
    }

    /// Returns the modules of segments that are not fully served, in order.
    pub(crate) fn unserved(&self) -> impl Iterator<Item = &Arc<Module>> {
        let missing = self.segments.iter().filter(|segment| !segment.is_served());
        missing.filter_map(|segment| Some(&segment.missing.as_ref()?.module))
    }

    /// Returns the names of a key's module.
    #[cfg(feature = "jit")]
    pub(crate) fn names(&self, key: &BuildKey) -> Names<'_> {
        super::names(&self.name, &self.symbols, key)
    }

    /// Returns the module found for a key.
    pub(crate) fn found(&self, key: &BuildKey) -> Option<&Found> {
        self.found.get(key)?.as_ref()
    }

    /// Returns the code loaded for a key.
    pub(crate) fn loaded(&self, key: &BuildKey) -> Option<(LoadedModule, Provenance)> {
        match self.found(key)? {
            Found::Loaded(module, provenance) => Some((module.clone(), provenance.clone())),
            Found::Seen(..) => None,
        }
    }

    /// Serves a segment by its own module, which was just compiled.
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
    /// Returns whether no module is missing.
    pub(crate) fn is_served(&self) -> bool {
        match &self.by {
            By::Own(_) => true,
            By::Applies(covers) => covers.iter().all(Option::is_some),
        }
    }
}

impl ApplyCover {
    /// Returns the keys of the modules that serve the Apply, in order.
    pub(crate) fn keys(&self) -> Vec<BuildKey> {
        match self {
            Self::Group(key) => vec![*key],
            Self::Parts(parts) => parts.iter().map(|(_, key)| *key).collect(),
        }
    }

    /// Returns the members of each part; `None` if the Apply is not split.
    pub(crate) fn members(&self) -> Option<rewrite::Parts> {
        match self {
            Self::Group(_) => None,
            Self::Parts(parts) => Some(parts.iter().map(|(members, _)| members.clone()).collect()),
        }
    }
}

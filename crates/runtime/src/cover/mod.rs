//! Cover: what serves a graph, looked for in one walk from the largest artifact to the smallest.
//!
//! ```text
//! lowered graph ─▶ each segment: a module of its own?
//!                    └─▶ each Apply of it: a module of its own?
//!                           └─▶ its group taken apart: patterns, larger first ─▶ single ops ─▶ missing
//! ```
//! Most graphs are one segment; an Apply with C of an author is one by itself (`precast_codegen::segments`). A group is taken
//! apart greedily from its last Apply towards the inputs, with a bounded number of looks; what was decided is remembered. No
//! choice shows in the bits: fused or not, the same scalar functions run in the same order.
//!
//! Who wants to call the graph, who wants to know why it cannot be called, and who only asks, all read the same [`Cover`].

mod pattern;

use crate::error::FunctionError;
use crate::resolve::Resolver;
use precast_codegen::{Module, link, segments, single};
use precast_core::native::LoadedModule;
use precast_core::{Provenance, span};
use precast_graph::{FunctionGraph, encode};
use precast_ops::{Ops, fingerprint, rewrite};
use precast_store::{BuildKey, Layer, LayerError, Record};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Most patterns that are looked for in one group.
const PATTERNS: usize = 64;
/// Most segments whose covers are remembered.
const REMEMBERED: usize = 1024;

/// How a lowered graph is served.
pub(crate) struct Cover {
    /// The form of it that was looked for.
    pub(crate) lowered: FunctionGraph,
    /// Its segments, in order.
    pub(crate) segments: Vec<Segment>,
}

impl Cover {
    /// Whether nothing is missing.
    pub(crate) fn is_complete(&self) -> bool {
        self.segments.iter().all(Segment::is_served)
    }
}

/// How a segment of a lowered graph is served.
pub(crate) struct Segment {
    /// Positions of its Applies.
    pub(crate) applies: Range<usize>,
    /// What serves it.
    pub(crate) by: By,
}

/// What serves a segment.
pub(crate) enum By {
    /// A module of its own.
    Own(BuildKey),
    /// Modules of its Applies; `None` where one is missing.
    Applies(Vec<Option<ApplyCover>>),
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

/// How one Apply of a lowered graph is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ApplyCover {
    /// By a module of its own.
    Group(BuildKey),
    /// By modules of parts of it, in order.
    Parts(Vec<Part>),
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

/// Some members of a group, in order, and the module that serves them.
pub(crate) type Part = (Vec<usize>, BuildKey);

/// What a layer has for a key.
#[derive(Debug, Clone)]
pub(crate) enum Found {
    /// Callable code.
    Loaded(LoadedModule, Provenance),
    /// A record; nothing was loaded.
    Seen(String, Arc<Record>),
}

/// How a graph is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct How {
    /// Whether what is found is loaded; damaged artifacts are only then as good as missing.
    pub(crate) loads: bool,
    /// Whether all that is missing is wanted; else the search in a segment ends with the first.
    pub(crate) thorough: bool,
    /// Whether modules of single Applies will do.
    pub(crate) parts: bool,
}

/// How segments that have no module of their own are served, by their canonical bytes.
pub(crate) type KnownCovers = Mutex<BTreeMap<Vec<u8>, Arc<[ApplyCover]>>>;

/// A search in the layers of a runtime, for one graph.
pub(crate) struct Search<'a> {
    ops: &'a Ops,
    resolver: &'a Resolver,
    remembered: &'a KnownCovers,
    how: How,
    /// Keys by the canonical bytes of their graphs.
    keys: BTreeMap<Vec<u8>, BuildKey>,
    found: BTreeMap<BuildKey, Option<Found>>,
    /// What was generated for a key.
    modules: BTreeMap<BuildKey, Arc<Module>>,
    /// The modules of segments that no layer has, by position of the segment.
    pub(crate) whole: BTreeMap<usize, Arc<Module>>,
    /// The modules that single Applies need and no layer has, each once, with the position of the Apply in the lowered graph.
    pub(crate) missing: Vec<(usize, Arc<Module>)>,
    /// The same of whole groups that were then taken apart.
    pub(crate) groups: Vec<(usize, Arc<Module>)>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(ops: &'a Ops, resolver: &'a Resolver, remembered: &'a KnownCovers, how: How) -> Self {
        Self {
            ops,
            resolver,
            remembered,
            how,
            keys: BTreeMap::new(),
            found: BTreeMap::new(),
            modules: BTreeMap::new(),
            whole: BTreeMap::new(),
            missing: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// What was found for a key.
    pub(crate) fn found(&self, key: &BuildKey) -> Option<&Found> {
        self.found.get(key)?.as_ref()
    }

    /// The modules of the segments that are not served in full, in order.
    pub(crate) fn unserved<'s>(&'s self, cover: &'s Cover) -> impl Iterator<Item = &'s Module> {
        let missing = self.whole.iter().filter(|(position, _)| !cover.segments[**position].is_served());
        missing.map(|(_, module)| &**module)
    }

    /// The code that was loaded for a key.
    pub(crate) fn loaded(&self, key: &BuildKey) -> Option<(LoadedModule, Provenance)> {
        match self.found(key)? {
            Found::Loaded(module, provenance) => Some((module.clone(), provenance.clone())),
            Found::Seen(..) => None,
        }
    }

    /// Adds what was compiled for a key that no layer had.
    #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "only a JIT compiles"))]
    pub(crate) fn compiled(&mut self, key: BuildKey, (module, provenance): (LoadedModule, Provenance)) {
        self.found.insert(key, Some(Found::Loaded(module, provenance)));
    }

    /// How a lowered graph is served. Without `whole` no module of a segment is looked for: in the form
    /// that preserves inputs, declared ops are what may be there.
    pub(crate) fn cover(&mut self, lowered: FunctionGraph, whole: bool) -> Result<Cover, FunctionError> {
        let mut covered = Vec::new();
        for (position, segment) in segments(&lowered, self.ops.c())?.into_iter().enumerate() {
            let own = if whole { self.own(position, &segment.graph)? } else { None };
            let by = match own {
                Some(key) => By::Own(key),
                None => By::Applies(self.applies(&lowered, &segment)?),
            };
            covered.push(Segment { applies: segment.applies, by });
        }
        Ok(Cover { lowered, segments: covered })
    }

    /// The key of a segment's own module, if there is that.
    fn own(&mut self, position: usize, graph: &FunctionGraph) -> Result<Option<BuildKey>, FunctionError> {
        let key = self.key(graph)?;
        if self.has(key)? {
            return Ok(Some(key));
        }
        let module = self.module(key, graph)?;
        self.whole.insert(position, module);
        Ok(None)
    }

    /// How each Apply of a segment is served.
    fn applies(
        &mut self,
        lowered: &FunctionGraph,
        segment: &precast_codegen::Segment<'_>,
    ) -> Result<Vec<Option<ApplyCover>>, FunctionError> {
        let mut covers = vec![None; segment.applies.len()];
        if !self.how.parts || (self.resolver.layers.is_empty() && !self.how.thorough) {
            return Ok(covers);
        }
        let canonical = encode::canonical(&segment.graph);
        let remembered =
            self.remembered.lock().unwrap_or_else(PoisonError::into_inner).get(&canonical).cloned();
        // What is missing in a group that was then taken apart is not remembered: who asks why wants to know.
        if let Some(known) = remembered.filter(|_| self.how.loads)
            && self.confirm(&known)?
        {
            return Ok(known.iter().cloned().map(Some).collect());
        }
        for (cover, position) in covers.iter_mut().zip(segment.applies.clone()).rev() {
            *cover = self.apply(lowered, position)?;
            if cover.is_none() && !self.how.thorough {
                break;
            }
        }
        if let Some(all) = covers.iter().cloned().collect::<Option<Vec<ApplyCover>>>() {
            let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
            if remembered.len() < REMEMBERED {
                remembered.insert(canonical, all.into());
            }
        }
        Ok(covers)
    }

    /// Whether everything that was decided for an equal segment before is still there.
    fn confirm(&mut self, covers: &[ApplyCover]) -> Result<bool, FunctionError> {
        for key in covers.iter().flat_map(ApplyCover::keys) {
            if !self.has(key)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn apply(
        &mut self,
        lowered: &FunctionGraph,
        position: usize,
    ) -> Result<Option<ApplyCover>, FunctionError> {
        let alone = single(lowered, position, self.ops.c())?;
        let key = self.key(&alone)?;
        if self.has(key)? {
            return Ok(Some(ApplyCover::Group(key)));
        }
        let module = self.module(key, &alone)?;
        let Some(group) = rewrite::unfuse(lowered, position)? else {
            self.missing.push((position, module));
            return Ok(None);
        };
        self.groups.push((position, module));
        Ok(self.parts(position, &group)?.map(ApplyCover::Parts))
    }

    /// Covers a group by patterns and single ops.
    fn parts(&mut self, position: usize, group: &FunctionGraph) -> Result<Option<Vec<Part>>, FunctionError> {
        let mut free = vec![true; group.applies().len()];
        let (mut parts, mut looks, mut whole) = (Vec::new(), PATTERNS, true);
        for root in (0..free.len()).rev() {
            if !free[root] {
                continue;
            }
            let mut part = None;
            for members in pattern::patterns(group, root, &free, looks) {
                if members.len() == free.len() {
                    continue;
                }
                looks -= 1;
                if let Some(key) = self.pattern(group, &members)? {
                    part = Some((members, key));
                    break;
                }
            }
            if part.is_none() {
                let alone = single(group, root, self.ops.c())?;
                let key = self.key(&alone)?;
                if self.has(key)? {
                    part = Some((vec![root], key));
                } else if !self.missing.iter().any(|(_, module)| module.key() == key) {
                    let module = self.module(key, &alone)?;
                    self.missing.push((position, module));
                }
            }
            match part {
                Some((members, key)) => {
                    members.iter().for_each(|member| free[*member] = false);
                    parts.push((members, key));
                }
                None => (free[root], whole) = (false, false),
            }
        }
        parts.sort_by_key(|(members, _)| members.last().copied());
        Ok(whole.then_some(parts))
    }

    /// The key of a pattern that a layer has. Only fingerprints are asked: no code is generated for a guess.
    fn pattern(
        &mut self,
        group: &FunctionGraph,
        members: &[usize],
    ) -> Result<Option<BuildKey>, FunctionError> {
        let Some(rewrite::Joined { op, reads, .. }) = rewrite::join(group, members) else { return Ok(None) };
        let mut joined = FunctionGraph::new();
        let mut inputs = Vec::new();
        for (k, variable) in reads.iter().enumerate() {
            inputs.push(joined.input(&format!("x{k}"), group.ty(*variable).clone())?);
        }
        joined.apply(op, &inputs)?;
        let alone = single(&joined, 0, self.ops.c())?;
        let Some(fingerprint) = fingerprint(&alone, self.ops) else { return Ok(None) };
        for layer in &self.resolver.layers {
            if let Some(key) = Layer::find_fingerprint(layer, &fingerprint)?
                && self.has(key)?
            {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }

    /// The key of a graph's module, which is generated if that is the only way to know.
    fn key(&mut self, graph: &FunctionGraph) -> Result<BuildKey, FunctionError> {
        match self.keys.entry(encode::canonical(graph)) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(new) => {
                let (key, module) = self.resolver.key(graph, self.ops, || generate(graph, self.ops))?;
                self.modules.extend(module.map(|module| (key, Arc::new(module))));
                Ok(*new.insert(key))
            }
        }
    }

    /// The module of a graph whose key is known.
    fn module(&mut self, key: BuildKey, graph: &FunctionGraph) -> Result<Arc<Module>, FunctionError> {
        match self.modules.entry(key) {
            Entry::Occupied(known) => Ok(Arc::clone(known.get())),
            Entry::Vacant(new) => Ok(Arc::clone(new.insert(Arc::new(generate(graph, self.ops)?)))),
        }
    }

    fn has(&mut self, key: BuildKey) -> Result<bool, LayerError> {
        if let Some(found) = self.found.get(&key) {
            return Ok(found.is_some());
        }
        let found = if self.how.loads {
            self.resolver.resolve(&key)?.map(|(module, provenance)| Found::Loaded(module, provenance))
        } else {
            self.resolver.has(&key)?.map(|(layer, record)| Found::Seen(layer, record))
        };
        let is_found = found.is_some();
        self.found.insert(key, found);
        Ok(is_found)
    }
}

/// The module of a graph.
fn generate(graph: &FunctionGraph, ops: &Ops) -> Result<Module, FunctionError> {
    let _span = span!("generate");
    Ok(link(graph, ops.c())?)
}

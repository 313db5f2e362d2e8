//! Searches for the modules that serve a graph, in one walk from the largest artifact to the smallest.
//!
//! ```text
//! lowered graph ─▶ each segment: a module of its own?
//!                    └─▶ each Apply of it: a module of its own?
//!                           └─▶ its group taken apart: patterns, larger first ─▶ single ops ─▶ missing
//! ```
//! Most graphs are one segment; an Apply with user-written C is a segment by itself (`precast_codegen::segments`). A
//! group is split greedily from its last Apply towards the inputs, with a bounded number of look-ups; the choice is
//! cached. The results have the same bits either way: fused or not, the same scalar functions run in the same order.
//!
//! Calls, explanations and records of misses all use the same [`Answer`].

mod answer;
mod expression;
mod pattern;

use crate::error::FunctionError;
use crate::resolve::{Names, Resolver};
use answer::MissingSegment;
pub(crate) use answer::{Answer, ApplyCover, By, Found, Missing, Part, Segment};
use precast_codegen::{Module, link, segments, single};
use precast_core::native::profiling::{Symbols, symbol};
use precast_core::span;
use precast_graph::{FunctionGraph, encode};
use precast_ops::{Ops, fingerprint, rewrite};
use precast_store::{BuildKey, Layer, LayerError};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// The most patterns that are looked up in one group.
const PATTERNS: usize = 64;
/// The most segments whose covers are cached.
const REMEMBERED: usize = 1024;

/// The purpose of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Call the graph. The search of a segment ends at the first missing module.
    Call,
    /// Call the graph, or report all missing modules.
    CallOrReport,
    /// Call the graph with modules of whole segments only.
    #[cfg(feature = "jit")]
    CallWhole,
    /// Check whether the graph is served. Loads nothing.
    Check,
    /// Report the modules that serve the graph and all missing ones. Loads nothing.
    Report,
}

impl Purpose {
    /// Returns whether modules are loaded; only then does a corrupt artifact count as missing.
    fn loads(self) -> bool {
        !matches!(self, Self::Check | Self::Report)
    }

    fn is_thorough(self) -> bool {
        matches!(self, Self::CallOrReport | Self::Report)
    }

    /// Returns whether modules of single Applies are accepted.
    fn takes_parts(self) -> bool {
        #[cfg(feature = "jit")]
        return self != Self::CallWhole;
        #[cfg(not(feature = "jit"))]
        true
    }
}

/// The layers and ops of a search.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    /// The name of the graph; empty if it has none.
    pub(crate) name: &'a str,
    /// The library of ops.
    pub(crate) ops: &'a Ops,
    /// The layers.
    pub(crate) resolver: &'a Resolver,
    /// The cached covers.
    pub(crate) known: &'a KnownCovers,
}

/// The covers of segments without a module, by the segments' canonical bytes.
pub(crate) type KnownCovers = Mutex<BTreeMap<Vec<u8>, Arc<[ApplyCover]>>>;

/// Searches for the modules that serve a lowered graph. `is_whole_wanted` also searches for modules of whole
/// segments; in the form that preserves inputs, only declared ops exist.
pub(crate) fn search(
    Scope { name, ops, resolver, known }: Scope<'_>,
    lowered: FunctionGraph,
    is_whole_wanted: bool,
    purpose: Purpose,
) -> Result<Answer, FunctionError> {
    let search = Search {
        name,
        symbols: Symbols::new(),
        ops,
        resolver,
        remembered: known,
        purpose,
        keys: BTreeMap::new(),
        found: BTreeMap::new(),
        modules: BTreeMap::new(),
        outside: BTreeSet::new(),
        missing: Vec::new(),
        groups: Vec::new(),
    };
    search.run(lowered, is_whole_wanted)
}

/// The state of a search for one graph.
struct Search<'a> {
    name: &'a str,
    /// The symbols of the modules, if profiling is enabled.
    symbols: Symbols,
    ops: &'a Ops,
    resolver: &'a Resolver,
    remembered: &'a KnownCovers,
    purpose: Purpose,
    /// Keys by the canonical bytes of their graphs.
    keys: BTreeMap<Vec<u8>, BuildKey>,
    found: BTreeMap<BuildKey, Option<Found>>,
    /// The generated module of each key.
    modules: BTreeMap<BuildKey, Arc<Module>>,
    /// The modules that depend on headers or libraries of the host, which may change.
    outside: BTreeSet<BuildKey>,
    missing: Vec<Missing>,
    groups: Vec<Missing>,
}

impl Search<'_> {
    fn run(mut self, lowered: FunctionGraph, is_whole_wanted: bool) -> Result<Answer, FunctionError> {
        let mut covered = Vec::new();
        for segment in segments(&lowered, self.ops.c())? {
            let (own, missing) = match is_whole_wanted {
                true => self.own(&segment.graph)?,
                false => (None, None),
            };
            let by = match own {
                Some(key) => By::Own(key),
                None => By::Applies(self.applies(&lowered, &segment)?),
            };
            covered.push(Segment { applies: segment.applies, by, missing });
        }
        let missing = covered.iter().filter_map(|segment| segment.missing.as_ref());
        let wanted = missing.map(|missing| Arc::clone(&missing.module)).collect();
        let Self { missing, groups, found, symbols, .. } = self;
        let name = self.name.to_owned();
        Ok(Answer { name, lowered, segments: covered, missing, groups, wanted, found, symbols })
    }

    /// Looks up a segment's own module; returns its key, or the module if it is missing.
    fn own(
        &mut self,
        graph: &FunctionGraph,
    ) -> Result<(Option<BuildKey>, Option<MissingSegment>), FunctionError> {
        let key = self.key(graph)?;
        if self.has(key, Some(graph))? {
            return Ok((Some(key), None));
        }
        let module = self.module(key, graph)?;
        Ok((None, Some(MissingSegment { module, fingerprint: fingerprint(graph, self.ops) })))
    }

    /// Looks up the modules of each Apply of a segment.
    fn applies(
        &mut self,
        lowered: &FunctionGraph,
        segment: &precast_codegen::Segment<'_>,
    ) -> Result<Vec<Option<ApplyCover>>, FunctionError> {
        let mut covers = vec![None; segment.applies.len()];
        if !self.purpose.takes_parts() || (self.resolver.layers.is_empty() && !self.purpose.is_thorough()) {
            return Ok(covers);
        }
        let canonical = encode::canonical(&segment.graph);
        let remembered =
            self.remembered.lock().unwrap_or_else(PoisonError::into_inner).get(&canonical).cloned();
        // The cache lacks the missing groups that were split, so it is not used to report misses.
        if let Some(known) = remembered.filter(|_| self.purpose.loads())
            && self.confirm(&known)?
        {
            return Ok(known.iter().cloned().map(Some).collect());
        }
        for (cover, position) in covers.iter_mut().zip(segment.applies.clone()).rev() {
            *cover = self.apply(lowered, position)?;
            if cover.is_none() && !self.purpose.is_thorough() {
                break;
            }
        }
        let is_outside = |cover: &ApplyCover| cover.keys().iter().any(|key| self.outside.contains(key));
        if let Some(all) = covers.iter().cloned().collect::<Option<Vec<ApplyCover>>>()
            && !all.iter().any(is_outside)
        {
            let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
            if remembered.len() < REMEMBERED {
                remembered.insert(canonical, all.into());
            }
        }
        Ok(covers)
    }

    /// Returns whether all modules of a cached cover still exist.
    fn confirm(&mut self, covers: &[ApplyCover]) -> Result<bool, FunctionError> {
        for key in covers.iter().flat_map(ApplyCover::keys) {
            if !self.has(key, None)? {
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
        if self.has(key, Some(&alone))? {
            return Ok(Some(ApplyCover::Group(key)));
        }
        let module = self.module(key, &alone)?;
        let Some(group) = rewrite::unfuse(lowered, position)? else {
            self.missing.push(Missing { apply: position, module });
            return Ok(None);
        };
        self.groups.push(Missing { apply: position, module });
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
                if self.has(key, Some(&alone))? {
                    part = Some((vec![root], key));
                } else if !self.missing.iter().any(|missing| missing.module.key() == key) {
                    let module = self.module(key, &alone)?;
                    self.missing.push(Missing { apply: position, module });
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

    /// Returns the key of a pattern that a layer has. Looks up fingerprints only: no code is generated for a guess.
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
            if let Some(key) = Layer::find_fingerprint(layer, &fingerprint)? {
                self.remember_symbol(key, &alone);
                if self.has(key, Some(&alone))? {
                    return Ok(Some(key));
                }
            }
        }
        Ok(None)
    }

    /// Returns the key of a graph's module; generates the module only if its key is unknown otherwise.
    fn key(&mut self, graph: &FunctionGraph) -> Result<BuildKey, FunctionError> {
        let key = match self.keys.entry(encode::canonical(graph)) {
            Entry::Occupied(known) => return Ok(*known.get()),
            Entry::Vacant(new) => {
                let (key, module) = self.resolver.key(graph, self.ops, || generate(graph, self.ops))?;
                self.modules.extend(module.map(|module| (key, Arc::new(module))));
                *new.insert(key)
            }
        };
        self.remember_symbol(key, graph);
        Ok(key)
    }

    fn remember_symbol(&mut self, key: BuildKey, graph: &FunctionGraph) {
        if self.resolver.is_profiled() {
            let expression = expression::of(graph);
            self.symbols.entry(key).or_insert_with(|| symbol(self.name, &expression));
        }
    }

    /// Returns the module of a graph with a known key.
    fn module(&mut self, key: BuildKey, graph: &FunctionGraph) -> Result<Arc<Module>, FunctionError> {
        match self.modules.entry(key) {
            Entry::Occupied(known) => Ok(Arc::clone(known.get())),
            Entry::Vacant(new) => Ok(Arc::clone(new.insert(Arc::new(generate(graph, self.ops)?)))),
        }
    }

    /// Returns whether a layer has the module of a key. `graph` is the module's graph, if known.
    fn has(&mut self, key: BuildKey, graph: Option<&FunctionGraph>) -> Result<bool, LayerError> {
        if let Some(found) = self.found.get(&key) {
            return Ok(found.is_some());
        }
        let (modules, outside, ops) = (&mut self.modules, &mut self.outside, self.ops);
        let generate = &mut || {
            outside.insert(key);
            match (modules.entry(key), graph) {
                (Entry::Occupied(known), _) => Some(Arc::clone(known.get())),
                (Entry::Vacant(new), Some(graph)) => {
                    let module = generate(graph, ops).ok()?;
                    Some(Arc::clone(new.insert(Arc::new(module))))
                }
                (Entry::Vacant(_), None) => None,
            }
        };
        let found = if self.purpose.loads() {
            self.resolver
                .resolve(&key, names(self.name, &self.symbols, &key), generate)?
                .map(|(module, provenance)| Found::Loaded(module, provenance))
        } else {
            self.resolver.has(&key, generate)?.map(|(layer, record)| Found::Seen(layer, record))
        };
        let is_found = found.is_some();
        self.found.insert(key, found);
        Ok(is_found)
    }
}

/// Returns the names of a module.
fn names<'a>(graph: &'a str, symbols: &'a Symbols, key: &BuildKey) -> Names<'a> {
    Names { graph, symbol: symbols.get(key).map_or("", String::as_str) }
}

/// Generates the module of a graph.
fn generate(graph: &FunctionGraph, ops: &Ops) -> Result<Module, FunctionError> {
    let _span = span!("generate");
    Ok(link(graph, ops.c())?)
}

//! The search for the modules that serve a graph, in one walk from the largest artifact to the smallest.
//!
//! ```text
//! lowered graph ─▶ each segment: a module of its own?
//!                    └─▶ each Apply of it: a module of its own?
//!                           └─▶ its group taken apart: patterns, larger first ─▶ single ops ─▶ missing
//! ```
//! Most graphs are one segment; an Apply with C of an author is one by itself (`precast_codegen::segments`). A group is taken
//! apart greedily from its last Apply towards the inputs, with a bounded number of looks; the choice is remembered. It does
//! not show in the bits: fused or not, the same scalar functions run in the same order.
//!
//! Callers of the graph, explanations and records of misses all read the same [`Answer`].

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
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

/// Most patterns that are looked for in one group.
const PATTERNS: usize = 64;
/// Most segments whose covers are remembered.
const REMEMBERED: usize = 1024;

/// The purpose of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To call the graph. The search of a segment ends with the first module that is missing.
    Call,
    /// To call the graph, or to report all that is missing.
    CallOrReport,
    /// To call the graph by modules of whole segments.
    #[cfg(feature = "jit")]
    CallWhole,
    /// To tell whether the graph is served. Nothing is loaded.
    Check,
    /// To report the modules that serve the graph and all that are missing. Nothing is loaded.
    Report,
}

impl Purpose {
    /// Whether modules are loaded; a damaged artifact counts as missing only then.
    fn loads(self) -> bool {
        !matches!(self, Self::Check | Self::Report)
    }

    fn is_thorough(self) -> bool {
        matches!(self, Self::CallOrReport | Self::Report)
    }

    /// Whether modules of single Applies will do.
    fn takes_parts(self) -> bool {
        #[cfg(feature = "jit")]
        return self != Self::CallWhole;
        #[cfg(not(feature = "jit"))]
        true
    }
}

/// The layers and the ops of a search.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    /// The name of the graph; empty if it has none.
    pub(crate) name: &'a str,
    /// The library of ops.
    pub(crate) ops: &'a Ops,
    /// The layers.
    pub(crate) resolver: &'a Resolver,
    /// The covers that were chosen before.
    pub(crate) known: &'a KnownCovers,
}

/// How segments that have no module of their own are served, by their canonical bytes.
pub(crate) type KnownCovers = Mutex<BTreeMap<Vec<u8>, Arc<[ApplyCover]>>>;

/// Searches for the modules that serve a lowered graph. Modules of whole segments are searched for if `is_whole_wanted`: in the
/// form that preserves inputs, only declared ops are there.
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
        missing: Vec::new(),
        groups: Vec::new(),
    };
    search.run(lowered, is_whole_wanted)
}

/// A search in the layers of a runtime, for one graph.
struct Search<'a> {
    name: &'a str,
    /// The symbols of the modules, if profilers want them.
    symbols: Symbols,
    ops: &'a Ops,
    resolver: &'a Resolver,
    remembered: &'a KnownCovers,
    purpose: Purpose,
    /// Keys by the canonical bytes of their graphs.
    keys: BTreeMap<Vec<u8>, BuildKey>,
    found: BTreeMap<BuildKey, Option<Found>>,
    /// What was generated for a key.
    modules: BTreeMap<BuildKey, Arc<Module>>,
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

    /// The key of a segment's own module, or that module if no layer has it.
    fn own(
        &mut self,
        graph: &FunctionGraph,
    ) -> Result<(Option<BuildKey>, Option<MissingSegment>), FunctionError> {
        let key = self.key(graph)?;
        if self.has(key)? {
            return Ok((Some(key), None));
        }
        let module = self.module(key, graph)?;
        Ok((None, Some(MissingSegment { module, fingerprint: fingerprint(graph, self.ops) })))
    }

    /// How each Apply of a segment is served.
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
        // What is missing in a group that was then taken apart is not remembered: who asks why wants to know.
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
                if self.has(key)? {
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
            if let Some(key) = Layer::find_fingerprint(layer, &fingerprint)? {
                self.remember_symbol(key, &alone);
                if self.has(key)? {
                    return Ok(Some(key));
                }
            }
        }
        Ok(None)
    }

    /// The key of a graph's module, which is generated if that is the only way to know.
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
        let found = if self.purpose.loads() {
            self.resolver
                .resolve(&key, names(self.name, &self.symbols, &key))?
                .map(|(module, provenance)| Found::Loaded(module, provenance))
        } else {
            self.resolver.has(&key)?.map(|(layer, record)| Found::Seen(layer, record))
        };
        let is_found = found.is_some();
        self.found.insert(key, found);
        Ok(is_found)
    }
}

/// The names of a module.
fn names<'a>(graph: &'a str, symbols: &'a Symbols, key: &BuildKey) -> Names<'a> {
    Names { graph, symbol: symbols.get(key).map_or("", String::as_str) }
}

/// The module of a graph.
fn generate(graph: &FunctionGraph, ops: &Ops) -> Result<Module, FunctionError> {
    let _span = span!("generate");
    Ok(link(graph, ops.c())?)
}

//! Cover: the best artifacts there are for a graph that no single one serves.
//!
//! ```text
//! lowered graph ─▶ each Apply: a module of its own? ─▶ its group taken apart: patterns, larger first ─▶ single ops ─▶ missing
//! ```
//! Greedy from the last Apply of a group towards the inputs, with a bounded number of looks. What was decided is remembered
//! by the runtime for each graph. No choice shows in the bits: fused or not, the same scalar functions run in the same order.

mod pattern;

use crate::FunctionError;
use crate::layer::{Layer, LayerError};
use precast_core::native::LoadedEntry;
use crate::resolve::{Provenance, Resolver};
use precast_codegen::{Module, link, single};
use precast_graph::{FunctionGraph, encode};
use precast_ops::{Ops, fingerprint, rewrite};
use precast_store::{BuildKey, Record};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// Most patterns that are looked for in one group.
const PATTERNS: usize = 64;

/// How one Apply of a lowered graph is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cut {
    /// By a module of its own.
    Group(BuildKey),
    /// By modules of parts of it, in order.
    Parts(Vec<Part>),
}

impl Cut {
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
    Loaded(LoadedEntry, Provenance),
    /// A record; nothing was loaded.
    Seen(String, Box<Record>),
}

/// A search in the layers of a runtime, for one graph.
pub(crate) struct Search<'a> {
    ops: &'a Ops,
    resolver: &'a Resolver,
    /// Whether what is found is loaded; damaged artifacts are only then as good as missing.
    loads: bool,
    /// Keys by the canonical bytes of their graphs.
    keys: BTreeMap<Vec<u8>, BuildKey>,
    found: BTreeMap<BuildKey, Option<Found>>,
    /// The modules that single Applies need and no layer has, each once, with the position of the Apply in the lowered graph.
    pub(crate) missing: Vec<(usize, Arc<Module>)>,
    /// The same of whole groups that were then taken apart.
    pub(crate) groups: Vec<(usize, Arc<Module>)>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(ops: &'a Ops, resolver: &'a Resolver, loads: bool) -> Self {
        let (keys, found) = (BTreeMap::new(), BTreeMap::new());
        Self { ops, resolver, loads, keys, found, missing: Vec::new(), groups: Vec::new() }
    }

    /// Says that a key was looked for already, and is nowhere: a graph of one Apply has the key of that Apply.
    pub(crate) fn rule_out(&mut self, key: BuildKey) {
        self.found.insert(key, None);
    }

    /// What was found for a key.
    pub(crate) fn found(&self, key: &BuildKey) -> Option<&Found> {
        self.found.get(key)?.as_ref()
    }

    /// How each Apply of a lowered graph is served; `None` if something is missing. Without `thorough` the search ends as soon
    /// as something is.
    pub(crate) fn cover(
        &mut self,
        lowered: &FunctionGraph,
        thorough: bool,
    ) -> Result<Vec<Option<Cut>>, FunctionError> {
        let mut cuts = vec![None; lowered.applies().len()];
        for position in (0..cuts.len()).rev() {
            cuts[position] = self.apply(lowered, position)?;
            if cuts[position].is_none() && !thorough {
                break;
            }
        }
        Ok(cuts)
    }

    /// Whether everything that was decided for an equal graph before is still there.
    pub(crate) fn confirm(&mut self, cuts: &[Cut]) -> Result<bool, FunctionError> {
        for cut in cuts {
            for key in cut.keys() {
                if !self.has(key)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn apply(&mut self, lowered: &FunctionGraph, position: usize) -> Result<Option<Cut>, FunctionError> {
        let alone = single(lowered, position, self.ops.c())?;
        let (key, module) = self.key(&alone)?;
        if self.has(key)? {
            return Ok(Some(Cut::Group(key)));
        }
        let module =
            || module.map_or_else(|| Ok(Arc::new(link(&alone, self.ops.c())?)), Ok::<_, FunctionError>);
        let Some(group) = rewrite::unfuse(lowered, position)? else {
            self.missing.push((position, module()?));
            return Ok(None);
        };
        self.groups.push((position, module()?));
        Ok(self.parts(position, &group)?.map(Cut::Parts))
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
                let (key, module) = self.key(&alone)?;
                if self.has(key)? {
                    part = Some((vec![root], key));
                } else if !self.missing.iter().any(|(_, module)| module.key() == key) {
                    let module = module.map_or_else(|| link(&alone, self.ops.c()).map(Arc::new), Ok)?;
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

    /// The key of a module, and the module if it had to be generated for that.
    fn key(&mut self, alone: &FunctionGraph) -> Result<(BuildKey, Option<Arc<Module>>), FunctionError> {
        match self.keys.entry(encode::canonical(alone)) {
            Entry::Occupied(known) => Ok((*known.get(), None)),
            Entry::Vacant(new) => {
                let generate = || Ok(link(alone, self.ops.c())?);
                let (key, module) = self.resolver.key(alone, self.ops, generate)?;
                new.insert(key);
                Ok((key, module.map(Arc::new)))
            }
        }
    }

    fn has(&mut self, key: BuildKey) -> Result<bool, LayerError> {
        if let Some(found) = self.found.get(&key) {
            return Ok(found.is_some());
        }
        let found = if self.loads {
            self.resolver.resolve(&key)?.map(|(entry, provenance)| Found::Loaded(entry, provenance))
        } else {
            self.resolver.has(&key)?.map(|(layer, record)| Found::Seen(layer, Box::new(record)))
        };
        let is_found = found.is_some();
        self.found.insert(key, found);
        Ok(is_found)
    }
}

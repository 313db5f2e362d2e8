//! The runtime: layers, a policy and a library of ops; graphs in, functions out.

mod alone;
mod builder;
mod combination;
mod explain;

pub use builder::Builder;

use crate::body;
#[cfg(feature = "jit")]
use crate::cover::By;
use crate::cover::{Cover, Cuts, How, Search};
use crate::debug::Checks;
use crate::error::{EntryError, FunctionError};
use crate::filter::{Casting, filtered};
use crate::inventory::Inventory;
use crate::miss::Miss;
use crate::plan;
use crate::policy::Policy;
#[cfg(feature = "record")]
use crate::recording::Recorded;
use crate::reference::Reference;
use crate::resolve::Resolver;
use crate::stats::{Event, Stats};
use combination::{mismatch, takes};
use precast_codegen::Module;
#[cfg(feature = "jit")]
use precast_codegen::segments;
use precast_core::{Function, Served};
use precast_graph::{FunctionGraph, Type};
use precast_ops::rewrite::Form;
use precast_ops::{CheckEntryError, Ops, check_entry};
use precast_store::{Entry, Layer, RecordId};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Resolves graphs to callable functions.
///
/// # Examples
/// ```no_run
/// use precast_runtime::{Policy, Runtime};
/// let runtime = Runtime::builder().store("artifacts").policy(Policy::Strict).build()?;
/// let score = runtime.entry("score")?;
/// let x = ndarray::array![1.0, 2.0];
/// let outputs = score.call(&[x.view().into()])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Runtime {
    pub(crate) resolver: Resolver,
    policy: Option<Policy>,
    debug: bool,
    casting: Casting,
    ops: Ops,
    /// How segments without a module of their own were cut.
    cuts: Cuts,
    /// Entries whose programs were held against their graphs.
    checked: Mutex<BTreeSet<RecordId>>,
    /// Entries that modules serve, by name.
    functions: Mutex<BTreeMap<String, Function>>,
    #[cfg(feature = "jit")]
    jit: crate::jit::Jit,
    #[cfg(feature = "record")]
    recording: Option<crate::recording::Recording>,
}

impl Runtime {
    /// Starts to put a runtime together.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The library of ops.
    #[must_use]
    pub fn ops(&self) -> &Ops {
        &self.ops
    }

    /// Resolves, verifies and loads what serves `graph`: a module for each of its segments, which is one for most graphs, else
    /// modules of the groups that fusion makes, of parts of them, and of single ops, else what the policy says.
    ///
    /// # Errors
    /// An invalid graph; a miss under `strict`; under `jit` no compiler, or what it refused.
    pub fn function(&self, graph: &FunctionGraph) -> Result<Function, FunctionError> {
        graph.validate()?;
        let function = self.resolve(graph)?;
        let function = match self.debug {
            true => body::checked(function, graph.clone(), Checks::new(self, graph)?),
            false => function,
        };
        Ok(filtered(function, self.ops.c().types(), self.casting))
    }

    /// Whether functions check their Applies in every call; see [`Builder::debug`].
    #[must_use]
    pub fn is_debug(&self) -> bool {
        self.debug
    }

    /// Resolves a named graph of a layer. Only the graph as it was declared is taken from the layer; what serves it follows
    /// from that, so an entry can never name a module that computes something else. An entry whose program does is damage: an
    /// event, once.
    ///
    /// What modules serve is resolved once; after that it is a look-up by name, whatever becomes of the layer. An interpreted
    /// function is looked for again each time.
    ///
    /// # Errors
    /// No layer names such a graph; as [`Runtime::function`].
    pub fn entry(&self, name: &str) -> Result<Function, EntryError> {
        let known = || self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = known().get(name) {
            return Ok(function.clone());
        }
        let resolved = self.function(&self.entry_graph(name)?);
        let function = resolved
            .map_err(|source| EntryError::Function { name: name.to_owned(), source: Box::new(source) })?;
        let interpreted = function.provenance().iter().any(|part| part.served == Served::Interpreted);
        if !interpreted && !self.debug {
            known().insert(name.to_owned(), function.clone());
        }
        Ok(function)
    }

    /// The graph of a name, as it was declared.
    ///
    /// # Errors
    /// No layer names such a graph.
    pub fn entry_graph(&self, name: &str) -> Result<FunctionGraph, EntryError> {
        for layer in &self.resolver.layers {
            let found = layer.find_entry(name);
            let found = found.map_err(|source| EntryError::Layer { name: name.to_owned(), source })?;
            if let Some(entry) = found {
                self.check_entry(layer, &entry);
                let parsed = precast_graph::json::parse(&entry.declared, &self.ops);
                let failed = |source| EntryError::Graph { name: name.to_owned(), source: Box::new(source) };
                return parsed.map_err(failed);
            }
        }
        Err(EntryError::Unknown { name: name.to_owned(), known: self.entries().join(", ") })
    }

    /// Tells, once, of an entry whose program is not that of its graph: those who call it by name alone would run it.
    fn check_entry(&self, layer: &Layer, entry: &Entry) {
        if !self.checked.lock().unwrap_or_else(PoisonError::into_inner).insert(entry.id()) {
            return;
        }
        let known = |part: &FunctionGraph, ops: &Ops| self.resolver.known(part, ops).ok().flatten();
        if let Err(error @ CheckEntryError::Other) = check_entry(entry, &self.ops, known) {
            let (place, reason) = (format!("{layer}, entry `{}`", entry.name), error.to_string());
            let damage = precast_store::Event::Damaged { place, reason, quarantined: None };
            self.resolver.recorder.tell(Event::Layer(damage));
        }
    }

    /// Resolves the named graph that takes inputs of these types: the graph of that name, else the first in the order of
    /// names among its combinations, which are called `<name>.<what the combination chose>`.
    ///
    /// # Errors
    /// No combination takes these types; as [`Runtime::entry`].
    pub fn entry_for(&self, name: &str, inputs: &[Type]) -> Result<Function, EntryError> {
        let combinations = self.combinations(name);
        if combinations.is_empty() || combinations.iter().any(|known| known == name) {
            return self.entry(name);
        }
        let mut known = Vec::new();
        for combination in &combinations {
            let graph = self.entry_graph(combination)?;
            let types: Vec<Type> = graph.inputs().iter().map(|input| graph.ty(*input).clone()).collect();
            if types.len() == inputs.len() && types.iter().zip(inputs).all(|(mine, its)| takes(mine, its)) {
                return self.entry(combination);
            }
            known.push(types);
        }
        Err(EntryError::Combination {
            name: name.to_owned(),
            found: printed(inputs),
            problem: mismatch(&known, inputs),
        })
    }

    /// The names of the graph `name` and of its combinations, sorted.
    #[must_use]
    pub fn combinations(&self, name: &str) -> Vec<String> {
        let mut names = self.entries();
        names.retain(|known| {
            known.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        names
    }

    /// The names of all graphs that layers name, sorted.
    #[must_use]
    pub fn entries(&self) -> Vec<String> {
        let entries = self.resolver.layers.iter().flat_map(|layer| layer.entries().unwrap_or_default());
        let mut names: Vec<String> = entries.map(|entry| entry.name).collect();
        names.sort();
        names.dedup();
        names
    }

    pub(crate) fn resolve(&self, graph: &FunctionGraph) -> Result<Function, FunctionError> {
        // A miss that is told wants all that is missing; one that is compiled is not looked at twice.
        let thorough = matches!(self.policy, None | Some(Policy::Strict));
        let (cover, search) = self.find(graph, How { loads: true, thorough })?;
        if cover.is_complete()
            && let Some(function) = plan::function(graph, &cover, &self.ops, &search)?
        {
            return Ok(function);
        }
        for module in search.unserved(&cover) {
            self.resolver.recorder.tell(Event::Miss { signature: module.signature.clone() });
        }
        let recorded = self.record(graph, &cover, &search);
        self.miss(graph, cover, search, recorded)
    }

    /// Looks for what serves a graph: in the form whose ops overwrite what nobody needs any more, then, if something of that
    /// is missing, in the other one, which declared ops serve. What is missing is told of the first.
    fn find(&self, graph: &FunctionGraph, how: How) -> Result<(Cover, Search<'_>), FunctionError> {
        let search = || Search::new(&self.ops, &self.resolver, &self.cuts, how);
        let mut overwriting = search();
        let cover = overwriting.cover(self.ops.lower(graph, Form::Lowered)?, true)?;
        let overwrites = cover.lowered.applies().iter().any(|a| !a.op.destroy_map().is_empty());
        if !cover.is_complete() && overwrites && !self.resolver.layers.is_empty() {
            let mut keeping = search();
            let kept = keeping.cover(self.ops.lower(graph, Form::Keeping)?, false)?;
            if kept.is_complete() {
                keeping.whole = overwriting.whole;
                return Ok((kept, keeping));
            }
        }
        Ok((cover, overwriting))
    }

    /// Writes a miss down where that is asked for; gives the manifest that has it now.
    #[cfg(feature = "record")]
    fn record(&self, graph: &FunctionGraph, cover: &Cover, search: &Search<'_>) -> Option<PathBuf> {
        let recording = self.recording.as_ref()?;
        let signature = search.unserved(cover).next()?.signature.clone();
        match recording.add(graph, cover, search, &self.ops) {
            Ok(recorded) => {
                let (path, added) = (recording.path().to_owned(), recorded == Recorded::Now);
                self.resolver.recorder.tell(Event::Recorded { signature, path: path.clone(), added });
                Some(path)
            }
            Err(error) => {
                let reason = precast_core::event::chain(&error);
                recording.report(&signature, &reason);
                self.resolver.recorder.tell(Event::NotRecorded { signature, reason });
                None
            }
        }
    }

    #[cfg(not(feature = "record"))]
    fn record(&self, _: &FunctionGraph, _: &Cover, _: &Search<'_>) -> Option<PathBuf> {
        None
    }

    /// What the policy says about a miss.
    fn miss(
        &self,
        graph: &FunctionGraph,
        cover: Cover,
        search: Search<'_>,
        recorded: Option<PathBuf>,
    ) -> Result<Function, FunctionError> {
        let signature = search.unserved(&cover).next().map(|module| module.signature.clone());
        let signature = signature.unwrap_or_default();
        match self.resolver.check_stage(&signature) {
            Err(error) if self.policy == Some(Policy::Interpret) => {
                let reason = error.to_string();
                self.resolver.recorder.tell(Event::NotLoaded { signature, reason });
            }
            checked => checked?,
        }
        match self.policy {
            Some(Policy::Strict) => Err(self.strict(&cover, &search, recorded)),
            Some(Policy::Interpret) => Ok(body::interpreted(graph.clone(), Reference::new(self, graph)?)),
            #[cfg(feature = "jit")]
            None if !crate::jit::Jit::has_compiler() => Err(self.strict(&cover, &search, recorded)),
            #[cfg(feature = "jit")]
            None | Some(Policy::Jit) => self.compile(graph, cover, search),
            #[cfg(not(feature = "jit"))]
            None => Err(self.strict(&cover, &search, recorded)),
            #[cfg(not(feature = "jit"))]
            Some(Policy::Jit) => Err(FunctionError::NoCompiler {
                miss: Box::new(self.misses(&cover, &search).remove(0)),
                problem: "this program was built without the feature `jit`".to_owned(),
            }),
        }
    }

    /// Compiles the segments that have no module of their own.
    #[cfg(feature = "jit")]
    fn compile(
        &self,
        graph: &FunctionGraph,
        mut cover: Cover,
        mut search: Search<'_>,
    ) -> Result<Function, FunctionError> {
        let parts = segments(&cover.lowered, self.ops.c())?;
        for ((position, segment), part) in cover.segments.iter_mut().enumerate().zip(&parts) {
            let Some(module) = search.whole.get(&position).filter(|_| !segment.is_served()).cloned() else {
                continue;
            };
            let fingerprint = precast_ops::fingerprint(&part.graph, &self.ops);
            let key = module.key();
            search.compiled(key, self.jit.compile(&module, fingerprint, &self.resolver)?);
            segment.by = By::Own(key);
        }
        drop(parts);
        let function = plan::function(graph, &cover, &self.ops, &search)?;
        function.ok_or_else(|| self.strict(&cover, &search, None))
    }

    fn strict(&self, cover: &Cover, search: &Search<'_>, recorded: Option<PathBuf>) -> FunctionError {
        FunctionError::Miss { misses: self.misses(cover, search), recorded }
    }

    /// What is missing: segments, then the Applies that have no module either.
    fn misses(&self, cover: &Cover, search: &Search<'_>) -> Vec<Miss> {
        let inventory = Inventory::read(&self.resolver);
        let segments: Vec<&Module> = search.unserved(cover).collect();
        let is_segment = |module: &Module| segments.iter().any(|segment| segment.key() == module.key());
        let applies = search.missing.iter().map(|(_, module)| &**module).filter(|module| !is_segment(module));
        segments.iter().copied().chain(applies).map(|module| inventory.explain(module)).collect()
    }

    /// Waits until everything that was compiled is published, or could not be: what [`Runtime::stats`] then tells of it is
    /// final. Dropping the runtime waits too, but leaves nobody to ask.
    pub fn flush(&self) {
        #[cfg(feature = "jit")]
        self.jit.flush(&self.resolver.recorder);
    }

    /// Counters and the latest events. What is still being published is not among them; see [`Runtime::flush`].
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.resolver.recorder.stats()
    }
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let layers: Vec<String> = self.resolver.layers.iter().map(ToString::to_string).collect();
        f.debug_struct("Runtime")
            .field("layers", &layers)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// Types in brackets: `(f32[?], f64[?])`.
fn printed<'t>(types: impl IntoIterator<Item = &'t Type>) -> String {
    let types: Vec<String> = types.into_iter().map(Type::to_string).collect();
    format!("({})", types.join(", "))
}

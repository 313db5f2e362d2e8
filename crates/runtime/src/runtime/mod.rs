//! The runtime: layers, a policy and a library of ops; graphs in, functions out.

mod alone;
mod builder;
mod error;
mod explain;

pub use builder::Builder;
pub use error::{BuildRuntimeError, EntryError, FunctionError};

use crate::cover::{Cut, Search};
use crate::debug::Checks;
use crate::function::Function;
use crate::layer::Layer;
use crate::miss::Inventory;
use crate::plan::{self, Plan};
use crate::policy::Policy;
#[cfg(feature = "record")]
use crate::recording::Recorded;
use crate::resolve::Resolver;
use crate::stats::{Event, Stats};
use precast_codegen::{Module, link};
use precast_graph::{FunctionGraph, Type, encode};
use precast_ops::Ops;
use precast_store::BuildKey;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Most graphs whose cover is remembered.
const COVERS: usize = 1024;

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
    ops: Ops,
    /// How graphs that no single module serves were covered, by their canonical bytes.
    covers: Mutex<BTreeMap<Vec<u8>, Arc<[Cut]>>>,
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

    /// Resolves, verifies and loads what serves `graph`: a module of the whole graph, else modules of the groups that fusion
    /// makes, of parts of them, and of single ops, else what the policy says.
    ///
    /// # Errors
    /// An invalid graph; a miss under `strict`; under `jit` no compiler, or what it refused.
    pub fn function(&self, graph: &FunctionGraph) -> Result<Function, FunctionError> {
        graph.validate()?;
        let lowered = self.ops.lower(graph)?;
        let function = self.resolve(graph, &lowered)?;
        if self.debug { Ok(function.checked(Checks::new(self, graph)?)) } else { Ok(function) }
    }

    /// Whether functions check their Applies in every call; see [`Builder::debug`].
    #[must_use]
    pub fn is_debug(&self) -> bool {
        self.debug
    }

    /// Resolves a named graph of a layer. Only the graph as it was declared is taken from the layer; what serves it follows
    /// from that, so an entry can never name a module that computes something else.
    ///
    /// # Errors
    /// No layer names such a graph; as [`Runtime::function`].
    pub fn entry(&self, name: &str) -> Result<Function, EntryError> {
        let resolved = self.function(&self.entry_graph(name)?);
        resolved.map_err(|source| EntryError::Function { name: name.to_owned(), source: Box::new(source) })
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
                let parsed = precast_graph::json::from_json(&entry.declared, &self.ops);
                let failed = |source| EntryError::Graph { name: name.to_owned(), source: Box::new(source) };
                return parsed.map_err(failed);
            }
        }
        Err(EntryError::Unknown { name: name.to_owned(), known: self.entries().join(", ") })
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
            let types: Vec<&Type> = graph.inputs().iter().map(|input| graph.ty(*input)).collect();
            if types.len() == inputs.len() && types.iter().zip(inputs).all(|(mine, its)| mine.covers(its)) {
                return self.entry(combination);
            }
            known.push(printed(types));
        }
        Err(EntryError::Combination {
            name: name.to_owned(),
            found: printed(inputs),
            known: known.join(", "),
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
        let mut names: Vec<String> = self.resolver.layers.iter().flat_map(Layer::entry_names).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The function of a lowered graph whose module has a known key; no code is generated.
    fn by_key(
        &self,
        graph: &FunctionGraph,
        lowered: &FunctionGraph,
        key: &BuildKey,
    ) -> Result<Option<Function>, FunctionError> {
        let Some((entry, provenance)) = self.resolver.resolve(key)? else { return Ok(None) };
        native(graph, plan::whole(lowered, entry, provenance, &self.ops)?).map(Some)
    }

    fn resolve(&self, graph: &FunctionGraph, lowered: &FunctionGraph) -> Result<Function, FunctionError> {
        let generate = || Ok(link(lowered, self.ops.c())?);
        let (key, module) = self.resolver.key(lowered, &self.ops, generate)?;
        if let Some(function) = self.by_key(graph, lowered, &key)? {
            return Ok(function);
        }
        if let Some(plan) = self.cover(lowered, key)? {
            return native(graph, plan);
        }
        if let Some(kept) = self.kept(graph, lowered)?
            && let Some(plan) = self.cover(&kept, key)?
        {
            return native(graph, plan);
        }
        let module = match module {
            Some(module) => module,
            None => generate()?,
        };
        self.resolver.recorder.tell(Event::Miss { signature: module.signature.clone() });
        let recorded = self.record(graph, lowered, &module);
        self.miss(graph, lowered, module, recorded)
    }

    /// The lowered graph whose ops overwrite nothing, if that is another one: declared ops serve this form.
    fn kept(
        &self,
        graph: &FunctionGraph,
        lowered: &FunctionGraph,
    ) -> Result<Option<FunctionGraph>, FunctionError> {
        if self.resolver.layers.is_empty() || lowered.applies().iter().all(|a| a.op.destroy_map().is_empty())
        {
            return Ok(None);
        }
        let kept = self.ops.lower_kept(graph)?;
        Ok((kept != *lowered).then_some(kept))
    }

    /// The program of several modules; `None` as soon as something is missing.
    fn cover(&self, lowered: &FunctionGraph, whole: BuildKey) -> Result<Option<Plan>, FunctionError> {
        if self.resolver.layers.is_empty() {
            return Ok(None);
        }
        let mut search = Search::new(&self.ops, &self.resolver, true);
        search.rule_out(whole);
        let canonical = encode::canonical(lowered);
        let known = self.covers.lock().unwrap_or_else(PoisonError::into_inner).get(&canonical).cloned();
        if let Some(cuts) = known
            && search.confirm(&cuts)?
        {
            return plan::parts(lowered, &self.ops, &cuts, &search);
        }
        let cuts = search.cover(lowered, false)?.into_iter().collect::<Option<Vec<Cut>>>();
        let Some(cuts) = cuts else { return Ok(None) };
        let plan = plan::parts(lowered, &self.ops, &cuts, &search)?;
        let mut covers = self.covers.lock().unwrap_or_else(PoisonError::into_inner);
        if covers.len() < COVERS {
            covers.insert(canonical, cuts.into());
        }
        Ok(plan)
    }

    /// Writes a miss down where that is asked for; gives the manifest that has it now.
    #[cfg(feature = "record")]
    fn record(&self, graph: &FunctionGraph, lowered: &FunctionGraph, module: &Module) -> Option<PathBuf> {
        let recording = self.recording.as_ref()?;
        let signature = module.signature.clone();
        match recording.add(graph, lowered, module, &self.ops) {
            Ok(recorded) => {
                let (path, added) = (recording.path().to_owned(), recorded == Recorded::Now);
                self.resolver.recorder.tell(Event::Recorded { signature, path: path.clone(), added });
                Some(path)
            }
            Err(error) => {
                let reason = crate::resolve::chain(&error);
                recording.report(&signature, &reason);
                self.resolver.recorder.tell(Event::NotRecorded { signature, reason });
                None
            }
        }
    }

    #[cfg(not(feature = "record"))]
    fn record(&self, _: &FunctionGraph, _: &FunctionGraph, _: &Module) -> Option<PathBuf> {
        None
    }

    /// What the policy says about a miss.
    fn miss(
        &self,
        graph: &FunctionGraph,
        lowered: &FunctionGraph,
        module: Module,
        recorded: Option<PathBuf>,
    ) -> Result<Function, FunctionError> {
        match self.resolver.check_stage(&module.signature) {
            Err(error) if self.policy == Some(Policy::Interpret) => {
                let (signature, reason) = (module.signature.clone(), error.to_string());
                self.resolver.recorder.tell(Event::NotLoaded { signature, reason });
            }
            checked => checked?,
        }
        match self.policy {
            Some(Policy::Strict) => Err(self.strict(lowered, &module, recorded)?),
            Some(Policy::Interpret) => Ok(Function::interpreted(graph.clone())),
            #[cfg(feature = "jit")]
            policy => {
                if policy.is_none() && !self.jit.has_compiler() {
                    return Err(self.strict(lowered, &module, recorded)?);
                }
                let (entry, provenance) =
                    self.jit.compile(module, precast_ops::fingerprint(lowered, &self.ops), &self.resolver)?;
                native(graph, plan::whole(lowered, entry, provenance, &self.ops)?)
            }
            #[cfg(not(feature = "jit"))]
            None => Err(self.strict(lowered, &module, recorded)?),
            #[cfg(not(feature = "jit"))]
            Some(Policy::Jit) => Err(FunctionError::NoCompiler {
                miss: Box::new(Inventory::read(&self.resolver).explain(&module)),
                problem: "this program was built without the feature `jit`".to_owned(),
            }),
        }
    }

    /// The error of a miss: the whole graph, then the Applies that have no module either.
    fn strict(
        &self,
        lowered: &FunctionGraph,
        module: &Module,
        recorded: Option<PathBuf>,
    ) -> Result<FunctionError, FunctionError> {
        let inventory = Inventory::read(&self.resolver);
        let mut misses = vec![inventory.explain(module)];
        let mut search = Search::new(&self.ops, &self.resolver, false);
        search.cover(lowered, true)?;
        let parts = search.missing.iter().filter(|(_, part)| part.key() != module.key());
        misses.extend(parts.map(|(_, part)| inventory.explain(part)));
        Ok(FunctionError::Miss { misses, recorded })
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

fn native(graph: &FunctionGraph, Plan { program, provenance }: Plan) -> Result<Function, FunctionError> {
    Ok(Function::native(graph.clone(), program, provenance)?)
}

/// Types in brackets: `(f32[?], f64[?])`.
fn printed<'t>(types: impl IntoIterator<Item = &'t Type>) -> String {
    let types: Vec<String> = types.into_iter().map(Type::to_string).collect();
    format!("({})", types.join(", "))
}

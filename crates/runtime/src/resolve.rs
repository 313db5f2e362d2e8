//! Resolves keys to callable code: looks records up, loads verified bytes, and does the handshake.

use crate::policy::Policy;
use crate::stats::{Event, Recorder};
use precast_acquire::Inventory;
#[cfg(feature = "jit")]
use precast_acquire::Miss;
use precast_codegen::Module;
use precast_core::event::chain;
use precast_core::native::profiling::{self, Symbols};
use precast_core::native::{Label, LoadedLibrary, LoadedModule};
use precast_core::{CodeOrigin, Libraries, Provenance, span};
use precast_graph::FunctionGraph;
use precast_ops::Ops;
use precast_store::{BuildKey, Layer, LayerError, Member, Record};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The names of a module, for people and profilers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Names<'a> {
    /// The name of the graph that it serves; empty if the graph is unnamed.
    pub(crate) graph: &'a str,
    /// Its symbol; empty unless profiling is enabled.
    pub(crate) symbol: &'a str,
}

/// Generates the module of a key, if its graph is known. Called only for records that depend on headers or libraries of
/// the host.
pub(crate) type Generate<'a> = &'a mut dyn FnMut() -> Option<Arc<Module>>;

/// The layers, and the modules loaded from them.
pub(crate) struct Resolver {
    pub(crate) layers: Vec<Layer>,
    pub(crate) recorder: Arc<Recorder>,
    policy: Policy,
    libraries: Libraries,
    /// The reason why the last shared object could not be staged, if so. No module from any layer can be loaded then.
    unstaged: Mutex<Option<String>>,
}

impl Resolver {
    pub(crate) fn new(
        layers: Vec<Layer>,
        recorder: Arc<Recorder>,
        policy: Policy,
        libraries: Libraries,
    ) -> Self {
        Self { layers, recorder, policy, libraries, unstaged: Mutex::new(None) }
    }

    /// Returns the key of a lowered graph: by its fingerprint if a layer knows it, else by generating the module.
    pub(crate) fn key(
        &self,
        lowered: &FunctionGraph,
        ops: &Ops,
        generate: impl FnOnce() -> Result<Module, crate::error::FunctionError>,
    ) -> Result<(BuildKey, Option<Module>), crate::error::FunctionError> {
        if let Some(key) = self.known(lowered, ops)? {
            return Ok((key, None));
        }
        let module = generate()?;
        Ok((module.key(), Some(module)))
    }

    /// Returns the key of a lowered graph if a layer knows its fingerprint.
    pub(crate) fn known(&self, lowered: &FunctionGraph, ops: &Ops) -> Result<Option<BuildKey>, LayerError> {
        let Some(fingerprint) = precast_ops::fingerprint(lowered, ops) else { return Ok(None) };
        for layer in &self.layers {
            if let Some(key) = layer.find_fingerprint(&fingerprint)? {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }

    /// Makes remote layers fetch, in one batch, the modules that no earlier layer has.
    pub(crate) fn prefetch(&self, mut keys: Vec<BuildKey>) -> Result<(), LayerError> {
        let Some(last) = self.layers.iter().rposition(|layer| matches!(layer, Layer::Remote(_))) else {
            return Ok(());
        };
        for layer in &self.layers[..=last] {
            layer.prefetch(&keys)?;
            let mut missing = Vec::new();
            for key in keys {
                if layer.find(&key)?.is_empty() {
                    missing.push(key);
                }
            }
            keys = missing;
        }
        Ok(())
    }

    /// Loads the code for a key from the first layer with a usable module; corrupt and rejected artifacts are
    /// skipped.
    pub(crate) fn resolve(
        &self,
        key: &BuildKey,
        names: Names<'_>,
        generate: Generate<'_>,
    ) -> Result<Option<(LoadedModule, Provenance)>, LayerError> {
        for layer in &self.layers {
            let span = span!("lookup", key = key.short().as_str(), layer = layer.to_string().as_str(); variant, outcome);
            let found = self.resolve_in(layer, key, names, generate)?;
            span.record("outcome", if found.is_some() { "hit" } else { "miss" });
            if let Some((_, Provenance { served: CodeOrigin::Artifact { isa, .. }, .. })) = &found {
                span.record("variant", isa.as_str());
            }
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn resolve_in(
        &self,
        layer: &Layer,
        key: &BuildKey,
        names: Names<'_>,
        generate: Generate<'_>,
    ) -> Result<Option<(LoadedModule, Provenance)>, LayerError> {
        let pass_over = |record: &Record, reason: String| {
            let signature = record.member(key).map(|member| member.signature.clone()).unwrap_or_default();
            let reason = format!("{layer}: {reason}");
            self.recorder.tell(Event::NotLoaded { signature, reason });
        };
        for record in precast_acquire::find(layer, key, self.compiles(), generate, pass_over)? {
            let Some(member) = record.member(key) else { continue };
            let Some(library) = self.library(layer, &record, member, names)? else { continue };
            match library.module(member.slot, key) {
                Ok(module) => {
                    let (layer, signature) = (layer.to_string(), member.signature.clone());
                    self.recorder.tell(Event::Hit { signature: signature.clone(), layer: layer.clone() });
                    let (action, digest, isa) = (record.action, record.digest, record.isa.clone());
                    let served = CodeOrigin::Artifact { key: *key, layer, action, digest, isa };
                    return Ok(Some((module, Provenance { ops: vec![signature], served })));
                }
                Err(error) => self.passed_over(&member.signature, chain(&error)),
            }
        }
        Ok(None)
    }

    /// Returns the first layer with admissible code for a key, and its record; loads nothing.
    pub(crate) fn has(
        &self,
        key: &BuildKey,
        generate: Generate<'_>,
    ) -> Result<Option<(String, Arc<Record>)>, LayerError> {
        for layer in &self.layers {
            for record in precast_acquire::find(layer, key, self.compiles(), generate, |_, _| {})? {
                if layer.holds(&record)? {
                    return Ok(Some((layer.to_string(), record)));
                }
            }
        }
        Ok(None)
    }

    /// Returns whether misses are compiled if a compiler is available.
    fn compiles(&self) -> bool {
        self.policy.compiles()
    }

    /// Returns a function that looks up the problem that this process had with a module, by signature.
    pub(crate) fn problems(&self) -> impl Fn(&str) -> Option<String> {
        |wanted| {
            let is_wanted =
                |event: &Event| matches!(event, Event::NotLoaded { signature, .. } if signature == wanted);
            self.recorder.last(is_wanted)
        }
    }

    /// Returns the inventory of the layers, to explain misses.
    pub(crate) fn inventory<'a>(&'a self, problems: &'a dyn Fn(&str) -> Option<String>) -> Inventory<'a> {
        Inventory::new(&self.layers).with_problems(problems)
    }

    /// Explains why no layer serves a module.
    #[cfg(feature = "jit")]
    pub(crate) fn explain(&self, module: &Module) -> Miss {
        self.inventory(&self.problems()).explain(module)
    }

    fn library(
        &self,
        layer: &Layer,
        record: &Record,
        member: &Member,
        names: Names<'_>,
    ) -> Result<Option<Arc<LoadedLibrary>>, LayerError> {
        if let Some(library) = self.libraries.find(&record.digest) {
            return Ok(Some(library));
        }
        Ok(match layer.load(record)? {
            Ok(bytes) => self.keep(record, &bytes, member, names),
            Err(reason) => {
                self.passed_over(&member.signature, format!("{layer}: {reason}"));
                None
            }
        })
    }

    /// Loads verified bytes and caches them by the digest of their archive.
    pub(crate) fn keep(
        &self,
        record: &Record,
        bytes: &[u8],
        Member { key, signature, .. }: &Member,
        names: Names<'_>,
    ) -> Option<Arc<LoadedLibrary>> {
        let symbols = if self.is_profiled() { self.symbols(record, key, names) } else { Symbols::new() };
        let (graph, isa, digest) = (names.graph, &*record.isa, &record.digest);
        let label = Label { graph, signature, isa, digest, symbols: &symbols };
        let loaded = self.libraries.keep(&label, bytes);
        let unstaged = loaded.as_ref().err().filter(|error| error.is_of_process());
        *self.unstaged.lock().unwrap_or_else(PoisonError::into_inner) = unstaged.map(|error| chain(error));
        match loaded {
            Ok(library) => Some(library),
            // Reported once per process instead of once per module: see `check_stage`.
            Err(error) if error.is_of_process() => None,
            Err(error) => {
                self.passed_over(signature, chain(&error));
                None
            }
        }
    }

    /// Returns whether modules need symbols for profilers.
    pub(crate) fn is_profiled(&self) -> bool {
        self.libraries.is_profiled()
    }

    /// Returns the symbols of a record's modules. The requested module gets the symbol in `names`; each other module gets
    /// that of the first entry in the layers that calls it.
    #[cold]
    fn symbols(&self, record: &Record, key: &BuildKey, names: Names<'_>) -> Symbols {
        let mut symbols = profiling::symbols_of_record(record);
        let mut unnamed: BTreeSet<BuildKey> = symbols.keys().copied().filter(|other| other != key).collect();
        if !names.symbol.is_empty() {
            symbols.insert(*key, names.symbol.to_owned());
        }
        let layers = self.layers.iter().take_while(|_| !unnamed.is_empty());
        for entry in layers.flat_map(|layer| layer.entries().unwrap_or_default()).collect::<Vec<_>>() {
            let named = profiling::symbols_of_program(&entry.name, &entry.program);
            symbols.extend(named.filter(|(other, _)| unnamed.remove(other)));
        }
        symbols
    }

    /// Returns an error for a graph that needs a module if this process cannot load any module.
    pub(crate) fn check_stage(&self, signature: &str) -> Result<(), crate::error::FunctionError> {
        let unstaged = self.unstaged.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let signature = signature.to_owned();
        unstaged.map_or(Ok(()), |problem| Err(crate::error::FunctionError::Stage { signature, problem }))
    }

    fn passed_over(&self, signature: &str, reason: String) {
        self.recorder.tell(Event::NotLoaded { signature: signature.to_owned(), reason });
    }
}

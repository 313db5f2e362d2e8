//! The loader: returns the named graphs of a bundle as functions. A deployed program needs nothing else.
//!
//! `libraries` loads each shared object once; `error` says why an entry cannot be loaded.

mod error;
mod libraries;

pub use error::LoadEntryError;
pub use libraries::{Libraries, NotLoaded, best_first};

use crate::blame;
use crate::bundle::{Bundle, BundleMetadataError, OpenBundleError, Piece};
use crate::cpu;
use crate::event::{Event, chain, join};
use crate::function::Function;
use crate::key::{BuildKey, ByHash, ContentId};
use crate::metadata::Metadata;
use crate::native::profiling::Symbols;
use crate::native::{Label, LoadedModule, profiling};
use crate::program::{Computes, Outline, Program};
use crate::provenance::CodeOrigin;
use crate::record::Record;
use crate::trace::outcome;
use std::collections::BTreeSet;
use std::collections::hash_map;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A loader for the named graphs of a bundle. Safe to share between threads.
///
/// It never resolves or compiles a graph: an entry contains its program, and the bundle contains the modules. The first use
/// of an entry verifies and loads it. Later uses are look-ups by name.
///
/// # Examples
/// ```no_run
/// # const BUNDLE: &[u8] = &[];
/// let loader = precast_core::Loader::embedded(BUNDLE)?; // precast::include_bundle!()
/// let score = loader.entry("score")?;
/// let x = ndarray::array![1.0, 2.0];
/// let outputs = score.call(&[x.view().into()])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Loader {
    bundle: Bundle,
    libraries: Libraries,
    known: Mutex<Known>,
}

/// The functions and modules loaded so far.
#[derive(Debug, Default)]
struct Known {
    /// Functions by the hashes of their names.
    functions: ByHash<ContentId, Function>,
    /// Modules by key; entries share them.
    modules: Modules,
}

type Modules = ByHash<BuildKey, (LoadedModule, Arc<CodeOrigin>)>;

impl Loader {
    /// Opens a bundle that is part of the program. It is as trusted as the program, so `PRECAST_KEYRING` does not apply.
    ///
    /// # Errors
    /// The bytes are not a complete bundle of a known format.
    pub fn embedded(data: &'static [u8]) -> Result<Self, OpenBundleError> {
        Bundle::from_static(data).map(Self::new)
    }

    /// Opens a bundle file. The file is read into memory and closed.
    ///
    /// If `PRECAST_KEYRING` names a keyring, enough of its keys must have signed the file, in `<path>.minisig`. This
    /// requires the feature `signed`; without it the file is rejected.
    ///
    /// # Errors
    /// The file cannot be read, is not a complete bundle of a known format, or lacks required signatures.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenBundleError> {
        Bundle::open(path).map(Self::new)
    }

    /// Opens a bundle file that enough keys of a keyring have signed, in `<path>.minisig`. No part of it is used before the
    /// check, so the file may belong to any user.
    ///
    /// # Errors
    /// The file cannot be read or is not a complete bundle of a known format, or too few keys have signed it.
    ///
    /// # Examples
    /// ```no_run
    /// use precast_core::{Loader, keyring::Keyring};
    /// let loader = Loader::open_signed("model.precast", &Keyring::open("precast.keyring")?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "signed")]
    pub fn open_signed(
        path: impl AsRef<Path>,
        keyring: &crate::keyring::Keyring,
    ) -> Result<Self, crate::keyring::OpenSignedError> {
        Bundle::open_signed(path, keyring).map(Self::new)
    }

    /// Creates a loader for an open bundle.
    #[must_use]
    pub fn new(bundle: Bundle) -> Self {
        Self { bundle, libraries: Libraries::default(), known: Mutex::default() }
    }

    /// Loads modules from files in `directory` instead of memory, so that profilers can read them. The default directory is
    /// `PRECAST_PROFILING`, if set. The files are not deleted.
    #[must_use]
    pub fn profiling(self, directory: impl Into<PathBuf>) -> Self {
        Self { libraries: self.libraries.profiling(directory.into()), ..self }
    }

    /// Calls `observer` for each event, such as damage found. It replaces the previous observer.
    #[must_use]
    pub fn on_event(self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self { bundle: self.bundle.on_event(observer), ..self }
    }

    /// Returns the bundle.
    #[must_use]
    pub fn bundle(&self) -> &Bundle {
        &self.bundle
    }

    /// Returns the names of the graphs, sorted.
    #[must_use]
    pub fn entries(&self) -> Vec<String> {
        self.bundle.names()
    }

    /// Returns the metadata of a named graph, of a function of several graphs, or of the bundle, whose name is empty. It is
    /// empty if the bundle states nothing.
    ///
    /// # Errors
    /// The metadata is damaged, or another version of precast wrote it.
    pub fn metadata(&self, name: &str) -> Result<Metadata, BundleMetadataError> {
        self.bundle.metadata(name)
    }

    /// Returns the function of a named graph.
    ///
    /// # Errors
    /// The graph does not exist, or cannot be loaded on this host.
    pub fn entry(&self, name: &str) -> Result<Function, LoadEntryError> {
        let Known { functions, modules } = &mut *self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let id = ContentId::of(name);
        if let Some(function) = functions.get(&id) {
            return Ok(function.clone());
        }
        let unknown = || self.unknown(name);
        let span = crate::span!("resolve", entry = name; outcome);
        let program = self.bundle.find_program(&id, name).ok_or_else(unknown);
        let loaded = program.and_then(|(outline, program)| self.load(&outline, program, modules));
        span.record("outcome", outcome(&loaded));
        let function = loaded?;
        functions.insert(id, function.clone());
        Ok(function)
    }

    #[cold]
    fn unknown(&self, name: &str) -> LoadEntryError {
        let known = self.entries();
        LoadEntryError::Unknown {
            bundle: self.bundle.name().to_owned(),
            name: name.to_owned(),
            unreadable: self.bundle.entry_count().saturating_sub(known.len()),
            known: known.join(", "),
        }
    }

    fn load(
        &self,
        Outline { name: graph, steps }: &Outline<'_>,
        program: Piece,
        known: &mut Modules,
    ) -> Result<Function, LoadEntryError> {
        let name = || (*graph).to_owned();
        cpu::limit().map_err(|source| LoadEntryError::Limit { name: name(), source })?;
        let mut modules = Vec::with_capacity(steps.len());
        for (position, (key, _)) in steps.iter().enumerate() {
            let module = match known.entry(*key) {
                hash_map::Entry::Occupied(known) => known.into_mut(),
                hash_map::Entry::Vacant(new) => {
                    let found = self.module(graph, key).map_err(|reason| LoadEntryError::Module {
                        name: name(),
                        signature: signature(&program, position),
                        reason,
                    })?;
                    new.insert((found.0, Arc::new(found.1)))
                }
            };
            modules.push(module.clone());
        }
        if steps.iter().all(|(_, computes)| *computes != Computes::Anything) {
            return Ok(Function::unread(program, modules));
        }
        let (modules, served) = modules.into_iter().unzip();
        let program =
            Program::of_entry(&program).map_err(|source| LoadEntryError::Program { name: name(), source })?;
        Function::new(program, modules, served)
            .map_err(|source| LoadEntryError::Instance { name: name(), source })
    }

    /// Returns the best module of a key that this host can run. The error lists the reasons why all variants failed.
    fn module(&self, graph: &str, key: &BuildKey) -> Result<(LoadedModule, CodeOrigin), String> {
        let span =
            crate::span!("lookup", key = key.short().as_str(), layer = self.bundle.name(); variant, outcome);
        let found = self.find_module(graph, key);
        if let Ok((_, CodeOrigin::Artifact { isa, .. })) = &found {
            span.record("variant", isa.as_str());
        }
        span.record("outcome", if found.is_ok() { "hit" } else { "miss" });
        found
    }

    fn find_module(&self, graph: &str, key: &BuildKey) -> Result<(LoadedModule, CodeOrigin), String> {
        let mut reasons = Vec::new();
        let profiled = self.libraries.is_profiled();
        let admissible = best_first(self.bundle.find(key), &mut reasons);
        let hint = (admissible.is_empty() && !reasons.is_empty()).then(cpu::hint);
        for record in admissible {
            let Some(member) = record.member(key) else { continue };
            let (slot, signature) = (member.slot, member.signature.as_str());
            let symbols = if profiled { self.symbols(graph, &record) } else { Symbols::new() };
            let label =
                Label { graph, signature, isa: &record.isa, digest: &record.digest, symbols: &symbols };
            let load = || self.bundle.load(&record).map_err(|error| chain(&error));
            match self
                .libraries
                .get(&label, load)
                .and_then(|library| library.module(slot, key).map_err(NotLoaded::from))
            {
                Ok(module) => {
                    let (action, digest, isa) = (record.action, record.digest, record.isa.clone());
                    let layer = self.bundle.name().to_owned();
                    return Ok((module, CodeOrigin::Artifact { key: *key, layer, action, digest, isa }));
                }
                // The failure would be the same for every other level.
                Err(NotLoaded { reason, is_of_process: true }) => return Err(reason),
                Err(NotLoaded { reason, .. }) => reasons.push(format!("`{}`: {reason}", record.isa)),
            }
        }
        if reasons.is_empty() {
            reasons.push(format!("{} has no module `{}`", self.bundle.name(), key.short()));
        }
        let hint = hint.map(|hint| format!("\n{hint}")).unwrap_or_default();
        Err(join(&reasons, "; ") + &hint)
    }

    /// The symbols of a record's modules: of the graph that is loaded, else of the first that calls the module.
    #[cold]
    fn symbols(&self, graph: &str, record: &Record) -> Symbols {
        let mut symbols = profiling::symbols_of_record(record);
        let mut unnamed: BTreeSet<BuildKey> = symbols.keys().copied().collect();
        for name in iter::once(graph.to_owned()).chain(self.entries()) {
            let found = self.bundle.find_program(&ContentId::of(&*name), &name);
            let Some(program) = found.and_then(|(_, program)| Program::of_entry(&program).ok()) else {
                continue;
            };
            symbols.extend(
                profiling::symbols_of_program(&name, &program).filter(|(key, _)| unnamed.remove(key)),
            );
        }
        symbols
    }
}

/// Short signatures of the Applies that a step of a program computes.
#[cold]
fn signature(entry: &[u8], step: usize) -> String {
    let program = Program::of_entry(entry);
    program
        .ok()
        .and_then(|program| Some(blame::all(&program.steps.get(step)?.signatures)))
        .unwrap_or_default()
}

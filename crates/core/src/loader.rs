//! The loader: returns the named graphs of a bundle as functions. A deployed program needs nothing else.

use crate::bundle::{Bundle, OpenBundleError, Piece};
use crate::cpu::{self, LimitError};
use crate::event::{Event, chain, join};
use crate::function::{CallError, Function};
use crate::key::{BuildKey, ByHash, ContentId, Digest};
use crate::native::profiling::Symbols;
use crate::native::{Label, LoadLibraryError, LoadedLibrary, LoadedModule, find_linked, profiling};
use crate::program::{Computes, Outline, Program};
use crate::provenance::Served;
use crate::record::{ParseRecordError, Record};
use crate::trace::outcome;
use std::collections::hash_map;
use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

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

type Modules = ByHash<BuildKey, (LoadedModule, Arc<Served>)>;

/// The reason why an entry cannot be loaded.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LoadEntryError {
    /// The bundle has no entry of this name.
    #[error("{bundle} has no entry `{name}`; it has: {known}")]
    Unknown {
        /// The bundle.
        bundle: String,
        /// The requested name.
        name: String,
        /// The existing names.
        known: String,
    },
    /// The environment variable that limits the ISA level is invalid.
    #[error("cannot load entry `{name}`")]
    Limit {
        /// The entry.
        name: String,
        /// The reason.
        source: LimitError,
    },
    /// No module of the bundle can serve a step on this host.
    #[error("cannot load `{signature}`, which entry `{name}` calls: {reason}")]
    Module {
        /// The entry.
        name: String,
        /// The module.
        signature: String,
        /// The reason for each variant.
        reason: String,
    },
    /// The program cannot be parsed, although its bytes are intact.
    #[error("cannot read the program of entry `{name}`")]
    Program {
        /// The entry.
        name: String,
        /// The reason.
        source: ParseRecordError,
    },
    /// The instance of a module cannot be created.
    #[error("cannot make entry `{name}` ready to be called")]
    Instance {
        /// The entry.
        name: String,
        /// The error of the op.
        source: CallError,
    },
}

crate::debug_as_chain!(LoadEntryError);

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
    /// check.
    ///
    /// # Errors
    /// As [`Loader::open`], or too few keys have signed it.
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
        let unknown = || LoadEntryError::Unknown {
            bundle: self.bundle.name().to_owned(),
            name: name.to_owned(),
            known: self.entries().join(", "),
        };
        let span = crate::span!("resolve", entry = name; outcome);
        let program = self.bundle.find_program(&id, name).ok_or_else(unknown);
        let loaded = program.and_then(|(outline, program)| self.load(&outline, program, modules));
        span.record("outcome", outcome(&loaded));
        let function = loaded?;
        functions.insert(id, function.clone());
        Ok(function)
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
    fn module(&self, graph: &str, key: &BuildKey) -> Result<(LoadedModule, Served), String> {
        let span =
            crate::span!("lookup", key = key.short().as_str(), layer = self.bundle.name(); variant, outcome);
        let found = self.find_module(graph, key);
        if let Ok((_, Served::Artifact { isa, .. })) = &found {
            span.record("variant", isa.as_str());
        }
        span.record("outcome", if found.is_ok() { "hit" } else { "miss" });
        found
    }

    fn find_module(&self, graph: &str, key: &BuildKey) -> Result<(LoadedModule, Served), String> {
        let mut reasons = Vec::new();
        let profiled = self.libraries.is_profiled();
        for record in best_first(self.bundle.find(key), &mut reasons) {
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
                    return Ok((module, Served::Artifact { key: *key, layer, action, digest, isa }));
                }
                // The failure would be the same for every other level.
                Err(NotLoaded { reason, is_of_process: true }) => return Err(reason),
                Err(NotLoaded { reason, .. }) => reasons.push(format!("`{}`: {reason}", record.isa)),
            }
        }
        if reasons.is_empty() {
            reasons.push(format!("{} has no module `{}`", self.bundle.name(), key.short()));
        }
        Err(join(&reasons, "; "))
    }
}

impl Loader {
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

/// Printable signatures of the Applies that a step of a program computes.
#[cold]
fn signature(entry: &[u8], step: usize) -> String {
    let program = Program::of_entry(entry);
    program.ok().and_then(|program| Some(program.steps.get(step)?.signatures.join("; "))).unwrap_or_default()
}

/// Returns the records that this host can run, those with the most CPU features first. The reasons for the rest are added
/// to `refused`.
pub fn best_first(records: Vec<Arc<Record>>, refused: &mut Vec<String>) -> Vec<Arc<Record>> {
    let mut admissible = Vec::new();
    for record in records {
        match record.requires.check(cpu::host()) {
            Ok(()) => admissible.push(record),
            Err(unmet) => refused.push(format!("`{}`: {unmet}", record.isa)),
        }
    }
    // The sort is stable. Among equal levels, the layer's order decides; a store lists its last build first.
    admissible.sort_by_key(|record| std::cmp::Reverse(record.requires.cpu.len()));
    admissible
}

/// The reason why a library is not loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotLoaded {
    /// The message.
    pub reason: String,
    /// Whether this process cannot load any library.
    pub is_of_process: bool,
}

impl From<LoadLibraryError> for NotLoaded {
    fn from(error: LoadLibraryError) -> Self {
        Self { reason: chain(&error), is_of_process: error.is_of_process() }
    }
}

/// Modules in use, by the digest of their archive: those of the program itself, and shared objects, each loaded once.
#[derive(Debug, Default)]
pub struct Libraries {
    loaded: Mutex<BTreeMap<Digest, Weak<LoadedLibrary>>>,
    profiling: Option<PathBuf>,
}

impl Libraries {
    /// Loads modules from files in `directory` instead of memory, so that profilers can read them.
    #[must_use]
    pub fn profiling(self, directory: PathBuf) -> Self {
        Self { profiling: Some(directory), ..self }
    }

    /// Whether modules are loaded from files for profilers, which need symbols.
    #[must_use]
    pub fn is_profiled(&self) -> bool {
        self.directory().is_some()
    }

    fn directory(&self) -> Option<PathBuf> {
        self.profiling.clone().or_else(profiling::directory)
    }

    /// The modules of a digest, if they are part of the program or in use.
    #[must_use]
    pub fn find(&self, digest: &Digest) -> Option<Arc<LoadedLibrary>> {
        find_linked(digest).and_then(Result::ok).or_else(|| self.loaded(digest))
    }

    fn loaded(&self, digest: &Digest) -> Option<Arc<LoadedLibrary>> {
        self.lock().get(digest).and_then(Weak::upgrade)
    }

    /// Returns the modules of a digest. If they are not loaded yet, loads the verified bytes that `load` returns.
    ///
    /// # Errors
    /// The error of `load`, or the bytes cannot be loaded.
    pub fn get<B: AsRef<[u8]>>(
        &self,
        label: &Label<'_>,
        load: impl FnOnce() -> Result<B, String>,
    ) -> Result<Arc<LoadedLibrary>, NotLoaded> {
        if let Some(linked) = find_linked(label.digest) {
            return linked.map_err(NotLoaded::from);
        }
        if let Some(library) = self.loaded(label.digest) {
            return Ok(library);
        }
        let bytes = load().map_err(|reason| NotLoaded { reason, is_of_process: false })?;
        self.keep(label, bytes.as_ref()).map_err(NotLoaded::from)
    }

    /// Loads verified bytes and registers them under the digest of their archive.
    ///
    /// # Errors
    /// The bytes cannot be loaded.
    pub fn keep(&self, label: &Label<'_>, bytes: &[u8]) -> Result<Arc<LoadedLibrary>, LoadLibraryError> {
        let span = crate::span!("load", bytes = bytes.len() as u64; outcome);
        let loaded = LoadedLibrary::load(bytes, label, self.directory().as_deref());
        span.record("outcome", outcome(&loaded));
        let library = loaded?;
        let mut libraries = self.lock();
        libraries.retain(|_, library| library.strong_count() > 0);
        libraries.insert(*label.digest, Arc::downgrade(&library));
        Ok(library)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Digest, Weak<LoadedLibrary>>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

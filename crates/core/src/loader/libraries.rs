//! The shared objects in use, each loaded once, and the order in which variants are tried.

use crate::cpu;
use crate::event::chain;
use crate::key::Digest;
use crate::native::{Label, LoadLibraryError, LoadedLibrary, find_linked, profiling};
use crate::record::Record;
use crate::trace::outcome;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

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

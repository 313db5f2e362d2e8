//! From a key to callable code: find, load verified bytes, shake hands.

use crate::layer::{Layer, LayerError};
use crate::native::{LoadLibraryError, LoadedEntry, LoadedLibrary};
use crate::stats::{Event, Recorder};
use precast_codegen::Module;
use precast_graph::FunctionGraph;
use precast_ops::Ops;
use precast_store::{ActionKey, BuildKey, Digest, Record};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Which artifact serves a part of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// Printable signatures of the Applies that it serves, in order.
    pub ops: Vec<String>,
    /// Who computes them.
    pub served: Served,
}

/// Who computes a part of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Served {
    /// An artifact of a layer.
    Artifact {
        /// What was wanted.
        key: BuildKey,
        /// The layer.
        layer: String,
        /// How it was made.
        action: ActionKey,
        /// What was loaded.
        digest: Digest,
        /// The ISA level of the variant.
        isa: String,
    },
    /// Compiled in this process.
    Jit {
        /// What was wanted.
        key: BuildKey,
        /// What came out.
        digest: Digest,
        /// The ISA level.
        isa: String,
    },
    /// The reference `perform` of the ops.
    Interpreted,
}

/// Layers, and what was loaded from them.
pub(crate) struct Resolver {
    pub(crate) layers: Vec<Layer>,
    pub(crate) recorder: Arc<Recorder>,
    /// Shared objects in use, by digest of their archive: loaded once in a runtime.
    libraries: Mutex<BTreeMap<Digest, Weak<LoadedLibrary>>>,
    /// Why the last shared object could not be put anywhere: then no module can be loaded, whichever layer has it.
    unstaged: Mutex<Option<String>>,
}

impl Resolver {
    pub(crate) fn new(layers: Vec<Layer>, recorder: Arc<Recorder>) -> Self {
        Self { layers, recorder, libraries: Mutex::new(BTreeMap::new()), unstaged: Mutex::new(None) }
    }

    /// The key of a lowered graph: by its fingerprint if a layer knows that, else by generating the module.
    pub(crate) fn key(
        &self,
        lowered: &FunctionGraph,
        ops: &Ops,
        generate: impl FnOnce() -> Result<Module, crate::FunctionError>,
    ) -> Result<(BuildKey, Option<Module>), crate::FunctionError> {
        if let Some(fingerprint) = precast_ops::fingerprint(lowered, ops) {
            for layer in &self.layers {
                if let Some(key) = layer.find_fingerprint(&fingerprint)? {
                    return Ok((key, None));
                }
            }
        }
        let module = generate()?;
        Ok((module.key(), Some(module)))
    }

    /// Callable code for a key, from the first layer that has some; damage and refusals are passed over.
    pub(crate) fn resolve(&self, key: &BuildKey) -> Result<Option<(LoadedEntry, Provenance)>, LayerError> {
        for layer in &self.layers {
            for record in layer.find(key)? {
                let Some(member) = record.members.iter().find(|member| member.key == *key) else { continue };
                let Some(library) = self.library(layer, &record, &member.signature) else { continue };
                match library.entry(member.slot, key) {
                    Ok(entry) => {
                        let (layer, signature) = (layer.to_string(), member.signature.clone());
                        self.recorder.tell(Event::Hit { signature: signature.clone(), layer: layer.clone() });
                        let served = Served::Artifact {
                            key: *key,
                            layer,
                            action: record.action,
                            digest: record.digest,
                            isa: record.isa.clone(),
                        };
                        return Ok(Some((entry, Provenance { ops: vec![signature], served })));
                    }
                    Err(error) => self.passed_over(&member.signature, &error),
                }
            }
        }
        Ok(None)
    }

    /// Whether some layer has admissible code for a key; loads nothing.
    pub(crate) fn has(&self, key: &BuildKey) -> Result<Option<(String, Record)>, LayerError> {
        for layer in &self.layers {
            if let Some(record) = layer.find(key)?.into_iter().next() {
                return Ok(Some((layer.to_string(), record)));
            }
        }
        Ok(None)
    }

    fn library(&self, layer: &Layer, record: &Record, signature: &str) -> Option<Arc<LoadedLibrary>> {
        if let Some(library) = self.loaded(&record.digest) {
            return Some(library);
        }
        match layer.load(record) {
            Ok(bytes) => self.keep(&record.digest, &bytes, signature),
            Err(reason) => {
                let reason = format!("{layer}: {reason}");
                self.recorder.tell(Event::NotLoaded { signature: signature.to_owned(), reason });
                None
            }
        }
    }

    /// Loads verified bytes and remembers them under the digest of their archive.
    pub(crate) fn keep(&self, digest: &Digest, bytes: &[u8], signature: &str) -> Option<Arc<LoadedLibrary>> {
        let loaded = LoadedLibrary::load(bytes);
        let unstaged = loaded.as_ref().err().filter(|error| matches!(error, LoadLibraryError::Stage { .. }));
        *self.unstaged.lock().unwrap_or_else(PoisonError::into_inner) = unstaged.map(|error| chain(error));
        match loaded {
            Ok(library) => {
                let mut libraries = self.libraries.lock().unwrap_or_else(PoisonError::into_inner);
                libraries.retain(|_, library| library.strong_count() > 0);
                libraries.insert(*digest, Arc::downgrade(&library));
                Some(library)
            }
            // That is told once, not for each module: see `check_stage`.
            Err(LoadLibraryError::Stage { .. }) => None,
            Err(error) => {
                self.passed_over(signature, &error);
                None
            }
        }
    }

    /// The error of a graph that needs a module, if this process can load none at all.
    pub(crate) fn check_stage(&self, signature: &str) -> Result<(), crate::FunctionError> {
        let unstaged = self.unstaged.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let signature = signature.to_owned();
        unstaged.map_or(Ok(()), |problem| Err(crate::FunctionError::Stage { signature, problem }))
    }

    fn loaded(&self, digest: &Digest) -> Option<Arc<LoadedLibrary>> {
        let libraries = self.libraries.lock().unwrap_or_else(PoisonError::into_inner);
        libraries.get(digest).and_then(Weak::upgrade)
    }

    fn passed_over(&self, signature: &str, error: &dyn std::error::Error) {
        let reason = chain(error);
        self.recorder.tell(Event::NotLoaded { signature: signature.to_owned(), reason });
    }
}

/// An error and its causes in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

//! Compiles modules on a miss: once per process and, through the store, once among processes; then publishes them.
//!
//! ```text
//! threads of a process ─▶ flight of the key ─▶ turn of the key in the store ─ waited ─▶ published by another process?
//!                                                  └──────────────────────────────────▶ compile for each ISA level ─▶ publish
//! ```
//! The modules are used from memory while a thread publishes them, since publishing waits for the disk several times.
//! [`Engine::flush`] waits for that thread, as do dropping the engine and the normal end of the process. A forked
//! child starts with an empty engine, because it does not inherit the threads.

use crate::inventory::Inventory;
use crate::outside::outdated;
use crate::process::PerProcess;
use crate::publishing::Publishing;
use precast_codegen::{Module, Unit};
use precast_compile::{CompileError, Compiled, FindToolchainError, Isa, Toolchain, Variant, compile};
use precast_core::event::{chain, join};
use precast_core::trace::outcome;
use precast_core::{best_first, span};
use precast_store::key::StaleVersion;
use precast_store::{BuildKey, Fingerprint, Layer, Store, Turn};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The longest wait for another process that compiles the same module. After that this process compiles it too.
const PATIENCE: Duration = Duration::from_secs(10);

/// A step of compiling and publishing.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The C of an op changed without a new version, so modules in the layers were not used.
    Stale(StaleVersion),
    /// A module was compiled.
    Compiled {
        /// Its signature.
        signature: String,
        /// The compile time.
        took: Duration,
    },
    /// A module is kept in this process, because one of its ops has an empty version.
    Private {
        /// Its signature.
        signature: String,
    },
    /// A module was published.
    Published {
        /// Its signature.
        signature: String,
        /// The layer.
        layer: String,
    },
    /// A module was not published and is used from memory only.
    NotPublished {
        /// Its signature.
        signature: String,
        /// The reason.
        reason: String,
    },
}

/// A callback for the events of an engine; it runs on the thread of the event.
pub type Observer = Arc<dyn Fn(Event) + Send + Sync>;

/// A module to compile.
pub struct Request<'a> {
    /// The module.
    pub module: &'a Arc<Module>,
    /// The ISA levels to compile for; if empty, the level of this CPU.
    pub levels: &'a [Isa],
    /// The fingerprint that maps to the module, if any.
    pub fingerprint: Option<Fingerprint>,
    /// The layers. The module is published to the first writable store.
    pub layers: &'a [Layer],
    /// The callback for events.
    pub observer: &'a Observer,
}

/// The outcome of a [`Request`].
#[derive(Debug, Clone)]
pub enum Made<T> {
    /// This process compiled the module, for each level.
    Here(Vec<Arc<Compiled>>),
    /// Another process published the module while this one waited, and the layers have it.
    Elsewhere(T),
}

/// The reason why a module was not compiled. Except for [`MakeError::Removed`], the engine caches it for the life of
/// the process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MakeError {
    /// The CPU's architecture has no known ISA level.
    #[error("this CPU has no known ISA level")]
    NoLevel,
    /// The compiler was not found after it changed during a compile.
    #[error(transparent)]
    Toolchain(#[from] FindToolchainError),
    /// The compiler rejected the module, or could not be run.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The layers had the module after another process compiled it, and have it no longer.
    #[error("another process compiled it, and it was removed since\nhint: try again")]
    Removed,
}

/// The state of one key: one thread compiles, the other threads wait.
type Flight = Arc<OnceLock<Result<Made<()>, Arc<MakeError>>>>;

/// An engine that compiles each module once.
#[derive(Default)]
pub struct Engine(PerProcess<State>);

#[derive(Default)]
struct State {
    flights: Mutex<BTreeMap<BuildKey, Flight>>,
    publishers: Mutex<Vec<Publisher>>,
}

/// A thread that publishes a module.
struct Publisher {
    signature: String,
    observer: Observer,
    thread: JoinHandle<()>,
}

impl Engine {
    /// Compiles a module and starts to publish it, unless this process has compiled it already. `find` looks the
    /// module up in the layers; it is called after another process compiled the module.
    ///
    /// # Errors
    /// See [`MakeError`]. Errors are cached: another call for the same module fails at once.
    pub fn make<T>(
        &self,
        request: &Request<'_>,
        toolchain: &Toolchain,
        find: impl Fn() -> Option<T>,
    ) -> Result<Made<T>, Arc<MakeError>> {
        let key = request.module.key();
        let flight = {
            let mut flights = self.flights();
            flights.retain(|known, flight| *known != key || !is_outdated(flight, request.module));
            Arc::clone(flights.entry(key).or_default())
        };
        let mut found = None;
        let mut is_there = || {
            found = find();
            found.is_some()
        };
        let made =
            flight.get_or_init(|| self.lead(request, &key, toolchain, &mut is_there).map_err(Arc::new));
        match made.clone()? {
            Made::Here(made) => Ok(Made::Here(made)),
            // If another thread looked the module up, this one has not found it yet.
            Made::Elsewhere(()) => {
                found.or_else(find).map(Made::Elsewhere).ok_or_else(|| Arc::new(MakeError::Removed))
            }
        }
    }

    /// Returns whether compiling a module failed in this process.
    #[must_use]
    pub fn has_failed(&self, key: &BuildKey) -> bool {
        self.flights().get(key).and_then(|flight| flight.get()).is_some_and(Result::is_err)
    }

    /// Returns the artifacts of a module that this process compiled.
    #[must_use]
    pub fn compiled(&self, key: &BuildKey) -> Vec<Arc<Compiled>> {
        match self.flights().get(key).and_then(|flight| flight.get()) {
            Some(Ok(Made::Here(made))) => made.clone(),
            _ => Vec::new(),
        }
    }

    /// Waits until every module is published or has failed to be.
    pub fn flush(&self) {
        let publishers = std::mem::take(&mut *self.publishers());
        for Publisher { signature, observer, thread } in publishers {
            if thread.join().is_err() {
                observer(Event::NotPublished {
                    signature,
                    reason: "the publishing thread panicked".to_owned(),
                });
            }
        }
    }

    /// Compiles a module on behalf of all threads of this process.
    fn lead(
        &self,
        request: &Request<'_>,
        key: &BuildKey,
        toolchain: &Toolchain,
        is_there: &mut dyn FnMut() -> bool,
    ) -> Result<Made<()>, MakeError> {
        let module = request.module;
        let target = request.layers.iter().find_map(|layer| Some((layer, layer.writable()?)));
        let target = target.filter(|_| !module.unpublished);
        let turn = target.map(|(_, store)| store.turn(key, PATIENCE));
        // Another process may have compiled for this CPU alone, so named levels are compiled here.
        if request.levels.is_empty() && turn.as_ref().is_some_and(Turn::waited) && is_there() {
            return Ok(Made::Elsewhere(()));
        }
        if !module.versions.is_empty() {
            let stale = Inventory::new(request.layers).explain(module).stale;
            stale.into_iter().for_each(|stale| (request.observer)(Event::Stale(stale)));
        }
        let native = Isa::native().filter(|_| request.levels.is_empty());
        let mut made = Vec::new();
        for isa in request.levels.iter().copied().chain(native) {
            made.push(Arc::new(compile_for(request, toolchain, isa)?));
        }
        if made.is_empty() {
            return Err(MakeError::NoLevel);
        }
        match target {
            Some((layer, store)) => self.publish(request, &made, (layer.to_string(), store.clone()), turn),
            None if module.unpublished => {
                (request.observer)(Event::Private { signature: module.signature.clone() });
            }
            None => {}
        }
        Ok(Made::Here(made))
    }

    /// Publishes artifacts. They are used from memory even if publishing fails.
    fn publish(
        &self,
        request: &Request<'_>,
        made: &[Arc<Compiled>],
        (layer, store): (String, Store),
        turn: Option<Turn>,
    ) {
        let (made, observer) = (made.to_vec(), Arc::clone(request.observer));
        let signature = request.module.signature.clone();
        // Both are held until the module is published.
        let held = Arc::new((turn, Publishing::start()));
        let named = signature.clone();
        let publish = move || {
            let span = span!("publish", signature = named.as_str(), layer = layer.as_str(); outcome);
            let published =
                made.iter().try_for_each(|one| store.publish(&one.archive, &one.record).map(drop));
            span.record("outcome", outcome(&published));
            observer(match published {
                Ok(()) => Event::Published { signature: named, layer },
                Err(error) => Event::NotPublished { signature: named, reason: chain(&error) },
            });
            drop(held);
        };
        // A process that cannot create a thread publishes synchronously.
        match std::thread::Builder::new().name("precast-publish".to_owned()).spawn(publish.clone()) {
            Ok(thread) => {
                let observer = Arc::clone(request.observer);
                self.publishers().push(Publisher { signature, observer, thread });
            }
            Err(_) => publish(),
        }
    }

    fn flights(&self) -> MutexGuard<'_, BTreeMap<BuildKey, Flight>> {
        self.0.get().flights.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publishers(&self) -> MutexGuard<'_, Vec<Publisher>> {
        self.0.get().publishers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Returns the best of some artifacts that this host can run.
///
/// # Errors
/// Fails with the reason, in words, if this host can run none of them.
pub fn best(made: &[Arc<Compiled>]) -> Result<&Arc<Compiled>, String> {
    let records = made.iter().map(|one| Arc::new(one.record.clone())).collect();
    let mut refused = Vec::new();
    let best = best_first(records, &mut refused).into_iter().next();
    best.and_then(|best| made.iter().find(|one| one.record.digest == best.digest))
        .ok_or_else(|| format!("not supported by this CPU: {}", join(&refused, "; ")))
}

/// Returns whether a flight must be discarded: the module would now read other headers or libraries, or another process compiled the
/// module and the layers no longer have it.
fn is_outdated(flight: &Flight, module: &Arc<Module>) -> bool {
    match flight.get() {
        Some(Ok(Made::Here(made))) => {
            made.iter().any(|one| outdated(&one.record, true, &mut || Some(Arc::clone(module))).is_some())
        }
        Some(Ok(Made::Elsewhere(()))) => true,
        None | Some(Err(_)) => false,
    }
}

fn compile_for(request: &Request<'_>, toolchain: &Toolchain, isa: Isa) -> Result<Compiled, MakeError> {
    let (start, module) = (Instant::now(), request.module);
    let span = span!("compile", key = module.key().short().as_str(), signature = module.signature.as_str(),
        variant = isa.name(); outcome);
    let variant = Variant { target: toolchain.target().to_owned(), isa, profile: module.profile };
    let unit = Unit::single(Arc::clone(module));
    let compiled = match compile(&unit, toolchain, &variant) {
        // The compiler was updated during the compile; retry once with the current one.
        Err(CompileError::Changed { .. }) => compile(&unit, &Toolchain::find(None)?, &variant),
        outcome => outcome,
    };
    span.record("outcome", outcome(&compiled));
    let mut compiled = compiled?;
    compiled.record.members[0].fingerprints.extend(request.fingerprint);
    (request.observer)(Event::Compiled { signature: module.signature.clone(), took: start.elapsed() });
    Ok(compiled)
}

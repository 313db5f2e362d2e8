//! Compiling a module that no layer has: once among the threads of a process and among processes, then published.
//!
//! ```text
//! threads of a process ─▶ flight of the key ─▶ turn of the key in the store ─ waited ─▶ published by another process?
//!                                                  └──────────────────────────────────▶ compile for each ISA level ─▶ publish
//! ```
//! The modules are used from memory while a thread publishes them, since that waits for the disk several times.
//! [`Engine::flush`] waits for it, as do dropping the engine and the normal end of the process. A forked child starts with an
//! empty engine: the threads that it would wait for are not there.

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

/// The longest that a process waits for another one that compiles the same module. Then it compiles too.
const PATIENCE: Duration = Duration::from_secs(10);

/// A step of compiling and publishing.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The C of an op changed while its version did not, so that modules in the layers were not used.
    Stale(StaleVersion),
    /// A module was compiled.
    Compiled {
        /// Its signature.
        signature: String,
        /// The time that it took.
        took: Duration,
    },
    /// A module stays in this process, as one of its ops asks.
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
    /// A module could not be published and stays in memory.
    NotPublished {
        /// Its signature.
        signature: String,
        /// The problem.
        reason: String,
    },
}

/// Receives the events of an engine, on whatever thread they happen.
pub type Observer = Arc<dyn Fn(Event) + Send + Sync>;

/// A module to compile.
pub struct Request<'a> {
    /// The module.
    pub module: &'a Arc<Module>,
    /// The ISA levels to compile for; none for that of this CPU.
    pub levels: &'a [Isa],
    /// The fingerprint that leads to the module, if it has one.
    pub fingerprint: Option<Fingerprint>,
    /// The layers. The first writable store of them gets the module.
    pub layers: &'a [Layer],
    /// Receives the events.
    pub observer: &'a Observer,
}

/// The outcome of a [`Request`].
#[derive(Debug, Clone)]
pub enum Made {
    /// This process compiled the module, for each level.
    Here(Vec<Arc<Compiled>>),
    /// Another process published it while this one waited, so that the layers have it.
    Elsewhere,
}

/// Says why a module was not compiled. The engine remembers it for the life of the process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MakeError {
    /// The CPU is of an architecture without ISA levels.
    #[error("this CPU has no known ISA level")]
    NoLevel,
    /// The compiler was removed while it worked.
    #[error(transparent)]
    Toolchain(#[from] FindToolchainError),
    /// The compiler refused the module, or could not be run.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

/// The state of one key: one thread compiles, the others wait.
type Flight = Arc<OnceLock<Result<Made, Arc<MakeError>>>>;

/// Compiles modules, each once.
#[derive(Default)]
pub struct Engine(PerProcess<State>);

#[derive(Default)]
struct State {
    flights: Mutex<BTreeMap<BuildKey, Flight>>,
    publishers: Mutex<Vec<Publisher>>,
}

/// A thread that publishes.
struct Publisher {
    signature: String,
    observer: Observer,
    thread: JoinHandle<()>,
}

impl Engine {
    /// Compiles a module and starts to publish it, unless this process has compiled it already. `is_there` tells whether the
    /// layers have the module by now; it is asked after another process compiled it.
    ///
    /// # Errors
    /// As [`MakeError`]. The same module fails at once the next time.
    pub fn make(
        &self,
        request: &Request<'_>,
        toolchain: &Toolchain,
        is_there: impl FnOnce() -> bool,
    ) -> Result<Made, Arc<MakeError>> {
        let key = request.module.key();
        let flight = {
            let mut flights = self.flights();
            flights.retain(|known, flight| *known != key || !is_outdated(flight));
            Arc::clone(flights.entry(key).or_default())
        };
        flight.get_or_init(|| self.lead(request, &key, toolchain, is_there).map_err(Arc::new)).clone()
    }

    /// Whether a module could not be compiled in this process.
    #[must_use]
    pub fn has_failed(&self, key: &BuildKey) -> bool {
        self.flights().get(key).and_then(|flight| flight.get()).is_some_and(Result::is_err)
    }

    /// The artifacts of a module that this process compiled.
    #[must_use]
    pub fn compiled(&self, key: &BuildKey) -> Vec<Arc<Compiled>> {
        match self.flights().get(key).and_then(|flight| flight.get()) {
            Some(Ok(Made::Here(made))) => made.clone(),
            _ => Vec::new(),
        }
    }

    /// Waits until everything is published, or could not be.
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

    /// Compiles a module as the one thread of this process that does.
    fn lead(
        &self,
        request: &Request<'_>,
        key: &BuildKey,
        toolchain: &Toolchain,
        is_there: impl FnOnce() -> bool,
    ) -> Result<Made, MakeError> {
        let module = request.module;
        let target = request.layers.iter().find_map(|layer| Some((layer, layer.writable()?)));
        let target = target.filter(|_| !module.unpublished);
        let turn = target.map(|(_, store)| store.turn(key, PATIENCE));
        if turn.as_ref().is_some_and(Turn::waited) && is_there() {
            return Ok(Made::Elsewhere);
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

    /// Publishes artifacts; they are used in memory whatever stands in the way.
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
        // A process that may have no more threads publishes at once.
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

impl Made {
    /// The best artifact that this host can run of those that were compiled here.
    ///
    /// # Errors
    /// In words, why this host can run none.
    pub fn best(made: &[Arc<Compiled>]) -> Result<&Arc<Compiled>, String> {
        let records = made.iter().map(|one| Arc::new(one.record.clone())).collect();
        let mut refused = Vec::new();
        let best = best_first(records, &mut refused).into_iter().next();
        best.and_then(|best| made.iter().find(|one| one.record.digest == best.digest))
            .ok_or_else(|| format!("this CPU cannot run it: {}", join(&refused, "; ")))
    }
}

/// Whether a flight is to be forgotten: it read a file that has changed since, or another process compiled the module, and the
/// layers were searched for it in vain.
fn is_outdated(flight: &Flight) -> bool {
    match flight.get() {
        Some(Ok(Made::Here(made))) => made.iter().any(|one| outdated(&one.record, true).is_some()),
        Some(Ok(Made::Elsewhere)) => true,
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
        // The compiler was updated while it worked: once more, with the one that is there now.
        Err(CompileError::Changed { .. }) => compile(&unit, &Toolchain::find(None)?, &variant),
        outcome => outcome,
    };
    span.record("outcome", outcome(&compiled));
    let mut compiled = compiled?;
    compiled.record.members[0].fingerprints.extend(request.fingerprint);
    (request.observer)(Event::Compiled { signature: module.signature.clone(), took: start.elapsed() });
    Ok(compiled)
}

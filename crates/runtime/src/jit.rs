//! Compiling on a miss: the same `compile()` as ahead of time, single flight, published where a layer is writable.
//!
//! Single flight is among threads by the state of a key, and among processes by the turns of the store that is published to.
//!
//! Publishing waits for the disk several times, so it happens beside the first call. [`Runtime::flush`] waits for it, as do
//! dropping the runtime and the normal end of the process.
//!
//! [`Runtime::flush`]: crate::Runtime::flush

use crate::error::FunctionError;
use crate::inventory::Inventory;
use crate::outside;
use crate::policy::Policy;
use crate::process::PerProcess;
use crate::publishing::Publishing;
use crate::resolve::Resolver;
use crate::stats::{Event, Recorder};
use precast_codegen::{Module, Unit};
use precast_compile::{CompileError, Compiled, Isa, Toolchain, Variant, compile};
use precast_core::event::chain;
use precast_core::native::LoadedModule;
use precast_core::trace::outcome;
use precast_core::{Provenance, Served, span};
use precast_store::archive::SHARED_OBJECT;
use precast_store::{BuildKey, Fingerprint, Layer, Store, Turn};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a process waits for another one that compiles the same. Whoever waits longer compiles too.
const PATIENCE: Duration = Duration::from_secs(10);

/// A compile failure, shared: it is remembered in the process, so that the same graph fails at once the next time.
type Failure = Arc<dyn std::error::Error + Send + Sync>;

/// The state of one key: compiled by one thread, waited for by the others.
type Flight = Arc<OnceLock<Result<Made, Failure>>>;

/// Where the module of a key was compiled.
enum Made {
    /// In this process.
    Here(Arc<Compiled>),
    /// In another one, which this one waited for.
    Elsewhere(LoadedModule, Provenance),
}

/// The compiler of a runtime. It is looked for again on each miss, which is cheap while none of its files changed: a process
/// may live longer than a compiler.
#[derive(Default)]
pub(crate) struct Jit(PerProcess<State>);

/// The state of a process: a forked child would wait for ever for threads of its parent.
#[derive(Default)]
struct State {
    flights: Mutex<BTreeMap<BuildKey, Flight>>,
    /// The threads that publish, each with the module's signature.
    publishing: Mutex<Vec<(String, JoinHandle<()>)>>,
}

impl Jit {
    /// Whether a module could not be compiled in this process.
    pub(crate) fn has_failed(&self, key: &BuildKey) -> bool {
        let flights = self.0.get().flights.lock().unwrap_or_else(PoisonError::into_inner);
        flights.get(key).and_then(|flight| flight.get()).is_some_and(Result::is_err)
    }

    /// Compiles a module for this host, publishes it, and loads it; or loads what another process published meanwhile.
    pub(crate) fn compile(
        &self,
        module: &Arc<Module>,
        fingerprint: Option<Fingerprint>,
        resolver: &Resolver,
    ) -> Result<(LoadedModule, Provenance), FunctionError> {
        let toolchain = match Toolchain::find(None) {
            Ok(toolchain) => toolchain,
            Err(problem) => {
                let miss = Box::new(Inventory::new(resolver).explain(module));
                return Err(FunctionError::NoCompiler { miss, problem: chain(&problem) });
            }
        };
        let (key, signature, unpublished) = (module.key(), module.signature.clone(), module.unpublished);
        let flight = {
            let mut flights = self.0.get().flights.lock().unwrap_or_else(PoisonError::into_inner);
            flights.retain(|known, flight| *known != key || !is_stale(flight));
            Arc::clone(flights.entry(key).or_default())
        };
        let outcome = flight.get_or_init(|| {
            let turn = (!unpublished).then(|| target(resolver)).flatten();
            let turn = turn.map(|(_, store)| store.turn(&key, PATIENCE));
            if turn.as_ref().is_some_and(Turn::waited)
                && let Ok(Some((module, provenance))) = resolver.resolve(&key)
            {
                return Ok(Made::Elsewhere(module, provenance));
            }
            tell_stale(module, resolver);
            let mut compiled = compile_here(Arc::clone(module), &toolchain, resolver)?;
            compiled.record.members[0].fingerprints.extend(fingerprint);
            let compiled = Arc::new(compiled);
            if unpublished {
                resolver.recorder.tell(Event::Private { signature: signature.clone() });
            } else {
                self.publish(&compiled, &signature, resolver, turn);
            }
            Ok(Made::Here(compiled))
        });
        match outcome {
            Ok(Made::Here(compiled)) => load(compiled, &key, &signature, resolver),
            Ok(Made::Elsewhere(module, provenance)) => Ok((module.clone(), provenance.clone())),
            Err(source) => Err(FunctionError::Compile { signature, source: Arc::clone(source) }),
        }
    }
}

impl Jit {
    /// Publishes to the first writable layer; whatever stands in the way, the module is used in memory.
    fn publish(&self, compiled: &Arc<Compiled>, signature: &str, resolver: &Resolver, turn: Option<Turn>) {
        let Some((layer, store)) = target(resolver).map(|(layer, store)| (layer.to_string(), store.clone()))
        else {
            return;
        };
        // Held until it is published.
        let turn = Arc::new(turn);
        let (compiled, recorder) = (Arc::clone(compiled), Arc::clone(&resolver.recorder));
        let (signature, name) = (signature.to_owned(), signature.to_owned());
        let publishing = Arc::new(Publishing::start());
        let publish = move || {
            let span = span!("publish", signature = signature.as_str(), layer = layer.as_str(); outcome);
            let published = store.publish(&compiled.archive, &compiled.record);
            span.record("outcome", outcome(&published));
            recorder.tell(match published {
                Ok(_) => Event::Published { signature, layer },
                Err(error) => Event::NotPublished { signature, reason: chain(&error) },
            });
            drop((turn, publishing));
        };
        // A process that may have no more threads publishes at once.
        match std::thread::Builder::new().name("precast-publish".to_owned()).spawn(publish.clone()) {
            Ok(handle) => self.publishing().push((name, handle)),
            Err(_) => publish(),
        }
    }
}

impl Jit {
    /// The threads of this process that publish.
    fn publishing(&self) -> MutexGuard<'_, Vec<(String, JoinHandle<()>)>> {
        self.0.get().publishing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for what is being published.
    pub(crate) fn flush(&self, recorder: &Recorder) {
        let publishing = std::mem::take(&mut *self.publishing());
        for (signature, handle) in publishing {
            if handle.join().is_err() {
                let reason = "the thread that publishes panicked".to_owned();
                recorder.tell(Event::NotPublished { signature, reason });
            }
        }
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        let publishing = std::mem::take(&mut *self.publishing());
        for (_, handle) in publishing {
            // A panic of the publisher costs the next process a hit, and nobody is left to be told.
            let _ = handle.join();
        }
    }
}

/// Why there is no compiler, where there is none.
pub(crate) fn no_compiler() -> Option<String> {
    Toolchain::find(None).err().map(|problem| chain(&problem))
}

/// The layer that compiled modules are published to.
fn target(resolver: &Resolver) -> Option<(&Layer, &Store)> {
    resolver.layers.iter().find_map(|layer| Some((layer, layer.writable()?)))
}

/// Whether what was compiled in this process read a file that has changed since. What another one compiled is in a layer, and
/// was looked for there.
fn is_stale(flight: &Flight) -> bool {
    match flight.get() {
        Some(Ok(Made::Here(compiled))) => outside::changed(&compiled.record, Some(Policy::Jit)).is_some(),
        Some(Ok(Made::Elsewhere(..))) => true,
        None | Some(Err(_)) => false,
    }
}

/// Tells of versions that were not raised. Layers are read for it only where there is a version.
fn tell_stale(module: &Module, resolver: &Resolver) {
    if !module.versions.is_empty() {
        let stale = Inventory::new(resolver).explain(module).stale;
        stale.into_iter().for_each(|stale| resolver.recorder.tell(Event::Stale(stale)));
    }
}

fn compile_here(
    module: Arc<Module>,
    toolchain: &Toolchain,
    resolver: &Resolver,
) -> Result<Compiled, Failure> {
    let start = Instant::now();
    let signature = module.signature.clone();
    let isa = Isa::native()
        .ok_or_else(|| -> Failure { Arc::from(Box::from("this CPU has no known ISA level")) })?;
    let span = span!("compile", key = module.key().short().as_str(), signature = signature.as_str(),
        variant = isa.name(); outcome);
    let variant = Variant { target: toolchain.target().to_owned(), isa, profile: module.profile };
    let unit = Unit::single(module);
    let compiled = match compile(&unit, toolchain, &variant) {
        // Installed anew while it worked: once more, with what is there now.
        Err(CompileError::Changed { .. }) => {
            let toolchain = Toolchain::find(None).map_err(|error| -> Failure { Arc::new(error) })?;
            compile(&unit, &toolchain, &variant)
        }
        outcome => outcome,
    };
    span.record("outcome", outcome(&compiled));
    let compiled = compiled.map_err(|error| -> Failure { Arc::new(error) })?;
    resolver.recorder.tell(Event::Compiled { signature, took: start.elapsed() });
    Ok(compiled)
}

fn load(
    compiled: &Compiled,
    key: &BuildKey,
    signature: &str,
    resolver: &Resolver,
) -> Result<(LoadedModule, Provenance), FunctionError> {
    let failed = |problem: String| FunctionError::Load { signature: signature.to_owned(), problem };
    let record = &compiled.record;
    let bytes = compiled
        .archive
        .members
        .get(SHARED_OBJECT)
        .ok_or_else(|| failed(format!("no member `{SHARED_OBJECT}`")))?;
    let library = resolver.keep(record, bytes, signature).ok_or_else(|| {
        resolver
            .check_stage(signature)
            .err()
            .unwrap_or_else(|| failed("see the events of `stats()`".to_owned()))
    })?;
    let slot = record.members.iter().find(|member| member.key == *key).map_or(0, |member| member.slot);
    let module = library.module(slot, key).map_err(|error| failed(chain(&error)))?;
    let served = Served::Jit { key: *key, digest: record.digest, isa: record.isa.clone() };
    Ok((module, Provenance { ops: vec![signature.to_owned()], served }))
}

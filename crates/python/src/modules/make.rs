//! Compiling a module on a miss: the same `compile()` as ahead of time, once a process and key, then published.

use super::found::Found;
use super::unit::Wanted;
use super::{Modules, lock, shared_object};
use precast_compile::{CompileError, Compiled, Isa, Toolchain, Variant, compile};
use precast_core::best_first;
use precast_core::event::chain;
use precast_store::key::{Language, Profile};
use precast_store::{BuildKey, Layer};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

/// What became of one key: every level's artifact, or why there is none.
type Outcome = Result<Vec<Compiled>, String>;

/// By process and key.
type ByKey = BTreeMap<(u32, BuildKey), Arc<OnceLock<Outcome>>>;

/// The keys that were compiled in this process, each by one thread while the others wait. A forked child begins anew: the
/// thread that it would wait for is not there.
#[derive(Default)]
pub(super) struct Flights(Mutex<ByKey>);

impl Flights {
    fn of(&self, key: BuildKey) -> Arc<OnceLock<Outcome>> {
        Arc::clone(lock(&self.0).entry((std::process::id(), key)).or_default())
    }

    /// What was compiled for a key in this process.
    pub(super) fn compiled(&self, key: BuildKey) -> Vec<Compiled> {
        self.of(key).get().and_then(|outcome| outcome.as_ref().ok()).cloned().unwrap_or_default()
    }
}

/// Why nothing can be compiled here, if so.
pub(super) fn no_compiler() -> Option<String> {
    let found = Toolchain::find(None).and_then(|toolchain| toolchain.id(Language::Cxx));
    found.err().map(|error| chain(&error))
}

impl Modules {
    /// Compiles a unit; in words why not.
    pub(super) fn make(&self, unit: &Wanted) -> Result<Found, String> {
        let flight = self.flights.of(unit.build_key());
        let outcome = flight.get_or_init(|| {
            let made =
                self.levels()?.into_iter().map(|isa| build(unit, isa)).collect::<Result<Vec<_>, _>>()?;
            made.iter().for_each(|made| self.publish(made));
            Ok(made)
        });
        let made = outcome.as_ref().map_err(Clone::clone)?;
        let records = made.iter().map(|made| Arc::new(made.record.clone())).collect();
        let mut refused = Vec::new();
        let best = best_first(records, &mut refused).into_iter().next();
        let best = best.ok_or_else(|| format!("this CPU cannot run it: {}", refused.join("; ")))?;
        let archive = made.iter().find(|made| made.record.digest == best.digest).map(|made| &made.archive);
        let bytes = archive.and_then(shared_object).ok_or("its archive has no shared object")?;
        Found::new(&best, bytes, "this process".to_owned())
    }

    /// The levels that are asked for, else that of this CPU.
    fn levels(&self) -> Result<Vec<Isa>, String> {
        if self.levels.is_empty() {
            return Ok(vec![Isa::native().ok_or("this CPU has no known ISA level")?]);
        }
        Ok(self.levels.clone())
    }

    /// Publishes to the writable store; whatever stands in the way, the module is used in memory.
    fn publish(&self, made: &Compiled) {
        if let Some(store) = self.layers.iter().find_map(Layer::writable)
            && let Err(error) = store.publish(&made.archive, &made.record)
        {
            self.tell(format!("not published: {}", chain(&error)));
        }
    }
}

fn build(unit: &Wanted, isa: Isa) -> Result<Compiled, String> {
    let once = || {
        let toolchain = Toolchain::find(None)?;
        let variant = Variant { target: toolchain.target().to_owned(), isa, profile: Profile::Release };
        compile(&unit.unit(), &toolchain, &variant)
    };
    let compiled = match once() {
        // Installed anew while it worked: once more, with what is there now.
        Err(CompileError::Changed { .. }) => once(),
        outcome => outcome,
    };
    compiled.map_err(|error| chain(&error))
}

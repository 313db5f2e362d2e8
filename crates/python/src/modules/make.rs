//! Compiles a module on a miss, with the engine that all frontends of precast share.

use super::found::Found;
use super::unit::Wanted;
use super::{Modules, shared_object};
use precast_acquire::{Made, Request, best};
use precast_compile::Toolchain;
use precast_core::event::chain;
use precast_store::key::Language;

/// Returns the reason why nothing can be compiled here, or `None` if a compiler works.
pub(super) fn no_compiler() -> Option<String> {
    let found = Toolchain::find(None).and_then(|toolchain| toolchain.id(Language::Cxx));
    found.err().map(|error| chain(&error))
}

impl Modules {
    /// Compiles a unit and publishes it. Returns the reason if it cannot be compiled.
    pub(super) fn make(&self, unit: &Wanted) -> Result<Found, String> {
        let toolchain = Toolchain::find(None).map_err(|error| chain(&error))?;
        let request = Request {
            module: unit.module(),
            levels: &self.levels,
            fingerprint: None,
            layers: &self.layers,
            observer: &self.observer(),
        };
        let find = || self.layers.iter().find_map(|layer| self.find_in(layer, unit, true));
        let made = self.engine.make(&request, &toolchain, find);
        match made.map_err(|error| chain(&*error))? {
            Made::Here(made) => {
                // Python may exit without waiting for the publishing thread.
                self.engine.flush();
                let best = best(&made)?;
                let bytes = shared_object(&best.archive).ok_or("its archive has no shared object")?;
                Found::new(&best.record, bytes, "this process".to_owned())
            }
            Made::Elsewhere(found) => Ok(found),
        }
    }
}

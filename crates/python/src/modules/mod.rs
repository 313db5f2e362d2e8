//! CPython extension modules in precast's layers: looked up by key, compiled on a miss, collected into a bundle.
//!
//! ```text
//! Unit (text, own headers, arguments) ─▶ BuildKey ─▶ layers: bundles, then stores ─ hit ─▶ verified bytes ─▶ Found
//!                                                      └ miss ─▶ compile() for each level ─▶ the writable store ─┘
//! collect(units) ─▶ records and shared objects of all units ─▶ a bundle
//! ```
//! Python code (`precast/pytensor`) decides which modules are loaded and how a miss is handled. Threads and processes
//! that need the same key share one compilation.

mod collect;
mod found;
mod make;
mod unit;

use crate::error::raise;
pub(crate) use found::Found;
use precast_acquire::{Engine, Event, Inventory, Observer};
use precast_compile::Isa;
use precast_core::event::chain;
use precast_store::archive::SHARED_OBJECT;
use precast_store::{Keyring, Layer, OpenSignedError, Store};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
pub(crate) use unit::Wanted;

/// Layers with extension modules.
#[pyclass(frozen, module = "precast._native")]
pub(crate) struct Modules {
    layers: Vec<Layer>,
    /// The ISA levels to compile for.
    levels: Vec<Isa>,
    engine: Engine,
    /// Warnings about problems that readers and writers recovered from.
    told: Arc<Mutex<Vec<String>>>,
}

#[pymethods]
impl Modules {
    /// Opens bundles, and a store for modules compiled here. If the store cannot be created, it is not used, and a
    /// warning is recorded. A keyring applies to the bundles only; the store is protected by its owner and mode.
    #[new]
    #[pyo3(signature = (*, bundles = Vec::new(), store = None, levels = Vec::new(), keyring = None))]
    fn new(
        py: Python<'_>,
        bundles: Vec<PathBuf>,
        store: Option<PathBuf>,
        levels: Vec<String>,
        keyring: Option<PathBuf>,
    ) -> PyResult<Self> {
        crate::compiler::offer_zig(py);
        let levels = levels.iter().map(|name| name.parse()).collect::<Result<Vec<Isa>, _>>();
        let levels = levels.map_err(|error| raise(py, "PrecastError", (chain(&error),)))?;
        let told = Arc::new(Mutex::new(Vec::new()));
        let keyring = py.detach(|| Keyring::open_setting(keyring));
        let keyring = keyring.map_err(|error| raise(py, "BundleError", (chain(&error),)))?;
        let mut layers = Vec::new();
        for path in bundles {
            let opened = py.detach(|| match &keyring {
                None => Layer::open_bundle(&path).map_err(OpenSignedError::from),
                Some(keyring) => Layer::open_signed_bundle(&path, keyring),
            });
            layers.push(opened.map_err(|error| crate::error::open_signed(py, &error))?);
        }
        if let Some(path) = store {
            match py.detach(|| Store::create(&path)) {
                Ok(store) => layers.push(Layer::Store { store, writable: true }),
                Err(error) => lock(&told).push(format!("the store is not used: {}", chain(&error))),
            }
        }
        let observed = |layer: Layer| {
            let told = Arc::clone(&told);
            layer.on_event(move |event| lock(&told).push(event.to_string()))
        };
        let layers = layers.into_iter().map(observed).collect();
        Ok(Self { layers, levels, engine: Engine::default(), told })
    }

    /// The names of the layers in messages.
    #[getter]
    fn layers(&self) -> Vec<String> {
        self.layers.iter().map(Layer::to_string).collect()
    }

    /// Problems that were recovered from: damage, stores that cannot be written.
    #[getter]
    fn events(&self) -> Vec<String> {
        lock(&self.told).clone()
    }

    /// Finds a module, or returns `None` on a miss. With `fresh`, skips modules compiled with headers or libraries
    /// of the host that changed since.
    #[pyo3(signature = (unit, *, fresh = false))]
    fn find(&self, py: Python<'_>, unit: &Bound<'_, Wanted>, fresh: bool) -> Option<Found> {
        let unit = unit.get();
        py.detach(|| self.layers.iter().find_map(|layer| self.find_in(layer, unit, fresh)))
    }

    /// Compiles a module for every level, publishes it, and returns the one for this host.
    fn compile(&self, py: Python<'_>, unit: &Bound<'_, Wanted>) -> PyResult<Found> {
        let unit = unit.get();
        py.detach(|| self.make(unit)).map_err(|why| raise(py, "CompileError", (why,)))
    }

    /// Explains why no module of a unit was found: variants for other CPUs, or the closest match and how it differs.
    fn explain(&self, py: Python<'_>, unit: &Bound<'_, Wanted>) -> String {
        let unit = unit.get();
        py.detach(|| Inventory::new(&self.layers).explain(unit.module()).reasons())
    }

    /// Writes a bundle of all artifacts that the layers have for these units. Returns the number of modules. A module
    /// may have artifacts for several levels.
    fn collect(&self, py: Python<'_>, path: PathBuf, units: Vec<Bound<'_, Wanted>>) -> PyResult<usize> {
        let units: Vec<&Wanted> = units.iter().map(Bound::get).collect();
        py.detach(|| self.write_bundle(&path, &units)).map_err(|why| raise(py, "BundleError", (why,)))
    }

    /// Returns the reason why no C++ compiler can be used, or `None` if there is one.
    #[staticmethod]
    fn no_compiler(py: Python<'_>) -> Option<String> {
        py.detach(make::no_compiler)
    }

    /// Returns the ISA level of this CPU.
    #[staticmethod]
    fn native_level() -> Option<&'static str> {
        Isa::native().map(Isa::name)
    }

    /// Returns the path of the user's store, or `None` if the user has no home directory.
    #[staticmethod]
    fn user_store() -> Option<PathBuf> {
        precast_store::user_store()
    }
}

impl Modules {
    fn tell(&self, what: String) {
        lock(&self.told).push(what);
    }

    fn find_in(&self, layer: &Layer, unit: &Wanted, fresh: bool) -> Option<Found> {
        let found = precast_acquire::find(
            layer,
            &unit.build_key(),
            fresh,
            &mut || Some(Arc::clone(unit.module())),
            |_, _| {},
        );
        let records = found.map_err(|error| self.tell(chain(&error))).unwrap_or_default();
        records.iter().find_map(|record| {
            let loaded = layer.load(record).map_err(|error| chain(&error)).and_then(|bytes| bytes);
            let found = loaded.and_then(|bytes| Found::new(record, &bytes, layer.to_string()));
            found.map_err(|why| self.tell(why)).ok()
        })
    }

    /// Returns an observer that records the events which concern a user.
    fn observer(&self) -> Observer {
        let told = Arc::clone(&self.told);
        Arc::new(move |event| match event {
            Event::NotPublished { reason, .. } => lock(&told).push(format!("not published: {reason}")),
            Event::Stale(stale) => lock(&told).push(stale.to_string()),
            _ => {}
        })
    }
}

/// Returns the archive member that is loaded.
fn shared_object(archive: &precast_store::Archive) -> Option<&[u8]> {
    archive.get(SHARED_OBJECT)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

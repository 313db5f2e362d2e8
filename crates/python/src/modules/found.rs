//! A compiled module that CPython can load: its verified bytes, and their origin.

use precast_codegen::Unit;
use precast_core::event::{chain, join};
use precast_core::native::Staged;
use precast_core::{Bundle, best_first};
use precast_store::{BuildKey, Record};
use pyo3::prelude::*;
use std::ffi::OsString;

/// A file to load a module from. It exists as long as this object, and other processes cannot change it.
#[pyclass(frozen, module = "precast._native")]
pub(crate) struct Found {
    staged: Staged,
    /// The layer that served the module.
    #[pyo3(get)]
    layer: String,
    /// The ISA level of the module.
    #[pyo3(get)]
    isa: String,
    /// The hash of its archive.
    #[pyo3(get)]
    digest: String,
}

#[pymethods]
impl Found {
    /// The path of the file, as a string: `pathlib` would change the spelling, and so the file it refers to.
    #[getter]
    fn path(&self) -> OsString {
        self.staged.path().as_os_str().to_owned()
    }
}

impl Found {
    /// Returns the best variant of a bundled module that this CPU can run, and the name of the module. Returns
    /// the reason if none can be used.
    pub(crate) fn of_bundle(bundle: &Bundle, key: &BuildKey) -> Result<(String, Self), String> {
        let mut refused = Vec::new();
        for record in best_first(bundle.find(key), &mut refused) {
            let loaded = bundle.load(&record).map_err(|error| chain(&error));
            match loaded.and_then(|bytes| Self::new(&record, bytes, bundle.name().to_owned())) {
                Ok(found) => return Ok((module_name(key), found)),
                Err(why) => refused.push(why),
            }
        }
        if refused.is_empty() {
            refused.push(format!("{} has no module `{}`", bundle.name(), key.short()));
        }
        Err(join(&refused, "; "))
    }

    /// Stages the shared object of a record. Returns the reason if that fails.
    pub(super) fn new(record: &Record, bytes: &[u8], layer: String) -> Result<Self, String> {
        let staged = Staged::new(bytes).map_err(|error| chain(&error))?;
        Ok(Self { staged, layer, isa: record.isa.clone(), digest: record.digest.to_string() })
    }
}

/// Returns the name of a compiled module.
pub(super) fn module_name(key: &BuildKey) -> String {
    Unit::init_symbol(key).trim_start_matches("PyInit_").to_owned()
}

//! A compiled module that CPython can load: verified bytes, and where they are from.

use precast_codegen::Unit;
use precast_core::event::{chain, join};
use precast_core::native::Staged;
use precast_core::{Bundle, best_first};
use precast_store::{BuildKey, Record};
use pyo3::prelude::*;
use std::ffi::OsString;

/// The file to load a module from. It is there as long as this object, and nobody can change it.
#[pyclass(frozen, module = "precast._native")]
pub(crate) struct Found {
    staged: Staged,
    /// The layer that has it.
    #[pyo3(get)]
    layer: String,
    /// The ISA level that it was compiled for.
    #[pyo3(get)]
    isa: String,
    /// The hash of its archive.
    #[pyo3(get)]
    digest: String,
}

#[pymethods]
impl Found {
    /// Where the bytes can be opened. A text: `pathlib` would spell the path as that of another file.
    #[getter]
    fn path(&self) -> OsString {
        self.staged.path().as_os_str().to_owned()
    }
}

impl Found {
    /// The best variant of a module of a bundle that this CPU can run, and the name that it has; in words why there is none.
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

    /// Stages the shared object of a record; in words why it cannot be.
    pub(super) fn new(record: &Record, bytes: &[u8], layer: String) -> Result<Self, String> {
        let staged = Staged::new(bytes).map_err(|error| chain(&error))?;
        Ok(Self { staged, layer, isa: record.isa.clone(), digest: record.digest.to_string() })
    }
}

/// The name that a compiled module has.
pub(super) fn module_name(key: &BuildKey) -> String {
    Unit::init_symbol(key).trim_start_matches("PyInit_").to_owned()
}

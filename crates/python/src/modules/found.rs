//! A compiled module that CPython can load: verified bytes, and where they are from.

use precast_core::event::chain;
use precast_core::native::Staged;
use precast_store::Record;
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
    /// Stages the shared object of a record; in words why it cannot be.
    pub(super) fn new(record: &Record, bytes: &[u8], layer: String) -> Result<Self, String> {
        let staged = Staged::new(bytes).map_err(|error| chain(&error))?;
        Ok(Self { staged, layer, isa: record.isa.clone(), digest: record.digest.to_string() })
    }
}

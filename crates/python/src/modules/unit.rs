//! Declares an extension module: PyTensor's generated C++ with all its compiler arguments,
//! or a graph of user-defined ops.

use crate::error;
use crate::graph::replay::ops;
use crate::graph::whole::Graph;
use crate::own::ctype;
use precast_codegen::{Host, Module, Unit};
use precast_store::BuildKey;
use precast_store::key::KeyDocument;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An extension module to look up or compile, identified by its sources.
#[pyclass(frozen, name = "Unit", module = "precast._native")]
pub(crate) struct Wanted {
    key: BuildKey,
    module: Arc<Module>,
}

#[pymethods]
impl Wanted {
    /// Creates a unit from the text of a module that calls itself `name`.
    #[new]
    #[pyo3(signature = (*, ops, text, name, versions, sources = BTreeMap::new(), flags = Vec::new(), removed_flags = Vec::new(),
                        header_dirs = Vec::new(), libraries = Vec::new(), lib_dirs = Vec::new()))]
    #[expect(clippy::too_many_arguments, reason = "each is named by its callers")]
    fn new(
        ops: Vec<String>,
        text: String,
        name: String,
        versions: Vec<String>,
        sources: BTreeMap<String, String>,
        flags: Vec<String>,
        removed_flags: Vec<String>,
        header_dirs: Vec<String>,
        libraries: Vec<String>,
        lib_dirs: Vec<String>,
    ) -> PyResult<Self> {
        let refused = format!("the text has no function `PyInit_{name}`");
        let sources = sources.into_iter().map(|(name, text)| (name, text.into())).collect();
        let module = Module::extension(&name, &text, ops, versions);
        let module = module.ok_or_else(|| PyValueError::new_err(refused))?;
        let module = Module { sources, flags, removed_flags, header_dirs, libraries, lib_dirs, ..module };
        Ok(Self { key: module.key(), module: Arc::new(module) })
    }

    /// Creates a unit from a graph of ops that are written in Python.
    #[staticmethod]
    fn of_graph(
        py: Python<'_>,
        graph: &Bound<'_, Graph>,
        versions: Vec<String>,
        header_dirs: Vec<String>,
    ) -> PyResult<Self> {
        let library = ctype::with_types(ops().clone()).c().clone().with_host(Host::Cpython { versions });
        let module = precast_codegen::link(&graph.get().graph, &library)
            .map_err(|refused| error::graph_of(py, "GraphValueError", &refused))?;
        let header_dirs = [module.header_dirs.clone(), header_dirs].concat();
        let module = Module { header_dirs, ..module };
        Ok(Self { key: module.key(), module: Arc::new(module) })
    }

    /// The key of the unit: a hash of everything that determines the module.
    #[getter]
    fn key(&self) -> String {
        self.key.to_string()
    }

    /// The name of the compiled module.
    #[getter]
    fn name(&self) -> String {
        super::found::module_name(&self.key)
    }

    /// The signatures of its ops, in one line.
    #[getter]
    fn signature(&self) -> &str {
        &self.module.signature
    }
}

impl Wanted {
    pub(super) fn build_key(&self) -> BuildKey {
        self.key
    }

    pub(super) fn document(&self) -> KeyDocument {
        self.module.document()
    }

    pub(super) fn module(&self) -> &Arc<Module> {
        &self.module
    }

    pub(crate) fn unit(&self) -> Unit {
        Unit::single(Arc::clone(&self.module))
    }
}

//! Graphs that are built in Python into a bundle: the stages of `precast build`, without a manifest.

use crate::error;
use crate::graph::replay::ops;
use crate::graph::whole::Graph;
use crate::modules::Wanted;
use crate::own::ctype;
use precast_build::{Declared, Execution, Place, execute, plan};
use precast_codegen::Unit;
use precast_compile::{Isa, Toolchain, Variant};
use precast_store::key::Profile;
use precast_store::{Store, whole};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// Compiles named graphs and the extension modules that are called between them for ISA levels, those of the target if none is
/// said, and writes the bundle, whole or not at all. A store that cannot be made is done without.
#[pyfunction]
pub(crate) fn save(
    py: Python<'_>,
    path: PathBuf,
    graphs: Vec<(String, Bound<'_, Graph>)>,
    modules: Vec<Bound<'_, Wanted>>,
    levels: Vec<String>,
    store: Option<PathBuf>,
) -> PyResult<()> {
    let levels = levels.iter().map(|name| name.parse()).collect::<Result<Vec<Isa>, _>>();
    let levels = levels.map_err(|refused| error::graph_of(py, "GraphValueError", &refused))?;
    let mut declared = Declared::new(ctype::with_types(ops().clone()));
    for (name, graph) in &graphs {
        let added = declared.graph(name, graph.get().graph.clone(), Place::in_build("graph", name));
        added.map_err(|problem| error::graph_value(py, &problem.kind.to_string()))?;
    }
    let modules = modules.iter().map(|module| module.get().unit()).collect();
    let written = py.detach(|| write(&path, &declared, modules, levels, store.as_deref()));
    written.map_err(|why| error::raise(py, "CompileError", (why,)))
}

fn write(
    path: &Path,
    declared: &Declared,
    modules: Vec<Unit>,
    levels: Vec<Isa>,
    store: Option<&Path>,
) -> Result<(), String> {
    let mut plan = plan(declared).map_err(|refused| error::text(&refused))?;
    plan.units.extend(modules);
    if let Some(signature) = plan.unpublished.first() {
        return Err(format!(
            "`{signature}` has an op whose version is empty, so it is never published\n\
             hint: give the op a version, or none"
        ));
    }
    let toolchain = Toolchain::find(None).map_err(|refused| error::text(&refused))?;
    let levels = if levels.is_empty() { Isa::defaults(toolchain.target()) } else { levels };
    let variant = |isa| Variant { target: toolchain.target().to_owned(), isa, profile: Profile::Release };
    let variants: Vec<Variant> = levels.into_iter().map(variant).collect();
    let store = store.and_then(|path| Store::create(path).ok());
    let execution = Execution { store: store.as_ref(), ..Execution::new(&toolchain, &variants) };
    let executed = execute(&plan, &execution).map_err(|refused| error::text(&refused))?;
    let bytes = executed.bundle(&toolchain).map_err(|refused| error::text(&refused))?;
    let written = whole::write_if_changed(path, &bytes);
    written.map(drop).map_err(|refused| format!("cannot write `{}`: {refused}", path.display()))
}

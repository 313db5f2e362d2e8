//! Writes graphs that are built in Python to a bundle, with the stages of `precast build` but without a manifest.

use crate::error;
use crate::graph::replay::ops;
use crate::graph::whole::Graph;
use crate::modules::Wanted;
use crate::own::ctype;
use precast_build::{Declared, Execution, Place, execute, plan};
use precast_codegen::Unit;
use precast_compile::{Isa, Toolchain, Variant};
use precast_store::key::Profile;
use precast_store::{Store, event, whole};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// Compiles named graphs, and the extension modules that are called between them, and writes the bundle atomically.
/// Compiles for the given ISA levels, or else for those of the target. Returns warnings. A store that cannot be used is
/// an error if it `is_named`, else a warning.
#[pyfunction]
pub(crate) fn save(
    py: Python<'_>,
    path: PathBuf,
    graphs: Vec<(String, Bound<'_, Graph>)>,
    modules: Vec<Bound<'_, Wanted>>,
    levels: Vec<String>,
    store: Option<PathBuf>,
    is_named: bool,
) -> PyResult<Vec<String>> {
    let levels = levels.iter().map(|name| name.parse()).collect::<Result<Vec<Isa>, _>>();
    let levels = levels.map_err(|refused| error::graph_of(py, "GraphValueError", &refused))?;
    let mut declared = Declared::new(ctype::with_types(ops().clone()));
    for (name, graph) in &graphs {
        let added = declared.graph(name, graph.get().graph.clone(), Place::in_build("graph", name));
        added.map_err(|problem| error::graph_value(py, &problem.kind.to_string()))?;
    }
    let modules = modules.iter().map(|module| module.get().unit()).collect();
    let kept = store.as_deref().map(|path| Kept { path, is_named });
    let written = py.detach(|| write(&path, &declared, modules, levels, kept));
    written.map_err(|why| error::raise(py, "CompileError", (why,)))
}

/// The store of a build.
struct Kept<'a> {
    path: &'a Path,
    /// Whether the user named the store.
    is_named: bool,
}

fn write(
    path: &Path,
    declared: &Declared,
    modules: Vec<Unit>,
    levels: Vec<Isa>,
    kept: Option<Kept<'_>>,
) -> Result<Vec<String>, String> {
    let mut plan = plan(declared).map_err(|refused| error::text(&refused))?;
    plan.units.extend(modules);
    if let Some(signature) = plan.unpublished.first() {
        return Err(format!(
            "cannot publish `{signature}`: the cache version of an op is empty\n\
             hint: return a version or `None` from `c_code_cache_version`"
        ));
    }
    let toolchain = Toolchain::find(None).map_err(|refused| error::text(&refused))?;
    let variants = Variant::choose(levels, toolchain.target(), Profile::Release);
    let variants = variants.map_err(|refused| error::text(&refused))?;
    let mut warnings = Vec::new();
    let created = match kept.map(|kept| (kept.is_named, Store::create(kept.path))) {
        Some((true, Err(refused))) => return Err(error::text(&refused)),
        Some((false, Err(refused))) => {
            warnings.push(format!(
                "the store is not used, so the next build compiles again: {}",
                error::text(&refused)
            ));
            None
        }
        Some((_, Ok(store))) => Some(store),
        None => None,
    };
    let listening = created.as_ref().map(Store::listening);
    let (store, heard) = listening.as_ref().map(|(store, heard)| (store, heard)).unzip();
    let execution = Execution { store, ..Execution::new(&toolchain, &variants) };
    let executed = execute(&plan, &execution).map_err(|refused| error::text(&refused))?;
    warnings.extend(heard.map(|heard| event::lines(&heard.take())).unwrap_or_default());
    warnings.extend(plan.warnings());
    warnings.extend(executed.stale.iter().map(ToString::to_string));
    let bytes = executed.bundle(&toolchain).map_err(|refused| error::text(&refused))?;
    let written = whole::write_if_changed(path, &bytes);
    written.map(|_| warnings).map_err(|refused| format!("cannot write `{}`: {refused}", path.display()))
}

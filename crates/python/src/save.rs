//! Writes graphs that are built in Python to a bundle: the pipeline of `precast build`, without a manifest.

use crate::compiler;
use crate::error;
use crate::graph::replay::ops;
use crate::graph::whole::Graph;
use crate::metadata::{self, Told};
use crate::modules::Wanted;
use crate::own::ctype;
use precast_build::pipeline::{self, Access, StoreChoice};
use precast_build::{Declared, Execution, SourceLocation, plan};
use precast_codegen::Unit;
use precast_compile::{Isa, Toolchain, Variant};
use precast_store::key::Profile;
use precast_store::whole;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Compiles named graphs, and the extension modules that are called between them, and writes the bundle atomically, with
/// the metadata of graphs, of functions of several graphs, and of the bundle, whose name is empty.
/// Compiles for the given ISA levels, or else for those of the target. Returns warnings. A store that cannot be used is
/// an error if the flag is set (the user named it), else a warning.
#[pyfunction]
pub(crate) fn save(
    py: Python<'_>,
    path: PathBuf,
    graphs: Vec<(String, Bound<'_, Graph>)>,
    modules: Vec<Bound<'_, Wanted>>,
    metadata: BTreeMap<String, Told>,
    levels: Vec<String>,
    store: Option<(PathBuf, bool)>,
) -> PyResult<Vec<String>> {
    compiler::offer_zig(py);
    let levels = levels.iter().map(|name| name.parse()).collect::<Result<Vec<Isa>, _>>();
    let levels = levels.map_err(|refused| error::graph_of(py, "GraphValueError", &refused))?;
    let mut declared = Declared::new(ctype::with_types(ops().clone()));
    for (name, graph) in &graphs {
        let added = declared.graph(name, graph.get().graph.clone(), SourceLocation::in_build("graph", name));
        added.map_err(|problem| error::graph_value(py, &problem.kind.to_string()))?;
    }
    for (name, stated) in metadata {
        declared.describe(&name, metadata::told(py, stated)?);
    }
    let modules = modules.iter().map(|module| module.get().unit()).collect();
    let choice = store.as_ref().map(|(path, is_named)| match is_named {
        true => StoreChoice::Named(path),
        false => StoreChoice::Shared { path, fallback: None },
    });
    let written = py.detach(|| write(&path, &declared, modules, levels, choice));
    written.map_err(|why| error::raise(py, "CompileError", (why,)))
}

fn write(
    path: &Path,
    declared: &Declared,
    modules: Vec<Unit>,
    levels: Vec<Isa>,
    store: Option<StoreChoice<'_>>,
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
    let opened = store.map(|choice| choice.open(Access::Publish)).transpose();
    let opened = opened.map_err(|refused| error::text(&refused.source))?;
    let (store, refused) = opened.map_or((None, None), |opened| (opened.store, opened.refused));
    let execution = Execution { store: store.as_ref(), ..Execution::new(&toolchain, &variants) };
    let executed = pipeline::build(&plan, &execution, path).map_err(|refused| error::text(&refused))?;
    let bytes = executed.bundle(&toolchain).map_err(|refused| error::text(&refused))?;
    whole::write_if_changed(path, &bytes)
        .map_err(|refused| format!("cannot write `{}`: {refused}", path.display()))?;
    let unkept = refused
        .map(|refused| format!("no artifacts are kept for the next build: {}", error::text(&refused.source)));
    Ok(unkept.into_iter().chain(executed.warnings()).collect())
}

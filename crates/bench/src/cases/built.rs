//! Builds a graph ahead of time, whole or in parts, and serves it under the `strict` policy.

use super::variant;
use anyhow::{Result, bail, ensure};
use precast::{Function, FunctionGraph, Policy, Runtime};
use precast_build::{Declared, Execution, Serve, SourceLocation, execute, plan};
use precast_compile::Toolchain;
use std::path::Path;

/// Returns the function of a graph, from a bundle compiled only for `serve`.
pub(super) fn built(graph: &FunctionGraph, serve: Serve) -> Result<Function> {
    let place = tempfile::tempdir()?;
    let file = place.path().join("bundle");
    write(&[("graph".to_owned(), graph.clone())], serve, &file)?;
    let runtime = Runtime::builder().bundle_file(&file).policy(Policy::Strict).build()?;
    let function = runtime.function(graph)?;
    let parts = function.provenance().len();
    ensure!(serve != Serve::Whole || parts == 1, "served whole by {parts} parts");
    Ok(function)
}

/// Writes a bundle of named graphs.
pub(super) fn write(graphs: &[(String, FunctionGraph)], serve: Serve, file: &Path) -> Result<()> {
    let mut declared = Declared::default();
    for (name, graph) in graphs {
        let served =
            declared.graph_served(name, graph.clone(), &[serve], SourceLocation::in_build("bench", "graph"));
        if let Err(problem) = served {
            bail!("{problem}");
        }
    }
    let plan = plan(&declared)?;
    let toolchain = Toolchain::find(None)?;
    let variants = [variant(&toolchain)?];
    let execution = Execution::new(&toolchain, &variants);
    fs_err::write(file, execute(&plan, &execution)?.bundle(&toolchain)?)?;
    Ok(())
}

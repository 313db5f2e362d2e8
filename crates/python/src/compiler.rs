//! The compiler of the package `ziglang`, which `pip install precast[compiler]` installs.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::path::PathBuf;

/// Offers the zig of this Python environment to all parts of precast. They use it if no other compiler is found.
pub(crate) fn offer_zig(py: Python<'_>) {
    static OFFERED: PyOnceLock<()> = PyOnceLock::new();
    let _ = OFFERED.get_or_init(py, || {
        if let Some(zig) = find(py).ok().flatten().filter(|zig| zig.is_file()) {
            precast_compile::offer_zig(zig);
        }
    });
}

/// Returns the path of zig in the package, without importing it: the import would start zig.
fn find(py: Python<'_>) -> PyResult<Option<PathBuf>> {
    let spec = py.import("importlib.util")?.call_method1("find_spec", ("ziglang",))?;
    if spec.is_none() {
        return Ok(None);
    }
    let places: Vec<PathBuf> = spec.getattr("submodule_search_locations")?.extract()?;
    Ok(places.first().map(|place| place.join("zig")))
}

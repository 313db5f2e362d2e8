//! Functions as custom calls of XLA: the native part of `precast.jax.call`.

use crate::boundary::{object, xla};
use crate::error;
use pyo3::prelude::*;

/// Registers a function as a custom call of XLA, and returns its number. The function lives as long as the process.
#[pyfunction]
pub(crate) fn xla_function(py: Python<'_>, function: &Bound<'_, PyAny>) -> PyResult<u64> {
    let no_function = || error::graph_type(py, "expected a `precast.Function`");
    let found = object::find(function).ok_or_else(no_function)?;
    let inner = found.inner();
    let mut ports = inner.inputs().iter().chain(inner.outputs());
    if let Some(port) = ports.find(|port| port.ty.as_user().is_some()) {
        return Err(error::graph_type(
            py,
            &format!("`{}` is `{}`, which JAX cannot pass", port.name, port.ty),
        ));
    }
    Ok(xla::register(inner))
}

/// Returns the capsule of the handler, for `jax.ffi.register_ffi_target`.
#[pyfunction]
pub(crate) fn xla_handler(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    xla::capsule(py)
}

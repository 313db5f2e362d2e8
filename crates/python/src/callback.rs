//! Functions as callbacks of other libraries: the native part of `Function.low_level_callable`.

use crate::boundary::{callback, object};
use crate::error;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns the capsule of a function for `scipy.LowLevelCallable`. `fixed` maps names of inputs to their values.
#[pyfunction]
pub(crate) fn capsule<'py>(
    py: Python<'py>,
    function: &Bound<'py, PyAny>,
    fixed: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let no_function = || error::graph_type(py, "expected a `precast.Function`");
    let found = object::find(function).ok_or_else(no_function)?;
    let mut values: Vec<_> = found.inner().inputs().iter().map(|_| None).collect();
    for (name, value) in fixed {
        let name: String = name.extract()?;
        let place = found.inner().inputs().iter().position(|port| port.name == name);
        let unknown = || error::wrong_type(py, format!("`{}` has no input `{name}`", found.shown()));
        let place = place.ok_or_else(unknown)?;
        values[place] = Some(found.copied(value, &found.inner().inputs()[place])?);
    }
    let made = callback::make(py, found, values)?;
    made.map_err(|problem| error::raise(py, "NativeError", (problem,)))
}

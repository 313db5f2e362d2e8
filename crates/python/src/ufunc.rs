//! Ufuncs of NumPy from functions: what `Function.ufunc`, `Function.gufunc` and `Model.ufunc` call.

use crate::boundary::{object, ufunc};
use crate::error;
use pyo3::prelude::*;

/// A ufunc with a loop for each function, in the order in which NumPy looks for one; with a signature, a gufunc.
#[pyfunction]
#[pyo3(name = "ufunc", signature = (name, functions, signature = None))]
pub(crate) fn make<'py>(
    py: Python<'py>,
    name: &str,
    functions: Vec<Bound<'py, PyAny>>,
    signature: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut found = Vec::new();
    for function in &functions {
        let no_function = || error::graph_type(py, "expected a `precast.Function`");
        found.push(object::find(function).ok_or_else(no_function)?);
    }
    // NumPy takes the first loop that all operands can be cast to without loss: the narrowest.
    found.sort_by_key(|function| {
        let dtype = function.inner().inputs().first().map(|port| port.ty.dtype());
        dtype.map(|dtype| (dtype.is_complex(), dtype.is_float(), dtype.itemsize_bytes(), dtype.typenum()))
    });
    let core = signature.map(cores).transpose().map_err(|problem| error::graph_value(py, &problem))?;
    let core = signature.zip(core.as_deref());
    let doc: Vec<String> = found.iter().map(|function| function.shown()).collect();
    let made = ufunc::make(py, name, &doc.join("\n"), &found, core)?;
    made.map_err(|problem| error::graph_type(py, &problem))
}

/// The core dimensions of each operand, `(n,m),(m)->(n)`, numbered in the order in which they are met.
fn cores(signature: &str) -> Result<Vec<Vec<usize>>, String> {
    let wrong = || format!("`{signature}` is no signature of a gufunc, such as `(n,m),(m)->(n)`");
    let (inputs, outputs) = signature.split_once("->").ok_or_else(wrong)?;
    let mut names: Vec<String> = Vec::new();
    let mut operands = Vec::new();
    for side in [inputs, outputs] {
        let mut rest = side.trim();
        while !rest.is_empty() {
            let inner = rest.strip_prefix('(').ok_or_else(wrong)?;
            let (operand, behind) = inner.split_once(')').ok_or_else(wrong)?;
            let mut core = Vec::new();
            for name in operand.split(',').map(str::trim).filter(|name| !name.is_empty()) {
                let known = names.iter().position(|known| known == name);
                core.push(known.unwrap_or_else(|| {
                    names.push(name.to_owned());
                    names.len() - 1
                }));
            }
            operands.push(core);
            let behind = behind.trim();
            rest = if behind.is_empty() { "" } else { behind.strip_prefix(',').ok_or_else(wrong)?.trim() };
        }
    }
    Ok(operands)
}

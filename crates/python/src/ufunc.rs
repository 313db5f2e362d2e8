//! NumPy ufuncs of functions: the native part of `Function.ufunc`, `Function.gufunc`, `Model.ufunc` and `precast.ufunc`.
//!
//! ```text
//! functions of one name ──▶ a table of CEP 1000: "#1f#1f)#1f", "dd)d", … ──▶ NumPy's list of loops: "ff->f", "dd->d", …
//! ```
//! A signature has the same information as a row of NumPy's list: numbers, or elements of tensors. Some functions do
//! not map to a row, or map to the same row as another function. If the user names such a function, this is an error.
//! If it comes from a layer, it is left out, and the ufunc's documentation states the reason.

use crate::boundary::ufunc::Loop;
use crate::boundary::{object, ufunc};
use crate::error;
use crate::function::Function;
use precast_abi::nativecall::{FieldType, Number, Signature};
use precast_core::program::Port;
use precast_core::{DType, Type};
use pyo3::prelude::*;
use std::collections::BTreeSet;

/// Creates a ufunc with a loop for each function, in the order in which NumPy searches for one. With a signature,
/// creates a gufunc. With `leave`, functions that cannot be loops are left out.
#[pyfunction]
#[pyo3(name = "ufunc", signature = (name, functions, signature = None, leave = false))]
pub(crate) fn make<'py>(
    py: Python<'py>,
    name: &str,
    functions: Vec<Bound<'py, PyAny>>,
    signature: Option<&str>,
    leave: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let mut found = Vec::new();
    for function in &functions {
        let no_function = || error::graph_type(py, "expected a `precast.Function`");
        found.push(object::find(function).ok_or_else(no_function)?);
    }
    // NumPy uses the first loop to which all operands can be cast without loss, so the narrowest comes first.
    found.sort_by_key(|function| {
        let dtype = function.inner().inputs().first().map(|port| port.ty.dtype());
        dtype.map(|dtype| (dtype.is_complex(), dtype.is_float(), dtype.itemsize_bytes(), dtype.typenum()))
    });
    let core = signature.map(cores).transpose().map_err(|problem| error::graph_value(py, &problem))?;
    let core = core.map(|sides| sides.concat());
    let (loops, doc) =
        list(&found, core.as_deref(), leave).map_err(|problem| error::graph_type(py, &problem))?;
    ufunc::make(py, name, &doc, loops, signature)
}

/// Returns NumPy's list of loops, and a description of it.
fn list(
    functions: &[&Function],
    core: Option<&[Vec<usize>]>,
    leave: bool,
) -> Result<(Vec<Loop>, String), String> {
    let (mut loops, mut told, mut left): (Vec<Loop>, Vec<String>, Vec<String>) = Default::default();
    for function in functions {
        let made = fields(&table_row(function)).and_then(|fields| Loop::new(function, &fields, core));
        match made {
            Ok(made) => {
                if let Some(same) = loops.iter().position(|known| known.dtypes().eq(made.dtypes())) {
                    let (one, two) = (&told[same], function.shown());
                    if leave {
                        left.push(format!("`{two}` is left out: `{one}` has the same dtypes"));
                        continue;
                    }
                    return Err(format!(
                        "`{one}` and `{two}` have the same dtypes\nhint: pass only one of them"
                    ));
                }
                loops.push(made);
                told.push(function.shown());
            }
            Err(problem) => left.push(format!("`{}` cannot be a loop: {problem}", function.shown())),
        }
    }
    if loops.iter().any(|each| each.arity() != loops[0].arity()) {
        return Err(format!(
            "the functions have different numbers of inputs or outputs: `{}`\n\
             hint: combine only functions with the same numbers of both",
            told.join("`, `")
        ));
    }
    if loops.is_empty() && left.is_empty() {
        return Err("no functions were given".to_owned());
    }
    if !left.is_empty() && (loops.is_empty() || !leave) {
        return Err(left.join("\n"));
    }
    told.extend(left);
    Ok((loops, told.join("\n")))
}

/// Returns the row of a function in a CEP 1000 table.
fn table_row(function: &Function) -> String {
    let side = |ports: &[Port]| ports.iter().map(|port| code(&port.ty)).collect::<String>();
    format!("{}){}", side(function.inner().inputs()), side(function.inner().outputs()))
}

/// Returns the code of a type.
fn code(ty: &Type) -> String {
    match ty {
        Type::Scalar(dtype) => dtype.pep3118().to_owned(),
        _ => format!("#{}{}", ty.ndim(), ty.dtype().pep3118()),
    }
}

/// Returns the dtypes and ranks of a signature's operands, as in a row of NumPy's list.
fn fields(signature: &str) -> Result<Vec<(DType, usize)>, String> {
    let parsed = Signature::parse(signature).map_err(|refused| refused.to_string())?.prototype();
    let fields = parsed.arguments.iter().chain(&parsed.results);
    fields.map(|field| operand(field).ok_or_else(|| none(signature, field))).collect()
}

/// Returns the dtype and rank of a field in NumPy.
fn operand(field: &FieldType) -> Option<(DType, usize)> {
    let (number, rank) = match field {
        FieldType::Number(number) => (number, 0),
        FieldType::Tensor { rank, element } => (element, usize::from((*rank)?)),
        _ => return None,
    };
    let is = |dtype: &DType| Number::from_code(dtype.pep3118()).as_ref() == Some(number);
    // NumPy's lists have no type numbers for dtypes of other packages.
    Some((DType::ALL.into_iter().find(is).filter(|dtype| *dtype != DType::Bf16)?, rank))
}

fn none(signature: &str, field: &FieldType) -> String {
    format!("its signature is `{signature}`, and NumPy's loops have no type for `{field}`")
}

/// Returns the ranks of a gufunc's inputs, sorted and without duplicates.
#[pyfunction]
pub(crate) fn core_ranks(py: Python<'_>, signature: &str) -> PyResult<BTreeSet<usize>> {
    let [inputs, _] = cores(signature).map_err(|problem| error::graph_value(py, &problem))?;
    Ok(inputs.iter().map(Vec::len).collect())
}

/// Parses the core dimensions of each input and each output, such as `(n,m),(m)->(n)`. Dimensions are
/// numbered in order of appearance.
fn cores(signature: &str) -> Result<[Vec<Vec<usize>>; 2], String> {
    let wrong = || format!("invalid gufunc signature `{signature}`, expected one like `(n,m),(m)->(n)`");
    let (inputs, outputs) = signature.split_once("->").ok_or_else(wrong)?;
    let mut names: Vec<String> = Vec::new();
    let mut sides = [Vec::new(), Vec::new()];
    for (side, operands) in [inputs, outputs].into_iter().zip(&mut sides) {
        let mut rest = side.trim();
        loop {
            let inner = rest.strip_prefix('(').ok_or_else(wrong)?;
            let (operand, behind) = inner.split_once(')').ok_or_else(wrong)?;
            let mut core = Vec::new();
            for name in operand.split(',').map(str::trim).filter(|name| !name.is_empty()) {
                // NumPy compares fixed sizes as numbers: `3` and `03` are equal.
                let plain = name.trim_end_matches('?').trim_end();
                let name = plain.parse::<u64>().map_or_else(|_| plain.to_owned(), |size| size.to_string());
                let known = names.iter().position(|known| *known == name);
                core.push(known.unwrap_or_else(|| {
                    names.push(name);
                    names.len() - 1
                }));
            }
            operands.push(core);
            let behind = behind.trim();
            if behind.is_empty() {
                break;
            }
            rest = behind.strip_prefix(',').ok_or_else(wrong)?.trim();
        }
    }
    Ok(sides)
}

//! The native part of `precast/_variable.py`: inputs, functions, attributes, indices.

use super::convert;
use super::node::{Node, Origin, Value};
use super::replay::{ReplayError, arena, ops};
use crate::error;
use precast_graph::{DeclaredType, OpLibrary as _, Operand, Prop, Type};
use precast_ops::Ops;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyEllipsis, PySlice, PyTuple, PyType};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The Rust value in a Python variable.
#[pyclass(frozen, module = "precast._native")]
pub(crate) struct Variable {
    pub(crate) node: Arc<Node>,
    pub(crate) ty: Type,
}

#[pymethods]
impl Variable {
    #[getter]
    fn r#type(&self) -> String {
        self.ty.to_string()
    }

    #[getter]
    fn ndim(&self) -> usize {
        self.ty.ndim()
    }

    /// The extents; `None` for an unknown one.
    #[getter]
    fn extents(&self) -> Vec<Option<u64>> {
        let known = |extent: &precast_graph::Extent| match extent {
            precast_graph::Extent::Fixed(n) => Some(*n),
            precast_graph::Extent::Unknown => None,
        };
        self.ty.shape().iter().map(known).collect()
    }

    /// The name, if the variable is an input.
    #[getter]
    fn name(&self) -> Option<&str> {
        if let Origin::Input { name, .. } = &self.node.origin { Some(name) } else { None }
    }
}

/// Returns the class `precast.Variable`.
pub(crate) fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "precast._variable", "Variable")
}

/// Wraps a node in a Python variable.
pub(crate) fn wrap(py: Python<'_>, node: Arc<Node>) -> PyResult<Bound<'_, PyAny>> {
    let ty = arena().ty(&node);
    let ty = ty.map_err(|refused| error::graph(py, &refused))?;
    let ty = ty.ok_or_else(|| error::graph_type(py, "expected an array"))?;
    class(py)?.call1((Variable { node, ty },))
}

/// Creates a node, adds it to the arena at once, and returns the Python value of its result.
pub(crate) fn made(py: Python<'_>, origin: Origin) -> PyResult<Bound<'_, PyAny>> {
    made_with(py, origin, &Vec::new())
}

/// Creates a node like [`made`]. Python functions are called for the types of arguments that the arena asks for.
fn made_with<'py>(
    py: Python<'py>,
    origin: Origin,
    functions: &convert::Functions<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let node = Node::new(origin);
    loop {
        let operand = arena().operand(&node);
        let missing =
            functions.iter().find_map(|(traced, callable)| Some((traced, callable, traced.take_missing()?)));
        match (operand, missing) {
            (Err(_), Some((traced, callable, arguments))) => traced.trace(callable, arguments)?,
            (operand, _) => {
                let operand = operand.map_err(|refused| error::graph(py, &refused))?;
                return convert::given(py, &node, &operand);
            }
        }
    }
}

/// Creates an input of a type such as `f64[?]` or `f64[n,3]`.
#[pyfunction]
pub(crate) fn input<'py>(py: Python<'py>, name: String, ty: &str) -> PyResult<Bound<'py, PyAny>> {
    let ty: DeclaredType = ty.parse().map_err(|refused| error::graph_of(py, "GraphValueError", &refused))?;
    made(py, Origin::Input { name, ty })
}

/// Creates a constant from an array or a number, with the dtype that NumPy gives it.
#[pyfunction]
pub(crate) fn constant<'py>(py: Python<'py>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    made(py, Origin::Constant(convert::constant(value)?))
}

/// Calls a library function by its name.
#[pyfunction]
pub(crate) fn call<'py>(
    py: Python<'py>,
    function: String,
    args: &Bound<'py, PyTuple>,
    keywords: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut functions = Vec::new();
    let args = args.iter().enumerate().map(|(at, value)| match (at, function.as_str()) {
        (1, "astype") => convert::dtype(&value).map(|dtype| Value::Plain(Prop::DType(dtype).into())),
        _ => convert::argument(&value, &function, &mut functions),
    });
    let args = args.collect::<PyResult<Vec<Value>>>()?;
    let mut named = BTreeMap::new();
    for (name, value) in keywords.iter() {
        let name: String = name.extract()?;
        let value = match name.as_str() {
            "dtype" if !value.is_none() => Value::Plain(Prop::DType(convert::dtype(&value)?).into()),
            _ => convert::argument(&value, &function, &mut functions)?,
        };
        named.insert(name, value);
    }
    made_with(py, Origin::Call { function, args, keywords: named }, &functions)
}

/// Returns `x.name`, for attributes that NumPy's arrays have.
#[pyfunction]
pub(crate) fn attribute<'py>(
    py: Python<'py>,
    name: String,
    of: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let of = convert::value(of)?;
    made(py, Origin::Attribute { name, of })
}

/// Returns `x[item]`.
#[pyfunction]
pub(crate) fn index<'py>(
    py: Python<'py>,
    of: &Bound<'py, PyAny>,
    item: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let items = match item.cast::<PyTuple>() {
        Ok(several) => several.iter().collect(),
        Err(_) => vec![item.clone()],
    };
    let (mut texts, mut numbers) = (Vec::new(), Vec::new());
    for item in items {
        texts.push(Operand::from(Prop::Str(one(&item, &mut numbers)?)));
    }
    let args = vec![convert::value(of)?, Value::List(numbers)];
    let keywords = BTreeMap::from([("index".to_owned(), Value::Plain(Operand::List(texts)))]);
    made(py, Origin::Call { function: "subtensor".to_owned(), args, keywords })
}

/// Formats one item of an index, and appends its numbers to `numbers`.
fn one(item: &Bound<'_, PyAny>, numbers: &mut Vec<Value>) -> PyResult<String> {
    if item.is_none() {
        return Ok("n".to_owned());
    }
    if item.cast::<PyEllipsis>().is_ok() {
        return Ok("...".to_owned());
    }
    let Ok(slice) = item.cast::<PySlice>() else {
        numbers.push(convert::value(item)?);
        return Ok("i".to_owned());
    };
    let mut text = String::new();
    for (letter, name) in [("b", "start"), ("e", "stop"), ("s", "step")] {
        let part = slice.getattr(name)?;
        if !part.is_none() {
            numbers.push(convert::value(&part)?);
            text.push_str(letter);
        }
    }
    Ok(text)
}

/// Returns the names of all functions.
#[pyfunction]
pub(crate) fn names() -> Vec<String> {
    ops().names()
}

/// Returns the signature and the help text of a function, or `None` for an unknown name.
#[pyfunction]
pub(crate) fn described(name: &str) -> Option<(String, String)> {
    let help = Ops::row(name).map_or_else(String::new, |row| row.help.to_owned());
    ops()
        .names()
        .iter()
        .any(|known| known == name)
        .then(|| (ops().signature(name).unwrap_or_else(|| format!("{name}(…)")), help))
}

/// Returns the function that an array method calls, if any, and whether the name is an array attribute.
#[pyfunction]
pub(crate) fn member(name: &str) -> (Option<String>, bool) {
    let method = ops().method(name);
    let is_attribute = method.is_none() && ops().members().iter().any(|known| known == name);
    (method, is_attribute)
}

/// Returns the names of array methods and attributes.
#[pyfunction]
pub(crate) fn members() -> Vec<String> {
    ops().members()
}

/// Returns the type of a variable in the arena.
pub(crate) fn type_of(node: &Arc<Node>) -> Result<Type, ReplayError> {
    arena().ty(node)?.ok_or_else(|| ReplayError::NoArray { what: "an input".to_owned() })
}

//! What `precast/_variable.py` calls: inputs, functions, attributes, indices.

use super::convert;
use super::node::{Node, Origin, Value};
use super::replay::{ReplayError, arena, ops};
use crate::error;
use precast_graph::{OpLibrary as _, Operand, Prop, Type};
use precast_ops::Ops;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyEllipsis, PySlice, PyTuple, PyType};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a variable of Python's holds.
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

    /// The extents that are known.
    #[getter]
    fn extents(&self) -> Vec<Option<u64>> {
        let known = |extent: &precast_graph::Extent| match extent {
            precast_graph::Extent::Fixed(n) => Some(*n),
            precast_graph::Extent::Unknown => None,
        };
        self.ty.shape().iter().map(known).collect()
    }

    /// The name of an input.
    #[getter]
    fn name(&self) -> Option<&str> {
        if let Origin::Input { name, .. } = &self.node.origin { Some(name) } else { None }
    }
}

/// `precast.Variable`.
pub(crate) fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "precast._variable", "Variable")
}

/// The variable of a node, in Python.
pub(crate) fn wrap(py: Python<'_>, node: Arc<Node>) -> PyResult<Bound<'_, PyAny>> {
    let ty = arena().ty(&node);
    let ty = ty.map_err(|refused| error::graph(py, &refused))?;
    let ty = ty.ok_or_else(|| error::graph_type(py, "no array"))?;
    class(py)?.call1((Variable { node, ty },))
}

/// Makes a node, in the arena at once; gives what it is.
pub(crate) fn made(py: Python<'_>, origin: Origin) -> PyResult<Bound<'_, PyAny>> {
    let node = Node::new(origin);
    let operand = arena().operand(&node);
    let operand = operand.map_err(|refused| error::graph(py, &refused))?;
    convert::given(py, &node, &operand)
}

/// An input of a type, `f64[?]`.
#[pyfunction]
pub(crate) fn input<'py>(py: Python<'py>, name: String, ty: &str) -> PyResult<Bound<'py, PyAny>> {
    let ty: Type = ty.parse().map_err(|refused| error::graph_of(py, "GraphValueError", &refused))?;
    made(py, Origin::Input { name, ty })
}

/// The constant of an array or a number, of the dtype that NumPy gives it.
#[pyfunction]
pub(crate) fn constant<'py>(py: Python<'py>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    made(py, Origin::Constant(convert::constant(value)?))
}

/// Calls a function of the library by its name.
#[pyfunction]
pub(crate) fn call<'py>(
    py: Python<'py>,
    function: String,
    args: &Bound<'py, PyTuple>,
    keywords: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let args = args.iter().enumerate().map(|(at, value)| match (at, function.as_str()) {
        (1, "astype") => convert::dtype(&value).map(|dtype| Value::Plain(Prop::DType(dtype).into())),
        _ => convert::value(&value),
    });
    let args = args.collect::<PyResult<Vec<Value>>>()?;
    let mut named = BTreeMap::new();
    for (name, value) in keywords.iter() {
        let name: String = name.extract()?;
        let value = match name.as_str() {
            "dtype" if !value.is_none() => Value::Plain(Prop::DType(convert::dtype(&value)?).into()),
            _ => convert::value(&value)?,
        };
        named.insert(name, value);
    }
    made(py, Origin::Call { function, args, keywords: named })
}

/// `x.name`, which NumPy's arrays have.
#[pyfunction]
pub(crate) fn attribute<'py>(
    py: Python<'py>,
    name: String,
    of: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let of = convert::value(of)?;
    made(py, Origin::Attribute { name, of })
}

/// `x[item]`.
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

/// The text of one item of an index; its numbers are added to the others.
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

/// The names of all functions.
#[pyfunction]
pub(crate) fn names() -> Vec<String> {
    ops().names()
}

/// How a function is called, and what it is; `None` if there is none of the name.
#[pyfunction]
pub(crate) fn described(name: &str) -> Option<(String, String)> {
    let help = Ops::row(name).map_or_else(String::new, |row| row.help.to_owned());
    ops()
        .names()
        .iter()
        .any(|known| known == name)
        .then(|| (ops().signature(name).unwrap_or_else(|| format!("{name}(…)")), help))
}

/// The function that a method of arrays calls, and whether arrays have an attribute of the name.
#[pyfunction]
pub(crate) fn member(name: &str) -> (Option<String>, bool) {
    let method = ops().method(name);
    let is_attribute = method.is_none() && ops().members().iter().any(|known| known == name);
    (method, is_attribute)
}

/// The names of methods and attributes of arrays.
#[pyfunction]
pub(crate) fn members() -> Vec<String> {
    ops().members()
}

/// The type of a variable in the arena.
pub(crate) fn type_of(node: &Arc<Node>) -> Result<Type, ReplayError> {
    arena().ty(node)?.ok_or_else(|| ReplayError::NoArray { what: "an input".to_owned() })
}

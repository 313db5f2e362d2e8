//! Conversion of Python's values to call arguments, and of call results to Python's values.

use super::call::Variable;
pub(crate) use super::node::Value;
use super::node::{Node, Origin};
use super::traced::Traced;
use crate::boundary::array::Lent;
use crate::{dtypes, error};
use num_bigint::BigInt;
use numpy::{Complex64, PyArrayDescr, PyUntypedArray};
use precast_graph::{Complex, DType, Literal, Operand, Prop};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};
use std::sync::Arc;

/// The maximum depth of nested lists.
const DEPTH: usize = 32;

/// Python functions among the arguments of a call.
pub(crate) type Functions<'py> = Vec<(Arc<Traced>, Bound<'py, PyAny>)>;

/// Converts a value without functions.
pub(crate) fn value(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    nested(value, DEPTH, None)
}

/// Converts an argument of a call, and appends the Python functions in it. `caller` is the name of the called function.
pub(crate) fn argument<'py>(
    value: &Bound<'py, PyAny>,
    caller: &str,
    functions: &mut Functions<'py>,
) -> PyResult<Value> {
    nested(value, DEPTH, Some((caller, functions)))
}

fn nested<'py>(
    value: &Bound<'py, PyAny>,
    depth: usize,
    mut functions: Option<(&str, &mut Functions<'py>)>,
) -> PyResult<Value> {
    let py = value.py();
    if let Some(node) = node(value) {
        return Ok(Value::Node(node));
    }
    if let Some(operand) = plain(value)? {
        return Ok(Value::Plain(operand));
    }
    if value.is_exact_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let depth =
            depth.checked_sub(1).ok_or_else(|| error::graph_value(py, "lists are nested too deeply"))?;
        let mut items = Vec::new();
        for item in value.try_iter()? {
            let functions = functions.as_mut().map(|(caller, functions)| (*caller, &mut **functions));
            items.push(nested(&item?, depth, functions)?);
        }
        return Ok(Value::List(items));
    }
    if is_dtype(value)? {
        return dtype(value).map(|dtype| Value::Plain(Prop::DType(dtype).into()));
    }
    let numpy = py.import("numpy")?;
    let is_array =
        value.is_instance_of::<PyUntypedArray>() || value.is_instance(&numpy.getattr("generic")?)?;
    if is_array {
        return constant(value).map(|array| Value::Node(Node::new(Origin::Constant(array))));
    }
    if let Some((caller, functions)) = functions.filter(|_| value.is_callable()) {
        let traced = Arc::new(Traced::new(caller));
        functions.push((Arc::clone(&traced), value.clone()));
        return Ok(Value::Function(traced));
    }
    let kind = value.get_type().name()?;
    let text = format!("found a `{kind}`, expected a variable, a NumPy array, a number, a string or a dtype");
    Err(error::graph_type(py, &text))
}

/// Returns the node of a variable.
pub(crate) fn node(value: &Bound<'_, PyAny>) -> Option<Arc<Node>> {
    let class = super::call::class(value.py()).ok()?;
    if !value.is_instance(class).ok()? {
        return None;
    }
    let held = value.getattr("_node").ok()?;
    Some(Arc::clone(&held.cast::<Variable>().ok()?.get().node))
}

/// Converts a value that contains no variable and is not a list: a Python number, a text, `None`.
fn plain(value: &Bound<'_, PyAny>) -> PyResult<Option<Operand>> {
    let literal = if value.is_none() {
        return Ok(Some(Operand::None));
    } else if value.is_exact_instance_of::<PyBool>() {
        Literal::Bool(value.extract()?)
    } else if value.is_exact_instance_of::<PyInt>() {
        let wide = || -> PyResult<BigInt> {
            let text = value.py().import("builtins")?.getattr("hex")?.call1((value,))?.extract::<String>()?;
            let digits = text.replacen("0x", "", 1);
            BigInt::parse_bytes(digits.as_bytes(), 16).ok_or_else(|| PyTypeError::new_err("no integer"))
        };
        Literal::Int(value.extract::<i64>().map_or_else(|_| wide(), |small| Ok(small.into()))?)
    } else if value.is_exact_instance_of::<PyFloat>() {
        Literal::Float(value.extract()?)
    } else if value.is_exact_instance_of::<PyComplex>() {
        let Complex64 { re, im } = value.extract()?;
        Literal::Complex(Complex { re, im })
    } else if let Ok(text) = value.cast_exact::<PyString>() {
        return Ok(Some(Prop::Str(text.extract()?).into()));
    } else {
        return Ok(None);
    };
    Ok(Some(Operand::Literal(literal)))
}

/// Returns whether a value names a dtype: a NumPy dtype, or the type of NumPy's or Python's numbers.
fn is_dtype(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if value.is_instance_of::<PyArrayDescr>() {
        return Ok(true);
    }
    let Ok(class) = value.cast::<PyType>() else { return Ok(false) };
    let py = value.py();
    let is_number = class.is_subclass_of::<PyInt>()?
        || class.is_subclass_of::<PyFloat>()?
        || class.is_subclass_of::<PyComplex>()?;
    Ok(is_number || class.is_subclass(&py.import("numpy")?.getattr("generic")?)?)
}

/// Returns the dtype that a value names, as `numpy.dtype` interprets it, or by its precast name.
pub(crate) fn dtype(value: &Bound<'_, PyAny>) -> PyResult<DType> {
    let py = value.py();
    if let Ok(name) = value.extract::<String>()
        && let Ok(dtype) = name.parse()
    {
        return Ok(dtype);
    }
    let descr = py.import("numpy")?.getattr("dtype")?.call1((value,))?;
    let descr = descr.cast_into::<PyArrayDescr>()?;
    dtypes::find(&descr)
        .ok_or_else(|| error::graph_type(py, &format!("unsupported dtype `{}`", error::shown(&descr))))
}

/// Returns a copy of a NumPy array or a NumPy number.
pub(crate) fn constant(value: &Bound<'_, PyAny>) -> PyResult<precast_graph::Array> {
    let py = value.py();
    let array = py.import("numpy")?.getattr("asarray")?.call1((value,))?;
    let kind = array.getattr("dtype")?;
    let native = kind.call_method1("newbyteorder", ("=",))?;
    let array = array.call_method1("astype", (native,))?.cast_into::<PyUntypedArray>()?;
    let refused = || error::graph_type(py, &format!("unsupported dtype `{}`", error::shown(&kind)));
    let lent = Lent::find(array).ok_or_else(refused)?;
    match lent.read() {
        Ok(Some(read)) => Ok(read.to_array()),
        Ok(None) => Err(error::graph_value(py, "bools that are neither 0 nor 1\nhint: pass `x != 0`")),
        Err(refused) => Err(error::graph_value(py, &refused.to_string())),
    }
}

/// Converts the result of a call to a Python value. `node` is the node of the result in the arena.
pub(crate) fn given<'py>(
    py: Python<'py>,
    node: &Arc<Node>,
    operand: &Operand,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match operand {
        Operand::Var(_) | Operand::Weak(_) => super::call::wrap(py, Arc::clone(node))?,
        Operand::List(items) => {
            let parts = items
                .iter()
                .enumerate()
                .map(|(at, item)| given(py, &Node::new(Origin::Part { of: Arc::clone(node), at }), item));
            PyTuple::new(py, parts.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Operand::Literal(literal) => number(py, literal)?,
        Operand::Setting(prop) => match &**prop {
            Prop::DType(dtype) => dtypes::descr(py, *dtype)?.into_any(),
            other => PyString::new(py, &other.to_string()).into_any(),
        },
        Operand::None => py.None().into_bound(py),
        Operand::Function(_) => {
            return Err(error::graph_type(py, "a function cannot be an argument or result of a function"));
        }
    })
}

fn number<'py>(py: Python<'py>, literal: &Literal) -> PyResult<Bound<'py, PyAny>> {
    Ok(match literal {
        Literal::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Literal::Int(value) => py.get_type::<PyInt>().call1((value.to_str_radix(16), 16))?,
        Literal::Float(value) => PyFloat::new(py, *value).into_any(),
        Literal::Complex(value) => PyComplex::from_doubles(py, value.re, value.im).into_any(),
    })
}

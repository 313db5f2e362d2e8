//! The params of an op, and their types in C.

use crate::graph::convert;
use precast_codegen::{EnumType, ParamType, ParamsType};
use precast_core::Type;
use precast_graph::{Prop, Props};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyString, PyTuple};

/// The description of a param's type from `precast/_own/`.
#[derive(FromPyObject)]
pub(crate) enum Told {
    /// A type, such as `f64` or `f64[?]`.
    #[pyo3(transparent)]
    Type(String),
    /// An enumeration: its C type, its constants, and the headers that define them, if any.
    #[pyo3(transparent)]
    Enum((String, Vec<Constant>, Option<Vec<String>>)),
}

/// A constant: its name, aliases and value.
type Constant = (String, Vec<String>, i64);

/// Returns the types of params. Types that are not stated follow from the values.
pub(super) fn types(told: Vec<(String, Told)>) -> PyResult<ParamsType> {
    told.into_iter().try_fold(ParamsType::new(), |types, (name, told)| Ok(types.with(&name, one(told)?)))
}

fn one(told: Told) -> PyResult<ParamType> {
    let (ctype, constants, headers) = match told {
        Told::Type(text) if text == "generic" => return Ok(ParamType::Generic),
        Told::Type(text) => {
            let ty: Type = text.parse().map_err(|refused: precast_core::ParseTypeError| {
                pyo3::exceptions::PyValueError::new_err(precast_core::event::chain(&refused))
            })?;
            return Ok(match ty {
                Type::Scalar(dtype) => ParamType::Scalar(dtype),
                other => ParamType::Tensor(other.dtype()),
            });
        }
        Told::Enum(parts) => parts,
    };
    let names: Vec<&str> = constants.iter().map(|(name, ..)| name.as_str()).collect();
    let mut made = match &headers {
        Some(headers) => {
            headers.iter().fold(EnumType::from_c(&ctype, &names), |made, header| made.header(header))
        }
        None => {
            constants.iter().fold(EnumType::new(&ctype), |made, (name, _, value)| made.constant(name, *value))
        }
    };
    for (name, aliases, _) in &constants {
        made = aliases.iter().fold(made, |made, alias| made.alias(name, alias));
    }
    Ok(ParamType::Enum(made))
}

/// Converts values to props.
pub(super) fn props(values: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Props> {
    values.into_iter().map(|(name, value)| Ok((name, prop(&value)?))).collect()
}

/// Converts a value to a prop. A value of an unsupported type is represented by its `repr`.
fn prop(value: &Bound<'_, PyAny>) -> PyResult<Prop> {
    if value.is_instance_of::<PyBool>() {
        return value.is_truthy().map(Prop::Bool);
    }
    if value.is_instance_of::<PyInt>()
        && let Ok(integer) = value.extract()
    {
        return Ok(Prop::Int(integer));
    }
    if value.is_instance_of::<PyFloat>() {
        return value.extract().map(Prop::Float);
    }
    if let Ok(text) = value.cast::<PyString>() {
        return text.extract().map(Prop::Str);
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return Ok(Prop::List(value.try_iter()?.map(|item| prop(&item?)).collect::<PyResult<_>>()?));
    }
    if value.hasattr("__array_interface__")? {
        return convert::constant(value).map(Prop::Array);
    }
    Ok(Prop::Str(value.repr()?.extract()?))
}

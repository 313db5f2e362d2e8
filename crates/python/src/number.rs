//! Python's numbers as inputs without dimensions, in the dtype that the function declares.
//!
//! As in NumPy, a number of Python takes the dtype of what it meets where its kind allows: a `float` is no integer, an `int`
//! must fit. Numbers of NumPy have a dtype of their own and are arrays.

use numpy::Complex64;
use precast_core::{Array, Complex, DType, bf16, f16};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};

/// The array of a number; `None` if the value is none of Python's numbers.
///
/// # Errors
/// `TypeError`: a number of another kind. `OverflowError`: one that the dtype has no room for.
pub(crate) fn find(value: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Option<Array>> {
    let rank = if value.is_exact_instance_of::<PyBool>() {
        0
    } else if value.is_exact_instance_of::<PyInt>() {
        1
    } else if value.is_exact_instance_of::<PyFloat>() {
        2
    } else if value.is_exact_instance_of::<PyComplex>() {
        3
    } else {
        return Ok(None);
    };
    let admits = match dtype {
        DType::Bool => 0,
        DType::C64 | DType::C128 => 3,
        DType::F16 | DType::Bf16 | DType::F32 | DType::F64 => 2,
        _ => 1,
    };
    if rank > admits {
        let kind = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("found a Python {kind}, expected a number for `{dtype}`")));
    }
    let refused = |cause: PyErr| match cause.is_instance_of::<PyOverflowError>(value.py()) {
        true => PyOverflowError::new_err(format!("found {value}, which `{dtype}` has no room for")),
        false => cause,
    };
    of(value, dtype).map(Some).map_err(refused)
}

fn of(value: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Array> {
    Ok(match dtype {
        DType::Bool => value.extract::<bool>()?.into(),
        DType::I8 => value.extract::<i8>()?.into(),
        DType::I16 => value.extract::<i16>()?.into(),
        DType::I32 => value.extract::<i32>()?.into(),
        DType::I64 => value.extract::<i64>()?.into(),
        DType::U8 => value.extract::<u8>()?.into(),
        DType::U16 => value.extract::<u16>()?.into(),
        DType::U32 => value.extract::<u32>()?.into(),
        DType::U64 => value.extract::<u64>()?.into(),
        DType::F16 => f16::from_f64(value.extract()?).into(),
        DType::Bf16 => bf16::from_f64(value.extract()?).into(),
        DType::F32 => (value.extract::<f64>()? as f32).into(),
        DType::F64 => value.extract::<f64>()?.into(),
        DType::C64 => {
            let Complex64 { re, im } = value.extract()?;
            Complex { re: re as f32, im: im as f32 }.into()
        }
        DType::C128 => value.extract::<Complex64>()?.into(),
    })
}

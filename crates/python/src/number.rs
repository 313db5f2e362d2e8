//! Conversion of Python's numbers to inputs without dimensions, in the dtype that the function declares.
//!
//! As in NumPy, a Python number takes the dtype of the other operand if its kind allows: a `float` is not accepted for
//! an integer. A number that does not fit the dtype is rejected: an `int` out of range, or a finite number that would
//! become infinite. NumPy's numbers have their own dtype and are treated as arrays.

use crate::boundary::array;
use crate::{dtypes, error};
use numpy::Complex64;
use precast_core::{Array, Complex, DType, bf16, f16};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};

/// Returns the array of a Python number in a dtype, or `None` if the value is not a Python number.
#[pyfunction]
#[pyo3(signature = (value, dtype, /))]
pub(crate) fn number<'py>(value: &Bound<'py, PyAny>, dtype: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = value.py();
    let dtype: DType = dtype.parse().map_err(|refused| error::graph_of(py, "GraphValueError", &refused))?;
    let Some(found) = find(value, dtype)? else { return Ok(None) };
    array::give(py, found, &dtypes::descr(py, dtype)?, false).map(Some)
}

/// Returns the array of a number, or `None` if the value is not a Python number.
///
/// # Errors
/// `TypeError`: the number is of another kind. `OverflowError`: it does not fit the dtype.
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
        true => PyOverflowError::new_err(format!("{} is out of bounds for `{dtype}`", shown(value))),
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
        DType::F16 => narrow(value.extract()?, f16::from_f64, |narrow| narrow.is_finite())?.into(),
        DType::Bf16 => narrow(value.extract()?, bf16::from_f64, |narrow| narrow.is_finite())?.into(),
        DType::F32 => narrow(value.extract()?, f32_of, f32::is_finite)?.into(),
        DType::F64 => value.extract::<f64>()?.into(),
        DType::C64 => {
            let Complex64 { re, im } = value.extract()?;
            let part = |wide| narrow(wide, f32_of, f32::is_finite);
            Complex { re: part(re)?, im: part(im)? }.into()
        }
        DType::C128 => value.extract::<Complex64>()?.into(),
    })
}

fn f32_of(wide: f64) -> f32 {
    wide as f32
}

/// Converts a number to a narrower dtype.
///
/// # Errors
/// `OverflowError`: the number is finite, but the converted number is not.
fn narrow<T: Copy>(
    wide: f64,
    convert: impl FnOnce(f64) -> T,
    is_finite: impl FnOnce(T) -> bool,
) -> PyResult<T> {
    let made = convert(wide);
    if wide.is_finite() && !is_finite(made) {
        return Err(PyOverflowError::new_err(()));
    }
    Ok(made)
}

/// The maximum size of an integer whose digits are shown, in bits. Python refuses to format
/// integers with thousands of digits.
const SHOWN_BITS: u64 = 256;

/// Formats a number for a message.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let bits = value.call_method0("bit_length").and_then(|bits| bits.extract::<u64>());
    match bits {
        Ok(bits) if bits > SHOWN_BITS => format!("an integer of {bits} bits"),
        _ => error::shown(value),
    }
}

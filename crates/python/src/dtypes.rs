//! Conversion between NumPy's dtypes and precast's.

use numpy::{PyArrayDescr, PyArrayDescrMethods};
use precast_core::DType;
use pyo3::prelude::*;

/// `NPY_USERDEF`, the first type number for dtypes that other packages register.
const FIRST_OF_OTHERS: i32 = 256;

/// Returns the precast dtype of a NumPy dtype. Returns `None` if precast does not have the dtype, or if the byte order
/// is not native. Does not run Python code.
pub(crate) fn find(descr: &Bound<'_, PyArrayDescr>) -> Option<DType> {
    if let Some(dtype) = DType::from_typenum(descr.num()).filter(|dtype| *dtype != DType::Bf16) {
        return descr.is_native_byteorder().unwrap_or(true).then_some(dtype);
    }
    let dtype = match (descr.kind(), descr.itemsize()) {
        // Of two C integers with the same size, such as `long` and `long long`, `from_typenum`
        // knows the type number of only one.
        (b'i', 8) => DType::I64,
        (b'u', 8) => DType::U64,
        (b'i', 4) => DType::I32,
        (b'u', 4) => DType::U32,
        // The class of such a dtype is defined in C. The class of a structured dtype may be
        // a user's, with a computed name.
        _ if descr.num() >= FIRST_OF_OTHERS && descr.itemsize() == 2 => {
            let name = descr.typeobj().name().ok()?;
            return (name == "bfloat16").then_some(DType::Bf16);
        }
        _ => return None,
    };
    descr.is_native_byteorder().unwrap_or(true).then_some(dtype)
}

/// Returns the NumPy dtype of a precast dtype.
pub(crate) fn descr(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyArrayDescr>> {
    if dtype == DType::Bf16 {
        return py.import("precast._foreign")?.call_method0("bfloat16")?.cast_into().map_err(PyErr::from);
    }
    PyArrayDescr::new(py, name(dtype))
}

/// Returns NumPy's name of a dtype.
pub(crate) fn name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::I8 => "int8",
        DType::I16 => "int16",
        DType::I32 => "int32",
        DType::I64 => "int64",
        DType::U8 => "uint8",
        DType::U16 => "uint16",
        DType::U32 => "uint32",
        DType::U64 => "uint64",
        DType::F16 => "float16",
        DType::Bf16 => "bfloat16",
        DType::F32 => "float32",
        DType::F64 => "float64",
        DType::C64 => "complex64",
        DType::C128 => "complex128",
    }
}

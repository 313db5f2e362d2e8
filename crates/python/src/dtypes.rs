//! NumPy's dtypes and ours.

use numpy::{PyArrayDescr, PyArrayDescrMethods};
use precast_core::DType;
use pyo3::prelude::*;

/// `NPY_USERDEF`, the first number of a dtype that another package has registered.
const FIRST_OF_OTHERS: i32 = 256;

/// The dtype of NumPy's; `None` if it is none of ours, or not in the byte order of this machine. Runs no code of Python's.
pub(crate) fn find(descr: &Bound<'_, PyArrayDescr>) -> Option<DType> {
    if let Some(dtype) = DType::from_typenum(descr.num()).filter(|dtype| *dtype != DType::Bf16) {
        return descr.is_native_byteorder().unwrap_or(true).then_some(dtype);
    }
    let dtype = match (descr.kind(), descr.itemsize()) {
        // The integer of C that NumPy has beside the one whose number we know: `long` and `long long`.
        (b'i', 8) => DType::I64,
        (b'u', 8) => DType::U64,
        (b'i', 4) => DType::I32,
        (b'u', 4) => DType::U32,
        // Its class is one of C. That of a structure may be a user's, whose name may be computed.
        _ if descr.num() >= FIRST_OF_OTHERS && descr.itemsize() == 2 => {
            let name = descr.typeobj().name().ok()?;
            return (name == "bfloat16").then_some(DType::Bf16);
        }
        _ => return None,
    };
    descr.is_native_byteorder().unwrap_or(true).then_some(dtype)
}

/// NumPy's dtype of a dtype.
pub(crate) fn descr(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyArrayDescr>> {
    if dtype == DType::Bf16 {
        return py.import("precast._foreign")?.call_method0("bfloat16")?.cast_into().map_err(PyErr::from);
    }
    PyArrayDescr::new(py, name(dtype))
}

/// NumPy's name of a dtype.
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

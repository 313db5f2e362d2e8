//! The requirements on an argument, and the location of its elements.

use numpy::npyffi::{self, NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE, NpyTypes, PyArrayObject};
use precast_core::{DType, Type};
use pyo3::ffi::{self, PyObject, PyTypeObject};
use pyo3::prelude::*;
use std::ffi::{c_char, c_int};
use std::slice;

/// The maximum number of dimensions of an array.
pub(super) const FEW: usize = 4;

/// The requirements on an array.
pub(super) struct Operand {
    pub(super) dtype: DType,
    typenum: c_int,
    ndim: usize,
}

/// Classes of valid arguments. They are never freed.
#[derive(Clone, Copy)]
pub(super) struct Classes {
    /// `numpy.ndarray`.
    pub(super) array: *mut PyTypeObject,
    /// `numpy.float64`.
    float64: *mut PyTypeObject,
}

/// The memory of an array or a number.
pub(super) struct Found<'a> {
    pub(super) data: *mut c_char,
    pub(super) shape: &'a [usize],
    pub(super) strides_bytes: &'a [isize],
    pub(super) readonly: bool,
}

impl Classes {
    pub(super) fn of(py: Python<'_>) -> Self {
        // SAFETY: NumPy is imported, or this raises.
        let array = unsafe { npyffi::get_type_object(py, NpyTypes::PyArray_Type) };
        // SAFETY: as above.
        let float64 = unsafe { npyffi::get_type_object(py, NpyTypes::PyDoubleArrType_Type) };
        Self { array, float64 }
    }
}

impl Operand {
    /// Returns `None` for unsupported types: more dimensions, or bf16, which has no type number in NumPy.
    pub(super) fn of(ty: &Type) -> Option<Self> {
        let (dtype, ndim) = (ty.dtype(), ty.ndim());
        let fits = ndim <= FEW && dtype != DType::Bf16;
        fits.then(|| Self { dtype, typenum: dtype.typenum(), ndim })
    }

    pub(super) fn is_bool(&self) -> bool {
        self.dtype == DType::Bool
    }

    /// Looks up the memory of an argument. The value of a number is stored in `number`. Returns
    /// `None` for an unsupported argument.
    ///
    /// # Safety
    /// The GIL is held for `'a`, and the caller holds the object.
    #[inline(always)]
    pub(super) unsafe fn look<'a>(
        &self,
        classes: Classes,
        object: *mut PyObject,
        number: &'a mut u64,
    ) -> Option<Found<'a>> {
        // SAFETY: guaranteed by the caller.
        let found = unsafe { self.array(classes, object) };
        if found.is_some() || self.ndim > 0 {
            return found;
        }
        // SAFETY: guaranteed by the caller.
        *number = unsafe { self.number(classes, object) }?;
        let data = std::ptr::from_mut(number).cast();
        Some(Found { data, shape: &[], strides_bytes: &[], readonly: true })
    }

    /// Looks up the memory of an array. Returns `None` if the object is not a plain NumPy array, or
    /// does not meet the requirements.
    ///
    /// # Safety
    /// The GIL is held for `'a`, and the caller holds the object.
    #[inline(always)]
    pub(super) unsafe fn array<'a>(&self, classes: Classes, object: *mut PyObject) -> Option<Found<'a>> {
        // SAFETY: guaranteed by the caller.
        if unsafe { ffi::Py_TYPE(object) } != classes.array {
            return None;
        }
        let object: *const PyArrayObject = object.cast();
        // SAFETY: it is a NumPy array, so its fields are at the offsets that NumPy's headers define.
        let fields = unsafe { npyffi::_PyArray_GET_ITEM_DATA(object) };
        // SAFETY: as above; no thread changes them while the GIL is held.
        let fields = unsafe { &*fields };
        // SAFETY: an array has a dtype, whose first fields are the same in NumPy 1 and 2.
        let descr = unsafe { &(*fields.descr).fields };
        let is_swapped = descr.byteorder == b'>' as c_char;
        if descr.type_num != self.typenum
            || fields.nd as usize != self.ndim
            || fields.flags & NPY_ARRAY_ALIGNED == 0
            || is_swapped
        {
            return None;
        }
        let (mut shape, mut strides_bytes): (&[usize], &[isize]) = (&[], &[]);
        // The extents of an array without dimensions may be NULL.
        if self.ndim > 0 {
            // SAFETY: an array has `ndim` extents, none of them negative.
            shape = unsafe { slice::from_raw_parts(fields.dimensions.cast::<usize>(), self.ndim) };
            // SAFETY: an array has `ndim` strides.
            strides_bytes = unsafe { slice::from_raw_parts(fields.strides, self.ndim) };
        }
        let readonly = fields.flags & NPY_ARRAY_WRITEABLE == 0;
        Some(Found { data: fields.data.cast(), shape, strides_bytes, readonly })
    }

    /// Returns the bytes of a Python float or integer, or of a `numpy.float64`, as an element. Returns `None` if the
    /// object has another class or its value does not fit.
    ///
    /// # Safety
    /// The GIL is held, and the caller holds the object.
    unsafe fn number(&self, classes: Classes, object: *mut PyObject) -> Option<u64> {
        // SAFETY: guaranteed by the caller.
        let class = unsafe { ffi::Py_TYPE(object) };
        if self.dtype == DType::F64 && (class == &raw mut ffi::PyFloat_Type || class == classes.float64) {
            // SAFETY: it is a float; `numpy.float64` derives from it.
            return Some(unsafe { ffi::PyFloat_AsDouble(object) }.to_bits());
        }
        if self.dtype == DType::I64 && class == &raw mut ffi::PyLong_Type {
            let mut overflow = 0;
            // SAFETY: it is an integer. If it is too large, `overflow` is set and no exception is raised.
            let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(object, &raw mut overflow) };
            return (overflow == 0).then_some(value.cast_unsigned());
        }
        None
    }
}

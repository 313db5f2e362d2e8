//! NumPy's memory as precast's arrays, and precast's results as NumPy's arrays. Nothing is copied.
//!
//! ```text
//! ndarray ── lend ──▶ Lent: address, dtype, extents and strides of its own ── read, write ──▶ ArrayRef, ArrayMut
//! Array ── give ──▶ ndarray, whose base is an Owner, which holds the Array
//! ```
//! # The contract
//! A [`Lent`] holds a reference to its array, so the memory stays. Extents and strides are copied, because Python may replace
//! those of an array while a function runs without the interpreter. What a module may read is what NumPy says: an address
//! and strides within the memory of the array. Bytes of a bool array are looked at, since NumPy itself lets them be anything.
//! That no other thread writes to an array while a function runs is asked of the caller, as NumPy does for its own functions.

use crate::dtypes;
use numpy::npyffi::{self, NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API, PyArrayObject};
use numpy::{PyArrayDescr, PyUntypedArray, PyUntypedArrayMethods};
use precast_core::native::{RawArray, RawArrayError};
use precast_core::{Array, ArrayMut, ArrayRef, DType, with_array};
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::ptr;

/// Dimensions that are described without allocating.
const FEW: usize = 4;

/// Extents and strides of an array.
enum Axes {
    Few { ndim: usize, extents: [usize; FEW], strides: [isize; FEW] },
    Many(Box<(Vec<usize>, Vec<isize>)>),
}

impl Axes {
    fn new(shape: &[usize], strides_bytes: &[isize]) -> Self {
        let ndim = shape.len();
        if ndim > FEW {
            return Self::Many(Box::new((shape.to_vec(), strides_bytes.to_vec())));
        }
        let (mut extents, mut strides) = ([0; FEW], [0; FEW]);
        extents[..ndim].copy_from_slice(shape);
        strides[..ndim].copy_from_slice(strides_bytes);
        Self::Few { ndim, extents, strides }
    }

    fn get(&self) -> (&[usize], &[isize]) {
        match self {
            Self::Few { ndim, extents, strides } => (&extents[..*ndim], &strides[..*ndim]),
            Self::Many(many) => (&many.0, &many.1),
        }
    }
}

/// The memory of a NumPy array, which stays as long as this lives.
pub(crate) struct Lent<'py> {
    data: *mut c_void,
    dtype: DType,
    axes: Axes,
    readonly: bool,
    _array: Bound<'py, PyUntypedArray>,
}

impl<'py> Lent<'py> {
    /// The memory of an array; `None` if its elements are of no dtype of ours in the byte order of this machine.
    pub(crate) fn find(array: Bound<'py, PyUntypedArray>) -> Option<Self> {
        let dtype = dtypes::find(&array.dtype())?;
        let axes = Axes::new(array.shape(), array.strides());
        // SAFETY: it is an array of NumPy, whose fields are where NumPy's headers say.
        let fields = unsafe { npyffi::_PyArray_GET_ITEM_DATA(array.as_array_ptr()) };
        // SAFETY: they lie in the object, which is referred to, and nobody changes them while the interpreter is held.
        let fields = unsafe { &*fields };
        let (data, readonly) = (fields.data.cast(), fields.flags & NPY_ARRAY_WRITEABLE == 0);
        Some(Self { data, dtype, axes, readonly, _array: array })
    }

    /// Type of the elements.
    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    fn describe(&self) -> RawArray<'_> {
        let (shape, strides_bytes) = self.axes.get();
        RawArray { data: self.data, dtype: self.dtype, shape, strides_bytes, readonly: self.readonly }
    }

    /// The array to read from; `None` if it is of bools with bytes that are none.
    pub(crate) fn read(&self) -> Result<Option<ArrayRef<'_>>, RawArrayError> {
        if self.dtype == DType::Bool {
            let (shape, strides) = self.axes.get();
            // SAFETY: NumPy's extents and strides stay within the memory of the array, which `self` keeps.
            if !shape.contains(&0) && !unsafe { are_bools(self.data.cast(), shape, strides) } {
                return Ok(None);
            }
        }
        // SAFETY: NumPy's extents and strides stay within the memory of the array, which `self` keeps and whose elements NumPy
        // initialises; any bytes are a number, and those of bools were looked at. Nobody writes to it: see the contract.
        unsafe { self.describe().read() }.map(Some)
    }

    /// The array to write a result to.
    pub(crate) fn write(&mut self) -> Result<ArrayMut<'_>, RawArrayError> {
        // SAFETY: as in `read`; `describe` says whether it may be written to. What else uses it are arguments of this call,
        // or others against the contract.
        unsafe { self.describe().write() }
    }
}

/// Whether every byte is 0 or 1.
///
/// # Safety
/// No extent is 0, and every index within the extents is a byte that can be read.
pub(super) unsafe fn are_bools(data: *const u8, shape: &[usize], strides: &[isize]) -> bool {
    let (Some((extent, shape)), Some((stride, strides))) = (shape.split_first(), strides.split_first())
    else {
        // SAFETY: the caller says that the byte can be read.
        return unsafe { data.read() } <= 1;
    };
    (0..*extent).all(|at| {
        // SAFETY: the index is within the extents.
        let part = unsafe { data.offset(at.cast_signed() * stride) };
        // SAFETY: as the caller says of the whole.
        unsafe { are_bools(part, shape, strides) }
    })
}

/// Holds an array whose memory NumPy shows.
#[pyclass(frozen, module = "precast")]
struct Owner {
    _array: Array,
}

/// Makes a NumPy array of an array, without copying; if `as_number`, a number of one without dimensions, as NumPy's own functions
/// do.
pub(crate) fn give<'py>(
    py: Python<'py>,
    mut array: Array,
    descr: &Bound<'py, PyArrayDescr>,
    as_number: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let itemsize = array.dtype().itemsize_bytes().cast_signed();
    let (data, mut strides): (*mut c_void, Vec<isize>) = with_array!(&mut array, a => (a.as_mut_ptr().cast(), a.strides().iter().map(|s| s * itemsize).collect()));
    let mut shape: Vec<isize> = array.shape().iter().map(|extent| extent.cast_signed()).collect();
    let ndim = shape.len() as c_int;
    let owner = Bound::new(py, Owner { _array: array })?;
    // SAFETY: the type is NumPy's, which `descr` shows is imported.
    let class = unsafe { npyffi::get_type_object(py, NpyTypes::PyArray_Type) };
    let (descr, none) = (descr.clone().into_ptr().cast(), ptr::null_mut());
    let (dims, steps) = (shape.as_mut_ptr(), strides.as_mut_ptr());
    // SAFETY: extents and strides are `ndim` each and copied; the memory has them, may be written to by who has the array,
    // and lives as long as `owner`; the reference to `descr` is handed over.
    let made = unsafe {
        PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            class,
            descr,
            ndim,
            dims,
            steps,
            data,
            NPY_ARRAY_WRITEABLE,
            none,
        )
    };
    // SAFETY: it is a new reference, or NULL with an exception set.
    let made = unsafe { Bound::from_owned_ptr_or_err(py, made) }?;
    let array: *mut PyArrayObject = made.as_ptr().cast();
    // SAFETY: the array is new and has no base; the reference to the owner is handed over.
    if unsafe { PY_ARRAY_API.PyArray_SetBaseObject(py, array, owner.into_ptr()) } < 0 {
        return Err(PyErr::fetch(py));
    }
    if ndim > 0 || !as_number {
        return Ok(made);
    }
    // SAFETY: the reference to the array is handed over.
    let number = unsafe { PY_ARRAY_API.PyArray_Return(py, made.into_ptr().cast()) };
    // SAFETY: it is a new reference, or NULL with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, number) }
}

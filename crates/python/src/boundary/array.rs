//! NumPy's memory as precast's arrays, and precast's results as NumPy's arrays. Nothing large is copied.
//!
//! ```text
//! ndarray ── find ──▶ Lent: address, dtype, extents and strides of its own ── read, write ──▶ ArrayRef, ArrayMut
//! Array ── give ──▶ ndarray, whose base is an Owner, which holds the Array; a copy of a small one
//! ```
//! # The contract
//! A [`Lent`] holds a reference to its array. That keeps the object, not the memory: Python's code can free or move the memory of an
//! array that others refer to (`x.resize(3, refcheck=False)`, `x.__setstate__(…)`). So no code of Python's runs between [`Lent::find`]
//! and the end of the call: all arguments are converted before the first is looked at, and a function that calls Python while it runs
//! gets copies. Extents and strides are copied, because another thread may replace those of an array while a function runs without
//! the interpreter. A module reads what NumPy describes: an address and strides within the memory of the array. Bytes of a bool array
//! are checked, since NumPy lets them be anything. That no other thread writes to an array or resizes it while a function runs is
//! required of the caller, as NumPy does for its own functions.

use crate::dtypes;
use numpy::npyffi::{self, NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API, PY_UFUNC_API, PyArrayObject};
use numpy::{PyArrayDescr, PyUntypedArray, PyUntypedArrayMethods};
use precast_core::native::{RawArray, RawArrayError};
use precast_core::{Array, ArrayMut, ArrayRef, DType, MAX_NDIM, with_array};
use pyo3::ffi::PyTypeObject;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// Looks up NumPy's tables of functions, of arrays and of ufuncs, once for the process.
pub(crate) fn import_numpy(py: Python<'_>) {
    // SAFETY: it takes nothing, and gives a number.
    unsafe { PY_ARRAY_API.PyArray_GetNDArrayCFeatureVersion(py) };
    // SAFETY: it clears the thread's flags.
    unsafe { PY_UFUNC_API.PyUFunc_clearfperr(py) };
}

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

/// The memory of a NumPy array, which stays until code of Python's runs; see the contract.
pub(crate) struct Lent<'py> {
    data: *mut c_void,
    dtype: DType,
    axes: Axes,
    readonly: bool,
    _array: Bound<'py, PyUntypedArray>,
}

impl<'py> Lent<'py> {
    /// The memory of an array; `None` if its elements are of no dtype of ours in the byte order of this machine. Runs no code of
    /// Python's.
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
    if shape.is_empty() && *stride == 1 {
        // SAFETY: the bytes of the last axis lie one after the other, and the caller says that they can be read.
        let bytes = unsafe { std::slice::from_raw_parts(data, *extent) };
        // No branch for each byte, so that the compiler makes vectors of a block.
        return bytes.chunks(4096).all(|block| block.iter().fold(0, |all, byte| all | byte) <= 1);
    }
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

/// Bytes of a result that is copied to memory of NumPy's: that takes less than an object which owns it.
const SMALL_BYTES: usize = 1024;

/// Makes a NumPy array of an array, without copying unless it is small; if `as_number`, a number of one without dimensions, as
/// NumPy's own functions do.
pub(crate) fn give<'py>(
    py: Python<'py>,
    mut array: Array,
    descr: &Bound<'py, PyArrayDescr>,
    as_number: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let itemsize = array.dtype().itemsize_bytes();
    let (data, is_plain): (*mut c_char, bool) =
        with_array!(&mut array, a => (a.as_mut_ptr().cast(), a.is_standard_layout()));
    let bytes = array.shape().iter().product::<usize>() * itemsize;
    if bytes > SMALL_BYTES || !is_plain {
        return lend(py, array, descr);
    }
    if array.shape().is_empty() && as_number {
        let mut number = Number::default();
        // SAFETY: an element, and room for any.
        unsafe { data.copy_to_nonoverlapping(number.data(), bytes) };
        return number.into_object(descr);
    }
    // SAFETY: the type is NumPy's, which `descr` shows is imported.
    let class = unsafe { npyffi::get_type_object(py, NpyTypes::PyArray_Type) };
    let made = empty(py, class, descr, array.shape())?;
    // SAFETY: it is an array of NumPy.
    let fields = unsafe { npyffi::_PyArray_GET_ITEM_DATA(made.as_ptr().cast()) };
    // SAFETY: an array of NumPy has these fields.
    let to = unsafe { (*fields).data };
    // SAFETY: so many elements in C order, in both; nobody else has the new array.
    unsafe { data.copy_to_nonoverlapping(to, bytes) };
    Ok(made)
}

/// The results of a call: one as it is, several as a tuple.
#[inline]
pub(crate) fn all<'py>(
    py: Python<'py>,
    count: usize,
    mut results: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyAny>> {
    if count == 1
        && let Some(only) = results.next()
    {
        return only;
    }
    PyTuple::new(py, results.collect::<PyResult<Vec<_>>>()?).map(Bound::into_any)
}

/// Makes a NumPy array that shows the memory of an array.
fn lend<'py>(
    py: Python<'py>,
    mut array: Array,
    descr: &Bound<'py, PyArrayDescr>,
) -> PyResult<Bound<'py, PyAny>> {
    let itemsize = array.dtype().itemsize_bytes().cast_signed();
    let (data, mut strides): (*mut c_void, Vec<isize>) = with_array!(&mut array, a => (a.as_mut_ptr().cast(), a.strides().iter().map(|s| s * itemsize).collect()));
    let mut shape: Vec<isize> = array.shape().iter().map(|extent| extent.cast_signed()).collect();
    let owner = Bound::new(py, Owner { _array: array })?;
    // SAFETY: the type is NumPy's, which `descr` shows is imported.
    let class = unsafe { npyffi::get_type_object(py, NpyTypes::PyArray_Type) };
    // SAFETY: the memory has these extents and strides, may be written to by who has the array, and lives as long as `owner`.
    let made = unsafe { new(py, class, descr, &mut shape, Some((data, &mut strides))) }?;
    let array: *mut PyArrayObject = made.as_ptr().cast();
    // SAFETY: the array is new and has no base; the reference to the owner is handed over.
    if unsafe { PY_ARRAY_API.PyArray_SetBaseObject(py, array, owner.into_ptr()) } < 0 {
        return Err(PyErr::fetch(py));
    }
    Ok(made)
}

/// A new array in C order, whose elements may be anything. Of no more than [`MAX_NDIM`] dimensions.
#[inline]
pub(super) fn empty<'py>(
    py: Python<'py>,
    class: *mut PyTypeObject,
    descr: &Bound<'py, PyArrayDescr>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let mut extents = [0_isize; MAX_NDIM];
    extents.iter_mut().zip(shape).for_each(|(to, extent)| *to = extent.cast_signed());
    // SAFETY: NumPy allocates the memory.
    unsafe { new(py, class, descr, &mut extents[..shape.len()], None) }
}

/// A new array: of memory that there is, or of NumPy's.
///
/// # Safety
/// `class` is `numpy.ndarray`; the memory has these extents and strides, and lives as long as the array.
#[inline]
unsafe fn new<'py>(
    py: Python<'py>,
    class: *mut PyTypeObject,
    descr: &Bound<'py, PyArrayDescr>,
    shape: &mut [isize],
    memory: Option<(*mut c_void, &mut [isize])>,
) -> PyResult<Bound<'py, PyAny>> {
    let ((data, steps), flags) = match memory {
        None => ((ptr::null_mut(), ptr::null_mut()), 0),
        Some((data, strides)) => ((data, strides.as_mut_ptr()), NPY_ARRAY_WRITEABLE),
    };
    let (descr, none) = (descr.clone().into_ptr().cast(), ptr::null_mut());
    let (dims, ndim) = (shape.as_mut_ptr(), shape.len() as c_int);
    // SAFETY: extents and strides are `ndim` each and copied; the caller's promise; the reference to `descr` is handed over.
    let made =
        unsafe { PY_ARRAY_API.PyArray_NewFromDescr(py, class, descr, ndim, dims, steps, data, flags, none) };
    // SAFETY: it is a new reference, or NULL with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, made) }
}

/// Room for an element of any dtype.
#[derive(Default)]
#[repr(align(16))]
pub(super) struct Number([u64; 2]);

impl Number {
    #[inline]
    pub(super) fn data(&mut self) -> *mut c_char {
        self.0.as_mut_ptr().cast()
    }

    /// NumPy's number of the element, which has the dtype.
    #[inline]
    pub(super) fn into_object<'py>(
        mut self,
        descr: &Bound<'py, PyArrayDescr>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, data) = (descr.py(), self.data().cast());
        // SAFETY: an element of the dtype, which is copied.
        let number = unsafe { PY_ARRAY_API.PyArray_Scalar(py, data, descr.as_ptr().cast(), ptr::null_mut()) };
        // SAFETY: it is a new reference, or NULL with an exception set.
        unsafe { Bound::from_owned_ptr_or_err(py, number) }
    }
}

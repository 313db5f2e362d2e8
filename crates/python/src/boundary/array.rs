//! Conversion between NumPy's memory and precast's arrays. Only small results are copied.
//!
//! ```text
//! ndarray ── find ──▶ Lent: address, dtype, copies of extents and strides ── read, write ──▶ ArrayRef, ArrayMut
//! Array ── give ──▶ ndarray, whose base is an Owner, which holds the Array; a copy of a small one
//! ```
//! # The contract
//! A [`Lent`] holds a reference to its array. That keeps the object alive, but not its memory. Python code can free or
//! move the memory of an array that has other references (`x.resize(3, refcheck=False)`, `x.__setstate__(…)`). So no
//! Python code runs between [`Lent::find`] and the end of the call. All arguments are converted before the first is
//! accessed, and a function that calls Python while it runs gets copies.
//!
//! Extents and strides are copied, because another thread may replace those of an array while a function runs without
//! the GIL. A module reads only the memory that NumPy describes: an address and strides within the memory of the array.
//! Bytes of a bool array are checked, since NumPy permits any byte. The caller must ensure that no other thread writes
//! to an array or resizes it while a function runs. NumPy requires the same for its own functions.

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

/// Loads NumPy's tables of array functions and ufunc functions, once per process.
pub(crate) fn import_numpy(py: Python<'_>) {
    // SAFETY: it takes no arguments and returns a number.
    unsafe { PY_ARRAY_API.PyArray_GetNDArrayCFeatureVersion(py) };
    // SAFETY: it clears the thread's flags.
    unsafe { PY_UFUNC_API.PyUFunc_clearfperr(py) };
}

/// The number of dimensions that can be described without allocating.
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

/// The memory of a NumPy array, which is valid until Python code runs; see the contract.
pub(crate) struct Lent<'py> {
    data: *mut c_void,
    dtype: DType,
    axes: Axes,
    readonly: bool,
    _array: Bound<'py, PyUntypedArray>,
}

impl<'py> Lent<'py> {
    /// Looks up the memory of an array. Returns `None` if precast does not have the dtype or if the byte order is not
    /// native. Does not run Python code.
    pub(crate) fn find(array: Bound<'py, PyUntypedArray>) -> Option<Self> {
        let dtype = dtypes::find(&array.dtype())?;
        let axes = Axes::new(array.shape(), array.strides());
        // SAFETY: it is a NumPy array, so its fields are at the offsets that NumPy's headers define.
        let fields = unsafe { npyffi::_PyArray_GET_ITEM_DATA(array.as_array_ptr()) };
        // SAFETY: the fields are part of the object, which is referenced. No thread changes them while the GIL is held.
        let fields = unsafe { &*fields };
        let (data, readonly) = (fields.data.cast(), fields.flags & NPY_ARRAY_WRITEABLE == 0);
        Some(Self { data, dtype, axes, readonly, _array: array })
    }

    /// The dtype of the elements.
    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    fn describe(&self) -> RawArray<'_> {
        let (shape, strides_bytes) = self.axes.get();
        RawArray { data: self.data, dtype: self.dtype, shape, strides_bytes, readonly: self.readonly }
    }

    /// Returns the array to read from, or `None` for a bool array with bytes other than 0 and 1.
    pub(crate) fn read(&self) -> Result<Option<ArrayRef<'_>>, RawArrayError> {
        if self.dtype == DType::Bool {
            let (shape, strides) = self.axes.get();
            // SAFETY: NumPy's extents and strides stay within the memory of the array, which `self` keeps.
            if !shape.contains(&0) && !unsafe { are_bools(self.data.cast(), shape, strides) } {
                return Ok(None);
            }
        }
        // SAFETY: NumPy's extents and strides stay within the memory of the array, which `self` keeps alive and
        // whose elements NumPy initialises. Any bytes are a valid number, and those of bools were checked. No thread
        // writes to it: see the contract.
        unsafe { self.describe().read() }.map(Some)
    }

    /// Returns the array to write a result to.
    pub(crate) fn write(&mut self) -> Result<ArrayMut<'_>, RawArrayError> {
        // SAFETY: as in `read`; `describe` includes whether the array is writable. Other users of the memory are
        // arguments of this call, or violate the contract.
        unsafe { self.describe().write() }
    }
}

/// Returns whether every byte is 0 or 1.
///
/// # Safety
/// No extent is 0, and every index within the extents is a readable byte.
pub(super) unsafe fn are_bools(data: *const u8, shape: &[usize], strides: &[isize]) -> bool {
    let (Some((extent, shape)), Some((stride, strides))) = (shape.split_first(), strides.split_first())
    else {
        // SAFETY: the caller guarantees that the byte is readable.
        return unsafe { data.read() } <= 1;
    };
    if shape.is_empty() && *stride == 1 {
        // SAFETY: the bytes of the last axis are contiguous, and the caller guarantees that they are readable.
        let bytes = unsafe { std::slice::from_raw_parts(data, *extent) };
        // Without a branch per byte, the compiler can vectorise the loop over a block.
        return bytes.chunks(4096).all(|block| block.iter().fold(0, |all, byte| all | byte) <= 1);
    }
    (0..*extent).all(|at| {
        // SAFETY: the index is within the extents.
        let part = unsafe { data.offset(at.cast_signed() * stride) };
        // SAFETY: part of the memory for which the caller guarantees this.
        unsafe { are_bools(part, shape, strides) }
    })
}

/// The owner of an array whose memory a NumPy array uses.
#[pyclass(frozen, module = "precast")]
struct Owner {
    _array: Array,
}

/// The maximum size of a result that is copied to NumPy's memory, in bytes. For such results, a copy is faster
/// than creating an owner object.
const SMALL_BYTES: usize = 1024;

/// Creates a NumPy array from an array. Only small arrays are copied. With `as_number`, an array without dimensions
/// becomes a NumPy number, as NumPy's own functions return.
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
        // SAFETY: the source is one element, and the destination has room for any element.
        unsafe { data.copy_to_nonoverlapping(number.data(), bytes) };
        return number.into_object(descr);
    }
    // SAFETY: the type is NumPy's, and `descr` proves that NumPy is imported.
    let class = unsafe { npyffi::get_type_object(py, NpyTypes::PyArray_Type) };
    let made = empty(py, class, descr, array.shape())?;
    // SAFETY: it is a NumPy array.
    let fields = unsafe { npyffi::_PyArray_GET_ITEM_DATA(made.as_ptr().cast()) };
    // SAFETY: a NumPy array has these fields.
    let to = unsafe { (*fields).data };
    // SAFETY: both arrays have this many bytes, in C order, and the new array has no other user.
    unsafe { data.copy_to_nonoverlapping(to, bytes) };
    Ok(made)
}

/// Returns the results of a call: a single result directly, several as a tuple.
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

/// Creates a NumPy array that uses the memory of an array.
fn lend<'py>(
    py: Python<'py>,
    mut array: Array,
    descr: &Bound<'py, PyArrayDescr>,
) -> PyResult<Bound<'py, PyAny>> {
    let itemsize = array.dtype().itemsize_bytes().cast_signed();
    let (data, mut strides): (*mut c_void, Vec<isize>) = with_array!(&mut array, a => (a.as_mut_ptr().cast(), a.strides().iter().map(|s| s * itemsize).collect()));
    let mut shape: Vec<isize> = array.shape().iter().map(|extent| extent.cast_signed()).collect();
    let owner = Bound::new(py, Owner { _array: array })?;
    // SAFETY: the type is NumPy's, and `descr` proves that NumPy is imported.
    let class = unsafe { npyffi::get_type_object(py, NpyTypes::PyArray_Type) };
    // SAFETY: the memory has these extents and strides, is writable through the array, and lives as long as `owner`.
    let made = unsafe { new(py, class, descr, &mut shape, Some((data, &mut strides))) }?;
    let array: *mut PyArrayObject = made.as_ptr().cast();
    // SAFETY: the array is new and has no base; the call takes over the reference to the owner.
    if unsafe { PY_ARRAY_API.PyArray_SetBaseObject(py, array, owner.into_ptr()) } < 0 {
        return Err(PyErr::fetch(py));
    }
    Ok(made)
}

/// Creates an uninitialised array in C order, with at most [`MAX_NDIM`] dimensions.
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

/// Creates an array that uses existing memory, or memory that NumPy allocates.
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
    // SAFETY: extents and strides have `ndim` elements each and are copied; the caller guarantees the rest. The call
    // takes over the reference to `descr`.
    let made =
        unsafe { PY_ARRAY_API.PyArray_NewFromDescr(py, class, descr, ndim, dims, steps, data, flags, none) };
    // SAFETY: it is a new reference, or NULL with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, made) }
}

/// Space for an element of any dtype.
#[derive(Default)]
#[repr(align(16))]
pub(super) struct Number([u64; 2]);

impl Number {
    #[inline]
    pub(super) fn data(&mut self) -> *mut c_char {
        self.0.as_mut_ptr().cast()
    }

    /// Returns a NumPy number with the value of the element, which has the dtype of `descr`.
    #[inline]
    pub(super) fn into_object<'py>(
        mut self,
        descr: &Bound<'py, PyArrayDescr>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, data) = (descr.py(), self.data().cast());
        // SAFETY: the data is an element of the dtype, and it is copied.
        let number = unsafe { PY_ARRAY_API.PyArray_Scalar(py, data, descr.as_ptr().cast(), ptr::null_mut()) };
        // SAFETY: it is a new reference, or NULL with an exception set.
        unsafe { Bound::from_owned_ptr_or_err(py, number) }
    }
}

//! Calls without detours: arguments are read where NumPy has them, and nothing is allocated but a result.
//!
//! ```text
//! f(x, y, out=z)   arrays of NumPy itself, of the dtypes and ranks that the function declares; Python's floats and integers
//! f(x, y)          the same, if the result has the shape of the arrays
//! anything else ──▶ Function::call, which says what is wrong or converts
//! ```
//! # When the interpreter is given free
//! Saving and restoring the thread costs as much as a small call. So it is kept where the work is known to be small: a graph that
//! computes element by element, and a result of at most [`FEW_ELEMENTS`], as NumPy's own functions do. Whatever else a
//! graph does may take long whatever its arrays' size (`arange(n)`), so it never keeps the interpreter.
//!
//! # The contract
//! The caller of a vectorcall holds its arguments, so the memory stays. Extents and strides are copied, because Python may
//! replace those of an array while a function runs without the interpreter. See `array` for what a module may read.

use super::object::refuse;
use crate::error;
use crate::function::Function;
use crate::own::stash;
use numpy::npyffi::{self, NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API, PyArrayObject};
use precast_core::native::RawArray;
use precast_core::{ArrayMut, ArrayRef, CallError, DType};
use pyo3::ffi::{self, PyObject, PyTypeObject};
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::{ptr, slice};

/// Most inputs of such a call.
const INPUTS: usize = 8;
/// Most dimensions of an array.
const FEW: usize = 4;
/// Elements of a result that are computed without giving the interpreter free.
const FEW_ELEMENTS: usize = 500;

/// What is compared in each call of a function.
pub(crate) struct Fast {
    inputs: Vec<Operand>,
    output: Operand,
    /// Whether each element of the result is computed of those of the inputs, and of nothing else.
    is_map: bool,
    /// `numpy.ndarray` and `numpy.float64`, which are never freed.
    array: *mut PyTypeObject,
    float64: *mut PyTypeObject,
    /// The interned text `out`, which `Function` holds.
    out: *mut PyObject,
    /// NumPy's dtype of the result, of which this has a reference.
    descr: Py<PyAny>,
}

/// What an array has to be.
struct Operand {
    dtype: DType,
    typenum: c_int,
    ndim: usize,
}

/// Extents and strides of an array, or a number.
#[derive(Default)]
struct Place {
    extents: [usize; FEW],
    strides: [isize; FEW],
    number: u64,
}

/// What a call without `out=` gives.
enum Made {
    Array(*mut PyObject),
    /// Another shape was needed, or there was no memory: the other way says so.
    Not,
}

impl Operand {
    fn of(ty: &precast_core::Type) -> Option<Self> {
        let (dtype, ndim) = (ty.dtype(), ty.ndim());
        // NumPy's bools may be any byte, and bf16 has no number.
        let fits = ndim <= FEW && dtype != DType::Bf16;
        fits.then(|| Self { dtype, typenum: dtype.typenum(), ndim })
    }
}

impl Fast {
    /// How a function is called without detours; `None` if it never is.
    pub(crate) fn of(py: Python<'_>, function: &Function) -> PyResult<Option<Self>> {
        let ([output], inputs) = (function.inner().outputs(), function.inner().inputs()) else {
            return Ok(None);
        };
        let operands: Option<Vec<Operand>> = inputs.iter().map(|port| Operand::of(&port.ty)).collect();
        let (Some(inputs), Some(output)) = (operands, Operand::of(&output.ty)) else { return Ok(None) };
        if inputs.len() > INPUTS || inputs.iter().any(|input| input.dtype == DType::Bool) {
            return Ok(None);
        }
        // SAFETY: NumPy is imported, or this raises.
        let array = unsafe { npyffi::get_type_object(py, NpyTypes::PyArray_Type) };
        // SAFETY: as above.
        let float64 = unsafe { npyffi::get_type_object(py, NpyTypes::PyDoubleArrType_Type) };
        let descr = function.descrs(py)?[0].clone_ref(py).into_any();
        let (is_map, out) = (function.is_map(), function.out_name().as_ptr());
        Ok(Some(Self { inputs, output, is_map, array, float64, out, descr }))
    }

    /// Calls the function; `None` if it has to be called the other way. NULL: an exception is raised.
    ///
    /// # Safety
    /// The interpreter is held; the caller holds references to all arguments, of which `positional` have no name and the others
    /// have those of the tuple `names`, if it is not NULL.
    pub(crate) unsafe fn call(
        &self,
        function: &Function,
        args: &[*mut PyObject],
        positional: usize,
        names: *mut PyObject,
    ) -> Option<*mut PyObject> {
        if positional != self.inputs.len() {
            return None;
        }
        let (args, out) = match args.split_at_checked(positional)? {
            (args, []) => (args, None),
            (args, [out]) => {
                // SAFETY: a tuple of one name, and the interpreter is held.
                let name = unsafe { ffi::PyTuple_GetItem(names, 0) };
                (args, (name == self.out).then_some(Some(*out))?)
            }
            _ => return None,
        };
        let mut places = [const { MaybeUninit::<Place>::uninit() }; INPUTS];
        let mut inputs = [const { MaybeUninit::<ArrayRef<'_>>::uninit() }; INPUTS];
        let rows = args.iter().zip(&self.inputs).zip(places.iter_mut().zip(&mut inputs));
        for ((object, operand), (place, input)) in rows {
            // SAFETY: the interpreter is held, and the caller holds the argument.
            let found = unsafe { self.look(*object, operand, place) }?;
            // SAFETY: NumPy's extents and strides stay within the memory of the array, which the caller holds, and whose
            // elements NumPy initialises; any bytes are a number, and there are no bools. See the contract.
            input.write(unsafe { found.read() }.ok()?);
        }
        // SAFETY: so many were written. (They borrow the places, and own nothing that would have to be dropped.)
        let inputs = unsafe { slice::from_raw_parts(inputs.as_ptr().cast::<ArrayRef<'_>>(), args.len()) };
        // SAFETY: the interpreter is held.
        let py = unsafe { Python::assume_attached() };
        let Some(out) = out else {
            return match self.fresh(py, function, inputs) {
                Ok(Made::Array(array)) => Some(array),
                Ok(Made::Not) => None,
                // SAFETY: the interpreter is held.
                Err(refused) => Some(unsafe { raise(&refused) }),
            };
        };
        // SAFETY: as above.
        unsafe { self.into(py, function, inputs, out) }?.map_or_else(
            |refused| {
                // SAFETY: the interpreter is held.
                Some(unsafe { raise(&refused) })
            },
            |()| {
                // SAFETY: the caller has a reference to it.
                unsafe { ffi::Py_INCREF(out) };
                Some(out)
            },
        )
    }

    /// Calls the function for a result in an array.
    ///
    /// # Safety
    /// The interpreter is held, and the caller holds `out`.
    unsafe fn into(
        &self,
        py: Python<'_>,
        function: &Function,
        inputs: &[ArrayRef<'_>],
        out: *mut PyObject,
    ) -> Option<Result<(), CallError>> {
        let mut place = MaybeUninit::<Place>::uninit();
        // SAFETY: as the caller says.
        let found = unsafe { self.array(out, &self.output, &mut place) }?;
        let elements = found.shape.iter().product();
        // SAFETY: NumPy's extents and strides stay within the memory of the array, which the caller holds. What else uses it are
        // arguments of this call, or others against the contract.
        let mut room = unsafe { found.write() }.ok()?;
        Some(self.run(py, function, inputs, &mut room, elements))
    }

    /// Calls the function for a new result of the shape that the arrays have in common.
    fn fresh(&self, py: Python<'_>, function: &Function, inputs: &[ArrayRef<'_>]) -> Result<Made, CallError> {
        let arrays = || inputs.iter().map(ArrayRef::shape).filter(|shape| !shape.is_empty());
        let shape = arrays().next().unwrap_or_default();
        if !self.is_map || shape.len() != self.output.ndim || arrays().any(|other| other != shape) {
            return Ok(Made::Not);
        }
        let mut extents = [0_isize; FEW];
        extents.iter_mut().zip(shape).for_each(|(to, extent)| *to = extent.cast_signed());
        let (descr, ndim) = (self.descr.clone_ref(py).into_ptr().cast(), shape.len() as c_int);
        let (dims, none) = (extents.as_mut_ptr(), ptr::null_mut::<c_void>());
        // SAFETY: so many extents; the reference to `descr` is handed over; NumPy allocates.
        let made = unsafe {
            PY_ARRAY_API.PyArray_NewFromDescr(
                py,
                self.array,
                descr,
                ndim,
                dims,
                ptr::null_mut(),
                none,
                0,
                none.cast(),
            )
        };
        // SAFETY: a new reference, or NULL with an exception set.
        let Ok(made) = (unsafe { Bound::from_owned_ptr_or_err(py, made) }) else { return Ok(Made::Not) };
        // SAFETY: `made` is held here, and nobody else has it.
        match unsafe { self.into(py, function, inputs, made.as_ptr()) } {
            None | Some(Err(CallError::Output { .. })) => return Ok(Made::Not),
            Some(result) => result?,
        }
        if ndim > 0 {
            return Ok(Made::Array(made.into_ptr()));
        }
        // SAFETY: the reference to the array is handed over.
        Ok(Made::Array(unsafe { PY_ARRAY_API.PyArray_Return(py, made.into_ptr().cast()) }))
    }

    fn run(
        &self,
        py: Python<'_>,
        function: &Function,
        inputs: &[ArrayRef<'_>],
        room: &mut ArrayMut<'_>,
        elements: usize,
    ) -> Result<(), CallError> {
        let mut call = || function.inner().call_views(inputs, slice::from_mut(room));
        if self.is_map && elements <= FEW_ELEMENTS {
            return call();
        }
        drop(stash::take());
        py.detach(call)
    }

    /// The memory of an argument, whose extents and strides are copied to `place`; `None` if it is none that is read here.
    ///
    /// # Safety
    /// The interpreter is held, and the caller holds the object.
    #[inline(always)]
    unsafe fn look<'a>(
        &self,
        object: *mut PyObject,
        operand: &Operand,
        place: &'a mut MaybeUninit<Place>,
    ) -> Option<RawArray<'a>> {
        // SAFETY: as the caller says.
        if operand.ndim > 0 || unsafe { ffi::Py_TYPE(object) } == self.array {
            // SAFETY: as the caller says.
            return unsafe { self.array(object, operand, place) };
        }
        // SAFETY: as the caller says.
        let number = unsafe { self.number(object, operand.dtype) }?;
        let place = place.write(Place { number, ..Place::default() });
        let data = (&raw mut place.number).cast();
        Some(RawArray { data, dtype: operand.dtype, shape: &[], strides_bytes: &[], readonly: true })
    }

    /// The memory of an array; `None` if the object is none of NumPy itself, or another than the operand.
    ///
    /// # Safety
    /// The interpreter is held, and the caller holds the object.
    #[inline(always)]
    unsafe fn array<'a>(
        &self,
        object: *mut PyObject,
        operand: &Operand,
        place: &'a mut MaybeUninit<Place>,
    ) -> Option<RawArray<'a>> {
        // SAFETY: as the caller says.
        if unsafe { ffi::Py_TYPE(object) } != self.array {
            return None;
        }
        let object: *const PyArrayObject = object.cast();
        // SAFETY: an array of NumPy, whose fields are where NumPy's headers say.
        let fields = unsafe { npyffi::_PyArray_GET_ITEM_DATA(object) };
        // SAFETY: as above; nobody changes them while the interpreter is held.
        let fields = unsafe { &*fields };
        // SAFETY: an array has a dtype, whose first fields are the same in NumPy 1 and 2.
        let descr = unsafe { &(*fields.descr).fields };
        let is_swapped = descr.byteorder == b'>' as std::ffi::c_char;
        if descr.type_num != operand.typenum
            || fields.nd as usize != operand.ndim
            || fields.flags & NPY_ARRAY_ALIGNED == 0
            || is_swapped
        {
            return None;
        }
        let (place, ndim) = (place.write(Place::default()), operand.ndim);
        // The extents of an array without dimensions may be NULL.
        if ndim > 0 {
            // SAFETY: an array has so many extents, none of them negative.
            let extents = unsafe { slice::from_raw_parts(fields.dimensions.cast::<usize>(), ndim) };
            // SAFETY: an array has so many strides.
            let strides = unsafe { slice::from_raw_parts(fields.strides, ndim) };
            place.extents.iter_mut().zip(extents).for_each(|(to, extent)| *to = *extent);
            place.strides.iter_mut().zip(strides).for_each(|(to, stride)| *to = *stride);
        }
        let (shape, strides_bytes) = (place.extents.get(..ndim)?, place.strides.get(..ndim)?);
        let readonly = fields.flags & NPY_ARRAY_WRITEABLE == 0;
        let data: *mut c_void = fields.data.cast();
        Some(RawArray { data, dtype: operand.dtype, shape, strides_bytes, readonly })
    }

    /// The bytes of a float or integer of Python's own, or a `numpy.float64`, as an element; `None` if it is none of them, or
    /// does not fit.
    ///
    /// # Safety
    /// The interpreter is held, and the caller holds the object.
    unsafe fn number(&self, object: *mut PyObject, dtype: DType) -> Option<u64> {
        // SAFETY: as the caller says.
        let class = unsafe { ffi::Py_TYPE(object) };
        if dtype == DType::F64 && (class == &raw mut ffi::PyFloat_Type || class == self.float64) {
            // SAFETY: it is a float; `numpy.float64` derives from it.
            return Some(unsafe { ffi::PyFloat_AsDouble(object) }.to_bits());
        }
        if dtype == DType::I64 && class == &raw mut ffi::PyLong_Type {
            let mut overflow = 0;
            // SAFETY: it is an integer; one that is too large is told in `overflow` and raises nothing.
            let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(object, &raw mut overflow) };
            return (overflow == 0).then_some(value.cast_unsigned());
        }
        None
    }
}

/// Raises the exception of a call that failed.
///
/// # Safety
/// The interpreter is held.
#[cold]
unsafe fn raise(refused: &CallError) -> *mut PyObject {
    let raised = Python::try_attach(|py| error::call(py, refused, false).restore(py));
    match raised {
        Some(()) => ptr::null_mut(),
        // SAFETY: as the caller says.
        None => unsafe { refuse(c"the call failed, and the interpreter is shutting down") },
    }
}

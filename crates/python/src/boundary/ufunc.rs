//! Functions as NumPy ufuncs and gufuncs: a loop for each function, which NumPy calls with addresses and steps.
//!
//! ```text
//! functions of f32[?], of f64[?]   ──▶ ufunc       one call for all elements of the loop, along its only dimension
//! functions of numbers             ──▶ ufunc       one call per element; uses the plain C function if it exists
//! functions of f64[?], signature   ──▶ gufunc      one call for each index of the loop, on the core dimensions
//! ```
//! # The contract
//! NumPy passes each loop `n` elements of each operand. They have the dtypes that the loop was made for, are aligned,
//! and are in native byte order; NumPy buffers all other operands. It may have released the GIL.
//!
//! # Errors
//! A loop cannot return an error: NumPy checks for exceptions only in loops over objects, and otherwise
//! continues. So the exception of an op is kept until the call of the ufunc ends, and a vectorcall that wraps
//! NumPy's then raises it. Methods such as `reduce` do not go through the vectorcall. There the exception is
//! raised at once, after acquiring the GIL, and CPython reports it as the cause of a `SystemError`. The first
//! exception is kept, and later loops do nothing.
//!
//! Vectorised kernels set floating-point flags for unused lanes too. So the flags are cleared, and NumPy does not warn.

use super::array::are_bools;
use super::raised;
use crate::error;
use crate::function::Function;
use numpy::npyffi::{PY_UFUNC_API, PyUFuncGenericFunction, PyUFuncObject, npy_intp};
use precast_core::native::{RawArray, RawArrayError};
use precast_core::{CallError, DType, Native};
use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::{ptr, slice};

/// The loops of a ufunc, which keep its data alive.
#[pyclass(frozen, module = "precast._native")]
struct Loops {
    /// The data of the loops. NumPy stores their addresses.
    _loops: Box<[Loop]>,
    _tables: Tables,
}

/// Tables whose addresses NumPy stores.
struct Tables {
    functions: Box<[PyUFuncGenericFunction]>,
    data: Box<[*mut c_void]>,
    types: Box<[c_char]>,
    name: CString,
    doc: CString,
}

// SAFETY: the addresses refer to the loops next to the tables, and they are never dereferenced through this type.
unsafe impl Send for Tables {}
// SAFETY: as above.
unsafe impl Sync for Tables {}

/// The loop of one function.
pub(crate) struct Loop {
    function: precast_core::Function,
    n_inputs: usize,
    operands: Vec<Operand>,
    number: Number,
}

/// An operand of a loop.
struct Operand {
    dtype: DType,
    /// The indices of its core dimensions.
    core: Vec<usize>,
    /// The index of the first step of its core dimensions.
    steps: usize,
}

/// Bool elements with invalid bytes, which only another package can create.
#[derive(Debug, thiserror::Error)]
#[error("it has bools that are neither 0 nor 1\nhint: pass `x != 0`")]
struct NoBools;

type F64 = fn(f64) -> f64;
type F64x2 = fn(f64, f64) -> f64;
type F64x3 = fn(f64, f64, f64) -> f64;
type F32 = fn(f32) -> f32;
type F32x2 = fn(f32, f32) -> f32;

/// The kind of call that the loop makes.
enum Number {
    /// One call for the whole loop.
    Whole,
    F64(Native<F64>),
    F64x2(Native<F64x2>),
    F64x3(Native<F64x3>),
    F32(Native<F32>),
    F32x2(Native<F32x2>),
    /// Calls with arrays, one per element or core.
    Arrays,
}

impl Loop {
    /// Creates the loop of a function. `fields` are the dtypes and ranks in its signature.
    ///
    /// # Errors
    /// Returns the reason why the function cannot be a loop.
    pub(crate) fn new(
        function: &Function,
        fields: &[(DType, usize)],
        core: Option<&[Vec<usize>]>,
    ) -> Result<Self, String> {
        let inner = function.inner().clone();
        let ports: Vec<_> = inner.inputs().iter().chain(inner.outputs()).collect();
        let n_inputs = inner.inputs().len();
        let ranks: Vec<usize> = fields.iter().map(|(_, rank)| *rank).collect();
        let (number, core) = match core {
            Some(core) => (Number::Arrays, core.to_vec()),
            None if ranks.iter().all(|rank| *rank == 0) => (native(&inner), vec![vec![]; ranks.len()]),
            None if !function.is_map() => return Err("it is not elementwise".to_owned()),
            None if ranks.iter().all(|rank| *rank == 1) => (Number::Whole, vec![vec![]; ranks.len()]),
            None => {
                return Err(
                    "its inputs and outputs have different ranks, or more than one dimension".to_owned()
                );
            }
        };
        if core.len() != ranks.len() {
            return Err(format!(
                "the signature has {} operand(s), the function has {}",
                core.len(),
                ranks.len()
            ));
        }
        let is_rank = !matches!(number, Number::Whole);
        let wrong = ports.iter().zip(&core).find(|(port, core)| is_rank && port.ty.ndim() != core.len());
        if let Some((port, core)) = wrong {
            return Err(format!(
                "`{}` is `{}`, but has {} dimension(s) in the signature",
                port.name,
                port.ty,
                core.len()
            ));
        }
        let mut steps = ports.len();
        let operands = fields.iter().zip(core).map(|((dtype, _), core)| {
            let begin = steps;
            steps += core.len();
            Operand { dtype: *dtype, core, steps: begin }
        });
        let operands = operands.collect();
        Ok(Self { function: inner, n_inputs, operands, number })
    }

    /// Returns the numbers of inputs and outputs.
    pub(crate) fn arity(&self) -> (usize, usize) {
        (self.n_inputs, self.operands.len() - self.n_inputs)
    }

    /// Returns the dtypes of the operands.
    pub(crate) fn dtypes(&self) -> impl Iterator<Item = DType> {
        self.operands.iter().map(|operand| operand.dtype)
    }

    /// Calls the function with the arrays of one index. A function of vectors gets `count` elements from there.
    ///
    /// # Errors
    /// An op rejects its arguments.
    ///
    /// # Safety
    /// `span` contains the arguments that NumPy passed for this loop.
    unsafe fn call(&self, span: &Span<'_>, index: isize, count: usize) -> Result<(), CallError> {
        let axes: Vec<(Vec<usize>, Vec<isize>)> = self
            .operands
            .iter()
            .enumerate()
            .map(|(at, operand)| {
                if matches!(self.number, Number::Whole) {
                    return (vec![count], vec![span.steps[at]]);
                }
                let steps = &span.steps[operand.steps..];
                let axes = operand.core.iter().zip(steps);
                axes.map(|(core, step)| (span.dims[1 + core].cast_unsigned(), *step)).unzip()
            })
            .collect();
        let raw = |at: usize| {
            let (shape, strides_bytes) = (&axes[at].0[..], &axes[at].1[..]);
            let data = span.at(at, index).cast();
            RawArray { data, dtype: self.operands[at].dtype, shape, strides_bytes, readonly: false }
        };
        let refused = |source: RawArrayError| other("an operand of the ufunc", source);
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for at in 0..self.n_inputs {
            let array = raw(at);
            let is_read = array.dtype == DType::Bool && !array.shape.contains(&0);
            // SAFETY: elements of the loop, which are readable.
            if is_read && !unsafe { are_bools(array.data.cast(), array.shape, array.strides_bytes) } {
                let name = self.function.inputs()[at].name.clone();
                return Err(CallError::Filter { name, source: Arc::new(NoBools) });
            }
            // SAFETY: elements of the loop, of the dtype that it was made for.
            inputs.push(unsafe { array.read() }.map_err(refused)?);
        }
        for at in self.n_inputs..self.operands.len() {
            // SAFETY: as above; NumPy lets a loop write there, and handles overlapping operands.
            outputs.push(unsafe { raw(at).write() }.map_err(refused)?);
        }
        self.function.call_views(&inputs, &mut outputs)
    }

    /// Returns whether no element is computed from an element that the loop has written. `reduce` and `accumulate` call
    /// loops where this is not the case.
    fn is_apart(&self, span: &Span<'_>, n: isize) -> bool {
        let lies = |at: usize| {
            let (first, last) = (span.at(at, 0), span.at(at, n - 1));
            let itemsize = self.operands[at].dtype.itemsize_bytes();
            (first, last, first.addr().min(last.addr()), first.addr().max(last.addr()) + itemsize)
        };
        (self.n_inputs..self.operands.len()).map(lies).all(|output| {
            let apart = |input: (*mut c_char, *mut c_char, usize, usize)| {
                (input.0, input.1) == (output.0, output.1) || input.3 <= output.2 || output.3 <= input.2
            };
            (n == 1 || output.0 != output.1) && (0..self.n_inputs).map(lies).all(apart)
        })
    }

    /// Runs the loop.
    ///
    /// # Safety
    /// `span` contains the arguments that NumPy passed for this loop.
    unsafe fn run(&self, span: &Span<'_>) -> Result<(), CallError> {
        let n = span.dims[0];
        macro_rules! plain {
            ($native:expr, $number:ty, $($at:literal),*; $out:literal) => {{
                for index in 0..n {
                    let result = $native.call($({
                        // SAFETY: an element of the loop, of the dtype that it was made for.
                        unsafe { span.at($at, index).cast::<$number>().read() }
                    }),*);
                    // SAFETY: as above.
                    unsafe { span.at($out, index).cast::<$number>().write(result) };
                }
                Ok(())
            }};
        }
        match &self.number {
            Number::Whole if n == 0 => Ok(()),
            Number::Whole if self.is_apart(span, n) => {
                // SAFETY: guaranteed by the caller.
                unsafe { self.call(span, 0, n.cast_unsigned()) }
            }
            Number::F64(native) => plain!(native, f64, 0; 1),
            Number::F64x2(native) => plain!(native, f64, 0, 1; 2),
            Number::F64x3(native) => plain!(native, f64, 0, 1, 2; 3),
            Number::F32(native) => plain!(native, f32, 0; 1),
            Number::F32x2(native) => plain!(native, f32, 0, 1; 2),
            Number::Whole | Number::Arrays => (0..n).try_for_each(|index| {
                // SAFETY: guaranteed by the caller.
                unsafe { self.call(span, index, 1) }
            }),
        }
    }
}

/// The arguments that NumPy passes to a loop: addresses of the operands' first elements, extents of the loop and of its
/// core dimensions, and steps. The steps of the operands come first, then those of their core dimensions.
struct Span<'a> {
    args: &'a [*mut c_char],
    dims: &'a [npy_intp],
    steps: &'a [npy_intp],
}

impl Span<'_> {
    /// Returns the address of an operand at an index of the loop.
    fn at(&self, operand: usize, index: isize) -> *mut c_char {
        self.args[operand].wrapping_offset(index * self.steps[operand])
    }
}

fn other(what: &'static str, source: impl std::error::Error + Send + Sync + 'static) -> CallError {
    CallError::Other { what, source: Arc::new(source) }
}

/// Returns the plain C function of a graph of numbers, if it has a supported form.
fn native(function: &precast_core::Function) -> Number {
    let found = function.native().map(Number::F64).or_else(|_| function.native().map(Number::F64x2));
    let found = found.or_else(|_| function.native().map(Number::F64x3));
    let found = found
        .or_else(|_| function.native().map(Number::F32))
        .or_else(|_| function.native().map(Number::F32x2));
    found.unwrap_or(Number::Arrays)
}

/// The loop function that NumPy calls.
unsafe extern "C" fn run(
    args: *mut *mut c_char,
    dims: *mut npy_intp,
    steps: *mut npy_intp,
    data: *mut c_void,
) {
    // SAFETY: the data of a loop is a `Loop`, which the ufunc keeps alive.
    let of: &Loop = unsafe { &*data.cast::<Loop>() };
    let n_steps = of.operands.last().map_or(0, |last| last.steps + last.core.len());
    let n_dims = 1 + of.operands.iter().flat_map(|operand| &operand.core).max().map_or(0, |core| core + 1);
    // SAFETY: NumPy passes an address for each operand.
    let args = unsafe { slice::from_raw_parts(args, of.operands.len()) };
    // SAFETY: NumPy passes an extent for the loop, and one for each core dimension.
    let dims = unsafe { slice::from_raw_parts(dims, n_dims) };
    // SAFETY: NumPy passes a step for each operand, and one for each of its core dimensions.
    let steps = unsafe { slice::from_raw_parts(steps, n_steps) };
    let call = || {
        // SAFETY: NumPy calls this with the arguments of the loop.
        unsafe { of.run(&Span { args, dims, steps }) }
    };
    // Returns the error of the call, or `None` for a panic.
    let caught = || match catch_unwind(AssertUnwindSafe(call)) {
        Ok(done) => done.map_err(Some),
        Err(_) => Err(None),
    };
    raised::beneath(caught, |py, failed| match failed {
        Some(refused) => error::call(py, &refused, false),
        None => pyo3::exceptions::PyRuntimeError::new_err("precast panicked; this is a bug in precast"),
    });
    // SAFETY: NumPy's table of functions was loaded when the ufunc was created, so this does not use the interpreter.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: it clears the thread's flags.
    unsafe { PY_UFUNC_API.PyUFunc_clearfperr(py) };
}

/// The vectorcall of NumPy's ufuncs, which is the same for all ufuncs.
static NUMPYS: OnceLock<Vectorcall> = OnceLock::new();

/// `vectorcallfunc`, which is in the stable ABI since CPython 3.12.
type Vectorcall =
    unsafe extern "C" fn(*mut PyObject, *const *mut PyObject, usize, *mut PyObject) -> *mut PyObject;

/// Calls NumPy's vectorcall, and then raises the exception of a loop, if any.
unsafe extern "C" fn call(
    ufunc: *mut PyObject,
    args: *const *mut PyObject,
    n_args: usize,
    names: *mut PyObject,
) -> *mut PyObject {
    let Some(numpys) = NUMPYS.get() else { return ptr::null_mut() };
    // SAFETY: these are the arguments that CPython passed for the ufunc.
    let (result, raised) = raised::watch(|| unsafe { numpys(ufunc, args, n_args, names) });
    let Some(raised) = raised else { return result };
    // SAFETY: CPython calls this with the GIL held.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: it is a new reference, or NULL with an exception set, which the kept exception replaces.
    drop(unsafe { Bound::from_owned_ptr_or_opt(py, result) });
    raised.restore(py);
    ptr::null_mut()
}

/// Creates a ufunc from loops with equal numbers of inputs and outputs. With `signature`, creates a gufunc.
pub(crate) fn make<'py>(
    py: Python<'py>,
    name: &str,
    doc: &str,
    loops: Vec<Loop>,
    signature: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let loops: Box<[Loop]> = loops.into();
    let (n_in, n_out) = loops.first().map_or((0, 0), Loop::arity);
    let types = loops.iter().flat_map(|each| each.dtypes().map(|dtype| dtype.typenum() as c_char));
    let mut tables = Tables {
        functions: vec![Some(run as _); loops.len()].into(),
        data: loops.iter().map(|each| ptr::from_ref(each).cast_mut().cast()).collect(),
        types: types.collect(),
        name: CString::new(name)?,
        doc: CString::new(doc)?,
    };
    let signature = signature.map(CString::new).transpose()?;
    let count = loops.len() as c_int;
    // SAFETY: each table has a row for each loop, and the ufunc keeps the tables alive through its
    // `obj`. The signature is copied.
    let ufunc = unsafe {
        PY_UFUNC_API.PyUFunc_FromFuncAndDataAndSignature(
            py,
            tables.functions.as_mut_ptr(),
            tables.data.as_mut_ptr(),
            tables.types.as_mut_ptr(),
            count,
            n_in as c_int,
            n_out as c_int,
            // `PyUFunc_None`: a reduction has no identity.
            -1,
            tables.name.as_ptr(),
            tables.doc.as_ptr(),
            0,
            signature.as_ref().map_or(ptr::null(), |signature| signature.as_ptr()),
        )
    };
    // SAFETY: it is a new reference, or NULL with an exception set.
    let ufunc = unsafe { Bound::from_owned_ptr_or_err(py, ufunc) }?;
    let keeper: *mut PyObject = Bound::new(py, Loops { _loops: loops, _tables: tables })?.into_ptr().cast();
    let fields: *mut PyUFuncObject = ufunc.as_ptr().cast();
    // SAFETY: it is a NumPy ufunc, which releases `obj` when it is freed. In a new ufunc `obj` is NULL.
    let obj = unsafe { &raw mut (*fields).fields.obj };
    // SAFETY: as above.
    unsafe { obj.write(keeper) };
    // SAFETY: as above; every ufunc has a vectorcall.
    let vectorcall = unsafe { &raw mut (*fields).fields.vectorcall };
    // SAFETY: NumPy stored a pointer to a function of this type there.
    let numpys = unsafe { vectorcall.cast::<Option<Vectorcall>>().read() };
    if let Some(numpys) = numpys {
        NUMPYS.get_or_init(|| numpys);
        // SAFETY: the field of a new ufunc, which has not been called yet.
        unsafe { vectorcall.write(call as *mut c_void) };
    }
    Ok(ufunc)
}

//! Functions as ufuncs and gufuncs of NumPy: a loop for each function, which NumPy calls with addresses and steps.
//!
//! ```text
//! functions of f32[?], of f64[?]   ──▶ ufunc       the loop's elements are one call, along its only dimension
//! functions of numbers             ──▶ ufunc       a call an element; the plain C function where there is one
//! functions of f64[?], signature   ──▶ gufunc      a call for each index of the loop, on the core dimensions
//! ```
//! # The contract
//! NumPy gives each loop `n` elements of each operand, of the dtypes that the loop was made for, aligned and in this machine's byte
//! order, and buffers whatever is otherwise. It may have given the interpreter free.
//!
//! # Errors
//! A loop cannot refuse: NumPy looks for exceptions in loops of objects only. So one that an op raises is raised with the
//! interpreter taken again, and CPython reports it as the cause of a `SystemError`. Flags of floating-point numbers are those of
//! vectorised kernels, which set some for lanes that nobody reads: they are cleared, and NumPy warns of nothing.

use super::array::are_bools;
use crate::error;
use crate::function::Function;
use numpy::npyffi::{PY_UFUNC_API, PyUFuncGenericFunction, PyUFuncObject, npy_intp};
use precast_core::native::RawArray;
use precast_core::{ArrayMut, ArrayRef, CallError, DType, Native};
use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// What a ufunc is made of, and kept by.
#[pyclass(frozen, module = "precast._native")]
struct Loops {
    /// What loops are given; boxed, since NumPy has their addresses.
    _loops: Vec<Box<Loop>>,
    _tables: Tables,
}

/// What NumPy keeps the addresses of.
struct Tables {
    functions: Box<[PyUFuncGenericFunction]>,
    data: Box<[*mut c_void]>,
    types: Box<[c_char]>,
    name: CString,
    doc: CString,
}

// SAFETY: the addresses are of the loops that stand beside the tables; nobody reads them through this.
unsafe impl Send for Tables {}
// SAFETY: as above.
unsafe impl Sync for Tables {}

/// One function.
struct Loop {
    function: precast_core::Function,
    n_inputs: usize,
    operands: Vec<Operand>,
    number: Number,
}

/// An operand of a loop.
struct Operand {
    dtype: DType,
    /// Which of the core dimensions it has.
    core: Vec<usize>,
    /// Where the steps of its core dimensions begin.
    steps: usize,
}

/// How a call an element is made.
enum Number {
    /// The loop is one call.
    Whole,
    D(Native<fn(f64) -> f64>),
    DD(Native<fn(f64, f64) -> f64>),
    DDD(Native<fn(f64, f64, f64) -> f64>),
    F(Native<fn(f32) -> f32>),
    FF(Native<fn(f32, f32) -> f32>),
    /// By arrays, one element or core at a time.
    Arrays,
}

impl Loop {
    fn new(function: &Function, core: Option<&[Vec<usize>]>) -> Result<Self, String> {
        let inner = function.inner().clone();
        let ports: Vec<_> = inner.inputs().iter().chain(inner.outputs()).collect();
        if let Some(port) = ports.iter().find(|port| port.ty.dtype() == DType::Bf16) {
            return Err(format!("`{}` is `{}`, and NumPy has no number for its dtype", port.name, port.ty));
        }
        let n_inputs = inner.inputs().len();
        let ranks: Vec<usize> = ports.iter().map(|port| port.ty.ndim()).collect();
        let (number, core) = match core {
            Some(core) => (Number::Arrays, core.to_vec()),
            None if ranks.iter().all(|rank| *rank == 0) => (native(&inner), vec![vec![]; ranks.len()]),
            None if !function.is_map() => return Err("it does not compute element by element".to_owned()),
            None if ranks.iter().all(|rank| *rank == 1) => (Number::Whole, vec![vec![]; ranks.len()]),
            None => {
                return Err(
                    "its inputs and outputs have different ranks, or more than one dimension".to_owned()
                );
            }
        };
        if core.len() != ranks.len() {
            return Err(format!("its signature has {} operand(s), expected {}", core.len(), ranks.len()));
        }
        let is_rank = !matches!(number, Number::Whole);
        let wrong = ports.iter().zip(&core).find(|(port, core)| is_rank && port.ty.ndim() != core.len());
        if let Some((port, core)) = wrong {
            return Err(format!(
                "`{}` is `{}`, and {} dimension(s) in the signature",
                port.name,
                port.ty,
                core.len()
            ));
        }
        let mut steps = ports.len();
        let operands = ports.iter().zip(core).map(|(port, core)| {
            let begin = steps;
            steps += core.len();
            Operand { dtype: port.ty.dtype(), core, steps: begin }
        });
        let operands = operands.collect();
        Ok(Self { function: inner, n_inputs, operands, number })
    }

    /// The address of an operand at an index of the loop.
    ///
    /// # Safety
    /// NumPy's arguments of a loop, and an index of it.
    unsafe fn at(
        args: *mut *mut c_char,
        steps: *mut npy_intp,
        operand: usize,
        index: npy_intp,
    ) -> *mut c_char {
        // SAFETY: as the caller says.
        let base = unsafe { args.add(operand).read() };
        // SAFETY: as above.
        let step = unsafe { steps.add(operand).read() };
        base.wrapping_offset(index * step)
    }

    /// Calls the function on the arrays of one index; one of vectors on `count` elements from there.
    ///
    /// # Safety
    /// NumPy's arguments of a loop, and an index of it.
    unsafe fn call(
        &self,
        args: *mut *mut c_char,
        dims: *mut npy_intp,
        steps: *mut npy_intp,
        index: npy_intp,
        count: npy_intp,
    ) -> Result<(), CallError> {
        let is_whole = matches!(self.number, Number::Whole);
        let axes = self.operands.iter().enumerate().map(|(at, operand)| {
            if is_whole {
                // SAFETY: the step of each operand.
                let step = unsafe { steps.add(at).read() };
                return (vec![count.cast_unsigned()], vec![step]);
            }
            let axes = operand.core.iter().enumerate().map(|(axis, core)| {
                // SAFETY: extents of the core follow that of the loop, and steps of the core those of the loop.
                unsafe { ((*dims.add(1 + core)).cast_unsigned(), *steps.add(operand.steps + axis)) }
            });
            axes.unzip()
        });
        let axes: Vec<(Vec<usize>, Vec<isize>)> = axes.collect();
        let raw = |at: usize| {
            // SAFETY: as the caller says.
            let data: *mut c_void = unsafe { Self::at(args, steps, at, index) }.cast();
            let (shape, strides_bytes): (&[usize], &[isize]) = (&axes[at].0, &axes[at].1);
            RawArray { data, dtype: self.operands[at].dtype, shape, strides_bytes, readonly: false }
        };
        let refused = |refused: precast_core::native::RawArrayError| CallError::Other {
            what: "an operand of the ufunc",
            source: std::sync::Arc::new(refused),
        };
        let mut inputs = Vec::with_capacity(self.n_inputs);
        for at in 0..self.n_inputs {
            let array = raw(at);
            if array.dtype == DType::Bool && !array.shape.contains(&0) {
                // SAFETY: the loop's elements, which can be read.
                let plain = unsafe { are_bools(array.data.cast(), array.shape, array.strides_bytes) };
                if !plain {
                    let what = "a bool is neither 0 nor 1";
                    return Err(CallError::Other { what, source: std::sync::Arc::new(std::fmt::Error) });
                }
            }
            // SAFETY: the loop's elements, of the dtype that the loop was made for.
            let read: ArrayRef<'_> = unsafe { array.read() }.map_err(refused)?;
            inputs.push(read);
        }
        let mut outputs = Vec::with_capacity(self.operands.len() - self.n_inputs);
        for at in self.n_inputs..self.operands.len() {
            // SAFETY: as above; NumPy lets a loop write there, and sees to what overlaps.
            let room: ArrayMut<'_> = unsafe { raw(at).write() }.map_err(refused)?;
            outputs.push(room);
        }
        self.function.call_views(&inputs, &mut outputs)
    }

    /// Whether no element is computed of one that the loop has written: what `reduce` and `accumulate` ask for.
    ///
    /// # Safety
    /// NumPy's arguments of a loop of `n` elements.
    unsafe fn is_apart(&self, args: *mut *mut c_char, steps: *mut npy_intp, n: npy_intp) -> bool {
        let lies = |at: usize| {
            // SAFETY: as the caller says.
            let (first, last) = unsafe { (Self::at(args, steps, at, 0), Self::at(args, steps, at, n - 1)) };
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
    /// NumPy's arguments of a loop.
    unsafe fn run(
        &self,
        args: *mut *mut c_char,
        dims: *mut npy_intp,
        steps: *mut npy_intp,
    ) -> Result<(), CallError> {
        // SAFETY: the first extent is that of the loop.
        let n = unsafe { dims.read() };
        macro_rules! plain {
            ($native:expr, $number:ty, $($at:literal),*; $out:literal) => {{
                for index in 0..n {
                    // SAFETY: elements of the loop, of the dtypes that it was made for.
                    let result = $native.call($(unsafe {
                        Self::at(args, steps, $at, index).cast::<$number>().read()
                    }),*);
                    // SAFETY: as above.
                    unsafe { Self::at(args, steps, $out, index).cast::<$number>().write(result) };
                }
                Ok(())
            }};
        }
        match &self.number {
            Number::Whole if n == 0 => Ok(()),
            // SAFETY: as the caller says.
            Number::Whole if unsafe { self.is_apart(args, steps, n) } => {
                // SAFETY: as the caller says.
                unsafe { self.call(args, dims, steps, 0, n) }
            }
            Number::D(native) => plain!(native, f64, 0; 1),
            Number::DD(native) => plain!(native, f64, 0, 1; 2),
            Number::DDD(native) => plain!(native, f64, 0, 1, 2; 3),
            Number::F(native) => plain!(native, f32, 0; 1),
            Number::FF(native) => plain!(native, f32, 0, 1; 2),
            Number::Whole | Number::Arrays => (0..n).try_for_each(|index| {
                // SAFETY: as the caller says.
                unsafe { self.call(args, dims, steps, index, 1) }
            }),
        }
    }
}

/// The plain C function of a graph of numbers, if a loop has a form for it.
fn native(function: &precast_core::Function) -> Number {
    let found = function.native().map(Number::D).or_else(|_| function.native().map(Number::DD));
    let found = found.or_else(|_| function.native().map(Number::DDD));
    let found =
        found.or_else(|_| function.native().map(Number::F)).or_else(|_| function.native().map(Number::FF));
    found.unwrap_or(Number::Arrays)
}

/// The loop that NumPy calls.
unsafe extern "C" fn run(
    args: *mut *mut c_char,
    dims: *mut npy_intp,
    steps: *mut npy_intp,
    data: *mut c_void,
) {
    // SAFETY: the data of a loop is a `Loop`, which the ufunc keeps.
    let of: &Loop = unsafe { &*data.cast::<Loop>() };
    let call = || {
        // SAFETY: NumPy calls this with the arguments of a loop.
        unsafe { of.run(args, dims, steps) }
    };
    let failed = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => None,
        Ok(Err(refused)) => Some(Ok(refused)),
        Err(_) => Some(Err(())),
    };
    if let Some(failed) = failed {
        Python::attach(|py| match failed {
            Ok(refused) => error::call(py, &refused, false).restore(py),
            Err(()) => pyo3::exceptions::PyRuntimeError::new_err("precast panicked").restore(py),
        });
    }
    // SAFETY: NumPy's table of functions was found when the ufunc was made, so that nothing of the interpreter is used.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: it clears the thread's flags.
    unsafe { PY_UFUNC_API.PyUFunc_clearfperr(py) };
}

/// Makes a ufunc of functions of the same numbers of inputs and outputs; with `core` a gufunc of this signature.
///
/// # Errors
/// In words: what is no loop.
pub(crate) fn make<'py>(
    py: Python<'py>,
    name: &str,
    doc: &str,
    functions: &[&Function],
    core: Option<(&str, &[Vec<usize>])>,
) -> PyResult<Result<Bound<'py, PyAny>, String>> {
    let made = functions.iter().map(|function| {
        let made = Loop::new(function, core.map(|(_, core)| core)).map(Box::new);
        made.map_err(|problem| format!("`{}` is no ufunc: {problem}", function.shown()))
    });
    let loops: Vec<Box<Loop>> = match made.collect() {
        Ok(loops) => loops,
        Err(problem) => return Ok(Err(problem)),
    };
    let Some(first) = loops.first() else { return Ok(Err("no function is given".to_owned())) };
    let (n_in, n_out) = (first.n_inputs, first.operands.len() - first.n_inputs);
    if loops.iter().any(|each| (each.n_inputs, each.operands.len()) != (n_in, n_in + n_out)) {
        return Ok(Err("the functions have different numbers of inputs or outputs".to_owned()));
    }
    let types =
        loops.iter().flat_map(|each| each.operands.iter().map(|operand| operand.dtype.typenum() as c_char));
    let mut tables = Tables {
        functions: vec![Some(run as _); loops.len()].into(),
        data: loops.iter().map(|each| ptr::from_ref(&**each).cast_mut().cast()).collect(),
        types: types.collect(),
        name: CString::new(name)?,
        doc: CString::new(doc)?,
    };
    let signature = core.map(|(signature, _)| CString::new(signature)).transpose()?;
    let count = loops.len() as c_int;
    // SAFETY: a row of each table for each loop, which the ufunc keeps by its `obj`; the signature is copied.
    let ufunc = unsafe {
        PY_UFUNC_API.PyUFunc_FromFuncAndDataAndSignature(
            py,
            tables.functions.as_mut_ptr(),
            tables.data.as_mut_ptr(),
            tables.types.as_mut_ptr(),
            count,
            n_in as c_int,
            n_out as c_int,
            // `PyUFunc_None`: a reduction has no first value.
            -1,
            tables.name.as_ptr(),
            tables.doc.as_ptr(),
            0,
            signature.as_ref().map_or(ptr::null(), |signature| signature.as_ptr()),
        )
    };
    // SAFETY: a new reference, or NULL with an exception set.
    let ufunc = unsafe { Bound::from_owned_ptr_or_err(py, ufunc) }?;
    let keeper: *mut PyObject = Bound::new(py, Loops { _loops: loops, _tables: tables })?.into_ptr().cast();
    let fields: *mut PyUFuncObject = ufunc.as_ptr().cast();
    // SAFETY: a ufunc of NumPy's, which gives back what `obj` refers to when it goes; a new one has nothing there.
    unsafe { (&raw mut (*fields).fields.obj).write(keeper) };
    Ok(Ok(ufunc))
}

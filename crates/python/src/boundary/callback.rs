//! Functions as SciPy callbacks: a C function for each form that SciPy supports, and the
//! precast function behind its `void *`.
//!
//! ```text
//! (x: f64) -> f64            double (double), double (double, void *)               quad
//! (x: f64, y: f64, …) -> f64 double (int, double *, void *)                         quad with args, dblquad, tplquad, nquad
//! (x: f64[?]) -> f64[]       int (double *, intptr_t, double *, void *)             generic_filter
//! (x: f64[?]) -> f64[?]      int (double *, intptr_t, double *, intptr_t, void *)   generic_filter1d
//! (i: i64[?]) -> f64[?]      int (intptr_t *, double *, int, int, void *)           geometric_transform
//! ```
//! Inputs with fixed values are not part of the form. A capsule has the layout that `scipy.LowLevelCallable` expects:
//! its name is the form, its pointer is the C function, and its context is the function's `void *` argument.
//!
//! # The contract
//! SciPy passes as many numbers as it states, and keeps the capsule alive while it calls. It may call without the GIL.
//!
//! # Errors
//! A form that returns `int` fails with 0 and an exception. A form that returns `double` cannot fail. Its result is
//! NaN, the exception is raised, and CPython reports the exception as the cause of a `SystemError`. SciPy may continue
//! to call. The first exception is kept, and later calls do nothing.

use super::raised;
use crate::error;
use crate::function::Function;
use numpy::ndarray::{ArrayView1, ArrayViewMut1, Axis, aview0};
use precast_core::program::Port;
use precast_core::{Array, ArrayMut, ArrayRef, CallError, DType, Native};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use std::ffi::{CStr, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

/// The target of SciPy's `void *`.
struct Callback {
    function: precast_core::Function,
    /// The values of fixed inputs; `None` for inputs that SciPy provides.
    fixed: Vec<Option<Array>>,
    /// The plain C function, if the function takes only a few numbers.
    plain: Option<Plain>,
}

type F64 = fn(f64) -> f64;
type F64x2 = fn(f64, f64) -> f64;
type F64x3 = fn(f64, f64, f64) -> f64;
type F64x4 = fn(f64, f64, f64, f64) -> f64;

/// A plain C function that cannot fail, and the values of its fixed arguments.
struct Plain {
    call: Call,
    args: [f64; 4],
    /// The positions of the numbers that SciPy provides.
    places: Vec<usize>,
}

enum Call {
    F64(Native<F64>),
    F64x2(Native<F64x2>),
    F64x3(Native<F64x3>),
    F64x4(Native<F64x4>),
}

impl Plain {
    fn of(function: &precast_core::Function, fixed: &[Option<Array>]) -> Option<Self> {
        let call = function.native().map(Call::F64).or_else(|_| function.native().map(Call::F64x2));
        let call = call.or_else(|_| function.native().map(Call::F64x3));
        let call = call.or_else(|_| function.native().map(Call::F64x4)).ok()?;
        let mut args = [0.0; 4];
        for (arg, value) in args.iter_mut().zip(fixed) {
            *arg = value.as_ref().map_or(0.0, |value| f64::from_bits(value.bits()[0]));
        }
        let places = fixed.iter().enumerate().filter(|(_, value)| value.is_none());
        Some(Self { call, args, places: places.map(|(place, _)| place).collect() })
    }

    fn call(&self, numbers: &[f64]) -> f64 {
        let mut args = self.args;
        for (place, number) in self.places.iter().zip(numbers) {
            args[*place] = *number;
        }
        let [a, b, c, d] = args;
        match &self.call {
            Call::F64(native) => native.call(a),
            Call::F64x2(native) => native.call(a, b),
            Call::F64x3(native) => native.call(a, b, c),
            Call::F64x4(native) => native.call(a, b, c, d),
        }
    }
}

/// An error of a call.
enum Failure {
    Call(CallError),
    /// SciPy passed another count of numbers than the function takes.
    Count {
        found: usize,
    },
}

impl Callback {
    fn n_free(&self) -> usize {
        self.fixed.iter().filter(|value| value.is_none()).count()
    }

    /// Calls the function with `free` for the inputs that are not fixed.
    fn call<'a>(
        &'a self,
        mut free: impl Iterator<Item = ArrayRef<'a>>,
        output: ArrayMut<'a>,
    ) -> Result<(), Failure> {
        let inputs =
            self.fixed.iter().filter_map(|value| value.as_ref().map(ArrayRef::from).or_else(|| free.next()));
        let inputs: Vec<ArrayRef<'_>> = inputs.collect();
        self.function.call_views(&inputs, &mut [output]).map_err(Failure::Call)
    }

    /// Returns the result of a function of numbers.
    fn number(&self, numbers: &[f64]) -> f64 {
        let result = self.told(|| {
            if numbers.len() != self.n_free() {
                return Err(Failure::Count { found: numbers.len() });
            }
            if let Some(plain) = &self.plain {
                return Ok(plain.call(numbers));
            }
            let mut result = f64::NAN;
            let views = numbers.iter().map(|number| ArrayRef::from(aview0(number)));
            self.call(views, single(&mut result))?;
            Ok(result)
        });
        result.unwrap_or(f64::NAN)
    }

    /// Returns the result of a call, or `None` with an exception set.
    fn told<T>(&self, call: impl FnOnce() -> Result<T, Failure>) -> Option<T> {
        if raised::stands() {
            return None;
        }
        let failed = match catch_unwind(AssertUnwindSafe(call)) {
            Ok(Ok(result)) => return Some(result),
            Ok(Err(failure)) => Some(failure),
            Err(_) => None,
        };
        raised::restore(|py| match failed {
            Some(Failure::Call(refused)) => error::call(py, &refused, false),
            Some(Failure::Count { found }) => {
                let expected = self.n_free();
                let text = format!("the function takes {expected} number(s) but SciPy passed {found}");
                error::wrong_value(py, text)
            }
            None => pyo3::exceptions::PyRuntimeError::new_err("precast panicked; this is a bug in precast"),
        });
        None
    }

    /// Calls a function of one array. Returns 1, or 0 with an exception set.
    fn array<'a>(&'a self, input: ArrayRef<'a>, output: ArrayMut<'a>) -> c_int {
        c_int::from(self.told(|| self.call(std::iter::once(input), output)).is_some())
    }
}

/// Returns a view of a result without dimensions.
fn single(result: &mut f64) -> ArrayMut<'_> {
    ArrayViewMut1::from(slice::from_mut(result)).remove_axis(Axis(0)).into()
}

/// Returns the elements at an address.
///
/// # Safety
/// There are `count` elements that live for `'a`, and no thread writes to them.
unsafe fn elements<'a, T>(at: *const T, count: isize) -> &'a [T] {
    match usize::try_from(count) {
        // SAFETY: guaranteed by the caller.
        Ok(count @ 1..) => unsafe { slice::from_raw_parts(at, count) },
        _ => &[],
    }
}

/// Returns the elements at an address for writing.
///
/// # Safety
/// There are `count` elements that live for `'a`, and they have no other user.
unsafe fn room<'a>(at: *mut f64, count: isize) -> &'a mut [f64] {
    match usize::try_from(count) {
        // SAFETY: guaranteed by the caller.
        Ok(count @ 1..) => unsafe { slice::from_raw_parts_mut(at, count) },
        _ => &mut [],
    }
}

/// Returns the callback behind a `void *`.
///
/// # Safety
/// The pointer is the context of a capsule that lives for `'a`.
unsafe fn callback<'a>(data: *mut c_void) -> &'a Callback {
    // SAFETY: guaranteed by the caller.
    unsafe { &*data.cast::<Callback>() }
}

unsafe extern "C" fn one(x: f64, data: *mut c_void) -> f64 {
    // SAFETY: SciPy passes the context of the capsule.
    let of = unsafe { callback(data) };
    of.number(&[x])
}

unsafe extern "C" fn several(count: c_int, x: *mut f64, data: *mut c_void) -> f64 {
    // SAFETY: SciPy passes the context of the capsule.
    let of = unsafe { callback(data) };
    // SAFETY: SciPy passes `count` numbers.
    of.number(unsafe { elements(x, count as isize) })
}

unsafe extern "C" fn window(x: *mut f64, count: isize, result: *mut f64, data: *mut c_void) -> c_int {
    // SAFETY: SciPy passes the context of the capsule.
    let of = unsafe { callback(data) };
    // SAFETY: SciPy passes `count` numbers.
    let x = unsafe { elements(x, count) };
    // SAFETY: SciPy passes the address of one number.
    let result = unsafe { &mut *result };
    of.array(ArrayView1::from(x).into(), single(result))
}

unsafe extern "C" fn line(
    x: *mut f64,
    count: isize,
    out: *mut f64,
    out_count: isize,
    data: *mut c_void,
) -> c_int {
    // SAFETY: SciPy passes the context of the capsule.
    let of = unsafe { callback(data) };
    // SAFETY: SciPy passes `count` numbers.
    let x = unsafe { elements(x, count) };
    // SAFETY: SciPy passes space for `out_count` numbers.
    let out = unsafe { room(out, out_count) };
    of.array(ArrayView1::from(x).into(), ArrayViewMut1::from(out).into())
}

unsafe extern "C" fn place(
    at: *mut isize,
    out: *mut f64,
    output_rank: c_int,
    input_rank: c_int,
    data: *mut c_void,
) -> c_int {
    // SAFETY: SciPy passes the context of the capsule.
    let of = unsafe { callback(data) };
    // SAFETY: SciPy passes the indices of an element of its output. An `isize` is an `i64`, see `form`.
    let at = unsafe { elements(at.cast::<i64>(), output_rank as isize) };
    // SAFETY: SciPy passes space for the coordinates of a point in its input.
    let out = unsafe { room(out, input_rank as isize) };
    of.array(ArrayView1::from(at).into(), ArrayViewMut1::from(out).into())
}

/// Returns the form that matches a function's types, and the C function of the form.
fn form(free: &[&Port], outputs: &[Port]) -> Option<(&'static CStr, *mut c_void)> {
    let is = |port: &Port, dtype: DType, rank: usize| {
        port.ty.as_user().is_none() && (port.ty.dtype(), port.ty.ndim()) == (dtype, rank)
    };
    let [output] = outputs else { return None };
    let gives = |rank| is(output, DType::F64, rank);
    if !free.is_empty() && gives(0) && free.iter().all(|port| is(port, DType::F64, 0)) {
        return Some(match free {
            [_] => (c"double (double, void *)", one as *mut c_void),
            _ => (c"double (int, double *, void *)", several as *mut c_void),
        });
    }
    let [input] = free else { return None };
    if is(input, DType::F64, 1) && gives(0) {
        return Some((c"int (double *, intptr_t, double *, void *)", window as *mut c_void));
    }
    if is(input, DType::F64, 1) && gives(1) {
        return Some((c"int (double *, intptr_t, double *, intptr_t, void *)", line as *mut c_void));
    }
    // An `intptr_t` is an `i64`.
    let is_map = size_of::<isize>() == size_of::<i64>() && is(input, DType::I64, 1) && gives(1);
    is_map.then_some((c"int (intptr_t *, double *, int, int, void *)", place as *mut c_void))
}

/// Drops the callback of a capsule.
unsafe extern "C" fn drop_context(capsule: *mut PyObject) {
    // SAFETY: CPython passes the capsule that is being destroyed.
    let context = unsafe { ffi::PyCapsule_GetContext(capsule) };
    if !context.is_null() {
        // SAFETY: the box was created by `make` and belongs to this capsule alone.
        drop(unsafe { Box::from_raw(context.cast::<Callback>()) });
    }
}

/// Creates the capsule of a function with fixed values for some inputs.
///
/// # Errors
/// The inner error is a message: the function has none of the forms.
pub(crate) fn make<'py>(
    py: Python<'py>,
    function: &Function,
    fixed: Vec<Option<Array>>,
) -> PyResult<Result<Bound<'py, PyAny>, String>> {
    let inner = function.inner();
    let free: Vec<&Port> = inner
        .inputs()
        .iter()
        .zip(&fixed)
        .filter(|(_, value)| value.is_none())
        .map(|(port, _)| port)
        .collect();
    let Some((mut name, mut called)) = form(&free, inner.outputs()) else {
        return Ok(Err(format!(
            "SciPy has no callback of the form `{}`\nhint: the forms are `f64, … -> f64` (quad, dblquad, …), \
             `f64[?] -> f64[]` (generic_filter), `f64[?] -> f64[?]` (generic_filter1d) and `i64[?] -> f64[?]` \
             (geometric_transform); bind other inputs: `f.low_level_callable(name=value)`",
            function.shown()
        )));
    };
    let plain = Plain::of(inner, &fixed);
    if let Some(Plain { call: Call::F64(native), .. }) = &plain
        && free.len() == 1
    {
        (name, called) = (c"double (double)", native.address().cast_mut());
    }
    let callback = Box::into_raw(Box::new(Callback { function: inner.clone(), fixed, plain }));
    // SAFETY: the name is a constant, and the address is that of a function.
    let capsule = unsafe { ffi::PyCapsule_New(called, name.as_ptr(), Some(drop_context)) };
    if capsule.is_null() {
        // SAFETY: the box has no other owner.
        drop(unsafe { Box::from_raw(callback) });
        return Err(PyErr::fetch(py));
    }
    // SAFETY: it is a new capsule.
    let status = unsafe { ffi::PyCapsule_SetContext(capsule, callback.cast()) };
    debug_assert_eq!(status, 0, "a capsule takes a context");
    // SAFETY: it is a new reference.
    Ok(Ok(unsafe { Bound::from_owned_ptr(py, capsule) }))
}

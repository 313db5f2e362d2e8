//! The Python type of functions: an object with a vectorcall, and the Rust value behind it.
//!
//! ```text
//! f(x, out=y) ──CPython──▶ vectorcall(f, [x, y], 1, ("out",)) ──▶ given ──▶ fast ─ not supported ─▶ Function::call
//! ```
//! PyO3's classes are called with a tuple and a dict, which costs more than the work of a small call. So this module
//! creates the type itself, from slots that every CPython from 3.10 on supports. Methods without native code are
//! written in Python (`precast/_function.py`), in a base class of the type.
//!
//! # The contract
//! The value of an object is written once, before the object is shared, and is dropped with it.

use super::fast::Fast;
use super::given::{Given, Sorted};
use crate::function::{Function, getters};
use crate::own::stash;
use precast_core::native::DefaultFloats;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi::{self, Py_ssize_t, PyObject};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};
use std::ffi::{CStr, c_int, c_ulong, c_void};
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

/// An instance of the type. `repr(C)`, since the interpreter finds the vectorcall by its offset.
#[repr(C)]
struct Object {
    base: PyObject,
    vectorcall: Option<ffi::vectorcallfunc>,
    value: *mut Value,
}

/// The Rust value of an object.
struct Value {
    function: Function,
    fast: Option<Fast>,
}

/// The type, created on first use.
static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Returns the type of functions.
pub(crate) fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    CLASS.get_or_try_init(py, || make(py)).map(|class| class.bind(py))
}

/// Creates the object of a function.
pub(crate) fn wrap(py: Python<'_>, function: Function) -> PyResult<Bound<'_, PyAny>> {
    let fast = Fast::of(py, &function)?;
    let class = class(py)?.as_type_ptr();
    // SAFETY: the type is ready, and it stores the size of its instances.
    let object = unsafe { ffi::PyType_GenericAlloc(class, 0) };
    // SAFETY: it is a new reference, or NULL with an exception set.
    let object = unsafe { Bound::from_owned_ptr_or_err(py, object) }?;
    let fields: *mut Object = object.as_ptr().cast();
    // SAFETY: the object is an instance of the type, so it has this field.
    let called = unsafe { &raw mut (*fields).vectorcall };
    // SAFETY: as above; the object is not shared yet.
    unsafe { called.write(Some(vectorcall)) };
    let value = Box::into_raw(Box::new(Value { function, fast }));
    // SAFETY: as above.
    let held = unsafe { &raw mut (*fields).value };
    // SAFETY: as above.
    unsafe { held.write(value) };
    Ok(object)
}

/// Returns the function of an object, or `None` for an object of another type.
pub(crate) fn find<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a Function> {
    let class = CLASS.get(object.py())?;
    if !object.get_type().is(class) {
        return None;
    }
    // SAFETY: the object is an instance of the type, and the reference to it keeps its value alive.
    unsafe { value(object.as_ptr()) }.map(|value| &value.function)
}

/// Returns the value of an object.
///
/// # Safety
/// The object is an instance of the type, and lives for `'a`.
unsafe fn value<'a>(object: *mut PyObject) -> Option<&'a Value> {
    let fields: *mut Object = object.cast();
    // SAFETY: the object is an instance of the type, so it has this field.
    let held = unsafe { &raw const (*fields).value };
    // SAFETY: as above.
    let value = unsafe { held.read() };
    // SAFETY: the pointer is NULL, or the value that `wrap` created, which is dropped with the object.
    unsafe { value.as_ref() }
}

/// `Py_TPFLAGS_HAVE_VECTORCALL`, which CPython supports since 3.9, and its limited API since 3.12.
const HAVE_VECTORCALL: c_ulong = 1 << 11;
/// `PY_VECTORCALL_ARGUMENTS_OFFSET`, a flag in the argument count that is not part of the number.
const ARGUMENTS_OFFSET: usize = 1 << (usize::BITS - 1);

unsafe extern "C" {
    /// Exists in every CPython since 3.8, and in the headers of the stable ABI since 3.12.
    fn PyVectorcall_Call(callable: *mut PyObject, args: *mut PyObject, named: *mut PyObject)
    -> *mut PyObject;
}

/// Creates the type.
fn make(py: Python<'_>) -> PyResult<Py<PyType>> {
    let offset = offset_of!(Object, vectorcall) as Py_ssize_t;
    let member = ffi::PyMemberDef {
        name: c"__vectorcalloffset__".as_ptr(),
        type_code: ffi::Py_T_PYSSIZET,
        offset,
        flags: ffi::Py_READONLY,
        doc: ptr::null(),
    };
    // The interpreter keeps the tables of attributes, so they are leaked once per process.
    let members = Box::leak(Box::new([member, ffi::PyMemberDef::default()]));
    let attributes = getters().iter().map(|getter| ffi::PyGetSetDef {
        name: getter.name.as_ptr(),
        get: Some(get),
        set: None,
        doc: getter.doc.as_ptr(),
        closure: ptr::from_ref(getter).cast_mut().cast(),
    });
    let attributes: Vec<_> = attributes.chain([ffi::PyGetSetDef::default()]).collect();
    let slot = |slot: c_int, pfunc: *mut c_void| ffi::PyType_Slot { slot, pfunc };
    let mut slots = [
        slot(ffi::Py_tp_call, PyVectorcall_Call as *mut c_void),
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_traverse, traverse as *mut c_void),
        slot(ffi::Py_tp_repr, repr as *mut c_void),
        slot(ffi::Py_tp_doc, DOC.as_ptr().cast_mut().cast()),
        slot(ffi::Py_tp_members, members.as_mut_ptr().cast()),
        slot(ffi::Py_tp_getset, Box::leak(attributes.into_boxed_slice()).as_mut_ptr().cast()),
        slot(0, ptr::null_mut()),
    ];
    // The base class, written in Python, is tracked by the garbage collector, so its subclasses must be too.
    let flags = ffi::Py_TPFLAGS_DEFAULT
        | HAVE_VECTORCALL
        | ffi::Py_TPFLAGS_HAVE_GC
        | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION;
    let mut spec = ffi::PyType_Spec {
        name: c"precast.Function".as_ptr(),
        basicsize: size_of::<Object>() as c_int,
        itemsize: 0,
        flags: flags as _,
        slots: slots.as_mut_ptr(),
    };
    let bases = PyTuple::new(py, [py.import("precast._function")?.getattr("FunctionMethods")?])?;
    // SAFETY: slots and tables end with an empty row; the tables and texts live as long as the process.
    let class = unsafe { ffi::PyType_FromSpecWithBases(&raw mut spec, bases.as_ptr()) };
    // SAFETY: it is a new reference, or NULL with an exception set.
    let class = unsafe { Bound::from_owned_ptr_or_err(py, class) }?;
    Ok(class.cast_into::<PyType>()?.unbind())
}

const DOC: &CStr = c"A compiled graph. Call it with NumPy arrays and Python numbers.";

/// A computed attribute.
pub(crate) struct Getter {
    pub(crate) name: &'static CStr,
    pub(crate) doc: &'static CStr,
    pub(crate) get: for<'py> fn(&Bound<'py, PyAny>, &Function) -> PyResult<Bound<'py, PyAny>>,
}

/// Runs `body` in a C function. An error or a panic becomes a raised exception and NULL.
///
/// # Safety
/// The GIL is held.
unsafe fn guarded(body: impl for<'py> FnOnce(Python<'py>) -> PyResult<*mut PyObject>) -> *mut PyObject {
    let run = || Python::try_attach(|py| body(py).unwrap_or_else(|error| raised(py, error)));
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Some(result)) => result,
        // SAFETY: the GIL is held.
        Ok(None) => unsafe { refuse(c"the interpreter is shutting down") },
        // SAFETY: as above.
        Err(_) => unsafe { refuse(c"precast panicked; this is a bug in precast") },
    }
}

/// Raises a `RuntimeError` without using PyO3.
///
/// # Safety
/// The GIL is held.
#[cold]
unsafe fn refuse(text: &CStr) -> *mut PyObject {
    // SAFETY: the class lives as long as the interpreter.
    let class = unsafe { ffi::PyExc_RuntimeError };
    // SAFETY: guaranteed by the caller; the text is copied.
    unsafe { ffi::PyErr_SetString(class, text.as_ptr()) };
    ptr::null_mut()
}

fn raised(py: Python<'_>, error: PyErr) -> *mut PyObject {
    error.restore(py);
    ptr::null_mut()
}

/// Calls a function. `args` are the positional arguments, followed by the keyword arguments that `kwnames` names.
unsafe extern "C" fn vectorcall(
    callable: *mut PyObject,
    args: *const *mut PyObject,
    nargsf: usize,
    kwnames: *mut PyObject,
) -> *mut PyObject {
    // Numbers are converted in the same floating-point mode as in kernels.
    let _floats = DefaultFloats::set();
    let positional = nargsf & !ARGUMENTS_OFFSET;
    let named = if kwnames.is_null() {
        0
    } else {
        // SAFETY: it is a tuple, and the GIL is held.
        unsafe { ffi::PyTuple_Size(kwnames) }.cast_unsigned()
    };
    let all: &[*mut PyObject] = match positional + named {
        0 => &[],
        // SAFETY: the caller passes this many arguments, and holds references to them during the call.
        count => unsafe { slice::from_raw_parts(args, count) },
    };
    // SAFETY: CPython calls this only for instances of the type, and holds a reference to the object during the call.
    let Some(value) = (unsafe { value(callable) }) else { return ptr::null_mut() };
    // SAFETY: the GIL is held, and the names are NULL or a tuple.
    let given = unsafe { Given::in_order(&value.function, all, positional, kwnames) };
    if let (Some(fast), Some(given)) = (&value.fast, given) {
        let call = || {
            // SAFETY: the GIL is held, the caller holds the arguments, and `in_order` counted them.
            unsafe { fast.call(&value.function, given) }
        };
        match catch_unwind(AssertUnwindSafe(call)) {
            Ok(None) => {}
            Ok(Some(result)) => return result,
            // SAFETY: as above.
            Err(_) => return unsafe { refuse(c"precast panicked; this is a bug in precast") },
        }
    }
    let body = |py: Python<'_>| {
        // The exception of an earlier call must not be taken for that of this one.
        drop(stash::take());
        let sorted = match given {
            // SAFETY: the caller holds the arguments.
            Some(given) => unsafe { given.sorted(py) },
            None => {
                // SAFETY: as above.
                let Sorted { inputs, .. } = unsafe { Given { inputs: all, out: None }.sorted(py) };
                // SAFETY: the pointer is NULL, or a tuple to which the caller holds a reference.
                let names = unsafe { Bound::from_borrowed_ptr_or_opt(py, kwnames) };
                let names = names.map(Bound::cast_into::<PyTuple>).transpose()?;
                Sorted::by_name(py, &value.function, inputs, names.as_ref())?
            }
        };
        value.function.call(py, sorted).map(Bound::into_ptr)
    };
    // SAFETY: the GIL is held.
    unsafe { guarded(body) }
}

/// Returns the value of an attribute.
unsafe extern "C" fn get(object: *mut PyObject, closure: *mut c_void) -> *mut PyObject {
    // SAFETY: `make` passes a `Getter` that lives as long as the process.
    let getter: &Getter = unsafe { &*closure.cast() };
    let body = |py: Python<'_>| {
        // SAFETY: the caller holds a reference to the object.
        let object = unsafe { Bound::from_borrowed_ptr(py, object) };
        let function = find(&object).ok_or_else(|| PyRuntimeError::new_err("no function"))?;
        (getter.get)(&object, function).map(Bound::into_ptr)
    };
    // SAFETY: the GIL is held.
    unsafe { guarded(body) }
}

unsafe extern "C" fn repr(object: *mut PyObject) -> *mut PyObject {
    // SAFETY: CPython calls this only for instances of the type, which live during the call.
    let shown =
        unsafe { value(object) }.map(|value| format!("<precast.Function {}>", value.function.shown()));
    let body = |py: Python<'_>| Ok(shown.into_pyobject(py)?.into_ptr());
    // SAFETY: the GIL is held.
    unsafe { guarded(body) }
}

/// Visits the objects that an object refers to, for the garbage collector: only its type. The Rust value
/// refers only to texts and dtypes.
unsafe extern "C" fn traverse(object: *mut PyObject, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: the object is an instance of the type.
    let class = unsafe { ffi::Py_TYPE(object) };
    // SAFETY: the collector calls this with its own function.
    unsafe { visit(class.cast(), arg) }
}

unsafe extern "C" fn dealloc(object: *mut PyObject) {
    // SAFETY: the object is an instance of the type, which is tracked by the garbage collector.
    unsafe { ffi::PyObject_GC_UnTrack(object.cast()) };
    // SAFETY: the object is an instance of the type. An object of a heap type holds a reference to the
    // type, which is released below.
    let class = unsafe { ffi::Py_TYPE(object) };
    let fields: *mut Object = object.cast();
    // SAFETY: the object is an instance of the type, so it has this field.
    let held = unsafe { &raw mut (*fields).value };
    // SAFETY: as above; the object has no other user any more.
    let value = unsafe { held.replace(ptr::null_mut()) };
    if !value.is_null() {
        // SAFETY: `wrap` created it from a box, and this is the only place that drops it.
        let value = unsafe { Box::from_raw(value) };
        // Objects may be freed after the interpreter has shut down. PyO3 then leaks the references in the
        // value instead of releasing them.
        let dropping = || Python::try_attach(|_| drop(value));
        drop(catch_unwind(AssertUnwindSafe(dropping)));
    }
    // SAFETY: `PyType_GenericAlloc` allocated it, for a type that is tracked by the garbage collector.
    unsafe { ffi::PyObject_GC_Del(object.cast()) };
    // SAFETY: see above.
    unsafe { ffi::Py_DECREF(class.cast()) };
}

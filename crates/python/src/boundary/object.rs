//! The type of functions in Python: an object with a vectorcall, and the Rust value behind it.
//!
//! ```text
//! f(x, out=y) ──CPython──▶ vectorcall(f, [x, y], 1, ("out",)) ──▶ fast ─ not for it ─▶ Function::call
//! ```
//! A class that PyO3 makes is called with a tuple and a dict, which costs more than a small call computes. So the type is made here,
//! of slots that every CPython from 3.10 on has. Its methods that call nothing native are Python's (`precast/_function.py`),
//! in a class that the type derives from.
//!
//! # The contract
//! An object's value is written once, before anybody sees the object, and dropped with it.

use super::fast::Fast;
use crate::function::{Function, getters};
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

/// An object of the type. `repr(C)`: the interpreter finds the vectorcall by its offset.
#[repr(C)]
struct Object {
    base: PyObject,
    vectorcall: Option<ffi::vectorcallfunc>,
    value: *mut Value,
}

/// What an object owns.
struct Value {
    function: Function,
    fast: Option<Fast>,
}

/// The type, made when the first function is.
static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The type of functions.
pub(crate) fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    CLASS.get_or_try_init(py, || make(py)).map(|class| class.bind(py))
}

/// The object of a function.
pub(crate) fn wrap(py: Python<'_>, function: Function) -> PyResult<Bound<'_, PyAny>> {
    let fast = Fast::of(py, &function)?;
    let class = class(py)?.as_type_ptr();
    // SAFETY: the type is ready; it says how large its objects are.
    let object = unsafe { ffi::PyType_GenericAlloc(class, 0) };
    // SAFETY: a new reference, or NULL with an exception set.
    let object = unsafe { Bound::from_owned_ptr_or_err(py, object) }?;
    let fields: *mut Object = object.as_ptr().cast();
    // SAFETY: the object is of the type, so it has this field.
    let called = unsafe { &raw mut (*fields).vectorcall };
    // SAFETY: as above; nobody else has the object yet.
    unsafe { called.write(Some(vectorcall)) };
    let value = Box::into_raw(Box::new(Value { function, fast }));
    // SAFETY: as above.
    let held = unsafe { &raw mut (*fields).value };
    // SAFETY: as above.
    unsafe { held.write(value) };
    Ok(object)
}

/// The function of an object; `None` if it is of another type.
pub(crate) fn find<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a Function> {
    let class = CLASS.get(object.py())?;
    if !object.get_type().is(class) {
        return None;
    }
    // SAFETY: the object is of the type, and the reference to it keeps its value.
    unsafe { value(object.as_ptr()) }.map(|value| &value.function)
}

/// The value of an object of the type.
///
/// # Safety
/// The object is of the type, and lives for `'a`.
unsafe fn value<'a>(object: *mut PyObject) -> Option<&'a Value> {
    let fields: *mut Object = object.cast();
    // SAFETY: the object is of the type, so it has this field.
    let held = unsafe { &raw const (*fields).value };
    // SAFETY: as above.
    let value = unsafe { held.read() };
    // SAFETY: NULL, or the value that `wrap` made, which is dropped with the object.
    unsafe { value.as_ref() }
}

/// `Py_TPFLAGS_HAVE_VECTORCALL`, which CPython knows from 3.9 on, and its limited API from 3.12 on.
const HAVE_VECTORCALL: c_ulong = 1 << 11;
/// `PY_VECTORCALL_ARGUMENTS_OFFSET`, the bit of a count of arguments that is not part of it.
const ARGUMENTS_OFFSET: usize = 1 << (usize::BITS - 1);

unsafe extern "C" {
    /// In every CPython from 3.8 on, and in the headers of the stable ABI from 3.12 on.
    fn PyVectorcall_Call(callable: *mut PyObject, args: *mut PyObject, named: *mut PyObject)
    -> *mut PyObject;
}

/// Makes the type.
fn make(py: Python<'_>) -> PyResult<Py<PyType>> {
    let offset = offset_of!(Object, vectorcall) as Py_ssize_t;
    let member = ffi::PyMemberDef {
        name: c"__vectorcalloffset__".as_ptr(),
        type_code: ffi::Py_T_PYSSIZET,
        offset,
        flags: ffi::Py_READONLY,
        doc: ptr::null(),
    };
    // The interpreter keeps the tables of attributes, and there is one type in a process.
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
    // A class of Python's is collected, so what derives from it is.
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
    // SAFETY: a new reference, or NULL with an exception set.
    let class = unsafe { Bound::from_owned_ptr_or_err(py, class) }?;
    Ok(class.cast_into::<PyType>()?.unbind())
}

const DOC: &CStr = c"A compiled graph, called with NumPy arrays and Python's numbers.";

/// An attribute that is computed.
pub(crate) struct Getter {
    pub(crate) name: &'static CStr,
    pub(crate) doc: &'static CStr,
    pub(crate) get: for<'py> fn(&Bound<'py, PyAny>, &Function) -> PyResult<Bound<'py, PyAny>>,
}

/// Runs `body` as a function of C: an exception or a panic is a raised exception and NULL.
///
/// # Safety
/// The interpreter is held.
unsafe fn guarded(body: impl for<'py> FnOnce(Python<'py>) -> PyResult<*mut PyObject>) -> *mut PyObject {
    let run = || Python::try_attach(|py| body(py).unwrap_or_else(|error| raised(py, error)));
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Some(result)) => result,
        // SAFETY: the interpreter is held.
        Ok(None) => unsafe { refuse(c"the interpreter is shutting down") },
        // SAFETY: as above.
        Err(_) => unsafe { refuse(c"precast panicked, which is a defect of precast") },
    }
}

/// Raises a `RuntimeError` where nothing of PyO3 can be used.
///
/// # Safety
/// The interpreter is held.
#[cold]
unsafe fn refuse(text: &CStr) -> *mut PyObject {
    // SAFETY: a class that lives as long as the interpreter.
    let class = unsafe { ffi::PyExc_RuntimeError };
    // SAFETY: as the caller says; the text is copied.
    unsafe { ffi::PyErr_SetString(class, text.as_ptr()) };
    ptr::null_mut()
}

fn raised(py: Python<'_>, error: PyErr) -> *mut PyObject {
    error.restore(py);
    ptr::null_mut()
}

/// Calls a function: `args` are the positional arguments, then those that `kwnames` names.
unsafe extern "C" fn vectorcall(
    callable: *mut PyObject,
    args: *const *mut PyObject,
    nargsf: usize,
    kwnames: *mut PyObject,
) -> *mut PyObject {
    // Numbers are converted as they are computed with.
    let _floats = DefaultFloats::set();
    let positional = nargsf & !ARGUMENTS_OFFSET;
    let named = if kwnames.is_null() {
        0
    } else {
        // SAFETY: it is a tuple, and the interpreter is held.
        unsafe { ffi::PyTuple_Size(kwnames) }.cast_unsigned()
    };
    let all: &[*mut PyObject] = match positional + named {
        0 => &[],
        // SAFETY: the caller gives so many arguments, and holds references to them during the call.
        count => unsafe { slice::from_raw_parts(args, count) },
    };
    // SAFETY: CPython calls this for objects of the type only, and holds a reference to this one during the call.
    let Some(value) = (unsafe { value(callable) }) else { return ptr::null_mut() };
    if let Some(fast) = &value.fast {
        let call = || {
            // SAFETY: the interpreter is held, and the caller holds the arguments.
            unsafe { fast.call(&value.function, all, positional, kwnames) }
        };
        match catch_unwind(AssertUnwindSafe(call)) {
            Ok(None) => {}
            Ok(Some(result)) => return result,
            // SAFETY: as above.
            Err(_) => return unsafe { refuse(c"precast panicked, which is a defect of precast") },
        }
    }
    let body = |py: Python<'_>| {
        let values = all.iter().map(|object| {
            // SAFETY: the caller holds a reference to each argument.
            unsafe { Bound::from_borrowed_ptr(py, *object) }
        });
        let values: Vec<Bound<'_, PyAny>> = values.collect();
        // SAFETY: NULL or a tuple, to which the caller holds a reference.
        let names = unsafe { Bound::from_borrowed_ptr_or_opt(py, kwnames) };
        let names = names.map(Bound::cast_into::<PyTuple>).transpose()?;
        value.function.call(py, values, names.as_ref()).map(Bound::into_ptr)
    };
    // SAFETY: the interpreter is held.
    unsafe { guarded(body) }
}

/// Gives an attribute.
unsafe extern "C" fn get(object: *mut PyObject, closure: *mut c_void) -> *mut PyObject {
    // SAFETY: `make` gives a `Getter` that lives as long as the process.
    let getter: &Getter = unsafe { &*closure.cast() };
    let body = |py: Python<'_>| {
        // SAFETY: the caller holds a reference to the object.
        let object = unsafe { Bound::from_borrowed_ptr(py, object) };
        let function = find(&object).ok_or_else(|| PyRuntimeError::new_err("no function"))?;
        (getter.get)(&object, function).map(Bound::into_ptr)
    };
    // SAFETY: the interpreter is held.
    unsafe { guarded(body) }
}

unsafe extern "C" fn repr(object: *mut PyObject) -> *mut PyObject {
    // SAFETY: CPython calls this for objects of the type only, which live during the call.
    let shown =
        unsafe { value(object) }.map(|value| format!("<precast.Function {}>", value.function.shown()));
    let body = |py: Python<'_>| Ok(shown.into_pyobject(py)?.into_ptr());
    // SAFETY: the interpreter is held.
    unsafe { guarded(body) }
}

/// Shows the collector what an object refers to: its type. What the Rust value refers to are texts and dtypes.
unsafe extern "C" fn traverse(object: *mut PyObject, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: the object is of the type.
    let class = unsafe { ffi::Py_TYPE(object) };
    // SAFETY: the collector calls this with its own function.
    unsafe { visit(class.cast(), arg) }
}

unsafe extern "C" fn dealloc(object: *mut PyObject) {
    // SAFETY: the object is of the type, which is collected.
    unsafe { ffi::PyObject_GC_UnTrack(object.cast()) };
    // SAFETY: the object is of the type; an object of a heap type has a reference to it, which goes with it.
    let class = unsafe { ffi::Py_TYPE(object) };
    let fields: *mut Object = object.cast();
    // SAFETY: the object is of the type, so it has this field.
    let held = unsafe { &raw mut (*fields).value };
    // SAFETY: as above; nobody else has the object any more.
    let value = unsafe { held.replace(ptr::null_mut()) };
    if !value.is_null() {
        // SAFETY: `wrap` made it of a box, and this is the only place that drops it.
        let value = unsafe { Box::from_raw(value) };
        // Objects go after the interpreter is no longer one, too; PyO3 then keeps what it would have given back.
        let dropping = || Python::try_attach(|_| drop(value));
        drop(catch_unwind(AssertUnwindSafe(dropping)));
    }
    // SAFETY: `PyType_GenericAlloc` allocated it, for a type that is collected.
    unsafe { ffi::PyObject_GC_Del(object.cast()) };
    // SAFETY: see above.
    unsafe { ffi::Py_DECREF(class.cast()) };
}

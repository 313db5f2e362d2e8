//! Functions: find, describe, free; and the plain C functions of graphs of C scalars.

use super::{Place, free, guard, reference, text};
use crate::failure::Status;
use crate::handle::{Bundle, Function, PortView, port};
use std::ffi::{c_char, c_void};
use std::ptr;

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_bundle_function(
    bundle: *const Bundle,
    name: *const c_char,
    function: *mut *mut Function,
) -> Status {
    guard(|| {
        // SAFETY: the contract.
        let place = unsafe { Place::new(function, "function") }?;
        // SAFETY: the contract.
        let bundle = unsafe { reference(bundle, "bundle") }?;
        // SAFETY: the contract.
        let name = unsafe { text(name, "name") }?;
        let found = Function::new(bundle.loader.entry(name)?);
        place.put(Box::into_raw(Box::new(found)));
        Ok(())
    })
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_function_free(function: *mut Function) {
    // SAFETY: the contract: a function is one that a bundle gave, and is freed once.
    unsafe { free(function) };
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_function_input_count(function: *const Function) -> usize {
    // SAFETY: the contract.
    unsafe { function.as_ref() }.map_or(0, |function| function.inputs.len())
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_function_output_count(function: *const Function) -> usize {
    // SAFETY: the contract.
    unsafe { function.as_ref() }.map_or(0, |function| function.outputs.len())
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_function_input(
    function: *const Function,
    index: usize,
    to: *mut PortView,
) -> Status {
    guard(|| {
        // SAFETY: the contract.
        let place = unsafe { Place::new(to, "port") }?;
        // SAFETY: the contract.
        let function = unsafe { reference(function, "function") }?;
        place.put(port(&function.inputs, "input", index)?);
        Ok(())
    })
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_function_output(
    function: *const Function,
    index: usize,
    to: *mut PortView,
) -> Status {
    guard(|| {
        // SAFETY: the contract.
        let place = unsafe { Place::new(to, "port") }?;
        // SAFETY: the contract.
        let function = unsafe { reference(function, "function") }?;
        place.put(port(&function.outputs, "output", index)?);
        Ok(())
    })
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_function_signature(function: *const Function) -> *const c_char {
    // SAFETY: the contract.
    let function = unsafe { function.as_ref() };
    let signature = function.and_then(|function| function.signature.as_deref());
    signature.map_or(ptr::null(), std::ffi::CStr::as_ptr)
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_function_native(
    function: *const Function,
    signature: *const c_char,
    native: *mut *const c_void,
) -> Status {
    guard(|| {
        // SAFETY: the contract.
        let place = unsafe { Place::new(native, "native") }?;
        // SAFETY: the contract.
        let function = unsafe { reference(function, "function") }?;
        // SAFETY: the contract.
        let asked = unsafe { text(signature, "signature") }?;
        place.put(function.native(asked)?);
        Ok(())
    })
}

/// See `precast.h`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn precast_host() -> *const c_void {
    precast_core::native::host().cast()
}

//! Functions: find, describe, free; and the plain C functions of graphs of C scalars.

use super::{Out, free, guard, reference, text};
use crate::failure::Status;
use crate::handle::{BundleHandle, FunctionHandle, PortView, port};
use std::ffi::{c_char, c_void};
use std::ptr;

/// `precast_native`
type Native = *const c_void;
/// `struct pc_host`, whose fields only modules use.
type Host = c_void;

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_bundle_function(
    bundle: *const BundleHandle,
    name: *const c_char,
    function: *mut *mut FunctionHandle,
) -> Status {
    guard(|| {
        // SAFETY: guaranteed by the contract of this module.
        let out = unsafe { Out::new(function, "function") }?;
        // SAFETY: guaranteed by the contract of this module.
        let bundle = unsafe { reference(bundle, "bundle") }?;
        // SAFETY: guaranteed by the contract of this module.
        let name = unsafe { text(name, "name") }?;
        let found = FunctionHandle::new(bundle.loader.entry(name)?);
        out.put(Box::into_raw(Box::new(found)));
        Ok(())
    })
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_function_free(function: *mut FunctionHandle) {
    // SAFETY: by the contract, the function came from a bundle, and is freed once.
    unsafe { free(function) };
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_function_input_count(function: *const FunctionHandle) -> usize {
    // SAFETY: guaranteed by the contract of this module.
    unsafe { function.as_ref() }.map_or(0, |function| function.inputs.len())
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_function_output_count(function: *const FunctionHandle) -> usize {
    // SAFETY: guaranteed by the contract of this module.
    unsafe { function.as_ref() }.map_or(0, |function| function.outputs.len())
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_function_input(
    function: *const FunctionHandle,
    index: usize,
    to: *mut PortView,
) -> Status {
    guard(|| {
        // SAFETY: guaranteed by the contract of this module.
        let out = unsafe { Out::new(to, "port") }?;
        // SAFETY: guaranteed by the contract of this module.
        let function = unsafe { reference(function, "function") }?;
        out.put(port(&function.inputs, "input", index)?);
        Ok(())
    })
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_function_output(
    function: *const FunctionHandle,
    index: usize,
    to: *mut PortView,
) -> Status {
    guard(|| {
        // SAFETY: guaranteed by the contract of this module.
        let out = unsafe { Out::new(to, "port") }?;
        // SAFETY: guaranteed by the contract of this module.
        let function = unsafe { reference(function, "function") }?;
        out.put(port(&function.outputs, "output", index)?);
        Ok(())
    })
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_function_signature(function: *const FunctionHandle) -> *const c_char {
    // SAFETY: guaranteed by the contract of this module.
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
    function: *const FunctionHandle,
    signature: *const c_char,
    native: *mut Native,
) -> Status {
    guard(|| {
        // SAFETY: guaranteed by the contract of this module.
        let out = unsafe { Out::new(native, "native") }?;
        // SAFETY: guaranteed by the contract of this module.
        let function = unsafe { reference(function, "function") }?;
        // SAFETY: guaranteed by the contract of this module.
        let asked = unsafe { text(signature, "signature") }?;
        out.put(function.native(asked)?);
        Ok(())
    })
}

/// See `precast.h`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn precast_host() -> *const Host {
    precast_core::native::host().cast()
}

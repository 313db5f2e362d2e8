//! Bundles: open, list, free.

use super::{Out, free, guard, reference, slice, text};
use crate::failure::Status;
use crate::handle::BundleHandle;
use std::ffi::{CString, c_char, c_void};
use std::ptr;

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_bundle_open(
    path: *const c_char,
    bundle: *mut *mut BundleHandle,
) -> Status {
    guard(|| {
        // SAFETY: guaranteed by the contract of this module.
        let out = unsafe { Out::new(bundle, "bundle") }?;
        // SAFETY: guaranteed by the contract of this module.
        let path = unsafe { text(path, "path") }?;
        let opened = precast_core::Bundle::open(path)?;
        out.put(Box::into_raw(Box::new(BundleHandle::new(opened))));
        Ok(())
    })
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_bundle_open_signed(
    path: *const c_char,
    keyring: *const c_char,
    bundle: *mut *mut BundleHandle,
) -> Status {
    guard(|| {
        // SAFETY: guaranteed by the contract of this module.
        let out = unsafe { Out::new(bundle, "bundle") }?;
        // SAFETY: guaranteed by the contract of this module.
        let path = unsafe { text(path, "path") }?;
        // SAFETY: guaranteed by the contract of this module.
        let keyring = unsafe { text(keyring, "keyring") }?;
        let opened = precast_core::Bundle::open_under(path, Some(keyring.into()))?;
        out.put(Box::into_raw(Box::new(BundleHandle::new(opened))));
        Ok(())
    })
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_bundle_from_bytes(
    bytes: *const c_void,
    size: usize,
    bundle: *mut *mut BundleHandle,
) -> Status {
    guard(|| {
        // SAFETY: guaranteed by the contract of this module.
        let out = unsafe { Out::new(bundle, "bundle") }?;
        // SAFETY: guaranteed by the contract of this module.
        let bytes = unsafe { slice(bytes.cast::<u8>(), size, "bytes") }?;
        let opened = precast_core::Bundle::from_bytes(bytes.to_vec())?;
        out.put(Box::into_raw(Box::new(BundleHandle::new(opened))));
        Ok(())
    })
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_set_profiling(directory: *const c_char) -> Status {
    guard(|| {
        let directory = match directory.is_null() {
            true => None,
            // SAFETY: the contract.
            false => Some(unsafe { text(directory, "directory") }?.into()),
        };
        precast_core::native::profiling::set_directory(directory);
        Ok(())
    })
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_bundle_free(bundle: *mut BundleHandle) {
    // SAFETY: by the contract, the bundle was opened by a function of this module, and is freed once.
    unsafe { free(bundle) };
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_bundle_entry_count(bundle: *const BundleHandle) -> usize {
    let mut count = 0;
    guard(|| {
        // SAFETY: guaranteed by the contract of this module.
        count = unsafe { reference(bundle, "bundle") }?.names().len();
        Ok(())
    });
    count
}

/// See `precast.h`.
///
/// # Safety
/// [The contract](super).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn precast_bundle_entry_name(
    bundle: *const BundleHandle,
    index: usize,
) -> *const c_char {
    let mut name = ptr::null();
    guard(|| {
        // SAFETY: guaranteed by the contract of this module.
        let names = unsafe { reference(bundle, "bundle") }?.names();
        name = names.get(index).map_or(ptr::null(), |name: &CString| name.as_ptr());
        Ok(())
    });
    name
}

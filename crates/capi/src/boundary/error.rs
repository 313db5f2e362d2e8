//! Versions and errors.

use crate::failure::{Status, last_message, last_status};
use std::ffi::c_char;

/// `PRECAST_ABI_VERSION`, which the build script also puts into the name of the shared library.
const ABI_VERSION: u32 = decimal(env!("PRECAST_ABI_VERSION"));

/// Parses a number from decimal digits.
const fn decimal(digits: &str) -> u32 {
    let (mut at, mut value) = (0, 0);
    while at < digits.len() {
        value = 10 * value + (digits.as_bytes()[at] - b'0') as u32;
        at += 1;
    }
    value
}

/// See `precast.h`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn precast_abi_version() -> u32 {
    ABI_VERSION
}

/// See `precast.h`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn precast_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// See `precast.h`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn precast_last_error() -> *const c_char {
    last_message()
}

/// See `precast.h`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn precast_last_status() -> Status {
    last_status()
}

/// A `precast_status` from the caller, which may be any number.
type StatusNumber = i32;

/// See `precast.h`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn precast_status_name(status: StatusNumber) -> *const c_char {
    Status::name(status).as_ptr()
}

//! Registers functions that run when the process ends normally, by `exit` or by the end of `main`, whatever language the
//! host is written in.

use std::ffi::c_int;

unsafe extern "C" {
    /// Registers a function to be called at the normal end of the process (C11 §7.22.4.2); 0 on success.
    fn atexit(run: extern "C" fn()) -> c_int;
}

/// Registers `run` for the normal end of the process. Returns `false` if the process cannot register more functions.
///
/// Functions run in the reverse order of their registration. Other threads may still be running.
pub fn at_exit(run: extern "C" fn()) -> bool {
    // SAFETY: `run` is a function without captures, and lives as long as the code of this library.
    unsafe { atexit(run) == 0 }
}

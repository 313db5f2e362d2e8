//! Process-wide state that an op might change: the locale and the signal handlers.
//!
//! The floating-point environment needs no check, because modules with an author's C code restore it themselves
//! (`precast/float_state.h`).

use std::ffi::CStr;
use std::ptr;

/// The highest signal number on Linux.
const SIGNALS: i32 = 64;

/// The process-wide state at some time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProcessState {
    locale: Option<String>,
    /// The address of each signal's handler.
    handlers: Vec<usize>,
}

impl ProcessState {
    /// Captures the current state.
    pub(super) fn now() -> Self {
        // SAFETY: NULL only queries the locale.
        let name = unsafe { libc::setlocale(libc::LC_ALL, ptr::null()) };
        let locale = (!name.is_null()).then(|| {
            // SAFETY: a C string that is valid until the next call of `setlocale`.
            unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
        });
        Self { locale, handlers: (1..=SIGNALS).map(handler).collect() }
    }

    /// Describes the differences from an earlier state.
    pub(super) fn since(&self, before: &Self) -> Vec<String> {
        let mut found = Vec::new();
        if self.locale != before.locale {
            let name = |state: &Self| state.locale.clone().unwrap_or_default();
            found.push(format!(
                "changes the locale of the process to `{}`, from `{}`",
                name(self),
                name(before)
            ));
        }
        let handlers = self.handlers.iter().zip(&before.handlers);
        let changed = (1..=SIGNALS).zip(handlers).filter(|(_, (now, then))| now != then);
        found.extend(changed.map(|(signal, _)| format!("installs a handler for signal {signal}")));
        found
    }
}

/// Returns the address of a signal's handler. Returns 0 for the default, and for signals that the C library reserves.
fn handler(signal: i32) -> usize {
    // SAFETY: zeroes are a valid value of this plain struct.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: NULL only queries the action; the struct is local.
    let answer = unsafe { libc::sigaction(signal, ptr::null(), &raw mut action) };
    if answer == 0 { action.sa_sigaction } else { 0 }
}

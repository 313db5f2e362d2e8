//! What of the process an op could change for everybody else: the locale, and who handles which signal.
//!
//! How floats are computed belongs to it too, and needs no look: modules with an author's C put it back themselves
//! (`precast/float_state.h`).

use std::ffi::CStr;
use std::ptr;

/// The highest number of a signal on Linux.
const SIGNALS: i32 = 64;

/// The state of the process at some time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProcessState {
    locale: Option<String>,
    /// For each signal the address of its handler.
    handlers: Vec<usize>,
}

impl ProcessState {
    /// What it is now.
    pub(super) fn now() -> Self {
        // SAFETY: NULL asks and changes nothing.
        let name = unsafe { libc::setlocale(libc::LC_ALL, ptr::null()) };
        let locale = (!name.is_null()).then(|| {
            // SAFETY: a C string that lives until the next call of `setlocale`.
            unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
        });
        Self { locale, handlers: (1..=SIGNALS).map(handler).collect() }
    }

    /// What differs from an earlier state, in words.
    pub(super) fn since(&self, before: &Self) -> Vec<String> {
        let mut found = Vec::new();
        if self.locale != before.locale {
            let name = |state: &Self| state.locale.clone().unwrap_or_default();
            found.push(format!(
                "sets the locale of the process to `{}`, from `{}`",
                name(self),
                name(before)
            ));
        }
        let handlers = self.handlers.iter().zip(&before.handlers);
        let changed = (1..=SIGNALS).zip(handlers).filter(|(_, (now, then))| now != then);
        found.extend(changed.map(|(signal, _)| format!("installs a handler of signal {signal}")));
        found
    }
}

/// The address of a signal's handler; 0 for the default, and where the number is the C library's own.
fn handler(signal: i32) -> usize {
    // SAFETY: zeroes are a valid value of this plain struct.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: NULL asks and changes nothing; the struct is ours.
    let answer = unsafe { libc::sigaction(signal, ptr::null(), &raw mut action) };
    if answer == 0 { action.sa_sigaction } else { 0 }
}

//! The memory of a table: 64-bit words that one thread writes before others may read them.
//!
//! Under `cfg(loom)` the unit tests of this crate take loom's cells and atomics, which check exactly that.

#[cfg(not(all(test, loom)))]
pub(super) use std::sync::{Mutex, atomic::AtomicPtr, atomic::Ordering};

#[cfg(all(test, loom))]
pub(super) use loom::sync::{Mutex, atomic::AtomicPtr, atomic::Ordering};

/// A word of a table.
#[cfg(not(all(test, loom)))]
#[repr(transparent)]
#[derive(Default)]
pub(super) struct Word(std::cell::UnsafeCell<u64>);

#[cfg(not(all(test, loom)))]
impl Word {
    /// Reads the word.
    ///
    /// # Safety
    /// No thread writes it any more, and this thread has synchronised with the one that did.
    #[inline]
    pub(super) unsafe fn get(&self) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { *self.0.get() }
    }

    /// Writes the word.
    ///
    /// # Safety
    /// No other thread reads or writes it until it synchronises with this one.
    pub(super) unsafe fn set(&self, value: u64) {
        // SAFETY: the caller's promise.
        unsafe { *self.0.get() = value }
    }
}

/// A word of a table, watched by loom.
#[cfg(all(test, loom))]
#[derive(Default)]
pub(super) struct Word(loom::cell::UnsafeCell<u64>);

#[cfg(all(test, loom))]
impl Word {
    pub(super) unsafe fn get(&self) -> u64 {
        // SAFETY: loom checks what the caller promises.
        self.0.with(|word| unsafe { *word })
    }

    pub(super) unsafe fn set(&self, value: u64) {
        // SAFETY: loom checks what the caller promises.
        self.0.with_mut(|word| unsafe { *word = value });
    }
}

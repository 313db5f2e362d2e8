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
    /// Reads a word, which may be one of memory that is not ours: there is no reference to a cell then.
    ///
    /// # Safety
    /// It is there, no thread writes it any more, and this thread has synchronised with the one that did.
    #[inline]
    pub(super) unsafe fn get(word: *const Self) -> u64 {
        // SAFETY: the caller's promise; a cell is laid out as what it holds.
        unsafe { *word.cast::<u64>() }
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
    pub(super) unsafe fn get(word: *const Self) -> u64 {
        // SAFETY: the caller's promise.
        let word = unsafe { &*word };
        // SAFETY: loom checks what the caller promises.
        word.0.with(|word| unsafe { *word })
    }

    pub(super) unsafe fn set(&self, value: u64) {
        // SAFETY: loom checks what the caller promises.
        self.0.with_mut(|word| unsafe { *word = value });
    }
}

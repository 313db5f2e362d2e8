//! The memory of a table: 64-bit words that one thread writes before other threads may read them.
//!
//! Under `cfg(loom)` the unit tests of this crate use loom's cells and atomics, which verify this order.

#[cfg(not(all(test, loom)))]
pub(super) use std::sync::{Mutex, atomic::AtomicPtr, atomic::Ordering};

#[cfg(all(test, loom))]
pub(super) use loom::sync::{Mutex, atomic::AtomicPtr, atomic::Ordering};

/// A word of a table, written once before it is published.
#[cfg(not(all(test, loom)))]
#[repr(transparent)]
#[derive(Default)]
pub(super) struct Word(std::cell::UnsafeCell<u64>);

#[cfg(not(all(test, loom)))]
impl Word {
    /// Reads a word. It takes a pointer because the word may be in foreign memory, where a reference to a cell is not
    /// allowed.
    ///
    /// # Safety
    /// The word must exist, no thread may write it any more, and this thread must have synchronized with its writer.
    #[inline]
    pub(super) unsafe fn get(word: *const Self) -> u64 {
        // SAFETY: guaranteed by the caller; a cell has the layout of its content.
        unsafe { *word.cast::<u64>() }
    }

    /// Writes the word.
    ///
    /// # Safety
    /// No other thread may read or write the word until it synchronizes with this one.
    pub(super) unsafe fn set(&self, value: u64) {
        // SAFETY: guaranteed by the caller.
        unsafe { *self.0.get() = value }
    }
}

/// A word of a table, checked by loom.
#[cfg(all(test, loom))]
#[derive(Default)]
pub(super) struct Word(loom::cell::UnsafeCell<u64>);

#[cfg(all(test, loom))]
impl Word {
    pub(super) unsafe fn get(word: *const Self) -> u64 {
        // SAFETY: guaranteed by the caller.
        let word = unsafe { &*word };
        // SAFETY: loom checks the caller's guarantee.
        word.0.with(|word| unsafe { *word })
    }

    pub(super) unsafe fn set(&self, value: u64) {
        // SAFETY: loom checks the caller's guarantee.
        self.0.with_mut(|word| unsafe { *word = value });
    }
}

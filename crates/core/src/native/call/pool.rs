//! A pool of idle frames.
//!
//! One frame is in an atomic slot, so that calls from one thread take and return it with two swaps. More frames, used by
//! more threads, are in a list with a lock.

use super::frame::Frame;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

/// The idle frames of one function.
pub(crate) struct Pool {
    first: AtomicPtr<Frame>,
    #[expect(clippy::vec_box, reason = "frames go to and from the slot as boxes")]
    others: Mutex<Vec<Box<Frame>>>,
}

impl Pool {
    /// Creates an empty pool.
    pub(crate) const fn new() -> Self {
        Self { first: AtomicPtr::new(ptr::null_mut()), others: Mutex::new(Vec::new()) }
    }

    /// Takes an idle frame, if there is one.
    pub(crate) fn take(&self) -> Option<Box<Frame>> {
        let first = self.first.swap(ptr::null_mut(), Ordering::Acquire);
        if first.is_null() {
            return self.others.lock().unwrap_or_else(PoisonError::into_inner).pop();
        }
        // SAFETY: the pointer came from `Box::into_raw` in `give`, and the swap made this thread its only owner.
        Some(unsafe { Box::from_raw(first) })
    }

    /// Returns a frame to the pool.
    pub(crate) fn give(&self, frame: Box<Frame>) {
        let replaced = self.first.swap(Box::into_raw(frame), Ordering::AcqRel);
        if !replaced.is_null() {
            // SAFETY: as in `take`.
            let replaced = unsafe { Box::from_raw(replaced) };
            self.others.lock().unwrap_or_else(PoisonError::into_inner).push(replaced);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

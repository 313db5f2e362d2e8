//! Frames between calls.
//!
//! One frame waits in an atomic slot, so that a function called from one thread takes and returns it with two swaps; more
//! frames, of more threads, wait in a list behind a lock.

use super::frame::Frame;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

/// Idle frames of one function.
pub(crate) struct Pool {
    first: AtomicPtr<Frame>,
    #[expect(clippy::vec_box, reason = "frames go to and from the slot as boxes")]
    others: Mutex<Vec<Box<Frame>>>,
}

impl Pool {
    /// No frames.
    pub(crate) const fn new() -> Self {
        Self { first: AtomicPtr::new(ptr::null_mut()), others: Mutex::new(Vec::new()) }
    }

    /// An idle frame.
    pub(crate) fn take(&self) -> Option<Box<Frame>> {
        let first = self.first.swap(ptr::null_mut(), Ordering::Acquire);
        if first.is_null() {
            return self.others.lock().unwrap_or_else(PoisonError::into_inner).pop();
        }
        // SAFETY: the pointer came from `Box::into_raw` in `give`, and the swap made this thread its only owner.
        Some(unsafe { Box::from_raw(first) })
    }

    /// Gives a frame back.
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

//! The functions of `precast.h`, in its order. Each one turns pointers into references, calls safe code, and writes
//! the result.
//!
//! # The contract
//! Every pointer is checked for NULL, which is all that can be checked. The caller must guarantee that it points to
//! its type for as long as the header says; this is the `# Safety` section of every function here. No panic crosses
//! the boundary: [`guard`] turns it into a failure.
#![allow(unsafe_code, reason = "pointers of C; each block argues its case")]

mod bundle;
mod call;
mod error;
mod function;
mod managed;
#[cfg(test)]
mod tests;

use crate::failure::{ArgumentError, Failure, Status, remember};
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the work of a function. A failure or a panic becomes the last failure of this thread, and its status is
/// returned.
fn guard(work: impl FnOnce() -> Result<(), Failure>) -> Status {
    // A panic leaves no broken state behind: calls do not change handles, and locks recover from poisoning.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(failure)) => remember(failure),
        Err(panic) => remember(Failure::of_panic(&*panic)),
    }
}

/// Returns a reference to the target of a caller's pointer.
///
/// # Safety
/// The pointer is NULL, or points to a `T` that no other code writes to for `'a`.
unsafe fn reference<'a, T>(pointer: *const T, name: &'static str) -> Result<&'a T, ArgumentError> {
    // SAFETY: guaranteed by the caller.
    unsafe { pointer.as_ref() }.ok_or(ArgumentError::Null(name))
}

/// Returns a text of the caller.
///
/// # Safety
/// The pointer is NULL, or points to bytes that end with a NUL and that no other code writes to for `'a`.
unsafe fn text<'a>(pointer: *const c_char, name: &'static str) -> Result<&'a str, ArgumentError> {
    if pointer.is_null() {
        return Err(ArgumentError::Null(name));
    }
    // SAFETY: guaranteed by the caller.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| ArgumentError::Text(name))
}

/// Returns `count` values of the caller; NULL is valid if `count` is 0.
///
/// # Safety
/// `first` is NULL, or points to `count` values that no other code writes to for `'a`.
unsafe fn slice<'a, T>(first: *const T, count: usize, name: &'static str) -> Result<&'a [T], ArgumentError> {
    if count == 0 {
        return Ok(&[]);
    }
    if first.is_null() {
        return Err(ArgumentError::Null(name));
    }
    if count.checked_mul(size_of::<T>()).is_none_or(|bytes| isize::try_from(bytes).is_err()) {
        return Err(ArgumentError::Count(name));
    }
    // SAFETY: the pointer is not NULL, and the slice is not larger than memory. The caller guarantees the rest.
    Ok(unsafe { std::slice::from_raw_parts(first, count) })
}

/// The place that the caller wants a result in.
struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Checks a pointer before the work for it starts.
    ///
    /// # Safety
    /// `pointer` is NULL, or is valid for writes until this function of the header returns.
    unsafe fn new(pointer: *mut T, name: &'static str) -> Result<Self, ArgumentError> {
        if pointer.is_null() { Err(ArgumentError::Null(name)) } else { Ok(Self(pointer)) }
    }

    fn put(self, value: T) {
        // SAFETY: the caller of `new` guaranteed that the pointer is valid for writes.
        unsafe { self.0.write(value) };
    }
}

/// Frees a pointer from `Box::into_raw`; does nothing for NULL.
///
/// # Safety
/// `pointer` is NULL, or came from `Box::into_raw` and is not used any more.
unsafe fn free<T>(pointer: *mut T) {
    if pointer.is_null() {
        return;
    }
    // SAFETY: guaranteed by the caller.
    let owned = unsafe { Box::from_raw(pointer) };
    guard(|| {
        drop(owned);
        Ok(())
    });
}

//! The functions of `precast.h`, in its order. Each does three things: pointers become references, the work is done by safe code,
//! and its result is written.
//!
//! # The contract
//! What can be seen of a pointer is checked: that it is not NULL. That it points to what its type says, for as long as the header
//! says, is the caller's word, and the `# Safety` of every function here. No panic crosses: [`guard`] makes it a failure.
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

/// Does the work of a function: a failure or a panic becomes the last failure of this thread, and its status.
fn guard(work: impl FnOnce() -> Result<(), Failure>) -> Status {
    // A panic leaves no broken state behind: handles are not changed by calls, and locks know how to go on.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(failure)) => remember(failure),
        Err(panic) => remember(Failure::of_panic(&*panic)),
    }
}

/// What a pointer of the caller points to.
///
/// # Safety
/// It is NULL, or points to a `T` that nobody writes for `'a`.
unsafe fn reference<'a, T>(pointer: *const T, name: &'static str) -> Result<&'a T, ArgumentError> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.ok_or(ArgumentError::Null(name))
}

/// A text of the caller.
///
/// # Safety
/// It is NULL, or points to bytes that end with a NUL and that nobody writes for `'a`.
unsafe fn text<'a>(pointer: *const c_char, name: &'static str) -> Result<&'a str, ArgumentError> {
    if pointer.is_null() {
        return Err(ArgumentError::Null(name));
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| ArgumentError::Text(name))
}

/// `count` values of the caller, who may pass NULL for none.
///
/// # Safety
/// `first` is NULL, or points to `count` values that nobody writes for `'a`.
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
    // SAFETY: not NULL, no larger than memory; the rest is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(first, count) })
}

/// Where the caller wants a result.
struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Checks a pointer before any work is done for it.
    ///
    /// # Safety
    /// `pointer` is NULL, or may be written to until this function of the header returns.
    unsafe fn new(pointer: *mut T, name: &'static str) -> Result<Self, ArgumentError> {
        if pointer.is_null() { Err(ArgumentError::Null(name)) } else { Ok(Self(pointer)) }
    }

    fn put(self, value: T) {
        // SAFETY: `new` was promised that it may be written to.
        unsafe { self.0.write(value) };
    }
}

/// Frees what `Box::into_raw` gave; nothing for NULL.
///
/// # Safety
/// `pointer` is NULL, or was given by `Box::into_raw` and is not used any more.
unsafe fn free<T>(pointer: *mut T) {
    if pointer.is_null() {
        return;
    }
    // SAFETY: the caller's promise.
    let owned = unsafe { Box::from_raw(pointer) };
    guard(|| {
        drop(owned);
        Ok(())
    });
}

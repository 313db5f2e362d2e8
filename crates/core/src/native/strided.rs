//! Where the elements of an array lie, as direct calls look at it: in registers, where the compiler sees through a call.

use crate::{DType, Element};
use ndarray::{ArrayRef, Dimension};
use std::ffi::c_char;

/// The first element of an array, and its extents and strides, which are elsewhere.
#[derive(Debug, Clone, Copy)]
pub struct Strided<'a> {
    pub(super) dtype: DType,
    pub(super) data: *mut c_char,
    /// The step from one element to the next of a contiguous array, in the unit of the strides.
    pub(super) step: isize,
    pub(super) extents: &'a [usize],
    pub(super) strides: &'a [isize],
}

impl<'a> Strided<'a> {
    /// An array to read from.
    #[inline(always)]
    pub(crate) fn read<T: Element, D: Dimension>(array: &'a ArrayRef<T, D>) -> Self {
        let data = array.as_ptr().cast_mut().cast();
        Self { dtype: T::DTYPE, data, step: 1, extents: array.shape(), strides: array.strides() }
    }

    /// An array to write to.
    #[inline(always)]
    pub(crate) fn write<T: Element, D: Dimension>(array: &'a mut ArrayRef<T, D>) -> Self {
        let data = array.as_mut_ptr().cast();
        Self { dtype: T::DTYPE, data, step: 1, extents: array.shape(), strides: array.strides() }
    }

    /// One element to read.
    #[inline(always)]
    pub(crate) fn element<T: Element>(element: &'a T) -> Self {
        let data = std::ptr::from_ref(element).cast_mut().cast();
        Self { dtype: T::DTYPE, data, step: 1, extents: &[], strides: &[] }
    }

    /// One element to write.
    #[inline(always)]
    pub(crate) fn element_mut<T: Element>(element: &'a mut T) -> Self {
        let data = std::ptr::from_mut(element).cast();
        Self { dtype: T::DTYPE, data, step: 1, extents: &[], strides: &[] }
    }

    /// An array that others describe, as [`RawArray`](super::RawArray) does, whose first element lies where its dtype may.
    ///
    /// # Safety
    /// Extents and strides in bytes are as many. Where elements lie in C order without gaps, each can be read for `'a` (a bool is
    /// 0 or 1), and of an array that is written to, be written: by nobody else, but for inputs of the same call.
    #[must_use]
    #[inline(always)]
    pub const unsafe fn raw(
        dtype: DType,
        data: *mut c_char,
        extents: &'a [usize],
        strides_bytes: &'a [isize],
    ) -> Self {
        let step = dtype.itemsize_bytes().cast_signed();
        Self { dtype, data, step, extents, strides: strides_bytes }
    }

    /// Whether the extents are `wanted`, and the elements lie in C order without gaps. Of an array without elements it may
    /// say no.
    #[inline(always)]
    pub(super) fn fills(&self, wanted: &[usize]) -> bool {
        match (self.extents, self.strides, wanted) {
            ([extent], [stride], [n]) => extent == n && (*stride == self.step || *n == 1),
            _ => fills_each(self.extents, self.strides, self.step, wanted),
        }
    }
}

/// As [`Strided::fills`], of any rank. What it looks at comes in registers.
#[inline(never)]
fn fills_each(extents: &[usize], strides: &[isize], mut step: isize, wanted: &[usize]) -> bool {
    let ndim = wanted.len();
    if extents.len() != ndim || strides.len() != ndim {
        return false;
    }
    for axis in (0..ndim).rev() {
        let extent = extents[axis];
        if extent != wanted[axis] || (extent != 1 && strides[axis] != step) {
            return false;
        }
        step = step.wrapping_mul(extent.cast_signed());
    }
    true
}

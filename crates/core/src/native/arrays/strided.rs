//! The element layout of an array, in the form of direct calls. It stays in registers if the compiler inlines the call.
//!
//! Strides are borrowed from their owner, because converting them takes as long as a small call: those of ndarray count
//! elements, all others count bytes. Only the files of this folder know the unit. All other code reads strides in bytes.

use crate::{DType, Element};
use ndarray::{ArrayRef, Dimension};
use std::ffi::c_char;

/// The first element of an array, with references to its extents and strides.
#[derive(Debug, Clone, Copy)]
pub struct Strided<'a> {
    pub(crate) dtype: DType,
    pub(crate) data: *mut c_char,
    /// The step between elements of a contiguous array, in the unit of the strides. It is 1 if strides count elements, and
    /// the element size if they count bytes.
    pub(super) step: isize,
    pub(crate) extents: &'a [usize],
    pub(super) strides: &'a [isize],
}

impl<'a> Strided<'a> {
    /// Describes an array for reading.
    #[inline(always)]
    pub(crate) fn read<T: Element, D: Dimension>(array: &'a ArrayRef<T, D>) -> Self {
        let data = array.as_ptr().cast_mut().cast();
        Self { dtype: T::DTYPE, data, step: 1, extents: array.shape(), strides: array.strides() }
    }

    /// Describes an array for writing.
    #[inline(always)]
    pub(crate) fn write<T: Element, D: Dimension>(array: &'a mut ArrayRef<T, D>) -> Self {
        let data = array.as_mut_ptr().cast();
        Self { dtype: T::DTYPE, data, step: 1, extents: array.shape(), strides: array.strides() }
    }

    /// Describes one element for reading.
    #[inline(always)]
    pub(crate) fn element<T: Element>(element: &'a T) -> Self {
        let data = std::ptr::from_ref(element).cast_mut().cast();
        Self { dtype: T::DTYPE, data, step: 1, extents: &[], strides: &[] }
    }

    /// Describes one element for writing.
    #[inline(always)]
    pub(crate) fn element_mut<T: Element>(element: &'a mut T) -> Self {
        let data = std::ptr::from_mut(element).cast();
        Self { dtype: T::DTYPE, data, step: 1, extents: &[], strides: &[] }
    }

    /// Describes foreign memory, like [`RawArray`](super::RawArray). The first element must be aligned for its dtype.
    ///
    /// # Safety
    /// There are as many extents as strides in bytes. If the elements are in C order without gaps, each can be read for
    /// `'a` (a bool is 0 or 1). Elements of an array that is written to can also be written, and nothing else uses them
    /// except inputs of the same call.
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

    /// Describes other memory with the same extents and strides.
    #[inline(always)]
    pub(crate) const fn with_data(self, dtype: DType, data: *mut c_char) -> Self {
        Self { dtype, data, ..self }
    }

    /// Returns the unit of the strides in bytes.
    #[inline]
    pub(super) const fn unit_bytes(&self) -> isize {
        if self.step == 1 { self.dtype.itemsize_bytes().cast_signed() } else { 1 }
    }

    /// Returns whether the extents are `wanted` and the elements are in C order without gaps. May return `false` for an
    /// empty array.
    #[inline(always)]
    pub(crate) fn fills(&self, wanted: &[usize]) -> bool {
        match (self.extents, self.strides, wanted) {
            ([extent], [stride], [n]) => extent == n && (*stride == self.step || *n == 1),
            _ => fills_each(self.extents, self.strides, self.step, wanted),
        }
    }
}

/// Does the same as [`Strided::fills`] for any rank. The parts of the array are separate parameters, so that they are
/// passed in registers.
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

//! Copies elements between arrays by element size alone: there are 15 dtypes but only 5 sizes.

use super::strided::Strided;
use std::ffi::c_char;

/// Copies every element of an array to another one of the same dtype and shape.
///
/// # Safety
/// Both describe live memory of this dtype and shape. The caller has exclusive access to `to`, and `from` does not overlap
/// it.
pub(super) unsafe fn copy(from: &Strided<'_>, to: &Strided<'_>) {
    debug_assert_eq!((from.dtype, from.extents), (to.dtype, to.extents), "the caller compares them");
    let bytes = from.dtype.itemsize_bytes();
    let side = |array: &Strided<'_>| array.unit_bytes();
    let axes = Axes { from: (from.strides, side(from)), to: (to.strides, side(to)), extents: from.extents };
    if axes.extents.contains(&0) {
        return;
    }
    let copy = match bytes {
        1 => Axes::copy::<u8>,
        2 => Axes::copy::<u16>,
        4 => Axes::copy::<u32>,
        8 => Axes::copy::<u64>,
        _ => Axes::copy::<[u64; 2]>,
    };
    // SAFETY: as promised by the caller; the width is that of an element.
    unsafe { copy(axes, from.data, to.data) };
}

/// The remaining axes, with the strides of both sides and the size of their unit in bytes.
#[derive(Clone, Copy)]
struct Axes<'a> {
    extents: &'a [usize],
    from: (&'a [isize], isize),
    to: (&'a [isize], isize),
}

impl Axes<'_> {
    /// Copies elements of the size of a `T`.
    ///
    /// # Safety
    /// As for [`copy`], with these axes; an element has the size of a `T`.
    unsafe fn copy<T: Copy>(self, from: *const c_char, to: *mut c_char) {
        let ([extent, extents @ ..], [source, sources @ ..], [target, targets @ ..]) =
            (self.extents, self.from.0, self.to.0)
        else {
            // SAFETY: without axes there is one element, which may be unaligned for a `T`.
            let element = unsafe { from.cast::<T>().read_unaligned() };
            // SAFETY: as above.
            return unsafe { to.cast::<T>().write_unaligned(element) };
        };
        let (source, target) = (source * self.from.1, target * self.to.1);
        let width = size_of::<T>().cast_signed();
        if extents.is_empty() && source == width && target == width {
            // SAFETY: both sides have `extent` contiguous elements and do not overlap.
            return unsafe { to.copy_from_nonoverlapping(from, extent * size_of::<T>()) };
        }
        let rest = Axes { extents, from: (sources, self.from.1), to: (targets, self.to.1) };
        for i in 0..extent.cast_signed() {
            // SAFETY: the index is within the extent, so both are elements of their arrays.
            unsafe { rest.copy::<T>(from.wrapping_offset(i * source), to.wrapping_offset(i * target)) };
        }
    }
}

//! A buffer of XLA as the input or output of a function, with leading axes for a batch.

use super::abi::{self, Buffer};
use crate::boundary::array::are_bools;
use precast_core::DType;
use precast_core::native::RawArray;
use precast_core::program::Port;
use std::ffi::c_char;
use std::slice;

/// A buffer.
pub(super) struct Operand {
    data: *mut c_char,
    dtype: DType,
    /// The extents: first those of the batch, then those of the function.
    extents: Vec<usize>,
    strides_bytes: Vec<isize>,
    /// The number of axes of the batch.
    lead: usize,
}

impl Operand {
    /// Describes a buffer. Returns `None` if its dtype is not that of the port, or if it has fewer dimensions.
    ///
    /// # Safety
    /// XLA passed the buffer.
    pub(super) unsafe fn of(buffer: &Buffer, port: &Port) -> Option<Self> {
        let dtype = port.ty.dtype();
        let rank = usize::try_from(buffer.rank).ok()?;
        let lead = rank.checked_sub(port.ty.ndim())?;
        let dims = match rank {
            0 => &[],
            // SAFETY: a buffer has as many extents.
            rank => unsafe { slice::from_raw_parts(buffer.dims, rank) },
        };
        let extents: Vec<usize> =
            dims.iter().map(|extent| usize::try_from(*extent).ok()).collect::<Option<_>>()?;
        let mut strides_bytes = vec![0; rank];
        let mut step = dtype.itemsize_bytes().cast_signed();
        for (stride, extent) in strides_bytes.iter_mut().zip(&extents).rev() {
            *stride = step;
            step = step.checked_mul(extent.cast_signed())?;
        }
        let operand = Self { data: buffer.data.cast(), dtype, extents, strides_bytes, lead };
        (buffer.dtype == abi::number(dtype)).then_some(operand)
    }

    /// Returns the extents of the batch.
    pub(super) fn batch(&self) -> &[usize] {
        &self.extents[..self.lead]
    }

    /// Returns whether each extent is that of the batch, or 1.
    pub(super) fn spreads_over(&self, batch: &[usize]) -> bool {
        let mut pairs = self.batch().iter().zip(batch);
        self.lead == batch.len() && pairs.all(|(own, extent)| own == extent || *own == 1)
    }

    /// Returns whether all elements are valid: bools are 0 or 1.
    ///
    /// # Safety
    /// The elements are readable.
    pub(super) unsafe fn is_valid(&self) -> bool {
        let is_read = self.dtype == DType::Bool && !self.extents.contains(&0);
        // SAFETY: guaranteed by the caller.
        !is_read || unsafe { are_bools(self.data.cast(), &self.extents, &self.strides_bytes) }
    }

    /// Describes the array at an index of the batch.
    pub(super) fn at(&self, batch: &[usize], index: usize) -> RawArray<'_> {
        let (mut rest, mut offset) = (index, 0);
        for (axis, extent) in batch.iter().enumerate().rev() {
            let is_spread = self.extents[axis] == 1;
            offset += if is_spread { 0 } else { (rest % extent).cast_signed() * self.strides_bytes[axis] };
            rest /= extent;
        }
        RawArray {
            data: self.data.wrapping_offset(offset).cast(),
            dtype: self.dtype,
            shape: &self.extents[self.lead..],
            strides_bytes: &self.strides_bytes[self.lead..],
            readonly: false,
        }
    }
}

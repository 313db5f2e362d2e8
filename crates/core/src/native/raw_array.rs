//! Arrays that others describe by address, extents and strides: DLPack's tensors, NumPy's arrays, C's memory.
//!
//! ```text
//! (data, dtype, shape in elements, strides in BYTES, readonly) ── checked ──▶ ArrayRef, to read from
//!                                                                          └▶ ArrayMut, to write to
//! ```
//! Nothing is copied. What can be seen of a description is checked; that the memory is there is the caller's word.

use super::array_ref::{ArrayMut, ArrayRef, RawView};
use crate::{DType, MAX_NDIM};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr;

/// A description of an array.
///
/// # Examples
/// ```
/// use precast_core::{ArrayRef, DType, native::RawArray};
/// let numbers = [1.0_f64, 2.0, 3.0, 4.0];
/// let data = numbers.as_ptr().cast_mut().cast();
/// let every_second = RawArray { data, dtype: DType::F64, shape: &[2], strides_bytes: &[16], readonly: true };
/// // SAFETY: both elements are numbers of the array, which is not written to as long as it is borrowed.
/// let borrowed: ArrayRef<'_> = unsafe { every_second.read() }?;
/// assert_eq!(borrowed.to_array(), ndarray::array![1.0, 3.0].into());
/// # Ok::<(), precast_core::native::RawArrayError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RawArray<'a> {
    /// The first element; may be NULL when there are no elements.
    pub data: *mut c_void,
    /// Type of the elements.
    pub dtype: DType,
    /// The extents, outermost first, in elements.
    pub shape: &'a [usize],
    /// The steps, in bytes, may be 0 or negative.
    pub strides_bytes: &'a [isize],
    /// Whether its owner says that it is not to be written to.
    pub readonly: bool,
}

/// Why a description is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RawArrayError {
    /// Extents and strides are not as many.
    #[error("an array of {extents} extent(s) has {strides} stride(s)")]
    Rank {
        /// How many extents.
        extents: usize,
        /// How many strides.
        strides: usize,
    },
    /// More dimensions than tensors have.
    #[error("an array has {found} dimensions, expected at most {MAX_NDIM}")]
    TooManyDimensions {
        /// How many.
        found: usize,
    },
    /// No data where there are elements.
    #[error("an array of shape {shape:?} has no data")]
    NoData {
        /// The extents.
        shape: Vec<usize>,
    },
    /// More elements, or farther apart, than memory has room for.
    #[error("an array of shape {shape:?} is larger than memory")]
    TooLarge {
        /// The extents.
        shape: Vec<usize>,
    },
    /// The first element does not lie where one of its dtype may.
    #[error(
        "elements of `{dtype}` lie at multiples of {align} bytes, found one at {address:#x}\nhint: pass a copy"
    )]
    Misaligned {
        /// Type of the elements.
        dtype: DType,
        /// What addresses are multiples of.
        align: usize,
        /// The address.
        address: usize,
    },
    /// A step between elements is no number of elements.
    #[error(
        "axis {axis} has a stride of {stride} bytes, expected a multiple of the {itemsize} of a `{dtype}`\nhint: pass a copy"
    )]
    Stride {
        /// Type of the elements.
        dtype: DType,
        /// The axis.
        axis: usize,
        /// Its stride in bytes.
        stride: isize,
        /// Bytes of an element.
        itemsize: usize,
    },
    /// Room for a result that is not to be written to.
    #[error("a result cannot be written to a read-only array")]
    ReadOnly,
    /// Room for a result in which elements share their memory.
    #[error("a result cannot be written to an array whose axis {axis} has a stride of 0")]
    Shared {
        /// The axis.
        axis: usize,
    },
}

impl<'a> RawArray<'a> {
    /// The array, to read from.
    ///
    /// # Safety
    /// Every index within the extents gives an initialised element of the dtype (a bool is 0 or 1), which stays where it is
    /// and as it is for `'a`, but for what a call writes that is given [`RawArray::write`] of overlapping memory.
    ///
    /// # Errors
    /// A description that is not that of an array.
    pub unsafe fn read(self) -> Result<ArrayRef<'a>, RawArrayError> {
        Ok(ArrayRef { view: self.view()? })
    }

    /// The array, to write a result to. It may overlap inputs and other results of the same call: that then computes
    /// elsewhere, and copies.
    ///
    /// # Safety
    /// Every index within the extents gives memory of an element of the dtype that may be written for `'a`, and that nobody
    /// else uses, but for inputs and results of the same call.
    ///
    /// # Errors
    /// A description that is not that of an array; one that is read-only, or in which elements share their memory.
    pub unsafe fn write(self) -> Result<ArrayMut<'a>, RawArrayError> {
        let view = self.view()?;
        if self.readonly {
            return Err(RawArrayError::ReadOnly);
        }
        let axes = self.shape.iter().zip(self.strides_bytes);
        // Without elements nothing is shared.
        let is_empty = self.shape.contains(&0);
        let shares = |(extent, stride): (&usize, &isize)| !is_empty && *extent > 1 && *stride == 0;
        if let Some(axis) = axes.map(shares).position(|shares| shares) {
            return Err(RawArrayError::Shared { axis });
        }
        Ok(ArrayMut { view, is_raw: true, borrowed: PhantomData })
    }

    fn view(self) -> Result<RawView<'a>, RawArrayError> {
        let Self { data, dtype, shape, strides_bytes, .. } = self;
        let (extents, strides, itemsize) = (shape.len(), strides_bytes.len(), dtype.itemsize_bytes());
        if extents != strides {
            return Err(RawArrayError::Rank { extents, strides });
        }
        if extents > MAX_NDIM {
            return Err(RawArrayError::TooManyDimensions { found: extents });
        }
        if shape.contains(&0) {
            // Nothing is read at the address, but slices are made of it, which are not made of NULL.
            let data = ptr::without_provenance_mut(dtype.align_bytes());
            return Ok(RawView::of_bytes(dtype, data, shape, strides_bytes));
        }
        if data.is_null() {
            return Err(RawArrayError::NoData { shape: shape.to_vec() });
        }
        let (align, address) = (dtype.align_bytes(), data.addr());
        if !address.is_multiple_of(align) {
            return Err(RawArrayError::Misaligned { dtype, align, address });
        }
        // The elements, and the bytes from the first to the last in memory.
        let (mut elements, mut reach) = (Some(itemsize), Some(itemsize));
        for (axis, (extent, stride)) in shape.iter().zip(strides_bytes).enumerate() {
            if *extent > 1 && !stride.unsigned_abs().is_multiple_of(itemsize) {
                return Err(RawArrayError::Stride { dtype, axis, stride: *stride, itemsize });
            }
            elements = elements.and_then(|known| known.checked_mul(*extent));
            let along = stride.unsigned_abs().checked_mul(extent - 1);
            reach = reach.zip(along).and_then(|(known, more)| known.checked_add(more));
        }
        let fits = |bytes: Option<usize>| bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok());
        if !fits(elements) || !fits(reach) {
            return Err(RawArrayError::TooLarge { shape: shape.to_vec() });
        }
        Ok(RawView::of_bytes(dtype, data.cast(), shape, strides_bytes))
    }
}

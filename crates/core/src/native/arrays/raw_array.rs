//! Arrays described by address, extents and strides, from sources such as DLPack, NumPy or C.
//!
//! ```text
//! (data, dtype, shape in elements, strides in BYTES, readonly) ── checked ──▶ ArrayRef, for reading
//!                                                                          └▶ ArrayMut, for writing
//! ```
//! Nothing is copied. The visible parts of a description are checked. The caller must guarantee that the memory exists.

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
    /// The first element; may be NULL if there are no elements.
    pub data: *mut c_void,
    /// The dtype of the elements.
    pub dtype: DType,
    /// The extents, outermost first, in elements.
    pub shape: &'a [usize],
    /// The strides in bytes, may be 0 or negative.
    pub strides_bytes: &'a [isize],
    /// Whether the owner forbids writing.
    pub readonly: bool,
}

/// The reason why a description is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RawArrayError {
    /// The numbers of extents and strides differ.
    #[error("found {strides} stride(s) for an array of {extents} dimension(s)")]
    Rank {
        /// The number of extents.
        extents: usize,
        /// The number of strides.
        strides: usize,
    },
    /// The array has more dimensions than tensors can have.
    #[error("an array has {found} dimensions, expected at most {MAX_NDIM}")]
    TooManyDimensions {
        /// The number of dimensions.
        found: usize,
    },
    /// The array has elements but no data.
    #[error("null data pointer for an array of shape {shape:?}")]
    NoData {
        /// The extents.
        shape: Vec<usize>,
    },
    /// The array is larger than memory, by its elements or by its strides.
    #[error("an array of shape {shape:?} exceeds the address space")]
    TooLarge {
        /// The extents.
        shape: Vec<usize>,
    },
    /// The first element is not aligned for its dtype.
    #[error(
        "misaligned array: `{dtype}` needs a multiple of {align} bytes, found address {address:#x}\nhint: pass a copy"
    )]
    Misaligned {
        /// The dtype of the elements.
        dtype: DType,
        /// The required alignment.
        align: usize,
        /// The address.
        address: usize,
    },
    /// A stride is not a whole number of elements.
    #[error(
        "axis {axis} has a stride of {stride} bytes, expected a multiple of {itemsize}, the size of `{dtype}`\nhint: \
         pass a copy"
    )]
    Stride {
        /// The dtype of the elements.
        dtype: DType,
        /// The axis.
        axis: usize,
        /// Its stride in bytes.
        stride: isize,
        /// Bytes of an element.
        itemsize: usize,
    },
    /// A result cannot be written to a read-only array.
    #[error("cannot write a result to a read-only array")]
    ReadOnly,
    /// A result cannot be written to an array whose elements overlap.
    #[error("cannot write a result to an array whose axis {axis} has a stride of 0")]
    Shared {
        /// The axis.
        axis: usize,
    },
}

impl<'a> RawArray<'a> {
    /// Borrows the array for reading.
    ///
    /// # Safety
    /// Every index within the extents is an initialised element of the dtype (a bool is 0 or 1). It stays in place and
    /// unchanged for `'a`, except for writes by a call that gets overlapping memory from [`RawArray::write`].
    ///
    /// # Errors
    /// The description is invalid.
    pub unsafe fn read(self) -> Result<ArrayRef<'a>, RawArrayError> {
        Ok(ArrayRef { view: self.view()? })
    }

    /// Borrows the array for writing a result. It may overlap inputs and other results of the same call. The call then
    /// computes in separate memory and copies the result.
    ///
    /// # Safety
    /// Every index within the extents is memory of an element of the dtype that may be written for `'a`. Nothing else uses
    /// it, except for inputs and results of the same call.
    ///
    /// # Errors
    /// The description is invalid, the array is read-only, or its elements overlap.
    pub unsafe fn write(self) -> Result<ArrayMut<'a>, RawArrayError> {
        let view = self.view()?;
        if self.readonly {
            return Err(RawArrayError::ReadOnly);
        }
        let axes = self.shape.iter().zip(self.strides_bytes);
        // An empty array has no overlapping elements.
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
            // Nothing is read at the address, but slices are created from it, which must not be NULL.
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
        // The size of all elements, and the bytes from the first to the last in memory.
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

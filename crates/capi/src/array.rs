//! The caller's arrays (`precast_array`), checked as far as possible without reading the elements.

use precast_core::native::{RawArray, RawArrayError};
use precast_core::{DType, MAX_NDIM};
use std::ffi::c_void;

/// `PRECAST_READ_ONLY`, and DLPack's flag with the same meaning.
pub(crate) const READ_ONLY: u64 = 1;

/// `precast_array`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Described {
    pub(crate) data: *mut c_void,
    pub(crate) shape: *const i64,
    pub(crate) strides: *const i64,
    pub(crate) ndim: i32,
    pub(crate) dtype: i32,
    pub(crate) flags: u64,
}

/// The reason why a description is not a valid array for a call.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArrayError {
    /// A number that is not a dtype.
    #[error("{what}: invalid precast_dtype {found}")]
    DType {
        /// The array.
        what: String,
        /// The number.
        found: i32,
    },
    /// An invalid number of dimensions.
    #[error("{what}: found {found} dimensions, expected 0 to {MAX_NDIM}")]
    Rank {
        /// The array.
        what: String,
        /// The number of dimensions.
        found: i32,
    },
    /// Dimensions without extents.
    #[error("{what}: `shape` is NULL, expected {ndim} extent(s)")]
    NoShape {
        /// The array.
        what: String,
        /// The number of dimensions.
        ndim: usize,
    },
    /// A negative extent.
    #[error("{what}: axis {axis} has {extent} elements, expected at least 0")]
    Extent {
        /// The array.
        what: String,
        /// The axis.
        axis: usize,
        /// The extent.
        extent: i64,
    },
    /// A stride that is larger than memory.
    #[error("{what}: axis {axis} has a stride of {stride} elements, which exceeds the address space")]
    Stride {
        /// The array.
        what: String,
        /// The axis.
        axis: usize,
        /// The stride.
        stride: i64,
    },
    /// An error of the description as a whole.
    #[error("{what}")]
    Raw {
        /// The array.
        what: String,
        /// The error.
        source: RawArrayError,
    },
}

/// An array of the caller, with extents and strides in the form of [`RawArray`].
pub(crate) struct CallerArray {
    data: *mut c_void,
    dtype: DType,
    is_readonly: bool,
    ndim: usize,
    extents: [usize; MAX_NDIM],
    strides_bytes: [isize; MAX_NDIM],
}

impl CallerArray {
    /// Converts a description. `shape` and `strides` are the arrays that it points to, and `what` names the array in
    /// messages.
    pub(crate) fn new(
        described: &Described,
        shape: &[i64],
        strides: Option<&[i64]>,
        what: impl Fn() -> String,
    ) -> Result<Self, ArrayError> {
        let Described { data, dtype: found, flags, .. } = *described;
        let dtype = DType::from_typenum(found).ok_or_else(|| ArrayError::DType { what: what(), found })?;
        let mut array = Self {
            data,
            dtype,
            is_readonly: flags & READ_ONLY != 0,
            ndim: shape.len(),
            extents: [0; MAX_NDIM],
            strides_bytes: [0; MAX_NDIM],
        };
        for (axis, (to, extent)) in array.extents.iter_mut().zip(shape).enumerate() {
            let refused = |_| ArrayError::Extent { what: what(), axis, extent: *extent };
            *to = usize::try_from(*extent).map_err(refused)?;
        }
        let itemsize = dtype.itemsize_bytes().cast_signed();
        match strides {
            Some(strides) => {
                for (axis, (to, stride)) in array.strides_bytes.iter_mut().zip(strides).enumerate() {
                    let bytes = isize::try_from(*stride).ok().and_then(|n| n.checked_mul(itemsize));
                    *to = bytes.ok_or_else(|| ArrayError::Stride { what: what(), axis, stride: *stride })?;
                }
            }
            None => array.fill_strides(itemsize),
        }
        Ok(array)
    }

    /// Fills in contiguous strides in C order. For an array larger than memory they end in some large number, and the
    /// size check rejects the array.
    fn fill_strides(&mut self, itemsize: isize) {
        let mut step = itemsize;
        for axis in (0..self.ndim).rev() {
            self.strides_bytes[axis] = step;
            let extent = isize::try_from(self.extents[axis]).unwrap_or(isize::MAX);
            step = step.checked_mul(extent.max(1)).unwrap_or(isize::MAX / itemsize * itemsize);
        }
    }

    /// Returns the description in the form of precast-core.
    pub(crate) fn raw(&self) -> RawArray<'_> {
        RawArray {
            data: self.data,
            dtype: self.dtype,
            shape: &self.extents[..self.ndim],
            strides_bytes: &self.strides_bytes[..self.ndim],
            readonly: self.is_readonly,
        }
    }
}

/// Returns the number of dimensions of a description.
pub(crate) fn ndim(described: &Described, what: impl Fn() -> String) -> Result<usize, ArrayError> {
    let found = described.ndim;
    let ndim = usize::try_from(found).ok().filter(|ndim| *ndim <= MAX_NDIM);
    let ndim = ndim.ok_or_else(|| ArrayError::Rank { what: what(), found })?;
    if ndim > 0 && described.shape.is_null() {
        return Err(ArrayError::NoShape { what: what(), ndim });
    }
    Ok(ndim)
}

//! Arrays of the caller: `precast_array` and DLPack's `DLTensor`, checked as far as can be seen without a look at the elements.

use precast_core::native::{RawArray, RawArrayError};
use precast_core::{DType, MAX_NDIM};
use std::ffi::c_void;
use std::ptr;

/// `PRECAST_READ_ONLY`, and DLPack's flag of the same meaning.
pub(crate) const READ_ONLY: u64 = 1;

/// `kDLCPU`
const CPU: i32 = 1;

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

/// `DLDevice`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Device {
    pub(crate) device_type: i32,
    pub(crate) device_id: i32,
}

/// `DLDataType`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct DataType {
    pub(crate) code: u8,
    pub(crate) bits: u8,
    pub(crate) lanes: u16,
}

/// `DLTensor`
#[repr(C)]
pub(crate) struct Tensor {
    pub(crate) data: *mut c_void,
    pub(crate) device: Device,
    pub(crate) ndim: i32,
    pub(crate) dtype: DataType,
    pub(crate) shape: *mut i64,
    pub(crate) strides: *mut i64,
    pub(crate) byte_offset: u64,
}

/// Why what is described is no array to call a function with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArrayError {
    /// A number that is no dtype's.
    #[error("{what}: {found} is no precast_dtype")]
    DType {
        /// Which array.
        what: String,
        /// The number.
        found: i32,
    },
    /// A number of dimensions that arrays do not have.
    #[error("{what}: an array has {found} dimensions, expected 0 to {MAX_NDIM}")]
    Rank {
        /// Which array.
        what: String,
        /// How many.
        found: i32,
    },
    /// Dimensions, but no extents.
    #[error("{what}: `shape` is NULL, expected {ndim} extent(s)")]
    NoShape {
        /// Which array.
        what: String,
        /// How many dimensions.
        ndim: usize,
    },
    /// An extent below 0.
    #[error("{what}: axis {axis} has {extent} elements")]
    Extent {
        /// Which array.
        what: String,
        /// The axis.
        axis: usize,
        /// The extent.
        extent: i64,
    },
    /// A stride that is larger than memory.
    #[error("{what}: axis {axis} has a stride of {stride} elements, which is larger than memory")]
    Stride {
        /// Which array.
        what: String,
        /// The axis.
        axis: usize,
        /// The stride.
        stride: i64,
    },
    /// What can only be said of the description as a whole.
    #[error("{what}")]
    Raw {
        /// Which array.
        what: String,
        /// What is wrong.
        source: RawArrayError,
    },
    /// A tensor of DLPack on another device.
    #[error(
        "the tensor is on a device of DLPack's type {found}, expected {CPU}, the CPU\nhint: copy it to the CPU"
    )]
    Device {
        /// The type of the device.
        found: i32,
    },
    /// A tensor of DLPack whose elements no dtype has.
    #[error(
        "the tensor has elements of DLPack's code {code}, {bits} bits and {lanes} lane(s), which is no dtype of precast"
    )]
    Element {
        /// `code`
        code: u8,
        /// `bits`
        bits: u8,
        /// `lanes`
        lanes: u16,
    },
}

/// An array of the caller, with extents and strides as [`RawArray`] has them.
pub(crate) struct CallerArray {
    data: *mut c_void,
    dtype: DType,
    is_readonly: bool,
    ndim: usize,
    extents: [usize; MAX_NDIM],
    strides_bytes: [isize; MAX_NDIM],
}

impl CallerArray {
    /// Takes a description over; `shape` and `strides` are what it points to, `what` names it in messages.
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

    /// The strides of C order without gaps. Where an array is larger than memory they end at some large number, and the check of
    /// its size refuses it.
    fn fill_strides(&mut self, itemsize: isize) {
        let mut step = itemsize;
        for axis in (0..self.ndim).rev() {
            self.strides_bytes[axis] = step;
            let extent = isize::try_from(self.extents[axis]).unwrap_or(isize::MAX);
            step = step.checked_mul(extent.max(1)).unwrap_or(isize::MAX / itemsize * itemsize);
        }
    }

    /// The description that core knows.
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

/// The number of dimensions of a description.
pub(crate) fn ndim(described: &Described, what: impl Fn() -> String) -> Result<usize, ArrayError> {
    let found = described.ndim;
    let ndim = usize::try_from(found).ok().filter(|ndim| *ndim <= MAX_NDIM);
    let ndim = ndim.ok_or_else(|| ArrayError::Rank { what: what(), found })?;
    if ndim > 0 && described.shape.is_null() {
        return Err(ArrayError::NoShape { what: what(), ndim });
    }
    Ok(ndim)
}

/// The dtypes and what DLPack calls them: code and bits.
const ELEMENTS: [(DType, u8, u8); 15] = [
    (DType::Bool, 6, 8),
    (DType::I8, 0, 8),
    (DType::I16, 0, 16),
    (DType::I32, 0, 32),
    (DType::I64, 0, 64),
    (DType::U8, 1, 8),
    (DType::U16, 1, 16),
    (DType::U32, 1, 32),
    (DType::U64, 1, 64),
    (DType::F16, 2, 16),
    (DType::F32, 2, 32),
    (DType::F64, 2, 64),
    (DType::Bf16, 4, 16),
    (DType::C64, 5, 64),
    (DType::C128, 5, 128),
];

/// What DLPack calls a dtype.
pub(crate) fn data_type(dtype: DType) -> DataType {
    let row = ELEMENTS.iter().find(|row| row.0 == dtype);
    let (code, bits) = row.map_or((0, 0), |(_, code, bits)| (*code, *bits));
    DataType { code, bits, lanes: 1 }
}

impl Tensor {
    /// The device of all our tensors.
    pub(crate) const HERE: Device = Device { device_type: CPU, device_id: 0 };

    /// The tensor described as an array.
    pub(crate) fn describe(&self, flags: u64) -> Result<Described, ArrayError> {
        if self.device.device_type != CPU {
            return Err(ArrayError::Device { found: self.device.device_type });
        }
        let DataType { code, bits, lanes } = self.dtype;
        let row = ELEMENTS.iter().find(|row| (row.1, row.2, 1) == (code, bits, lanes));
        let (dtype, ..) = row.ok_or(ArrayError::Element { code, bits, lanes })?;
        let data = match self.data.is_null() {
            true => ptr::null_mut(),
            false => self.data.wrapping_byte_add(self.byte_offset as usize),
        };
        Ok(Described {
            data,
            shape: self.shape,
            strides: self.strides,
            ndim: self.ndim,
            dtype: dtype.typenum(),
            flags,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{ELEMENTS, data_type};
    use precast_core::DType;

    #[test]
    fn every_dtype_has_its_bits_in_dlpack() {
        assert_eq!(ELEMENTS.len(), DType::ALL.len());
        for dtype in DType::ALL {
            assert_eq!(usize::from(data_type(dtype).bits), 8 * dtype.itemsize_bytes(), "{dtype}");
        }
    }
}

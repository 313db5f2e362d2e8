//! DLPack's tensors: converted to arrays, and created from results.

use crate::array::Described;
use precast_core::DType;
use std::ffi::c_void;
use std::ptr;

/// `kDLCPU`
const CPU: i32 = 1;

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

/// The reason why a DLPack tensor cannot be converted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TensorError {
    /// The tensor is on another device.
    #[error(
        "the tensor is on a device of DLPack type {found}, expected {CPU}, the CPU\nhint: copy it to the CPU"
    )]
    Device {
        /// The type of the device.
        found: i32,
    },
    /// No dtype matches the elements.
    #[error("unsupported DLPack elements: type code {code}, {bits} bits, {lanes} lane(s)")]
    Element {
        /// `code`
        code: u8,
        /// `bits`
        bits: u8,
        /// `lanes`
        lanes: u16,
    },
}

/// The dtypes with DLPack's code and bits.
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

/// Returns DLPack's data type for a dtype.
pub(crate) fn data_type(dtype: DType) -> DataType {
    let row = ELEMENTS.iter().find(|row| row.0 == dtype);
    let (code, bits) = row.map_or((0, 0), |(_, code, bits)| (*code, *bits));
    DataType { code, bits, lanes: 1 }
}

impl Tensor {
    /// The device of all tensors of this library.
    pub(crate) const HERE: Device = Device { device_type: CPU, device_id: 0 };

    /// Describes the tensor as an array.
    pub(crate) fn describe(&self, flags: u64) -> Result<Described, TensorError> {
        if self.device.device_type != CPU {
            return Err(TensorError::Device { found: self.device.device_type });
        }
        let DataType { code, bits, lanes } = self.dtype;
        let row = ELEMENTS.iter().find(|row| (row.1, row.2, 1) == (code, bits, lanes));
        let (dtype, ..) = row.ok_or(TensorError::Element { code, bits, lanes })?;
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

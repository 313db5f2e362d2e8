//! The part of XLA's C interface for custom calls that the handler uses: structures of `xla/ffi/api/c_api.h`, which
//! jaxlib contains.
//!
//! The fields here are the same in every version 0.x. Later fields of a structure are not mirrored, so structures are
//! only read through pointers that XLA passes.

use precast_core::DType;
use std::ffi::{c_char, c_int, c_void};

/// `XLA_FFI_InternalExtension`.
#[repr(C)]
pub(super) struct Extension {
    pub(super) struct_size: usize,
    pub(super) kind: c_int,
    pub(super) next: *mut Self,
}

/// `XLA_FFI_Extension_Metadata`, the kind of an extension that asks for the version of a handler.
pub(super) const METADATA: c_int = 1;

/// `XLA_FFI_Metadata_Extension`.
#[repr(C)]
pub(super) struct MetadataExtension {
    pub(super) base: Extension,
    pub(super) metadata: *mut Metadata,
}

/// `XLA_FFI_Metadata`.
#[repr(C)]
pub(super) struct Metadata {
    pub(super) struct_size: usize,
    pub(super) version: Version,
    pub(super) traits: u32,
}

/// `XLA_FFI_Api_Version`.
#[repr(C)]
pub(super) struct Version {
    pub(super) struct_size: usize,
    pub(super) extension: *mut Extension,
    pub(super) major: c_int,
    pub(super) minor: c_int,
}

/// `XLA_FFI_Api`, up to the only function that is called.
#[repr(C)]
pub(super) struct Api {
    pub(super) struct_size: usize,
    pub(super) extension: *mut Extension,
    pub(super) version: Version,
    pub(super) internal: *const c_void,
    pub(super) create_error: unsafe extern "C" fn(*mut CreateError) -> *mut Error,
}

/// `XLA_FFI_Error`, which only XLA accesses.
#[repr(C)]
pub(crate) struct Error {
    _private: [u8; 0],
}

/// `XLA_FFI_Error_Create_Args`.
#[repr(C)]
pub(super) struct CreateError {
    pub(super) struct_size: usize,
    pub(super) extension: *mut Extension,
    pub(super) message: *const c_char,
    pub(super) code: c_int,
}

/// `XLA_FFI_Error_Code_INVALID_ARGUMENT`.
pub(super) const INVALID_ARGUMENT: c_int = 3;
/// `XLA_FFI_Error_Code_INTERNAL`.
pub(super) const INTERNAL: c_int = 13;

/// `XLA_FFI_ExecutionStage_EXECUTE`.
pub(super) const EXECUTE: c_int = 3;

/// `XLA_FFI_Args`, `XLA_FFI_Rets`: all are buffers.
#[repr(C)]
pub(super) struct Operands {
    pub(super) struct_size: usize,
    pub(super) extension: *mut Extension,
    pub(super) size: i64,
    pub(super) kinds: *const c_int,
    pub(super) operands: *const *const Buffer,
}

/// `XLA_FFI_Attrs`.
#[repr(C)]
pub(super) struct Attributes {
    pub(super) struct_size: usize,
    pub(super) extension: *mut Extension,
    pub(super) size: i64,
    pub(super) kinds: *const c_int,
    pub(super) names: *const c_void,
    pub(super) values: *const *const Scalar,
}

/// `XLA_FFI_AttrType_SCALAR`.
pub(super) const SCALAR: c_int = 3;

/// `XLA_FFI_Scalar`.
#[repr(C)]
pub(super) struct Scalar {
    pub(super) dtype: c_int,
    pub(super) value: *const u64,
}

/// `XLA_FFI_Buffer`: an array in C order.
#[repr(C)]
pub(super) struct Buffer {
    pub(super) struct_size: usize,
    pub(super) extension: *mut Extension,
    pub(super) dtype: c_int,
    pub(super) data: *mut c_void,
    pub(super) rank: i64,
    pub(super) dims: *const i64,
}

/// `XLA_FFI_CallFrame`.
#[repr(C)]
pub(crate) struct Frame {
    pub(super) struct_size: usize,
    pub(super) extension: *mut Extension,
    pub(super) api: *const Api,
    pub(super) context: *mut c_void,
    pub(super) stage: c_int,
    pub(super) args: Operands,
    pub(super) results: Operands,
    pub(super) attributes: Attributes,
}

/// Returns the `XLA_FFI_DataType` of a dtype.
pub(super) const fn number(dtype: DType) -> c_int {
    match dtype {
        DType::Bool => 1,
        DType::I8 => 2,
        DType::I16 => 3,
        DType::I32 => 4,
        DType::I64 => 5,
        DType::U8 => 6,
        DType::U16 => 7,
        DType::U32 => 8,
        DType::U64 => 9,
        DType::F16 => 10,
        DType::F32 => 11,
        DType::F64 => 12,
        DType::C64 => 15,
        DType::Bf16 => 16,
        DType::C128 => 18,
    }
}

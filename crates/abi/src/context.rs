//! Mirrors `precast/context.h`. The header documents the fields.
#![allow(missing_docs, reason = "the header documents the fields; they are repeated here one to one")]

use crate::tensor::{Object, Tensor};
use std::ffi::{CStr, c_char, c_int, c_void};

/// The length of the message buffer in bytes (`PC_ERROR_BYTES`), including the final NUL.
pub const ERROR_BYTES: usize = 480;

/// `pc_error_kind`: the kind of a module's error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Wrong kind of object or dtype.
    Type,
    /// Wrong shape or value.
    Value,
    /// Memory allocation failed.
    Memory,
    /// Any other error that op code reports.
    Runtime,
    /// Index out of range.
    Index,
    /// An Assert op failed.
    Assert,
    /// The caller cancelled the call.
    Cancelled,
}

impl ErrorKind {
    /// Returns the value of the C enumerator.
    #[must_use]
    pub const fn code(self) -> i32 {
        match self {
            Self::Type => 1,
            Self::Value => 2,
            Self::Memory => 3,
            Self::Runtime => 4,
            Self::Index => 5,
            Self::Assert => 6,
            Self::Cancelled => 7,
        }
    }

    /// Returns the name: `type`, `value`, `memory`, `runtime`, `index`, `assertion` or `cancelled`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Value => "value",
            Self::Memory => "memory",
            Self::Runtime => "runtime",
            Self::Index => "index",
            Self::Assert => "assertion",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns the kind for a value of the C enum: `None` for 0, [`ErrorKind::Runtime`] for a value that this host does
    /// not know.
    #[must_use]
    pub const fn from_code(code: i32) -> Option<Self> {
        match code {
            0 => None,
            1 => Some(Self::Type),
            2 => Some(Self::Value),
            3 => Some(Self::Memory),
            5 => Some(Self::Index),
            6 => Some(Self::Assert),
            7 => Some(Self::Cancelled),
            _ => Some(Self::Runtime),
        }
    }
}

/// `pc_error`: the error slot of a call.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Error {
    pub kind: i32,
    pub reserved: i32,
    pub message: [u8; ERROR_BYTES],
}

impl Error {
    /// An empty slot.
    pub const NONE: Self = Self { kind: 0, reserved: 0, message: [0; ERROR_BYTES] };

    /// Returns the message up to its NUL as text; bytes that are not UTF-8 are replaced.
    #[must_use]
    pub fn message(&self) -> String {
        let text = CStr::from_bytes_until_nul(&self.message).map_or(&self.message[..], CStr::to_bytes);
        String::from_utf8_lossy(text).into_owned()
    }

    /// Stores a message in the slot unless the slot already holds one. Longer messages are truncated.
    pub fn set(&mut self, kind: ErrorKind, message: &str) {
        if self.kind == 0 {
            let len = message.len().min(ERROR_BYTES - 1);
            self.message[..len].copy_from_slice(&message.as_bytes()[..len]);
            self.message[len] = 0;
            self.kind = kind.code();
        }
    }
}

/// `pc_host`: services of the host. The functions with a `va_list` are opaque pointers here.
#[repr(C)]
#[derive(Debug)]
pub struct Host {
    pub abi_version: u32,
    pub struct_bytes: u32,
    pub tensor_new: unsafe extern "C" fn(*mut Context, i32, i32, *const i64) -> *mut Tensor,
    pub tensor_view: unsafe extern "C" fn(
        *mut Context,
        *mut Tensor,
        i32,
        *const i64,
        *const i64,
        *mut c_char,
    ) -> *mut Tensor,
    pub alloc: unsafe extern "C" fn(*mut Context, usize) -> *mut c_void,
    pub release: unsafe extern "C" fn(*mut Context, *mut c_void),
    pub format: *const c_void,
    pub gemm: Gemm,
    pub elemwise: Driver,
    pub reduce: Driver,
    pub rows: Driver,
    /// Variadic, so only C can define and call it.
    pub error_format: *const c_void,
    pub parallel: Parallel,
    pub gemms: Gemms,
    pub frame: Frame,
    pub cancelled: unsafe extern "C" fn(*mut Context) -> c_int,
}

/// `pc_host.gemm`: `c[m,n] = a[m,k] . b[k,n]`, with strides in bytes.
pub type Gemm = unsafe extern "C" fn(
    *mut Context,
    i32,
    i64,
    i64,
    i64,
    *const c_char,
    i64,
    i64,
    *const c_char,
    i64,
    i64,
    *mut c_char,
    i64,
    i64,
) -> c_int;

/// `pc_host.gemms`: a batch of matrix products. The extents are `count, m, n, k`; the strides between matrices, rows
/// and columns are in bytes.
pub type Gemms = unsafe extern "C" fn(
    *mut Context,
    i32,
    *const i64,
    *const c_char,
    *const i64,
    *const c_char,
    *const i64,
    *mut c_char,
    *const i64,
) -> c_int;

/// `pc_host.elemwise`, `pc_host.reduce` and `pc_host.rows`: the second argument is a `pc_elemwise`, `pc_reduce` or
/// `pc_rows` of the module.
pub type Driver =
    unsafe extern "C" fn(*mut Context, *const c_void, *const *mut Tensor, *mut *mut Tensor) -> c_int;

/// `pc_host.parallel`: calls a body on ranges that together cover `0 .. n`.
pub type Parallel = unsafe extern "C" fn(*mut Context, i64, i64, Range, *mut c_void) -> c_int;

/// `pc_host.frame`: runs the body of a `pc_frame` with the variables of an instance and of a call.
pub type Frame = unsafe extern "C" fn(
    *mut Context,
    *const c_void,
    *mut c_void,
    *mut *mut Object,
    *mut *mut Tensor,
) -> c_int;

/// `pc_range`: processes the half-open range of units `first .. end`.
pub type Range = unsafe extern "C" fn(*mut Context, i64, i64, *mut c_void) -> c_int;

// SAFETY: a `Host` is immutable data: numbers and function pointers.
unsafe impl Sync for Host {}

/// `pc_context`: one call on one thread.
#[repr(C)]
#[derive(Debug)]
pub struct Context {
    pub host: *const Host,
    pub error: Error,
}

//! Mirror of `precast/driver.h`. Field documentation is in the header.
#![allow(missing_docs, reason = "the header documents the fields; they are repeated here one to one")]

use crate::context::Context;
use std::ffi::{c_char, c_int, c_void};

/// `PC_LOOP_OPERANDS`: most operands of a kernel, outputs included.
pub const LOOP_OPERANDS: usize = 64;

/// `pc_kernel`: works on contiguous elements of each operand, inputs then outputs.
pub type Kernel = unsafe extern "C" fn(*mut Context, i64, *const *mut c_char) -> c_int;

/// `pc_elemwise`: what a module hands to `pc_host.elemwise`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Elemwise {
    pub n_in: i32,
    pub n_out: i32,
    pub scalar: *const u8,
    pub dtypes: *const i32,
    pub names: *const *const c_char,
    pub kernel: Kernel,
}

/// `pc_reduce`: what a module hands to `pc_host.reduce`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Reduce {
    pub n_in: i32,
    pub axes: u32,
    pub dtype: i32,
    pub scalar: *const u8,
    pub names: *const *const c_char,
    pub map: Option<Kernel>,
    /// A `pc_monoid`; the host only hands it on.
    pub monoid: *const c_void,
}

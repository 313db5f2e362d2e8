//! Mirrors `precast/driver.h`. The header documents the fields.
#![allow(missing_docs, reason = "the header documents the fields; they are repeated here one to one")]

use crate::context::Context;
use std::ffi::{c_char, c_int, c_void};

/// `PC_LOOP_OPERANDS`: the maximum number of operands of a kernel, including outputs.
pub const LOOP_OPERANDS: usize = 64;

/// `pc_kernel`: processes contiguous elements of each operand, inputs first, then outputs.
pub type Kernel = unsafe extern "C" fn(*mut Context, i64, *const *mut c_char) -> c_int;

/// `PC_SHARED`: kernels may run on several threads at once.
pub const SHARED: u16 = 1;

/// `PC_SETTLES`: a total that is not the identity never changes again.
pub const SETTLES: u16 = 2;

/// `PC_ASSOCIATIVE`: only the order of the elements shows in the bits of a total.
pub const ASSOCIATIVE: u16 = 4;

/// `PC_TOTAL`: the result follows from the total alone.
pub const TOTAL: u16 = 8;

/// `pc_elemwise`: the argument that a module passes to `pc_host.elemwise`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Elemwise {
    pub n_in: u16,
    pub flags: u16,
    pub n_out: i32,
    pub scalar: *const u8,
    pub dtypes: *const i32,
    pub names: *const *const c_char,
    pub kernel: Kernel,
}

/// `PC_REDUCE_ALL`: all axes, for any rank.
pub const REDUCE_ALL: u32 = u32::MAX;
/// `PC_REDUCE_BLOCK`: the number of elements in a block. The lanes of a block are combined before the next block
/// starts.
pub const REDUCE_BLOCK: usize = 4096;

/// `pc_monoid`: the combining operation of a reduction.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Monoid {
    pub lanes: i32,
    pub item: i32,
    pub no_empty: *const c_char,
    pub clear: unsafe extern "C" fn(*mut c_void, i64),
    pub fold: unsafe extern "C" fn(*mut c_void, *const c_void, i64, i64),
    pub step: unsafe extern "C" fn(*mut c_void, *const c_void, i64),
    pub close: unsafe extern "C" fn(*mut c_void, i64, *mut c_void, c_int),
    pub finish: unsafe extern "C" fn(*const c_void, i64, i64, *mut c_char, i64),
    pub steps: Option<unsafe extern "C" fn(*mut c_void, *const c_void, i64, i64, i64)>,
    pub few: unsafe extern "C" fn(*const c_void, i64, *mut c_char),
    pub few_columns: Option<unsafe extern "C" fn(*mut c_void, i64, i64)>,
}

/// `pc_reduce`: the argument that a module passes to `pc_host.reduce`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Reduce {
    pub n_in: u16,
    pub flags: u16,
    pub axes: u32,
    pub dtype: i32,
    pub scalar: *const u8,
    pub names: *const *const c_char,
    pub map: Option<Kernel>,
    pub monoid: *const Monoid,
}

/// `pc_rows_step`: a map or fold step of a row program.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct RowsStep {
    pub kernel: Option<Kernel>,
    pub monoid: *const Monoid,
    pub values: *const u8,
    pub n_in: u8,
    pub n_out: u8,
    pub pass: u8,
    pub once: u8,
}

/// `pc_rows`: the argument that a module passes to `pc_host.rows`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    pub n_in: u16,
    pub flags: u16,
    pub n_full: i32,
    pub n_single: i32,
    pub n_values: i32,
    pub n_steps: i32,
    pub n_passes: i32,
    pub axes: u32,
    pub kept: u32,
    pub scalar: *const u8,
    pub dtypes: *const i32,
    pub outputs: *const u8,
    pub steps: *const RowsStep,
}

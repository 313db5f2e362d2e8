//! Mirrors `precast/tensor.h`. The header documents the fields.
#![allow(missing_docs, reason = "the header documents the fields; they are repeated here one to one")]

use std::ffi::{c_char, c_void};

/// The maximum number of dimensions of a tensor (`PC_MAX_NDIM`).
pub const MAX_NDIM: usize = 32;

/// Marks a tensor as read-only: op code must not write through `data` (`PC_FLAG_READONLY`).
pub const FLAG_READONLY: u32 = 1;

/// `pc_type`: the type of an object and its deallocator.
#[repr(C)]
#[derive(Debug)]
pub struct Type {
    pub name: *const c_char,
    pub dealloc: unsafe extern "C" fn(*mut Object),
}

// SAFETY: a `Type` is immutable data: a name that is never freed and a function pointer.
unsafe impl Sync for Type {}

/// `pc_object`: reference count and type, the first member of every object that a module handles.
#[repr(C)]
#[derive(Debug)]
pub struct Object {
    pub refcount: i64,
    pub ty: *const Type,
}

/// `pc_tensor`: a strided array. Strides are in bytes and may be 0 or negative.
#[repr(C)]
#[derive(Debug)]
pub struct Tensor {
    pub object: Object,
    pub data: *mut c_char,
    pub dtype: i32,
    pub ndim: i32,
    pub shape: *const i64,
    pub strides: *const i64,
    pub flags: u32,
    pub reserved: u32,
    pub owner: *mut Object,
    pub capacity_bytes: i64,
}

/// An opaque instance of an entry (`void *self`).
pub type Instance = c_void;

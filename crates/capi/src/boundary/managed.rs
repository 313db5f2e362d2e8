//! Results as DLPack's managed tensors, which their `deleter` frees.

use super::free;
use crate::dlpack::{Tensor, data_type};
use precast_core::{Array, with_array};
use std::ffi::c_void;
use std::ptr;

/// `DLPackVersion`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Version {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

/// `DLManagedTensorVersioned`
#[repr(C)]
pub(crate) struct Managed {
    pub(crate) version: Version,
    pub(crate) manager_ctx: *mut c_void,
    pub(crate) deleter: Option<unsafe extern "C" fn(*mut Self)>,
    pub(crate) flags: u64,
    pub(crate) dl_tensor: Tensor,
}

/// A result with the data that its tensor points to. The tensor is the first field, so a pointer to it is a pointer
/// to the whole.
#[repr(C)]
struct Owned {
    managed: Managed,
    array: Array,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

/// Transfers ownership of a result to the caller; its deleter frees it.
pub(super) fn into_managed(array: Array) -> *mut Managed {
    let shape: Vec<i64> = array.shape().iter().map(|n| *n as i64).collect();
    let strides = with_array!(&array, a => a.strides().iter().map(|n| *n as i64).collect::<Vec<_>>());
    let dl_tensor = Tensor {
        data: ptr::null_mut(),
        device: Tensor::HERE,
        ndim: shape.len() as i32,
        dtype: data_type(array.dtype()),
        shape: ptr::null_mut(),
        strides: ptr::null_mut(),
        byte_offset: 0,
    };
    let managed = Managed {
        version: Version { major: 1, minor: 0 },
        manager_ctx: ptr::null_mut(),
        deleter: Some(delete),
        flags: 0,
        dl_tensor,
    };
    let owned = Box::into_raw(Box::new(Owned { managed, array, shape, strides }));
    // SAFETY: the allocation is new and has no other references.
    let all = unsafe { &mut *owned };
    let tensor = &mut all.managed.dl_tensor;
    (tensor.shape, tensor.strides) = (all.shape.as_mut_ptr(), all.strides.as_mut_ptr());
    if !all.shape.contains(&0) {
        tensor.data = with_array!(&mut all.array, a => a.as_mut_ptr().cast());
    }
    owned.cast()
}

/// Frees a result; this is the `deleter` of [`Managed`].
///
/// # Safety
/// `managed` is NULL, or came from [`into_managed`] and is not used any more.
unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: `managed` is the first field of the allocation of `into_managed`, so both have the same address.
    unsafe { free(managed.cast::<Owned>()) };
}

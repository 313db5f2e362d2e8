//! Allocates and recycles the headers of tensors.
//!
//! Views live only for a part of a call. So each thread keeps a few headers for reuse, and a call of a program with views
//! allocates nothing.

use precast_abi::tensor::{MAX_NDIM, Object, Tensor, Type};
use std::cell::RefCell;
use std::ptr;

/// A tensor header with room for its extents and strides.
#[repr(C)]
pub(crate) struct Header {
    pub(crate) tensor: Tensor,
    pub(crate) shape: [i64; MAX_NDIM],
    pub(crate) strides: [i64; MAX_NDIM],
}

/// Maximum number of headers that a thread keeps.
const KEPT: usize = 32;

thread_local! {
    #[expect(clippy::vec_box, reason = "headers have addresses that tensors point to")]
    static IDLE: RefCell<Vec<Box<Header>>> = const { RefCell::new(Vec::new()) };
}

impl Header {
    /// Creates an empty header on the heap, which points to its own extents and strides.
    pub(crate) fn new(ty: &'static Type) -> Box<Self> {
        let idle = IDLE.try_with(|idle| idle.borrow_mut().pop()).ok().flatten();
        let mut header = idle.unwrap_or_else(|| {
            Box::new(Self { tensor: empty(ty), shape: [0; MAX_NDIM], strides: [0; MAX_NDIM] })
        });
        header.tensor = empty(ty);
        header.tensor.shape = header.shape.as_ptr();
        header.tensor.strides = header.strides.as_ptr();
        header
    }

    /// Keeps an unreferenced header for reuse.
    pub(crate) fn recycle(self: Box<Self>) {
        // A thread that is ending keeps none.
        let _ = IDLE.try_with(|idle| {
            let mut idle = idle.borrow_mut();
            if idle.len() < KEPT {
                idle.push(self);
            }
        });
    }

    /// Converts the header to a tensor that the caller owns.
    pub(crate) fn into_raw(self: Box<Self>) -> *mut Tensor {
        Box::into_raw(self).cast()
    }

    /// Sets extents and C-contiguous strides. Returns the number of elements, or `None` on overflow or too many dimensions.
    pub(crate) fn contiguous(&mut self, itemsize_bytes: usize, shape: &[i64]) -> Option<usize> {
        self.tensor.ndim = i32::try_from(shape.len()).ok().filter(|n| *n <= MAX_NDIM as i32)?;
        let mut step = i64::try_from(itemsize_bytes).ok()?;
        let mut elements = 1_i64;
        for (axis, extent) in shape.iter().enumerate().rev() {
            if *extent < 0 {
                return None;
            }
            self.shape[axis] = *extent;
            self.strides[axis] = step;
            step = step.checked_mul((*extent).max(1))?;
            elements = elements.checked_mul(*extent)?;
        }
        usize::try_from(elements).ok()
    }
}

fn empty(ty: &'static Type) -> Tensor {
    Tensor {
        object: Object { refcount: 1, ty },
        data: ptr::null_mut(),
        dtype: 0,
        ndim: 0,
        shape: ptr::null(),
        strides: ptr::null(),
        flags: 0,
        reserved: 0,
        owner: ptr::null_mut(),
        capacity_bytes: 0,
    }
}

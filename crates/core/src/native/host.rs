//! The services of the host: what `pc_host` points to.
//!
//! Panics never cross C: every service is `extern "C"`, which aborts rather than unwinds; none is expected to panic.

use super::object::{new_tensor, new_view};
use crate::DType;
use ndarray::{ArrayView, ArrayViewMut, Ix2, ShapeBuilder as _};
use precast_abi::context::{Context, Driver, Error, ErrorKind, Host};
use precast_abi::tensor::{MAX_NDIM, Tensor};
use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

unsafe extern "C" {
    /// C's own; modules hand it the `va_list` that they made.
    fn vsnprintf(to: *mut c_char, bytes: usize, format: *const c_char, args: *mut c_void) -> c_int;

    /// The drivers of `precast-ops`, `c/drivers.c`.
    pub(super) fn pc_driver_elemwise(
        ctx: *mut Context,
        op: *const c_void,
        operands: *const *mut Tensor,
        out: *mut *mut Tensor,
    ) -> c_int;
    pub(super) fn pc_driver_reduce(
        ctx: *mut Context,
        op: *const c_void,
        operands: *const *mut Tensor,
        out: *mut *mut Tensor,
    ) -> c_int;
    pub(super) fn pc_driver_rows(
        ctx: *mut Context,
        op: *const c_void,
        operands: *const *mut Tensor,
        out: *mut *mut Tensor,
    ) -> c_int;
}

/// The version of the C library, `2.36`, where it has one to tell.
#[cfg(target_env = "gnu")]
pub fn libc_version() -> Option<String> {
    unsafe extern "C" {
        fn gnu_get_libc_version() -> *const c_char;
    }
    // SAFETY: glibc's function takes nothing and gives a string that lives for ever.
    let version = unsafe { gnu_get_libc_version() };
    // SAFETY: as above; the string ends with a NUL.
    let version = unsafe { std::ffi::CStr::from_ptr(version) };
    version.to_str().ok().map(str::to_owned)
}

/// The version of the C library, where it has one to tell.
#[cfg(not(target_env = "gnu"))]
pub fn libc_version() -> Option<String> {
    None
}

/// The host of every call.
pub(super) static HOST: Host = host(pc_driver_elemwise, pc_driver_reduce, pc_driver_rows);

/// A host with these drivers.
pub(super) const fn host(elemwise: Driver, reduce: Driver, rows: Driver) -> Host {
    Host {
        abi_version: precast_abi::ABI_VERSION,
        struct_bytes: size_of::<Host>() as u32,
        tensor_new,
        tensor_view,
        alloc: host_alloc,
        release: host_release,
        format: vsnprintf as *const c_void,
        gemm,
        elemwise,
        reduce,
        rows,
    }
}

/// The host of every call, for contexts that are made field by field.
#[must_use]
#[inline]
pub const fn here() -> *const Host {
    ptr::from_ref(&HOST)
}

/// A context for one call, with an empty error slot.
pub(super) const fn context() -> Context {
    context_of(&HOST)
}

/// A context for one call on some host.
pub(super) const fn context_of(host: &'static Host) -> Context {
    Context { host: ptr::from_ref(host), error: Error::NONE }
}

/// Puts an error into the slot of a context.
///
/// # Safety
/// `ctx` is the context of the running call.
pub(super) unsafe fn set_error(ctx: *mut Context, kind: ErrorKind, message: &str) {
    // SAFETY: the module was given this context for the length of the call, on this thread.
    let ctx = unsafe { &mut *ctx };
    ctx.error.set(kind, message);
}

/// The `n` numbers at `values`; none for 0, where C may pass NULL.
///
/// # Safety
/// `values` points at `n` numbers that stay unchanged during the call.
pub(super) unsafe fn numbers<'a>(values: *const i64, n: usize) -> &'a [i64] {
    if n == 0 {
        return &[];
    }
    // SAFETY: as promised by the caller.
    unsafe { std::slice::from_raw_parts(values, n) }
}

pub(super) fn rank(ndim: i32) -> Option<usize> {
    usize::try_from(ndim).ok().filter(|n| *n <= MAX_NDIM)
}

unsafe extern "C" fn tensor_new(ctx: *mut Context, dtype: i32, ndim: i32, shape: *const i64) -> *mut Tensor {
    let Some(n) = rank(ndim) else {
        // SAFETY: a module passes the context of its call.
        unsafe { set_error(ctx, ErrorKind::Value, "a tensor of too many dimensions was asked for") };
        return ptr::null_mut();
    };
    // SAFETY: the header promises `ndim` extents.
    let shape = unsafe { numbers(shape, n) };
    match new_tensor(dtype, shape) {
        Ok(tensor) => tensor,
        Err((kind, message)) => {
            // SAFETY: a module passes the context of its call.
            unsafe { set_error(ctx, kind, &message) };
            ptr::null_mut()
        }
    }
}

unsafe extern "C" fn tensor_view(
    ctx: *mut Context,
    base: *mut Tensor,
    ndim: i32,
    shape: *const i64,
    strides: *const i64,
    data: *mut c_char,
) -> *mut Tensor {
    let Some(n) = rank(ndim) else {
        // SAFETY: a module passes the context of its call.
        unsafe { set_error(ctx, ErrorKind::Value, "a view of too many dimensions was asked for") };
        return ptr::null_mut();
    };
    // SAFETY: the header promises `ndim` extents.
    let shape = unsafe { numbers(shape, n) };
    // SAFETY: the header promises `ndim` strides.
    let strides = unsafe { numbers(strides, n) };
    // SAFETY: `base` is a live tensor of this call; what the view describes is the module's claim.
    unsafe { new_view(base, shape, strides, data) }
}

/// Bytes before a block, that hold its size; keeps the block aligned.
const BLOCK_HEAD: usize = 64;

pub(super) unsafe extern "C" fn host_alloc(ctx: *mut Context, bytes: usize) -> *mut c_void {
    let layout = bytes.checked_add(BLOCK_HEAD).and_then(|all| Layout::from_size_align(all, BLOCK_HEAD).ok());
    // SAFETY: the layout has a positive size.
    let block = layout.map_or(ptr::null_mut(), |layout| unsafe { alloc(layout) });
    if block.is_null() {
        // SAFETY: a module passes the context of its call.
        unsafe { set_error(ctx, ErrorKind::Memory, &format!("cannot allocate {bytes} bytes")) };
        return ptr::null_mut();
    }
    // SAFETY: the block starts with at least 64 bytes, aligned to 64.
    unsafe { block.cast::<usize>().write(bytes) };
    // SAFETY: the block is `bytes + 64` bytes long.
    unsafe { block.add(BLOCK_HEAD).cast() }
}

pub(super) unsafe extern "C" fn host_release(_ctx: *mut Context, memory: *mut c_void) {
    if memory.is_null() {
        return;
    }
    // SAFETY: `memory` came from `host_alloc`, which put the head before it.
    let block = unsafe { memory.cast::<u8>().sub(BLOCK_HEAD) };
    // SAFETY: `host_alloc` wrote the size at the start of the block.
    let bytes = unsafe { block.cast::<usize>().read() };
    // SAFETY: `host_alloc` made this very layout.
    let layout = unsafe { Layout::from_size_align_unchecked(bytes + BLOCK_HEAD, BLOCK_HEAD) };
    // SAFETY: the block was allocated with this layout and is given back once.
    unsafe { dealloc(block, layout) };
}

/// One matrix of a product: first element, extents, strides in bytes.
struct Matrix {
    data: *mut c_char,
    shape: [i64; 2],
    strides: [i64; 2],
}

/// A matrix as ndarray takes it: lowest address, extents, non-negative strides in elements, which axes were turned round.
struct NdMatrix<T> {
    data: *mut T,
    shape: [usize; 2],
    strides: [usize; 2],
    turned: [bool; 2],
}

impl Matrix {
    fn as_ndarray<T>(&self) -> Option<NdMatrix<T>> {
        let mut data = self.data.cast::<T>();
        let (mut shape, mut strides, mut turned) = ([0; 2], [0; 2], [false; 2]);
        for axis in 0..2 {
            shape[axis] = usize::try_from(self.shape[axis]).ok()?;
            let step = self.strides[axis];
            if step % size_of::<T>() as i64 != 0 {
                return None;
            }
            let step = isize::try_from(step / size_of::<T>() as i64).ok()?;
            if step < 0 && shape[axis] > 0 {
                // SAFETY: the last element along this axis is one of the matrix.
                data = unsafe { data.offset(step * (shape[axis].cast_signed() - 1)) };
                turned[axis] = true;
            }
            strides[axis] = step.unsigned_abs();
        }
        Some(NdMatrix { data, shape, strides, turned })
    }
}

/// `c = a . b` for one dtype; `None` if a stride is not a whole number of elements.
///
/// # Safety
/// The matrices are live memory of `T`; `c` does not overlap the others.
unsafe fn product<T: ndarray::LinalgScalar>(a: &Matrix, b: &Matrix, c: &Matrix) -> Option<()> {
    if c.shape.contains(&0) {
        return Some(());
    }
    let (a, b, c) = (a.as_ndarray::<T>()?, b.as_ndarray::<T>()?, c.as_ndarray::<T>()?);
    let empty = a.shape.contains(&0);
    let view = |matrix: &NdMatrix<T>| {
        let layout = Ix2(matrix.shape[0], matrix.shape[1]).strides(Ix2(matrix.strides[0], matrix.strides[1]));
        let data = if empty { [].as_ptr() } else { matrix.data.cast_const() };
        // SAFETY: the caller promises live memory; an empty matrix is never read.
        let mut view = unsafe { ArrayView::<T, Ix2>::from_shape_ptr(layout, data) };
        (0..2).filter(|axis| matrix.turned[*axis]).for_each(|axis| view.invert_axis(ndarray::Axis(axis)));
        view
    };
    let layout = Ix2(c.shape[0], c.shape[1]).strides(Ix2(c.strides[0], c.strides[1]));
    // SAFETY: the caller promises live memory that overlaps neither `a` nor `b`.
    let mut out = unsafe { ArrayViewMut::<T, Ix2>::from_shape_ptr(layout, c.data) };
    (0..2).filter(|axis| c.turned[*axis]).for_each(|axis| out.invert_axis(ndarray::Axis(axis)));
    super::matmul(&view(&a), &view(&b), &mut out);
    Some(())
}

pub(super) unsafe extern "C" fn gemm(
    ctx: *mut Context,
    dtype: i32,
    m: i64,
    n: i64,
    k: i64,
    a: *const c_char,
    a_row: i64,
    a_col: i64,
    b: *const c_char,
    b_row: i64,
    b_col: i64,
    c: *mut c_char,
    c_row: i64,
    c_col: i64,
) -> c_int {
    let a = Matrix { data: a.cast_mut(), shape: [m, k], strides: [a_row, a_col] };
    let b = Matrix { data: b.cast_mut(), shape: [k, n], strides: [b_row, b_col] };
    let c = Matrix { data: c, shape: [m, n], strides: [c_row, c_col] };
    let done = match DType::from_typenum(dtype) {
        // SAFETY: the header promises live matrices of this dtype, and that `c` does not overlap.
        Some(DType::F32) => unsafe { product::<f32>(&a, &b, &c) },
        // SAFETY: as above.
        Some(DType::F64) => unsafe { product::<f64>(&a, &b, &c) },
        _ => None,
    };
    if done.is_none() {
        // SAFETY: a module passes the context of its call.
        unsafe {
            set_error(ctx, ErrorKind::Type, "gemm: expected matrices of f32 or f64 with whole strides");
        };
        return -1;
    }
    0
}

//! The host of modules: its services, which `pc_host` points to, and the state that modules rely on.
//!
//! ```text
//! (here)  new tensors, views, memory, formatting, drivers, matrix products
//! cancel  ends the loops of running calls
//! floats  the default floating-point environment, whatever the calling thread has set
//! exit    functions that run at the normal end of the process
//! limit   the maximum size of files that this process writes
//! ```
//! Panics never cross C. The program's own threads may panic while they share the work of products and loops. Such a panic
//! becomes an error of the call. The other services use checked arithmetic and allocation and do not panic; `extern "C"`
//! would abort the program.

mod cancel;
mod exit;
mod floats;
mod limit;
mod plan;

pub use cancel::{CANCELLED, Cancel, cancellable, is_cancelled};
pub use exit::at_exit;
pub use floats::DefaultFloats;
#[cfg(feature = "watch")]
pub use floats::OtherFloats;
pub(crate) use limit::file_size_limit;
pub use plan::LoopPlan;

use crate::DType;
use crate::cpu;
use crate::native::kernels::{Matrix, multiply, multiply_stack};
use crate::native::memory::object::{new_tensor, new_view};
use precast_abi::context::{Context, Driver, Error, ErrorKind, Host};
use precast_abi::tensor::{MAX_NDIM, Object, Tensor};
use std::alloc::{Layout, alloc, dealloc};
use std::any::Any;
use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Once;

unsafe extern "C" {
    /// From the C library. Modules pass their own `va_list` to it.
    fn vsnprintf(to: *mut c_char, bytes: usize, format: *const c_char, args: *mut c_void) -> c_int;

    /// The drivers, from `c/drivers.c` of this crate.
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
    /// Sets the level of the copies of the drivers: 0, 1 for x86-64-v3, or 2 for x86-64-v4.
    fn pc_driver_use_level(level: i32);
    fn pc_driver_frame(
        ctx: *mut Context,
        frame: *const c_void,
        self_: *mut c_void,
        args: *mut *mut Object,
        variables: *mut *mut Tensor,
    ) -> c_int;
    /// Written in C, because it is variadic.
    fn pc_driver_error_format(ctx: *mut Context, kind: i32, format: *const c_char, ...);
}

/// Returns the version of the C library, such as `2.36`, if known.
#[cfg(target_env = "gnu")]
pub fn libc_version() -> Option<String> {
    unsafe extern "C" {
        fn gnu_get_libc_version() -> *const c_char;
    }
    // SAFETY: glibc's function has no arguments and returns a static string.
    let version = unsafe { gnu_get_libc_version() };
    // SAFETY: as above; the string ends with a NUL.
    let version = unsafe { std::ffi::CStr::from_ptr(version) };
    version.to_str().ok().map(str::to_owned)
}

/// Returns the version of the C library, if known.
#[cfg(not(target_env = "gnu"))]
pub fn libc_version() -> Option<String> {
    None
}

/// Lets the drivers use what this CPU has, and the limit allows. Results do not depend on it: drivers only copy.
pub(super) fn prepare_drivers() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        // SAFETY: the CPU has the level. The function stores an address.
        unsafe { pc_driver_use_level(cpu::kernels()) };
    });
}

/// The host of normal calls.
pub(super) static HOST: Host = host(pc_driver_elemwise, pc_driver_reduce, pc_driver_rows);

/// Creates a host with these drivers.
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
        error_format: pc_driver_error_format as *const c_void,
        parallel: crate::native::threads::parallel,
        gemms,
        frame: pc_driver_frame,
        cancelled: cancel::cancelled,
    }
}

/// Returns the host of normal calls, for contexts that are built field by field.
#[must_use]
#[inline]
pub const fn here() -> *const Host {
    ptr::from_ref(&HOST)
}

/// Creates a context for one call, without an error.
pub(super) const fn context() -> Context {
    context_of(&HOST)
}

/// Creates a context for one call on a given host.
pub(super) const fn context_of(host: &'static Host) -> Context {
    Context { host: ptr::from_ref(host), error: Error::NONE }
}

/// Stores an error in a context.
///
/// # Safety
/// `ctx` is the context of the running call.
pub(super) unsafe fn set_error(ctx: *mut Context, kind: ErrorKind, message: &str) {
    // SAFETY: the module got this context for the duration of the call, on this thread.
    let ctx = unsafe { &mut *ctx };
    ctx.error.set(kind, message);
}

/// Returns the result of a service. If it panics, sets an error in the context and returns `None`.
///
/// # Safety
/// `ctx` is the context of the running call.
pub(super) unsafe fn guarded<R>(ctx: *mut Context, service: impl FnOnce() -> R) -> Option<R> {
    let failed = |panic: Box<dyn Any + Send>| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let message = format!("a helper thread panicked: {}", text.unwrap_or("no message"));
        // SAFETY: as promised by the caller.
        unsafe { set_error(ctx, ErrorKind::Runtime, &message) };
    };
    catch_unwind(AssertUnwindSafe(service)).map_err(failed).ok()
}

/// Returns the `n` numbers at `values`, or an empty slice for `n == 0`, where C may pass NULL.
///
/// # Safety
/// `values` points to `n` numbers that stay unchanged during the call.
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
        unsafe { set_error(ctx, ErrorKind::Value, "a tensor with too many dimensions was requested") };
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
        unsafe { set_error(ctx, ErrorKind::Value, "a view with too many dimensions was requested") };
        return ptr::null_mut();
    };
    // SAFETY: the header promises `ndim` extents.
    let shape = unsafe { numbers(shape, n) };
    // SAFETY: the header promises `ndim` strides.
    let strides = unsafe { numbers(strides, n) };
    // SAFETY: `base` is a live tensor of this call; the module guarantees the description of the view.
    unsafe { new_view(base, shape, strides, data) }
}

/// Bytes before a block that hold its size and keep it aligned.
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
    // SAFETY: `memory` was returned by `host_alloc`, after the head.
    let block = unsafe { memory.cast::<u8>().sub(BLOCK_HEAD) };
    // SAFETY: `host_alloc` wrote the size at the start of the block.
    let bytes = unsafe { block.cast::<usize>().read() };
    // SAFETY: `host_alloc` created this same layout.
    let layout = unsafe { Layout::from_size_align_unchecked(bytes + BLOCK_HEAD, BLOCK_HEAD) };
    // SAFETY: the block was allocated with this layout and is freed once.
    unsafe { dealloc(block, layout) };
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
    let a = Matrix { data: a.cast(), row: a_row, column: a_col, stack: 0 };
    let b = Matrix { data: b.cast(), row: b_row, column: b_col, stack: 0 };
    let c = Matrix { data: c.cast(), row: c_row, column: c_col, stack: 0 };
    // SAFETY: the header promises live matrices of this dtype, and that `c` does not overlap.
    let product = |dtype| unsafe { multiply(dtype, [m, n, k], a, b, c) };
    // SAFETY: a module passes the context of its call.
    unsafe { multiplied(ctx, dtype, product) }
}

pub(super) unsafe extern "C" fn gemms(
    ctx: *mut Context,
    dtype: i32,
    extents: *const i64,
    a: *const c_char,
    a_steps: *const i64,
    b: *const c_char,
    b_steps: *const i64,
    c: *mut c_char,
    c_steps: *const i64,
) -> c_int {
    // SAFETY: the header promises four extents.
    let [count, m, n, k] = unsafe { *extents.cast::<[i64; 4]>() };
    // SAFETY: the header promises three steps of each operand.
    let [a_steps, b_steps, c_steps] =
        unsafe { [a_steps, b_steps, c_steps].map(|steps| *steps.cast::<[i64; 3]>()) };
    let a = Matrix { data: a.cast(), row: a_steps[1], column: a_steps[2], stack: a_steps[0] };
    let b = Matrix { data: b.cast(), row: b_steps[1], column: b_steps[2], stack: b_steps[0] };
    let c = Matrix { data: c.cast(), row: c_steps[1], column: c_steps[2], stack: c_steps[0] };
    // SAFETY: as in `gemm`, of each product.
    let products = |dtype| unsafe { multiply_stack(dtype, (count, [m, n, k]), a, b, c) };
    // SAFETY: a module passes the context of its call.
    unsafe { multiplied(ctx, dtype, products) }
}

/// Computes products of a dtype. Returns 0, or -1 with an error in the context.
///
/// # Safety
/// `ctx` is the context of the running call.
unsafe fn multiplied(ctx: *mut Context, dtype: i32, products: impl FnOnce(DType) -> Option<()>) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { guarded(ctx, || DType::from_typenum(dtype).and_then(products)) } {
        Some(Some(())) => return 0,
        Some(None) => {}
        None => return -1,
    }
    let expected = "gemm: expected matrices of floats or complex numbers with whole strides";
    // SAFETY: the caller's promise.
    unsafe { set_error(ctx, ErrorKind::Type, expected) };
    -1
}

//! Products of matrices of floats and complex numbers: one function for `perform` and for the host that modules call, so both
//! have its bits. The work is C's, `c/product/`: kernels for each level of instructions, and how matrices are cut into blocks.
//!
//! ```text
//! one column or one row   each result a sum over 8 lanes, then a tree over the lanes: the same bits at every level
//! else                    each result a chain over k, added up by blocks of 256: two classes of CPU
//! ```
//! The classes are those that round a multiplication and its addition once (x86-64-v3 and above, aarch64) and those that
//! round twice. Neither the layout of an operand nor the number of threads shows in the bits.

use super::threads;
use crate::value::{DType, Element};
use crate::{Complex, cpu};
use ndarray::{ArrayView2, ArrayViewMut2};
use std::cell::RefCell;
use std::ffi::c_void;
use std::iter;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;

/// `pc_product` of `c/product/product.h`: extents and steps count reals, of which a complex element has two.
#[repr(C)]
struct Reals {
    extents: [i64; 3],
    a: *const c_void,
    b: *const c_void,
    c: *mut c_void,
    steps: [i64; 6],
    parts: i32,
    scratch: *mut c_void,
}

unsafe extern "C" {
    fn pc_product_scratch(product: *const Reals, real_bytes: i32) -> usize;
    fn pc_product_run(product: *const Reals, real_bytes: i32, level: i32);
}

/// A type whose matrices can be multiplied.
pub trait Factor: Element {}
impl Factor for f32 {}
impl Factor for f64 {}
impl Factor for Complex<f32> {}
impl Factor for Complex<f64> {}

/// A matrix of a product: first element, and the steps between rows and columns in bytes.
#[derive(Clone, Copy)]
pub(super) struct Matrix<P> {
    pub(super) data: P,
    pub(super) row: i64,
    pub(super) column: i64,
}

/// Reals of an element, and their bytes; `None` for what is no [`Factor`].
const fn reals(dtype: DType) -> Option<(i32, i32)> {
    match dtype {
        DType::F32 => Some((1, 4)),
        DType::F64 => Some((1, 8)),
        DType::C64 => Some((2, 4)),
        DType::C128 => Some((2, 8)),
        _ => None,
    }
}

/// Writes `a . b` to `c`, of extents `m`, `n` and `k`; `None` if the dtype is no [`Factor`]'s, or a step no whole number of
/// elements.
///
/// # Safety
/// The matrices are live memory of these extents, and `c` overlaps neither `a` nor `b`.
pub(super) unsafe fn multiply(
    dtype: DType,
    [m, n, k]: [i64; 3],
    a: Matrix<*const c_void>,
    b: Matrix<*const c_void>,
    c: Matrix<*mut c_void>,
) -> Option<()> {
    // SAFETY: as promised by the caller; this CPU has its level.
    unsafe { multiply_by(level(), dtype, [m, n, k], a, b, c) }
}

/// [`multiply`], by the instructions of a level.
///
/// # Safety
/// As there, and the CPU has them.
unsafe fn multiply_by(
    level: i32,
    dtype: DType,
    [m, n, k]: [i64; 3],
    a: Matrix<*const c_void>,
    b: Matrix<*const c_void>,
    c: Matrix<*mut c_void>,
) -> Option<()> {
    let (parts, real_bytes) = reals(dtype)?;
    let steps = [a.row, a.column, b.row, b.column, c.row, c.column];
    if steps.iter().any(|step| step % i64::from(parts * real_bytes) != 0) {
        return None;
    }
    let steps = steps.map(|step| step / i64::from(real_bytes));
    let extents = [m, n * i64::from(parts), k * i64::from(parts)];
    let whole = Reals { extents, a: a.data, b: b.data, c: c.data, steps, parts, scratch: ptr::null_mut() };
    let cut = Cut::new([m, n, k]);
    let shared = Shared { whole, cut, real_bytes, level };
    let work = |first, end| {
        // SAFETY: as promised by the caller.
        unsafe { shared.run(first, end) };
        Ok(())
    };
    let done = match cut.grain {
        0 => work(0, cut.units),
        grain => threads::share(cut.units, grain, &work),
    };
    done.ok()
}

/// Rows or columns of a product, each of which is computed by itself, in units that threads take.
#[derive(Clone, Copy)]
struct Cut {
    by_rows: bool,
    units: i64,
    /// Units that a thread takes at least; 0: the product is not worth a second thread.
    grain: i64,
}

impl Cut {
    /// Rows or columns of a unit, but for the last, which has the rest too: whole tiles at every level, and never one alone, which
    /// would be a product with a vector, another sum.
    const UNIT: i64 = 48;
    /// Multiplications that are worth a thread.
    const WORTH: i64 = 1 << 18;

    /// Cuts along what is longer.
    fn new([m, n, k]: [i64; 3]) -> Self {
        let by_rows = m >= n;
        let (extent, other) = if by_rows { (m, n) } else { (n, m) };
        let units = (extent / Self::UNIT).max(1);
        let grain = Self::WORTH / (Self::UNIT * other.max(1)).saturating_mul(k.max(1)) + 1;
        Self { by_rows, units, grain: if units < 2 * grain { 0 } else { grain } }
    }
}

/// A product, and what threads need to take parts of it.
struct Shared {
    whole: Reals,
    cut: Cut,
    real_bytes: i32,
    level: i32,
}

// SAFETY: threads read the operands, and each writes rows or columns of its own.
unsafe impl Sync for Shared {}

impl Shared {
    /// Multiplies the rows or columns of units `first .. end`.
    ///
    /// # Safety
    /// As [`multiply_by`].
    unsafe fn run(&self, first: i64, end: i64) {
        let Reals { mut extents, mut a, mut b, mut c, steps, parts, .. } = self.whole;
        let from = first * Cut::UNIT;
        let at = |matrix: *const c_void, step: i64| {
            matrix.wrapping_byte_offset((from * step * i64::from(self.real_bytes)) as isize)
        };
        let (axis, parts_of_one) = if self.cut.by_rows { (0, 1) } else { (1, i64::from(parts)) };
        let to = if end == self.cut.units { extents[axis] / parts_of_one } else { end * Cut::UNIT };
        extents[axis] = (to - from) * parts_of_one;
        if self.cut.by_rows {
            (a, c) = (at(a, steps[0]), at(c, steps[4]).cast_mut());
        } else {
            (b, c) = (at(b, steps[3]), at(c, steps[5]).cast_mut());
        }
        let mut product = Reals { extents, a, b, c, steps, parts, scratch: ptr::null_mut() };
        // SAFETY: it reads the description alone.
        let bytes = unsafe { pc_product_scratch(&raw const product, self.real_bytes) };
        with_scratch(bytes, |scratch| {
            product.scratch = scratch;
            // SAFETY: the matrices are as the caller promises, the scratch as long as C says, and the level one of this CPU.
            unsafe { pc_product_run(&raw const product, self.real_bytes, self.level) }
        });
    }
}

/// The level of `c/product.c` whose instructions may be used: that of the host, or the nearest below it that has kernels.
fn level() -> i32 {
    static THIS: OnceLock<i32> = OnceLock::new();
    *THIS.get_or_init(|| {
        let kernels = |level: &cpu::Level| match level.name {
            "x86-64-v3" => Some(1),
            "x86-64-v4" => Some(2),
            _ => None,
        };
        iter::successors(cpu::level(), |level| level.below).find_map(kernels).unwrap_or(0)
    })
}

/// What scratch memory is made of.
#[repr(C, align(64))]
struct Line([MaybeUninit<u8>; 64]);

/// Calls with at least so many bytes, aligned to 64. What the largest product needs, 2.3 MiB, stays with the thread: copies of
/// operands in fresh pages would cost as much as a product of 100×100.
fn with_scratch(bytes: usize, call: impl FnOnce(*mut c_void)) {
    thread_local! {
        static SCRATCH: RefCell<Vec<Line>> = const { RefCell::new(Vec::new()) };
    }
    if bytes == 0 {
        return call(ptr::null_mut());
    }
    // A thread that ends has none any more.
    let mut lines = SCRATCH.try_with(RefCell::take).unwrap_or_default();
    lines.reserve(bytes.div_ceil(size_of::<Line>()));
    call(lines.as_mut_ptr().cast());
    let _ = SCRATCH.try_with(|scratch| scratch.replace(lines));
}

/// Writes `a . b` to `c`.
///
/// # Panics
/// Shapes that do not fit.
pub fn matmul<T: Factor>(a: &ArrayView2<'_, T>, b: &ArrayView2<'_, T>, c: &mut ArrayViewMut2<'_, T>) {
    assert!(a.ncols() == b.nrows() && c.dim() == (a.nrows(), b.ncols()), "shapes of a product");
    let extents = [a.nrows(), b.ncols(), a.ncols()].map(|extent| extent.cast_signed() as i64);
    let c = matrix(c.as_mut_ptr().cast(), c.strides(), size_of::<T>());
    let (a, b) = (
        matrix(a.as_ptr().cast(), a.strides(), size_of::<T>()),
        matrix(b.as_ptr().cast(), b.strides(), size_of::<T>()),
    );
    // SAFETY: views are live memory of their extents, and nothing else refers to what may be written.
    let done = unsafe { multiply(T::DTYPE, extents, a, b, c) };
    debug_assert!(done.is_some(), "a factor, whose steps are whole");
}

fn matrix<P>(data: P, strides: &[isize], item: usize) -> Matrix<P> {
    let step = |axis: usize| (strides[axis] * item.cast_signed()) as i64;
    Matrix { data, row: step(0), column: step(1) }
}

#[cfg(test)]
mod tests;

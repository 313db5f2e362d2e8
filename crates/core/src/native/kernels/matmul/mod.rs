//! Matrix products of floats and complex numbers. `perform` and the host that modules call use the same function, so both
//! return the same bits. The C code in `c/product/` does the work: it has kernels for each ISA level and divides matrices
//! into blocks.
//!
//! ```text
//! one column or one row   each result is a sum over 8 lanes, then a tree over the lanes: the same bits at every level
//! otherwise               each result is a chain over k, added up by blocks of 256: two classes of CPU
//! ```
//! One class rounds a multiplication and its addition once (x86-64-v3 and above, aarch64), the other rounds twice. Neither
//! the layout of an operand nor the number of threads changes the bits.

use crate::native::host::DefaultFloats;
use crate::native::threads;
use crate::value::{DType, Element};
use crate::{Complex, cpu};
use ndarray::{ArrayView2, ArrayViewMut2};
use std::cell::RefCell;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

/// `pc_product` of `c/product/product.h`. Extents and steps count reals; a complex element has two.
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
    fn pc_product_stack(
        product: *const Reals,
        real_bytes: i32,
        level: i32,
        count: i64,
        steps_bytes: *const [i64; 3],
    );
}

/// An element type whose matrices can be multiplied.
pub trait Factor: Element {}
impl Factor for f32 {}
impl Factor for f64 {}
impl Factor for Complex<f32> {}
impl Factor for Complex<f64> {}

/// A matrix of a product: the first element, and the strides between rows and columns in bytes. For a stack, also the
/// stride between matrices.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<P> {
    pub(crate) data: P,
    pub(crate) row: i64,
    pub(crate) column: i64,
    pub(crate) stack: i64,
}

/// Returns the number of reals in an element and their size in bytes, or `None` for a dtype that is not a [`Factor`].
const fn reals(dtype: DType) -> Option<(i32, i32)> {
    match dtype {
        DType::F32 => Some((1, 4)),
        DType::F64 => Some((1, 8)),
        DType::C64 => Some((2, 4)),
        DType::C128 => Some((2, 8)),
        _ => None,
    }
}

/// Writes `a . b` to `c`, with extents `m`, `n` and `k`. Returns `None` if the dtype is not a [`Factor`], or a stride is
/// not a whole number of elements.
///
/// # Safety
/// The matrices are live memory of these extents, and `c` overlaps neither `a` nor `b`.
pub(crate) unsafe fn multiply(
    dtype: DType,
    extents: [i64; 3],
    a: Matrix<*const c_void>,
    b: Matrix<*const c_void>,
    c: Matrix<*mut c_void>,
) -> Option<()> {
    // SAFETY: as promised by the caller; this CPU has its level.
    unsafe { multiply_by(cpu::kernels(), dtype, (1, extents), a, b, c) }
}

/// Computes `count` products; see [`multiply`].
///
/// # Safety
/// As for [`multiply`], for each product.
pub(crate) unsafe fn multiply_stack(
    dtype: DType,
    (count, extents): (i64, [i64; 3]),
    a: Matrix<*const c_void>,
    b: Matrix<*const c_void>,
    c: Matrix<*mut c_void>,
) -> Option<()> {
    // SAFETY: as promised by the caller; this CPU has its level.
    unsafe { multiply_by(cpu::kernels(), dtype, (count, extents), a, b, c) }
}

/// Computes [`multiply_stack`] with the instructions of a level.
///
/// # Safety
/// As for [`multiply_stack`], and the CPU has these instructions.
unsafe fn multiply_by(
    level: i32,
    dtype: DType,
    (count, [m, n, k]): (i64, [i64; 3]),
    a: Matrix<*const c_void>,
    b: Matrix<*const c_void>,
    c: Matrix<*mut c_void>,
) -> Option<()> {
    let (parts, real_bytes) = reals(dtype)?;
    let steps = [a.row, a.column, b.row, b.column, c.row, c.column];
    // Both are powers of two.
    let (real, element) = (i64::from(real_bytes), i64::from(parts * real_bytes));
    if steps.iter().any(|step| step & (element - 1) != 0) {
        return None;
    }
    let steps = steps.map(|step| step >> real.trailing_zeros());
    let extents = [m, n * i64::from(parts), k * i64::from(parts)];
    let whole = Reals { extents, a: a.data, b: b.data, c: c.data, steps, parts, scratch: ptr::null_mut() };
    let cut = Cut::new([m, n, k], i64::from(parts * parts * real_bytes));
    let shared = Shared { whole, cut, stack: [a.stack, b.stack, c.stack], real_bytes, level };
    if cut.grain == 0 {
        let work = |first, end| {
            // SAFETY: as promised by the caller.
            unsafe { shared.run_whole(first, end) };
            Ok(())
        };
        let grain = Cut::WORTH_SMALL / m.saturating_mul(n).saturating_mul(k).max(1) + 1;
        let is_cut = count >= 2 * grain;
        return if is_cut { threads::share(count, grain, &work) } else { work(0, count) }.ok();
    }
    for i in 0..count {
        let work = |first, end| {
            // SAFETY: as promised by the caller.
            unsafe { shared.run(i, first, end) };
            Ok(())
        };
        threads::share_in(cut.ranges, cut.units, cut.grain, &work).ok()?;
    }
    Some(())
}

/// The division of a product into rows or columns, which are computed independently, in units for threads.
#[derive(Clone, Copy)]
struct Cut {
    by_rows: bool,
    /// Rows or columns of a unit: whole tiles at every level. The last unit also has the rest. A unit is never a single row
    /// or column, because a product with a vector is summed in another order.
    unit: i64,
    units: i64,
    /// Minimum number of units for a thread; 0 if the product is too small for a second thread.
    grain: i64,
    /// Maximum number of ranges for a thread. Each range copies the whole other operand, which only pays off for many rows
    /// or columns.
    ranges: i64,
}

impl Cut {
    /// Numbers of rows and columns that are multiples of the tiles of all levels.
    const ROWS: i64 = 16;
    const COLUMNS: i64 = 48;
    /// Number of multiplications that justify another thread, times the bytes of a real. Waking a thread in a virtual
    /// machine takes 30 µs, nearly as long as these multiplications.
    const WORTH: i64 = 9 << 20;
    /// Cost of a multiplication in a product with a vector, which is bound by memory, relative to one in a product of
    /// matrices.
    const OF_VECTORS: i64 = 5;
    /// Number of multiplications in small products that justify another thread. They are slower, and the size of a real
    /// does not matter.
    const WORTH_SMALL: i64 = 1 << 18;
    /// Number of rows or columns that justify a copy of the other operand.
    const PAYS: i64 = 384;

    /// Divides the longer extent. `weight` is the cost of multiplying elements, relative to one byte.
    fn new([m, n, k]: [i64; 3], weight: i64) -> Self {
        let weight = weight * if m.min(n) == 1 { Self::OF_VECTORS } else { 1 };
        let by_rows = m >= n;
        let (extent, other, unit) = if by_rows { (m, n, Self::ROWS) } else { (n, m, Self::COLUMNS) };
        let units = (extent / unit).max(1);
        if units == 1 {
            return Self { by_rows, unit, units, grain: 0, ranges: 1 };
        }
        let one =
            [other, k, weight].iter().fold(unit, |product, factor| product.saturating_mul(*factor.max(&1)));
        let grain = (Self::WORTH - 1) / one + 1;
        let ranges = (extent / Self::PAYS / threads::count() as i64).clamp(1, threads::RANGES);
        Self { by_rows, unit, units, grain: if units < 2 * grain { 0 } else { grain }, ranges }
    }
}

/// A product, and its division into parts for threads.
struct Shared {
    whole: Reals,
    cut: Cut,
    /// Strides from each operand to that of the next product, in bytes.
    stack: [i64; 3],
    real_bytes: i32,
    level: i32,
}

// SAFETY: threads only read the operands, and each writes its own rows or columns.
unsafe impl Sync for Shared {}

impl Shared {
    /// Computes the rows or columns of units `first .. end` of product `i`.
    ///
    /// # Safety
    /// As for [`multiply_by`].
    unsafe fn run(&self, i: i64, first: i64, end: i64) {
        let Reals { mut extents, steps, parts, .. } = self.whole;
        let from = first * self.cut.unit;
        let at = |matrix: *const c_void, step: i64| {
            matrix.wrapping_byte_offset((from * step * i64::from(self.real_bytes)) as isize)
        };
        let [mut a, mut b, c] = self.operands(i);
        let mut c = c.cast_const();
        let (axis, parts_of_one) = if self.cut.by_rows { (0, 1) } else { (1, i64::from(parts)) };
        let to = if end == self.cut.units { extents[axis] / parts_of_one } else { end * self.cut.unit };
        extents[axis] = (to - from) * parts_of_one;
        if self.cut.by_rows {
            (a, c) = (at(a, steps[0]).cast_mut(), at(c, steps[4]));
        } else {
            (b, c) = (at(b, steps[3]).cast_mut(), at(c, steps[5]));
        }
        let product = Reals { extents, a, b, c: c.cast_mut(), steps, parts, scratch: ptr::null_mut() };
        // SAFETY: as the caller promises.
        unsafe { self.product(product, 1) };
    }

    /// Computes products `first .. end`, each as a whole.
    ///
    /// # Safety
    /// As for [`multiply_by`].
    unsafe fn run_whole(&self, first: i64, end: i64) {
        let Reals { extents, steps, parts, .. } = self.whole;
        let [a, b, c] = self.operands(first);
        // SAFETY: as the caller promises.
        unsafe {
            self.product(Reals { extents, a, b, c, steps, parts, scratch: ptr::null_mut() }, end - first);
        }
    }

    /// Returns the first elements of the operands of product `i`.
    fn operands(&self, i: i64) -> [*mut c_void; 3] {
        let Reals { a, b, c, .. } = self.whole;
        let at = |data: *mut c_void, step: i64| data.wrapping_byte_offset((i * step) as isize);
        [at(a.cast_mut(), self.stack[0]), at(b.cast_mut(), self.stack[1]), at(c, self.stack[2])]
    }

    /// Runs the C code with scratch memory.
    ///
    /// # Safety
    /// As for [`multiply_by`], for `count` products.
    unsafe fn product(&self, mut product: Reals, count: i64) {
        // SAFETY: only reads the description.
        let bytes = unsafe { pc_product_scratch(&raw const product, self.real_bytes) };
        with_scratch(bytes, |scratch| {
            product.scratch = scratch;
            // SAFETY: the matrices are as the caller promises, the scratch memory has the size that C requires, and this
            // CPU supports the level.
            unsafe {
                pc_product_stack(
                    &raw const product,
                    self.real_bytes,
                    self.level,
                    count,
                    &raw const self.stack,
                );
            }
        });
    }
}

/// The allocation unit of scratch memory.
#[repr(C, align(64))]
struct Line([MaybeUninit<u8>; 64]);

/// Calls a function with at least `bytes` bytes of memory, aligned to 64. Each thread keeps its memory, up to 2.3 MiB for
/// the largest product. Copying operands to fresh pages would cost as much as a product of 100×100.
fn with_scratch(bytes: usize, call: impl FnOnce(*mut c_void)) {
    thread_local! {
        static SCRATCH: RefCell<Vec<Line>> = const { RefCell::new(Vec::new()) };
    }
    if bytes == 0 {
        return call(ptr::null_mut());
    }
    // A thread that is ending has no kept memory.
    let mut lines = SCRATCH.try_with(RefCell::take).unwrap_or_default();
    lines.reserve(bytes.div_ceil(size_of::<Line>()));
    call(lines.as_mut_ptr().cast());
    let _ = SCRATCH.try_with(|scratch| scratch.replace(lines));
}

/// Writes `a . b` to `c`.
///
/// # Panics
/// The shapes do not match.
pub fn matmul<T: Factor>(a: &ArrayView2<'_, T>, b: &ArrayView2<'_, T>, c: &mut ArrayViewMut2<'_, T>) {
    let _floats = DefaultFloats::set();
    assert!(a.ncols() == b.nrows() && c.dim() == (a.nrows(), b.ncols()), "shapes of a product");
    let extents = [a.nrows(), b.ncols(), a.ncols()].map(|extent| extent.cast_signed() as i64);
    let c = matrix(c.as_mut_ptr().cast(), c.strides(), size_of::<T>());
    let (a, b) = (
        matrix(a.as_ptr().cast(), a.strides(), size_of::<T>()),
        matrix(b.as_ptr().cast(), b.strides(), size_of::<T>()),
    );
    // SAFETY: views are live memory of their extents, and nothing else refers to the written memory.
    let done = unsafe { multiply(T::DTYPE, extents, a, b, c) };
    debug_assert!(done.is_some(), "a factor, whose steps are whole");
}

fn matrix<P>(data: P, strides: &[isize], item: usize) -> Matrix<P> {
    let step = |axis: usize| (strides[axis] * item.cast_signed()) as i64;
    Matrix { data, row: step(0), column: step(1), stack: 0 }
}

#[cfg(test)]
mod tests;

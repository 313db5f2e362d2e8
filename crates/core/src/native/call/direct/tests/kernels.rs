//! Test kernels: Rust functions with the C signature, and the functions of a sum.

use crate::native::host::set_error;
use precast_abi::context::{Context, ErrorKind};
use precast_abi::driver::Monoid;
use std::ffi::{c_char, c_int, c_void};

/// Computes `x + y`; fails for sums above 1000.
pub(super) unsafe extern "C" fn add(ctx: *mut Context, n: i64, data: *const *mut c_char) -> c_int {
    // SAFETY: the driver's contract: as many elements of each operand.
    unsafe {
        for i in 0..n as usize {
            let sum = (*data).cast::<f64>().add(i).read() + (*data.add(1)).cast::<f64>().add(i).read();
            if sum > 1000.0 {
                set_error(ctx, ErrorKind::Value, "too large a sum");
                return -1;
            }
            (*data.add(2)).cast::<f64>().add(i).write(sum);
        }
    }
    0
}

/// Computes `x - s`, where `s` is one element.
pub(super) unsafe extern "C" fn sub_scalar(_: *mut Context, n: i64, data: *const *mut c_char) -> c_int {
    // SAFETY: the driver's contract: as many elements of each operand, one of the second.
    unsafe {
        for i in 0..n as usize {
            let x = (*data).cast::<f64>().add(i).read();
            (*data.add(2)).cast::<f64>().add(i).write(x - (*data.add(1)).cast::<f64>().read());
        }
    }
    0
}

unsafe extern "C" fn clear(lanes: *mut c_void, n: i64) {
    // SAFETY: the driver's contract: as many lanes.
    unsafe { (0..n as usize).for_each(|lane| lanes.cast::<f64>().add(lane).write(0.0)) };
}

unsafe extern "C" fn fold(lanes: *mut c_void, x: *const c_void, n: i64, phase: i64) {
    // SAFETY: the driver's contract: as many elements, and two lanes.
    unsafe {
        for i in 0..n as usize {
            *lanes.cast::<f64>().add((phase as usize + i) % 2) += x.cast::<f64>().add(i).read();
        }
    }
}

unsafe extern "C" fn step(lanes: *mut c_void, x: *const c_void, n: i64) {
    // SAFETY: the driver's contract: as many lanes and elements.
    unsafe { (0..n as usize).for_each(|i| *lanes.cast::<f64>().add(i) += x.cast::<f64>().add(i).read()) };
}

unsafe extern "C" fn steps(lanes: *mut c_void, x: *const c_void, n: i64, rows: i64, row_bytes: i64) {
    for row in 0..rows {
        // SAFETY: the driver's contract: as many rows, each after the previous one.
        unsafe { step(lanes, x.byte_offset((row * row_bytes) as isize), n) };
    }
}

unsafe extern "C" fn close(lanes: *mut c_void, columns: i64, totals: *mut c_void, first: c_int) {
    // SAFETY: the driver's contract: two lanes a column.
    unsafe {
        step(lanes, lanes.cast::<f64>().add(columns as usize).cast(), columns);
        for column in 0..columns as usize {
            let before = if first == 0 { totals.cast::<f64>().add(column).read() } else { 0.0 };
            totals.cast::<f64>().add(column).write(before + lanes.cast::<f64>().add(column).read());
        }
    }
}

unsafe extern "C" fn finish(totals: *const c_void, columns: i64, count: i64, out: *mut c_char, by: i64) {
    // SAFETY: the driver's contract: as many totals and results.
    unsafe {
        for column in 0..columns as usize {
            let total = totals.cast::<f64>().add(column).read();
            out.add(column * by as usize).cast::<f64>().write(total - count as f64);
        }
    }
}

unsafe extern "C" fn few(from: *const c_void, n: i64, out: *mut c_char) {
    let mut lanes = [0.0_f64; 2];
    let mut total = 0.0_f64;
    let (at, sum) = (lanes.as_mut_ptr().cast(), (&raw mut total).cast());
    // SAFETY: the driver's contract: `n` elements, and room for a result.
    unsafe {
        fold(at, from, n, 0);
        close(at, 1, sum, 1);
        finish(sum, 1, n, out, 0);
    }
}

/// A sum minus the count of its elements.
pub(super) const SUM: Monoid = Monoid {
    lanes: 2,
    item: 8,
    no_empty: c"sum".as_ptr(),
    clear,
    fold,
    step,
    close,
    finish,
    steps: Some(steps),
    few,
    few_columns: None,
};

//! Loop plans: how a driver goes through the operands of a kernel. `c/driver/plan.h` has the other side.

use std::ffi::{CStr, c_char};
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// `pc_plan`.
#[repr(C)]
struct Told {
    way: *const c_char,
    rows: i64,
    row: i64,
    most: i64,
}

unsafe extern "C" {
    fn pc_driver_plan_ask();
    fn pc_driver_plan_take() -> Told;
}

/// How a driver goes through the operands of a kernel. It depends on their shapes and strides, and never shows in results.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoopPlan {
    /// The way, in a few words, such as `rows, in blocks`.
    pub way: &'static str,
    /// The number of rows; of a reduction, the number of results.
    pub rows: i64,
    /// The number of elements in a row; of a reduction, those of each result.
    pub row: i64,
    /// The largest number of elements per call of the kernel.
    pub most: i64,
}

impl LoopPlan {
    /// Runs `call`, and returns the plan of the first loop that this thread began meanwhile. Returns `None` if it began
    /// none: products of matrices and small graphs have loops of their own.
    pub fn of<R>(call: impl FnOnce() -> R) -> (R, Option<Self>) {
        /// One thread may ask at a time.
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: both functions are of this crate's C, have no arguments, and may be called at any time.
        unsafe { pc_driver_plan_ask() };
        let result = call();
        // SAFETY: as above.
        let told = unsafe { pc_driver_plan_take() };
        if told.way.is_null() {
            return (result, None);
        }
        // SAFETY: `way` is a literal of this crate's C.
        let way = unsafe { CStr::from_ptr(told.way) }.to_str().unwrap_or_default();
        (result, Some(Self { way, rows: told.rows, row: told.row, most: told.most }))
    }
}

impl fmt::Display for LoopPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { way, rows, row, most } = self;
        match (*most, rows * row) {
            (0, _) => f.write_str(way),
            (_, all) if all == *most => write!(f, "{way}: {rows} × {row}, one call"),
            _ => write!(f, "{way}: {rows} × {row}, {most} elements per call"),
        }
    }
}

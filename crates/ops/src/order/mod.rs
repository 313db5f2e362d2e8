//! Ops based on the order of elements: sort, argsort, searchsorted.
//!
//! The order is NumPy's: numbers ascend, false precedes true, the two zeros are equal, and NaN follows all numbers.
//! Complex numbers are ordered by real part, then imaginary part. Those with a NaN come last, in the order `(r,
//! NaN)`, `(NaN, i)`, `(NaN, NaN)`. The C code is in `c/precast/ops/order.h`, `sort.h` and `search.h`.

mod search;
mod sort;

pub use search::SearchSorted;
pub use sort::Sort;

use crate::scalar::Value;
use precast_graph::{DType, Number};
use std::cmp::Ordering;

/// Compares two elements of one dtype.
fn compare(a: Value, b: Value) -> Ordering {
    match (a.number(), b.number()) {
        (Number::Int(a), Number::Int(b)) => a.cmp(&b),
        (Number::Float(a), Number::Float(b)) => floats(a, b),
        (a, b) => {
            let ((a_re, a_im), (b_re, b_im)) = (a.parts(), b.parts());
            let nans = |re: f64, im: f64| (re.is_nan(), im.is_nan());
            let by_parts = || floats(a_re, b_re).then_with(|| floats(a_im, b_im));
            nans(a_re, a_im).cmp(&nans(b_re, b_im)).then_with(by_parts)
        }
    }
}

fn floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Returns the number of keys in `order.h` for an element.
fn stages(dtype: DType) -> usize {
    if dtype.is_complex() { 3 } else { 1 }
}

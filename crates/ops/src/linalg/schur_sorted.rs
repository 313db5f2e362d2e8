//! The reference implementation of Schur decompositions with some eigenvalues first.
//!
//! `c/precast/ops/linalg/schur_sorted.h` has the same operations in the same order, so the bits are equal.

use super::complex_rows::ComplexRow;
use super::eigenvalue_sort::EigenvalueSort;
use super::pencil::{Pencil, Square, real};
use super::reflections::{Rows, largest, to_middle};
use super::{complex_schur, schur};
use precast_graph::Complex;

/// Returns the form and the vectors as rows; `None` without a result.
pub(super) fn decompose(
    n: usize,
    is_real: bool,
    a: &[Complex<f64>],
    sort: EigenvalueSort,
) -> Option<[Square; 2]> {
    let largest = largest(&a.iter().flat_map(|x| [x.re, x.im]).collect::<Vec<f64>>());
    if !largest.is_finite() {
        return None;
    }
    let scale = to_middle(largest);
    let parts: [Vec<Complex<f64>>; 2] = if is_real {
        let of = schur::decompose(Rows { length: n, data: a.iter().map(|x| x.re * scale).collect() })?;
        [of.h, of.z].map(|x| x.data.into_iter().map(real).collect())
    } else {
        let scaled = |at: usize| Complex::new(a[at].re * scale, a[at].im * scale);
        let rows = (0..n).map(|i| ComplexRow::of((0..n).map(|j| scaled(i * n + j)))).collect();
        let of = complex_schur::decompose(rows)?;
        [of.h, of.z].map(|rows| rows.iter().flat_map(ComplexRow::numbers).collect())
    };
    let [a, z] = parts.map(|data| Square { n, data });
    let mut of = Pencil { n, is_real, a, b: None, q: Square::units(0), z, scales: [scale, 1.0] };
    of.sort(sort)?;
    of.a.data.iter_mut().for_each(|x| *x = Complex::new(x.re / scale, x.im / scale));
    Some([of.a, of.z])
}

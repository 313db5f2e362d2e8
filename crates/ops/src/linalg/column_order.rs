//! The order of columns in QR decompositions with pivoting.
//!
//! The order of operations is that of `c/precast/ops/linalg/qr_pivoted.h`, so the bits are equal.

/// The columns of a matrix, and their norms below the rows that are done.
#[derive(Debug, Clone)]
pub(super) struct ColumnOrder {
    /// The index of each column in the matrix.
    pub(super) columns: Vec<usize>,
    norms: Vec<f64>,
    /// The last norms that were computed from the numbers of a column.
    known: Vec<f64>,
}

impl ColumnOrder {
    pub(super) fn of(n: usize, norm: impl Fn(usize) -> f64) -> Self {
        let norms: Vec<f64> = (0..n).map(norm).collect();
        Self { columns: (0..n).collect(), known: norms.clone(), norms }
    }

    /// Exchanges column k with the longest one of those from k on, the first of equal ones. Returns its place, unless it
    /// is k.
    pub(super) fn exchange(&mut self, k: usize) -> Option<usize> {
        let longer = |longest: usize, j: usize| if self.norms[j] > self.norms[longest] { j } else { longest };
        let longest = (k + 1..self.norms.len()).fold(k, longer);
        self.columns.swap(k, longest);
        (self.norms[longest], self.known[longest]) = (self.norms[k], self.known[k]);
        (longest != k).then_some(longest)
    }

    /// Computes the norms of the columns after k without row k. `size`: of a column's number in this row; `norm`: of what
    /// is below it.
    pub(super) fn shorten(&mut self, k: usize, size: impl Fn(usize) -> f64, norm: impl Fn(usize) -> f64) {
        for j in k + 1..self.norms.len() {
            if self.norms[j] == 0.0 {
                continue;
            }
            let ratio = size(j) / self.norms[j];
            let mut left = 1.0 - ratio * ratio;
            let lost = self.norms[j] / self.known[j];
            if left < 0.0 {
                left = 0.0;
            }
            if left * (lost * lost) <= 2_f64.powi(-26) {
                self.norms[j] = norm(j);
                self.known[j] = self.norms[j];
            } else {
                self.norms[j] *= left.sqrt();
            }
        }
    }
}

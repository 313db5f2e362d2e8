//! Products of matrices of floats: one function for `perform` and for the host that modules call, so both have its bits.
//!
//! ```text
//! one column or one row   vector: each result a sum over 8 lanes, element k in lane k mod 8, then a tree over the lanes
//! else                    ndarray's general_mat_mul
//! ```
//! A product with a vector reads a matrix once and does nothing else: packing it, as a product of matrices must, would cost
//! several times that. Its sums have one order whatever the layout, so a transposed matrix gives the same bits.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis, LinalgScalar};

/// Sums that run side by side.
const LANES: usize = 8;
/// So many results are made at once where the columns of a matrix lie whole; their lanes fit into the first-level cache.
const BLOCK: usize = 128;

/// Writes `a . b` to `c`.
///
/// # Panics
/// Shapes that do not fit.
pub fn matmul<T: LinalgScalar>(a: &ArrayView2<'_, T>, b: &ArrayView2<'_, T>, c: &mut ArrayViewMut2<'_, T>) {
    assert!(a.ncols() == b.nrows() && c.dim() == (a.nrows(), b.ncols()), "shapes of a product");
    if b.ncols() == 1 {
        vector(a, &b.column(0), c.column_mut(0));
    } else if a.nrows() == 1 {
        vector(&b.t(), &a.row(0), c.row_mut(0));
    } else {
        general_mat_mul(T::one(), a, b, T::zero(), c);
    }
}

fn vector<T: LinalgScalar>(a: &ArrayView2<'_, T>, x: &ArrayView1<'_, T>, mut y: ArrayViewMut1<'_, T>) {
    let gathered;
    let x = if let Some(x) = x.as_slice() {
        x
    } else {
        gathered = x.to_vec();
        &gathered
    };
    if a.stride_of(Axis(0)) == 1 && a.stride_of(Axis(1)) != 1 {
        for (a, mut y) in a.axis_chunks_iter(Axis(0), BLOCK).zip(y.axis_chunks_iter_mut(Axis(0), BLOCK)) {
            columns(&a, x, &mut y);
        }
        return;
    }
    let mut row_gathered = Vec::new();
    for (row, y) in a.rows().into_iter().zip(&mut y) {
        *y = if let Some(row) = row.as_slice() {
            sum(row, x)
        } else {
            row_gathered.clear();
            row_gathered.extend(row);
            sum(&row_gathered, x)
        };
    }
}

/// One result: a row that lies whole.
fn sum<T: LinalgScalar>(row: &[T], x: &[T]) -> T {
    let mut lanes = [T::zero(); LANES];
    let (rows, xs) = (row.chunks_exact(LANES), x.chunks_exact(LANES));
    let rest = rows.remainder().iter().zip(xs.remainder());
    for (row, x) in rows.zip(xs) {
        for ((lane, a), x) in lanes.iter_mut().zip(row).zip(x) {
            *lane = *lane + *a * *x;
        }
    }
    for ((a, x), lane) in rest.zip(&mut lanes) {
        *lane = *lane + *a * *x;
    }
    tree(lanes)
}

/// At most [`BLOCK`] results: columns that lie whole, each added to the lane of its position.
fn columns<T: LinalgScalar>(a: &ArrayView2<'_, T>, x: &[T], y: &mut ArrayViewMut1<'_, T>) {
    let mut lanes = [[T::zero(); BLOCK]; LANES];
    for (k, (column, x)) in a.columns().into_iter().zip(x).enumerate() {
        let lane = &mut lanes[k % LANES];
        match column.as_slice() {
            Some(column) => lane.iter_mut().zip(column).for_each(|(lane, a)| *lane = *lane + *a * *x),
            None => lane.iter_mut().zip(column).for_each(|(lane, a)| *lane = *lane + *a * *x),
        }
    }
    for (i, y) in y.iter_mut().enumerate() {
        *y = tree(lanes.map(|lane| lane[i]));
    }
}

fn tree<T: LinalgScalar>(lanes: [T; LANES]) -> T {
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, matmul};
    use ndarray::{Array2, ShapeBuilder as _, s};

    fn filled(rows: usize, columns: usize) -> Array2<f64> {
        Array2::from_shape_fn((rows, columns), |(i, j)| ((i * 31 + j * 17) as f64 * 0.37).sin())
    }

    fn product(a: &ndarray::ArrayView2<'_, f64>, b: &ndarray::ArrayView2<'_, f64>) -> Array2<f64> {
        let mut c = Array2::from_elem((a.nrows(), b.ncols()), f64::NAN);
        matmul(a, b, &mut c.view_mut());
        c
    }

    #[test]
    fn a_product_with_a_vector_has_the_same_bits_in_every_layout() {
        for (m, k) in [(1, 1), (3, 7), (5, 8), (BLOCK + 1, 9), (2 * BLOCK, 25), (7, 1000)] {
            let (a, x) = (filled(m, k), filled(k, 1));
            let expected = product(&a.view(), &x.view());
            let mut by_columns = Array2::zeros((m, k).f());
            by_columns.assign(&a);
            assert_eq!(product(&by_columns.view(), &x.view()), expected);
            // Neither rows nor columns lie whole; what is wanted is every second element.
            let mut wide = Array2::from_elem((2 * m, 2 * k), f64::NAN);
            wide.slice_mut(s![..;2, ..;2]).assign(&a);
            assert_eq!(product(&wide.slice(s![..;2, ..;2]), &x.view()), expected);
            // The same from the other side.
            assert_eq!(product(&x.t(), &a.t()), expected.t());
        }
    }

    #[test]
    fn a_product_with_a_vector_is_near_the_plain_sum() {
        let (a, x) = (filled(40, 333), filled(333, 1));
        let found = product(&a.view(), &x.view());
        for (row, found) in a.rows().into_iter().zip(&found) {
            let plain: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
            // Sums of n products in two orders differ by at most 2·n·ε·Σ|a·x| (Higham 2002, § 3.1).
            let magnitude: f64 = row.iter().zip(&x).map(|(a, x)| (a * x).abs()).sum();
            assert!((found - plain).abs() <= 2.0 * 333.0 * f64::EPSILON * magnitude, "{found} {plain}");
        }
    }
}

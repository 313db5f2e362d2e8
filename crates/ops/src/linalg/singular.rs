//! The reference implementation of singular value decompositions: bidiagonal matrices and the QR algorithm.
//!
//! `c/precast/ops/linalg/svd.h` has the same operations in the same order, so the bits are equal.

use super::complex_rows::{self, ComplexReflection, ComplexRow, joined_parts};
use super::reflections::{Reflection, Rows, largest, length, reflected_units};
use precast_graph::Complex;

/// The most sweeps, for each singular value.
const SWEEPS: usize = 60;

/// A decomposition under way. The rows of `u` and `v` are singular vectors.
struct State {
    /// The diagonal.
    d: Vec<f64>,
    /// The numbers above the diagonal, and a 0.
    e: Vec<f64>,
    u: Rows,
    v: Rows,
}

/// Decomposes a matrix whose n columns are given as rows. Returns this number of left singular vectors as rows, the
/// singular values with any sign and in any order, and the right singular vectors as rows; `None` without a result.
pub(super) fn decompose(n: usize, height: usize, columns: Rows) -> Option<(Rows, Vec<f64>, Rows)> {
    let mut state = bidiagonal(n, height, columns);
    state.make_diagonal()?;
    Some((state.u, state.d, state.v))
}

/// Does the same for a complex matrix. The rows of the results are real parts, each followed by its imaginary parts.
pub(super) fn complex_decompose(
    height: usize,
    length: usize,
    columns: Vec<ComplexRow>,
) -> Option<(Rows, Vec<f64>, Rows)> {
    let mut state = complex_bidiagonal(height, length, columns);
    state.make_diagonal()?;
    Some((state.u, state.d, state.v))
}

fn complex_bidiagonal(height: usize, m: usize, mut a: Vec<ComplexRow>) -> State {
    let n = a.len();
    let (mut d, mut e) = (Vec::new(), Vec::new());
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for k in 0..n {
        let (reflection, beta) = ComplexReflection::of(k, &a[k].part(k..m), 0);
        a[k + 1..].iter_mut().for_each(|column| reflection.apply_adjoint(column));
        d.push(beta);
        left.push(reflection);
        if k + 1 == n {
            e.push(0.0);
            continue;
        }
        let row = ComplexRow::of((k + 1..n).map(|j| a[j].at(k).conj()));
        let (reflection, beta) = ComplexReflection::of(k + 1, &row, 0);
        e.push(beta);
        if !reflection.is_identity() {
            let mut y = ComplexRow::zeros(m - k - 1);
            for (j, v) in (k + 1..n).zip(reflection.v.numbers()) {
                y.subtract(0, Complex::new(-v.re, -v.im), &a[j].part(k + 1..m));
            }
            y.scale(reflection.tau);
            for (j, v) in (k + 1..n).zip(reflection.v.numbers()) {
                a[j].subtract(k + 1, v.conj(), &y);
            }
        }
        right.push(reflection);
    }
    let u = joined_parts(m, &complex_rows::reflected_units(height, m, &left));
    State { d, e, u, v: joined_parts(n, &complex_rows::reflected_units(n, n, &right)) }
}

fn bidiagonal(n: usize, height: usize, mut a: Rows) -> State {
    let (mut d, mut e, m) = (Vec::new(), Vec::new(), a.length);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for k in 0..n {
        let (reflection, beta) = Reflection::of(k, &a.row(k)[k..], 0);
        (k + 1..n).for_each(|j| reflection.apply(a.row_mut(j)));
        d.push(beta);
        left.push(reflection);
        if k + 1 == n {
            e.push(0.0);
            continue;
        }
        let row: Vec<f64> = (k + 1..n).map(|j| a.row(j)[k]).collect();
        let (reflection, beta) = Reflection::of(k + 1, &row, 0);
        e.push(beta);
        if reflection.tau != 0.0 {
            let mut y = vec![0.0; m - k - 1];
            for (j, v) in (k + 1..n).zip(&reflection.v) {
                y.iter_mut().zip(&a.row(j)[k + 1..]).for_each(|(y, x)| *y += v * x);
            }
            y.iter_mut().for_each(|y| *y *= reflection.tau);
            for (j, v) in (k + 1..n).zip(&reflection.v) {
                a.row_mut(j)[k + 1..].iter_mut().zip(&y).for_each(|(x, y)| *x -= v * y);
            }
        }
        right.push(reflection);
    }
    State { d, e, u: reflected_units(height, m, &left), v: reflected_units(n, n, &right) }
}

/// Returns the length of (x, y), and the rotation that turns it to the first axis.
fn rotation(x: f64, y: f64) -> (f64, (f64, f64)) {
    let length = length(x, y);
    if length == 0.0 { (length, (1.0, 0.0)) } else { (length, (x / length, y / length)) }
}

impl State {
    /// Makes the matrix diagonal; `None` if the singular values do not converge.
    fn make_diagonal(&mut self) -> Option<()> {
        let (mut sweeps, least) = (0, 2_f64.powi(-960));
        let mut end = self.d.len().saturating_sub(1);
        while end > 0 {
            let (d, e) = (&mut self.d, &mut self.e);
            let is_zero = |i: &usize| e[i - 1].abs() <= f64::EPSILON * (d[i - 1].abs() + d[*i].abs()) + least;
            let first = (1..=end).rev().find(is_zero).unwrap_or(0);
            if first > 0 {
                e[first - 1] = 0.0;
            }
            if first == end {
                end -= 1;
                continue;
            }
            if sweeps == SWEEPS * d.len() {
                return None;
            }
            sweeps += 1;
            let zero = (first..=end).rev().find(|i| {
                let right = if *i < end { e[*i].abs() } else { 0.0 };
                let left = if *i > first { e[*i - 1].abs() } else { 0.0 };
                d[*i].abs() <= f64::EPSILON * (right + left) + least
            });
            if let Some(zero) = zero {
                d[zero] = 0.0;
            }
            match zero {
                None => self.sweep(first, end),
                Some(zero) if zero == end => self.remove_at_end(first, end),
                Some(zero) => self.split(zero, end),
            }
        }
        Some(())
    }

    /// Removes the number above a diagonal that ends with 0.
    fn remove_at_end(&mut self, first: usize, end: usize) {
        let mut f = std::mem::take(&mut self.e[end - 1]);
        for j in (first..end).rev() {
            let (length, (c, s)) = rotation(self.d[j], f);
            self.d[j] = length;
            if j > first {
                f = -s * self.e[j - 1];
                self.e[j - 1] *= c;
            }
            self.v.rotate(j, end, (c, s));
        }
    }

    /// Removes the number beside a 0 in the diagonal.
    fn split(&mut self, zero: usize, end: usize) {
        let mut f = std::mem::take(&mut self.e[zero]);
        for j in zero + 1..=end {
            let (length, (c, s)) = rotation(self.d[j], f);
            self.d[j] = length;
            f = -s * self.e[j];
            self.e[j] *= c;
            self.u.rotate(j, zero, (c, s));
        }
    }

    /// Returns the two numbers that start a sweep.
    fn start(&self, first: usize, end: usize) -> (f64, f64) {
        let (d, e) = (&self.d, &self.e);
        let scale = largest(&[d[end], d[end - 1], e[end - 1], d[first], e[first]]);
        let (last, before) = (d[end] / scale, d[end - 1] / scale);
        let (beside, start) = (e[end - 1] / scale, d[first] / scale);
        let b = ((before + last) * (before - last) + beside * beside) / 2.0;
        let c = (last * beside) * (last * beside);
        let mut shift = 0.0;
        if b != 0.0 || c != 0.0 {
            shift = (b * b + c).sqrt();
            shift = c / (b + if b < 0.0 { -shift } else { shift });
        }
        ((start + last) * (start - last) + shift, start * (e[first] / scale))
    }

    fn sweep(&mut self, first: usize, end: usize) {
        let (mut f, mut g) = self.start(first, end);
        let (d, e) = (&mut self.d, &mut self.e);
        for j in first..end {
            let (length, (c, s)) = rotation(f, g);
            if j > first {
                e[j - 1] = length;
            }
            f = c * d[j] + s * e[j];
            e[j] = c * e[j] - s * d[j];
            g = s * d[j + 1];
            d[j + 1] *= c;
            self.v.rotate(j, j + 1, (c, s));
            let (length, (c, s)) = rotation(f, g);
            d[j] = length;
            f = c * e[j] + s * d[j + 1];
            d[j + 1] = c * d[j + 1] - s * e[j];
            g = s * e[j + 1];
            e[j + 1] *= c;
            self.u.rotate(j, j + 1, (c, s));
        }
        e[end - 1] = f;
    }
}

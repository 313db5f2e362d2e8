//! The reference implementation of Schur decompositions of complex matrices.
//!
//! `c/precast/ops/linalg/schur_complex.h` has the same operations in the same order, so the bits are equal.

use super::complex_rows::{ComplexReflection, ComplexRow, reflected_units};
use super::reflections::{dot, length};
use super::schur::{EXCEPTION, STRICT, SWEEPS, is_negligible};
use crate::scalar::ComplexNumber;
use precast_graph::Complex;

/// A decomposition: a triangular matrix, whose diagonal holds the eigenvalues, and the columns of the product of all
/// transformations as rows.
pub(super) struct ComplexSchur {
    pub(super) h: Vec<ComplexRow>,
    pub(super) z: Vec<ComplexRow>,
}

/// Decomposes a matrix; `None` if its eigenvalues do not converge.
pub(super) fn decompose(mut h: Vec<ComplexRow>) -> Option<ComplexSchur> {
    let n = h.len();
    let reflections = hessenberg(&mut h);
    let mut made = ComplexSchur { h, z: reflected_units(n, n, &reflections) };
    made.make_diagonal()?;
    Some(made)
}

/// Makes a matrix Hessenberg by reflections from both sides.
fn hessenberg(a: &mut [ComplexRow]) -> Vec<ComplexReflection> {
    let n = a.len();
    let mut reflections = Vec::new();
    for k in 0..n.saturating_sub(2) {
        let first = k + 1;
        let column = ComplexRow::of((first..n).map(|i| a[i].at(k)));
        let (reflection, beta) = ComplexReflection::of(first, &column, 0);
        (first..n).for_each(|i| a[i].set(k, Complex::new(if i == first { beta } else { 0.0 }, 0.0)));
        if !reflection.is_identity() {
            let (v, tau) = (&reflection.v, reflection.tau);
            let mut y = ComplexRow::zeros(n - first);
            for (row, v) in a[first..].iter().zip(v.numbers()) {
                y.subtract(0, Complex::new(-v.re, v.im), &row.part(first..n));
            }
            y.scale(tau.conj());
            a[first..].iter_mut().zip(v.numbers()).for_each(|(row, v)| row.subtract(first, v, &y));
            for row in a.iter_mut() {
                let ComplexRow { re, im } = row.part(first..n);
                let sum = Complex::new(dot(&re, &v.re) - dot(&im, &v.im), dot(&re, &v.im) + dot(&im, &v.re));
                let factor = tau.times(sum);
                for j in 0..v.len() {
                    row.re[first + j] -= factor.re * v.re[j] + factor.im * v.im[j];
                    row.im[first + j] -= factor.im * v.re[j] - factor.re * v.im[j];
                }
            }
        }
        reflections.push(reflection);
    }
    reflections
}

/// Returns |re| + |im|.
pub(super) fn size(x: Complex<f64>) -> f64 {
    x.re.abs() + x.im.abs()
}

/// Returns the square root whose real part is not negative.
pub(super) fn root(x: Complex<f64>) -> Complex<f64> {
    let large = ((length(x.re, x.im) + x.re.abs()) / 2.0).sqrt();
    if large == 0.0 {
        return Complex::new(0.0, 0.0);
    }
    let small = x.im.abs() / (2.0 * large);
    let signed = |part: f64| if x.im < 0.0 { -part } else { part };
    if x.re >= 0.0 { Complex::new(large, signed(small)) } else { Complex::new(small, signed(large)) }
}

/// Reflects the pair (x, y) by `1 - tau·(1, v)·(1, v)ᴴ`.
fn reflect([x, y]: [Complex<f64>; 2], v: Complex<f64>, tau: Complex<f64>) -> [Complex<f64>; 2] {
    let sum = Complex::new(x.re + (v.re * y.re + v.im * y.im), x.im + (v.re * y.im - v.im * y.re));
    let by = Complex::new(tau.re * sum.re - tau.im * sum.im, tau.re * sum.im + tau.im * sum.re);
    let of_y = Complex::new(v.re * by.re - v.im * by.im, v.re * by.im + v.im * by.re);
    [x.minus(by), y.minus(of_y)]
}

/// Reflects the numbers of two neighboring rows, from column `start` on.
fn reflect_rows(rows: &mut [ComplexRow], start: usize, v: Complex<f64>, tau: Complex<f64>) {
    for j in start..rows[0].len() {
        let [x, y] = reflect([rows[0].at(j), rows[1].at(j)], v, tau);
        rows[0].set(j, x);
        rows[1].set(j, y);
    }
}

impl ComplexSchur {
    fn at(&self, i: usize, j: usize) -> Complex<f64> {
        self.h[i].at(j)
    }

    /// Makes the Hessenberg matrix triangular.
    fn make_diagonal(&mut self) -> Option<()> {
        let (mut sweeps, mut rows) = (0, self.h.len());
        while rows > 0 {
            let last = rows - 1;
            let first = (1..=last).rev().find(|k| self.is_small(*k, last, sweeps)).unwrap_or(0);
            if first > 0 {
                self.h[first].set(first - 1, Complex::new(0.0, 0.0));
            }
            if first < last {
                if sweeps == SWEEPS {
                    return None;
                }
                self.sweep(first, last, sweeps);
                sweeps += 1;
                continue;
            }
            (rows, sweeps) = (last, 0);
        }
        Some(())
    }

    /// Returns whether the number left of the diagonal in row k counts as 0.
    fn is_small(&self, k: usize, last: usize, sweeps: usize) -> bool {
        let size_at = |i: usize, j: usize| size(self.at(i, j));
        let (below, above, own) = (size_at(k, k - 1), size_at(k - 1, k), size_at(k, k));
        let mut sizes = size_at(k - 1, k - 1) + own;
        if below <= 2_f64.powi(-960) {
            return true;
        }
        if sizes == 0.0 {
            sizes = if k > 1 { size_at(k - 1, k - 2) } else { 0.0 }
                + if k < last { size_at(k + 1, k) } else { 0.0 };
        }
        let gap = size(self.at(k - 1, k - 1).minus(self.at(k, k)));
        below <= f64::EPSILON * sizes && (sweeps >= STRICT || is_negligible(below, above, own, gap))
    }

    /// Returns the shift of a sweep.
    fn shift(&self, first: usize, last: usize, sweeps: usize) -> Complex<f64> {
        let (end, below) = (self.at(last, last), self.at(last, last - 1));
        if sweeps % (2 * EXCEPTION) == EXCEPTION - 1 {
            let start = self.at(first, first);
            return Complex::new(start.re + 0.75 * size(self.at(first + 1, first)), start.im);
        }
        if sweeps % EXCEPTION == EXCEPTION - 1 {
            return Complex::new(end.re + 0.75 * size(below), end.im);
        }
        let product = root(self.at(last - 1, last)).times(root(below));
        if product.re == 0.0 && product.im == 0.0 {
            return end;
        }
        let twice = self.at(last - 1, last - 1).minus(end);
        let half = Complex::new(twice.re / 2.0, twice.im / 2.0);
        let scale = if size(half) > size(product) { size(half) } else { size(product) };
        let u = Complex::new(product.re / scale, product.im / scale);
        let x = Complex::new(half.re / scale, half.im / scale);
        let mut root = root(x.times(x).plus(u.times(u)));
        if x.re * root.re + x.im * root.im < 0.0 {
            root = Complex::new(-root.re, -root.im);
        }
        end.minus(product.times(u.over(x.plus(root))))
    }

    fn sweep(&mut self, first: usize, last: usize, sweeps: usize) {
        let start = self.at(first, first).minus(self.shift(first, last, sweeps));
        for k in first..last {
            let pair = if k > first {
                [self.at(k, k - 1), self.at(k + 1, k - 1)]
            } else {
                [start, self.at(k + 1, k)]
            };
            let (reflection, beta) = ComplexReflection::of(0, &ComplexRow::of(pair), 0);
            let (v, tau) = (reflection.v.at(1), reflection.tau);
            if k > first {
                self.h[k].set(k - 1, Complex::new(beta, 0.0));
                self.h[k + 1].set(k - 1, Complex::new(0.0, 0.0));
            }
            reflect_rows(&mut self.h[k..k + 2], k, v, tau.conj());
            for row in &mut self.h[..=last.min(k + 2)] {
                let [x, y] = reflect([row.at(k), row.at(k + 1)], v.conj(), tau);
                row.set(k, x);
                row.set(k + 1, y);
            }
            reflect_rows(&mut self.z[k..k + 2], 0, v.conj(), tau);
        }
    }
}

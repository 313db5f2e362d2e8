//! The reference implementation of real Schur decompositions.
//!
//! `c/precast/ops/linalg/schur.h` has the same operations in the same order, so the bits are equal.

use super::reflections::{Reflection, Rows, length, reflected_units};

/// The most sweeps for one eigenvalue, those between two exceptional shifts, and those after which a number beside the
/// diagonal is compared with the diagonal alone.
pub(super) const SWEEPS: usize = 300;
pub(super) const EXCEPTION: usize = 10;
pub(super) const STRICT: usize = 40;

/// A decomposition: a quasi-triangular matrix, the columns of the product of all transformations as rows, and the
/// eigenvalues.
pub(super) struct Schur {
    pub(super) h: Rows,
    pub(super) z: Rows,
    pub(super) real: Vec<f64>,
    pub(super) imaginary: Vec<f64>,
}

/// Decomposes a matrix; `None` if its eigenvalues do not converge.
pub(super) fn decompose(mut h: Rows) -> Option<Schur> {
    let n = h.length;
    let reflections = hessenberg(&mut h);
    let z = reflected_units(n, n, &reflections);
    let mut made = Schur { h, z, real: vec![0.0; n], imaginary: vec![0.0; n] };
    made.make_diagonal()?;
    Some(made)
}

/// Makes a matrix Hessenberg by reflections from both sides.
fn hessenberg(a: &mut Rows) -> Vec<Reflection> {
    let n = a.length;
    let mut reflections = Vec::new();
    for k in 0..n.saturating_sub(2) {
        let first = k + 1;
        let column: Vec<f64> = (first..n).map(|i| a.row(i)[k]).collect();
        let (reflection, beta) = Reflection::of(first, &column, 0);
        (first..n).for_each(|i| a.row_mut(i)[k] = if i == first { beta } else { 0.0 });
        if reflection.tau != 0.0 {
            let mut y = vec![0.0; n - first];
            for (i, v) in (first..n).zip(&reflection.v) {
                y.iter_mut().zip(&a.row(i)[first..]).for_each(|(y, x)| *y += v * x);
            }
            y.iter_mut().for_each(|y| *y *= reflection.tau);
            for (i, v) in (first..n).zip(&reflection.v) {
                a.row_mut(i)[first..].iter_mut().zip(&y).for_each(|(x, y)| *x -= v * y);
            }
            (0..n).for_each(|i| reflection.apply(a.row_mut(i)));
        }
        reflections.push(reflection);
    }
    reflections
}

/// Reflects a vector of two or three elements.
fn reflect(v: &[f64], tau: f64, x: &mut [f64]) {
    let mut sum = x[0] + v[1] * x[1];
    if let [_, _, last] = *v {
        sum += last * x[2];
    }
    sum *= tau;
    x[0] -= sum;
    x.iter_mut().zip(v).skip(1).for_each(|(x, v)| *x -= sum * v);
}

/// Returns whether a number beside the diagonal counts as 0, from the sizes of this number, of the one above the diagonal,
/// of the number on the diagonal and of its difference from the one before it.
pub(super) fn is_negligible(below: f64, above: f64, own: f64, gap: f64) -> bool {
    let (more, less) = if below > above { (below, above) } else { (above, below) };
    let (wide, narrow) = if own > gap { (own, gap) } else { (gap, own) };
    let sum = wide + more;
    let bound = f64::EPSILON * (narrow * (wide / sum));
    less * (more / sum) <= bound.max(2_f64.powi(-960))
}

impl Schur {
    fn at(&self, i: usize, j: usize) -> f64 {
        self.h.row(i)[j]
    }

    /// Makes the Hessenberg matrix quasi-triangular.
    fn make_diagonal(&mut self) -> Option<()> {
        let (mut sweeps, mut rows) = (0, self.h.length);
        while rows > 0 {
            let last = rows - 1;
            let first = (1..=last).rev().find(|k| self.is_small(*k, last, sweeps)).unwrap_or(0);
            if first > 0 {
                self.h.row_mut(first)[first - 1] = 0.0;
            }
            if first + 1 < last {
                if sweeps == SWEEPS {
                    return None;
                }
                self.sweep(first, last, sweeps);
                sweeps += 1;
                continue;
            }
            if first == last {
                self.real[last] = self.at(last, last);
                self.imaginary[last] = 0.0;
            } else {
                self.pair(first);
            }
            (rows, sweeps) = (first, 0);
        }
        Some(())
    }

    /// Returns whether the number left of the diagonal in row k counts as 0.
    fn is_small(&self, k: usize, last: usize, sweeps: usize) -> bool {
        let size = |i: usize, j: usize| self.at(i, j).abs();
        let (below, above, own) = (size(k, k - 1), size(k - 1, k), size(k, k));
        let (mut sizes, gap) = (size(k - 1, k - 1) + own, (self.at(k - 1, k - 1) - self.at(k, k)).abs());
        if below <= 2_f64.powi(-960) {
            return true;
        }
        if sizes == 0.0 {
            sizes =
                if k > 1 { size(k - 1, k - 2) } else { 0.0 } + if k < last { size(k + 1, k) } else { 0.0 };
        }
        below <= f64::EPSILON * sizes && (sweeps >= STRICT || is_negligible(below, above, own, gap))
    }

    /// Returns the two shifts of a sweep: real parts, and the imaginary part of the first.
    fn shifts(&self, first: usize, last: usize, sweeps: usize) -> [f64; 3] {
        let block = |i: usize, j: usize| self.at(last - 1 + i, last - 1 + j);
        let (mut a, mut b, mut c, mut d) = (block(0, 0), block(0, 1), block(1, 0), block(1, 1));
        if sweeps % EXCEPTION == EXCEPTION - 1 {
            let at_end = sweeps % (2 * EXCEPTION) != EXCEPTION - 1;
            c = if at_end {
                self.at(last, last - 1).abs() + self.at(last - 1, last - 2).abs()
            } else {
                self.at(first + 1, first).abs() + self.at(first + 2, first + 1).abs()
            };
            a = 0.75 * c + if at_end { self.at(last, last) } else { self.at(first, first) };
            d = a;
            b = -0.4375 * c;
        }
        let scale = a.abs() + b.abs() + c.abs() + d.abs();
        if scale == 0.0 {
            return [0.0; 3];
        }
        (a, b, c, d) = (a / scale, b / scale, c / scale, d / scale);
        let mean = (a + d) / 2.0;
        let square = (a - mean) * (d - mean) - b * c;
        let root = square.abs().sqrt();
        if square >= 0.0 {
            return [mean * scale, mean * scale, root * scale];
        }
        let (more, less) = (mean + root, mean - root);
        let shift = if (more - d).abs() <= (less - d).abs() { more } else { less } * scale;
        [shift, shift, 0.0]
    }

    /// Returns a multiple of the first column of the product of both shifted matrices that start in row k.
    fn start(&self, k: usize, shifts: [f64; 3]) -> [f64; 3] {
        let (own, below) = (self.at(k, k), self.at(k + 1, k));
        let scale = (own - shifts[1]).abs() + shifts[2].abs() + below.abs();
        let below = below / scale;
        let mut v = [
            (below * self.at(k, k + 1) + (own - shifts[0]) * ((own - shifts[1]) / scale))
                + shifts[2] * (shifts[2] / scale),
            below * (own + self.at(k + 1, k + 1) - shifts[0] - shifts[1]),
            below * self.at(k + 2, k + 1),
        ];
        let scale = v[0].abs() + v[1].abs() + v[2].abs();
        if scale != 0.0 {
            v.iter_mut().for_each(|x| *x /= scale);
        }
        v
    }

    /// Returns the row in which a sweep starts, and its first reflection's vector.
    fn start_of_sweep(&self, first: usize, last: usize, shifts: [f64; 3]) -> (usize, [f64; 3]) {
        let mut start = last - 2;
        loop {
            let v = self.start(start, shifts);
            if start == first {
                return (start, v);
            }
            let size = |i: usize, j: usize| self.at(i, j).abs();
            let beside = size(start - 1, start - 1) + size(start, start) + size(start + 1, start + 1);
            if size(start, start - 1) * (v[1].abs() + v[2].abs()) <= f64::EPSILON * v[0].abs() * beside {
                return (start, v);
            }
            start -= 1;
        }
    }

    fn sweep(&mut self, first: usize, last: usize, sweeps: usize) {
        let n = self.h.length;
        let (start, of_start) = self.start_of_sweep(first, last, self.shifts(first, last, sweeps));
        for k in start..last {
            let few = if last - k >= 2 { 3 } else { 2 };
            let given: Vec<f64> =
                (0..few).map(|i| if k > start { self.at(k + i, k - 1) } else { of_start[i] }).collect();
            let (Reflection { v, tau, .. }, beta) = Reflection::of(0, &given, 0);
            if k > start {
                (0..few).for_each(|i| self.h.row_mut(k + i)[k - 1] = if i == 0 { beta } else { 0.0 });
            } else if start > first {
                self.h.row_mut(k)[k - 1] *= 1.0 - tau;
            }
            if tau == 0.0 {
                continue;
            }
            reflect_rows(&mut self.h, (k, k..n), &v, tau);
            (0..=last.min(k + 3)).for_each(|i| reflect(&v, tau, &mut self.h.row_mut(i)[k..k + few]));
            reflect_rows(&mut self.z, (k, 0..n), &v, tau);
        }
    }

    /// Gives the block of rows k and k + 1 its normal form, and stores its eigenvalues.
    fn pair(&mut self, k: usize) {
        let n = self.h.length;
        let (m, (c, s)) =
            normal([self.at(k, k), self.at(k, k + 1), self.at(k + 1, k), self.at(k + 1, k + 1)]);
        self.h.row_mut(k)[k..k + 2].copy_from_slice(&m[..2]);
        self.h.row_mut(k + 1)[k..k + 2].copy_from_slice(&m[2..]);
        (self.real[k], self.real[k + 1]) = (m[0], m[3]);
        let size = if m[2] == 0.0 { 0.0 } else { m[1].abs().sqrt() * m[2].abs().sqrt() };
        (self.imaginary[k], self.imaginary[k + 1]) = (size, if m[2] == 0.0 { 0.0 } else { -size });
        let turn = |x: f64, y: f64| (c * x + s * y, c * y - s * x);
        for j in k + 2..n {
            (self.h.row_mut(k)[j], self.h.row_mut(k + 1)[j]) = turn(self.at(k, j), self.at(k + 1, j));
        }
        for i in 0..k {
            (self.h.row_mut(i)[k], self.h.row_mut(i)[k + 1]) = turn(self.at(i, k), self.at(i, k + 1));
        }
        self.z.rotate(k, k + 1, (c, s));
    }
}

/// Reflects neighboring rows, from row `first` on, in some columns.
fn reflect_rows(x: &mut Rows, (first, columns): (usize, std::ops::Range<usize>), v: &[f64], tau: f64) {
    for j in columns {
        let mut column: Vec<f64> = (0..v.len()).map(|i| x.row(first + i)[j]).collect();
        reflect(v, tau, &mut column);
        column.into_iter().enumerate().for_each(|(i, value)| x.row_mut(first + i)[j] = value);
    }
}

/// Returns the normal form of the rows of a matrix, and the rotation that leads to it.
pub(super) fn normal([a, b, c, d]: [f64; 4]) -> ([f64; 4], (f64, f64)) {
    let half = (a - d) / 2.0;
    if b == 0.0 && c != 0.0 {
        return ([d, -c, 0.0, a], (0.0, 1.0));
    }
    if c == 0.0 || a == d && (b < 0.0) != (c < 0.0) {
        return ([a, b, c, d], (1.0, 0.0));
    }
    let (more, mut less) = if b.abs() < c.abs() { (c.abs(), b.abs()) } else { (b.abs(), c.abs()) };
    if (b < 0.0) != (c < 0.0) {
        less = -less;
    }
    let scale = if half.abs() > more { half.abs() } else { more };
    let square = half / scale * half + more / scale * less;
    if square >= 4.0 * f64::EPSILON {
        let root = scale.sqrt() * square.sqrt();
        let by = half + if half < 0.0 { -root } else { root };
        let length = length(c, by);
        return ([d + by, b - c, 0.0, d - more / by * less], (by / length, c / length));
    }
    nearly_equal([a, b, c, d], half)
}

/// Does the same for a matrix whose eigenvalues are complex or nearly equal.
fn nearly_equal([a, b, c, d]: [f64; 4], half: f64) -> ([f64; 4], (f64, f64)) {
    let sum = b + c;
    let length = length(sum, a - d);
    let cosine = ((1.0 + sum.abs() / length) / 2.0).sqrt();
    let sine = -(half / (length * cosine)) * if sum < 0.0 { -1.0 } else { 1.0 };
    let (p, q) = (a * cosine + b * sine, b * cosine - a * sine);
    let (r, s) = (c * cosine + d * sine, d * cosine - c * sine);
    let (first, last) = (p * cosine + r * sine, s * cosine - q * sine);
    let (b, c) = (q * cosine + s * sine, r * cosine - p * sine);
    let mean = (first + last) / 2.0;
    if c == 0.0 {
        return ([mean, b, c, mean], (cosine, sine));
    }
    if b == 0.0 {
        return ([mean, -c, 0.0, mean], (-sine, cosine));
    }
    if (b < 0.0) != (c < 0.0) {
        return ([mean, b, c, mean], (cosine, sine));
    }
    let (of_b, of_c, by) = (b.abs().sqrt(), c.abs().sqrt(), 1.0 / (b + c).abs().sqrt());
    let apart = if c < 0.0 { -(of_b * of_c) } else { of_b * of_c };
    let turned = (cosine * (of_b * by) - sine * (of_c * by), cosine * (of_c * by) + sine * (of_b * by));
    ([mean + apart, b - c, 0.0, mean - apart], turned)
}

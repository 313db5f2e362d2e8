//! The reference implementation of rotations of pairs of matrices, and of the order of the blocks of their Schur forms.
//!
//! `c/precast/ops/linalg/pencil.h` has the same operations in the same order, so the bits are equal.

use super::complex_schur::size;
use super::eigenvalue_sort::EigenvalueSort;
use super::reflections::length;
use super::schur::normal;
use crate::scalar::ComplexNumber;
use precast_graph::Complex;

/// The most rotations that make a block triangular.
const TURNS: usize = 10;

/// The unit of rounding errors.
const PRECISION: f64 = f64::EPSILON;

pub(super) const ZERO: Complex<f64> = Complex { re: 0.0, im: 0.0 };

/// A square matrix in C order.
#[derive(Debug, Clone)]
pub(super) struct Square {
    pub(super) n: usize,
    pub(super) data: Vec<Complex<f64>>,
}

impl Square {
    pub(super) fn units(n: usize) -> Self {
        Self { n, data: (0..n * n).map(|at| real(f64::from(u8::from(at / n == at % n)))).collect() }
    }

    pub(super) fn at(&self, i: usize, j: usize) -> Complex<f64> {
        self.data[i * self.n + j]
    }

    pub(super) fn put(&mut self, i: usize, j: usize, x: Complex<f64>) {
        self.data[i * self.n + j] = x;
    }

    /// Returns the matrix whose columns are these rows, in C order.
    pub(super) fn turned(&self) -> Vec<Complex<f64>> {
        (0..self.data.len()).map(|at| self.at(at % self.n, at / self.n)).collect()
    }
}

/// A pair of matrices, or one alone. The elements of real matrices have an imaginary part of 0.
#[derive(Debug, Clone)]
pub(super) struct Pencil {
    pub(super) n: usize,
    pub(super) is_real: bool,
    pub(super) a: Square,
    pub(super) b: Option<Square>,
    /// The columns as rows. Without b, q is z.
    pub(super) q: Square,
    pub(super) z: Square,
    /// The factors that a and b have been multiplied by.
    pub(super) scales: [f64; 2],
}

/// One of the matrices of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    A,
    B,
}

/// A rotation of (x, y) into `c·x + s·y` and `c·y - conj(s)·x`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    pub(super) c: f64,
    pub(super) s: Complex<f64>,
}

pub(super) fn real(x: f64) -> Complex<f64> {
    Complex::new(x, 0.0)
}

pub(super) fn scaled(x: Complex<f64>, by: f64) -> Complex<f64> {
    Complex::new(x.re * by, x.im * by)
}

pub(super) fn negative(x: Complex<f64>) -> Complex<f64> {
    Complex::new(-x.re, -x.im)
}

pub(super) fn abs(x: Complex<f64>) -> f64 {
    length(x.re, x.im)
}

fn is_zero(x: Complex<f64>) -> bool {
    x.re == 0.0 && x.im == 0.0
}

impl Turn {
    /// Returns the rotation that turns (x, y) into (r, 0).
    pub(super) fn of(x: Complex<f64>, y: Complex<f64>) -> Self {
        let (of_x, of_y) = (abs(x), abs(y));
        let length = length(of_x, of_y);
        if of_y == 0.0 {
            return Self { c: 1.0, s: ZERO };
        }
        let s = if of_x == 0.0 {
            Complex::new(y.re / of_y, -y.im / of_y)
        } else {
            Complex::new(x.re / of_x, x.im / of_x).times(Complex::new(y.re / length, -y.im / length))
        };
        Self { c: of_x / length, s }
    }

    pub(super) fn conj(self) -> Self {
        Self { c: self.c, s: self.s.conj() }
    }

    /// Rotates two numbers of a real or complex matrix.
    fn apply(self, is_real: bool, x: Complex<f64>, y: Complex<f64>) -> [Complex<f64>; 2] {
        let Self { c, s } = self;
        if is_real {
            return [real(c * x.re + s.re * y.re), real(c * y.re - s.re * x.re)];
        }
        [
            Complex::new(c * x.re + (s.re * y.re - s.im * y.im), c * x.im + (s.re * y.im + s.im * y.re)),
            Complex::new(c * y.re - (s.re * x.re + s.im * x.im), c * y.im - (s.re * x.im - s.im * x.re)),
        ]
    }

    /// Rotates two rows from a column on.
    fn rows(self, is_real: bool, x: &mut Square, (i, k): (usize, usize), from: usize) {
        for j in from..x.n {
            let [one, other] = self.apply(is_real, x.at(i, j), x.at(k, j));
            x.put(i, j, one);
            x.put(k, j, other);
        }
    }

    /// Rotates two columns up to a row.
    fn columns(self, is_real: bool, x: &mut Square, (j, k): (usize, usize), last: usize) {
        for i in 0..=last {
            let [one, other] = self.apply(is_real, x.at(i, j), x.at(i, k));
            x.put(i, j, one);
            x.put(i, k, other);
        }
    }
}

/// The equations of an exchange of blocks, and their right sides.
type System = [[Complex<f64>; 9]; 8];

impl Pencil {
    pub(super) fn side(&self, side: Side) -> &Square {
        match (side, &self.b) {
            (Side::B, Some(b)) => b,
            _ => &self.a,
        }
    }

    pub(super) fn side_mut(&mut self, side: Side) -> &mut Square {
        match (side, &mut self.b) {
            (Side::B, Some(b)) => b,
            _ => &mut self.a,
        }
    }

    fn sides(&self) -> &'static [Side] {
        if self.b.is_some() { &[Side::A, Side::B] } else { &[Side::A] }
    }

    /// Rotates rows i and i + 1, which are 0 before column `from`.
    pub(super) fn rows(&mut self, i: usize, from: usize, turn: Turn) {
        turn.rows(self.is_real, &mut self.a, (i, i + 1), from);
        if let Some(b) = &mut self.b {
            turn.rows(self.is_real, b, (i, i + 1), from);
            turn.conj().rows(self.is_real, &mut self.q, (i, i + 1), 0);
        }
    }

    /// Rotates columns j and k, which are 0 after row `last`.
    pub(super) fn columns(&mut self, j: usize, k: usize, last: usize, turn: Turn) {
        turn.columns(self.is_real, &mut self.a, (j, k), last);
        if let Some(b) = &mut self.b {
            turn.columns(self.is_real, b, (j, k), last);
        }
        turn.rows(self.is_real, &mut self.z, (j, k), 0);
    }

    /// Makes the number of row i + 1 and column j 0 by a rotation with the row above.
    pub(super) fn clear_below(&mut self, side: Side, (i, j): (usize, usize), from: usize) {
        let [x, y] = [i, i + 1].map(|i| self.side(side).at(i, j));
        if !is_zero(y) {
            self.rows(i, from, Turn::of(x, y));
            self.side_mut(side).put(i + 1, j, ZERO);
        }
    }

    /// Makes the number of row i and column j 0 by a rotation with the column to the right.
    pub(super) fn clear_left(&mut self, side: Side, (i, j): (usize, usize), last: usize) {
        let [x, y] = [j + 1, j].map(|j| self.side(side).at(i, j));
        if !is_zero(y) {
            self.columns(j + 1, j, last, Turn::of(x, y));
            self.side_mut(side).put(i, j, ZERO);
        }
    }

    /// Returns whether rows k and k + 1 are a block.
    pub(super) fn is_pair(&self, k: usize) -> bool {
        self.is_real && k + 1 < self.n && self.a.at(k + 1, k).re != 0.0
    }

    /// Returns the real parts of a block: two rows, one after the other.
    fn block(&self, side: Side, k: usize) -> [f64; 4] {
        [(k, k), (k, k + 1), (k + 1, k), (k + 1, k + 1)].map(|(i, j)| self.side(side).at(i, j).re)
    }

    /// Returns whether the eigenvalues of a block are real, and two numbers: the eigenvalues are their sum and difference,
    /// or the numbers are the real and imaginary parts.
    fn eigenvalues(&self, k: usize) -> (bool, f64, f64) {
        let (a, b) = (self.block(Side::A, k), self.block(Side::B, k));
        let (first, below) = (a[0] / b[0], a[2] / b[0]);
        let (above, last) = ((a[1] - first * b[1]) / b[3], (a[3] - below * b[1]) / b[3]);
        let half = (first - last) / 2.0;
        let square = half * half + above * below;
        (square >= 0.0, last + half, square.abs().sqrt())
    }

    /// Rotates a block with real eigenvalues so that it is nearly triangular. Returns whether it is triangular then.
    fn split(&mut self, k: usize, value: f64) -> bool {
        let (a, b) = (self.block(Side::A, k), self.block(Side::B, k));
        let size = value.abs();
        let (by, w) = if size > 1.0 { (1.0 / size, value / size) } else { (1.0, value) };
        let of_a = a[0].abs() + a[1].abs() + a[2].abs() + a[3].abs();
        let of_b = b[0].abs() + b[1].abs() + b[3].abs();
        let first = [by * a[0] - w * b[0], by * a[1] - w * b[1]];
        let second = [by * a[2], by * a[3] - w * b[3]];
        let is_first = length(first[0], first[1]) >= length(second[0], second[1]);
        let v = if is_first { first } else { second };
        self.columns(k, k + 1, k + 1, Turn::of(real(v[1]), real(-v[0])));
        let side = if by * of_a < w.abs() * of_b { Side::A } else { Side::B };
        self.clear_below(side, (k, k), k);
        let [of_a, of_b] = [(Side::A, of_a), (Side::B, of_b)]
            .map(|(side, of_all)| self.block(side, k)[2].abs() > PRECISION * of_all);
        if of_a || of_b {
            return false;
        }
        self.a.put(k + 1, k, ZERO);
        self.side_mut(Side::B).put(k + 1, k, ZERO);
        true
    }

    /// Makes b of a block diagonal.
    fn straighten(&mut self, k: usize) {
        let b = self.block(Side::B, k);
        let (product, gap) = (b[0] * b[1], b[1] * b[1] + b[3] * b[3] - b[0] * b[0]);
        let zeta = gap / (2.0 * product);
        let tangent = 1.0 / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
        let more = 1.0 / (1.0 + tangent * tangent).sqrt();
        let less = more * tangent;
        let (c, s) = if gap > 0.0 { (less, more) } else { (more, -less) };
        if product != 0.0 {
            self.columns(k, k + 1, k + 1, Turn { c, s: real(if zeta < 0.0 { -s } else { s }) });
        }
        self.clear_below(Side::B, (k, k), k);
        self.side_mut(Side::B).put(k, k + 1, ZERO);
    }

    /// Gives the block of rows k and k + 1 its normal form.
    pub(super) fn pair(&mut self, k: usize) {
        if self.b.is_none() {
            let (m, (c, s)) = normal(self.block(Side::A, k));
            let turn = Turn { c, s: real(s) };
            self.rows(k, k, turn);
            self.columns(k, k + 1, k + 1, turn);
            for (at, x) in m.into_iter().enumerate() {
                self.a.put(k + at / 2, k + at % 2, real(x));
            }
            return;
        }
        for _ in 0..TURNS {
            let (is_real, mean, root) = self.eigenvalues(k);
            if is_real {
                if self.split(k, if mean < 0.0 { mean - root } else { mean + root }) {
                    return;
                }
                self.clear_below(Side::B, (k, k), k);
            } else {
                self.straighten(k);
                if !self.eigenvalues(k).0 {
                    return;
                }
            }
        }
        self.a.put(k + 1, k, ZERO);
    }

    /// Returns the sum of the sizes of the numbers in some rows and columns from k on.
    fn window(&self, side: Side, k: usize, length: usize) -> f64 {
        let mut sum = 0.0;
        for (i, j) in (0..length).flat_map(|i| (0..length).map(move |j| (i, j))) {
            sum += size(self.side(side).at(k + i, k + j));
        }
        sum
    }

    /// Adds the equations of one matrix to the system of an exchange. The unknown numbers of Y start at `y`, and the
    /// right sides are numbers `count`.
    fn equations(
        &self,
        side: Side,
        k: usize,
        [p, q]: [usize; 2],
        y: usize,
        count: usize,
    ) -> Vec<[Complex<f64>; 9]> {
        let sum = self.window(side, k, p + q);
        let by = if sum > 2_f64.powi(-900) { 1.0 / sum } else { 1.0 };
        let x = |i: usize, j: usize| scaled(self.side(side).at(k + i, k + j), by);
        let mut made = vec![[ZERO; 9]; p * q];
        for (at, equation) in made.iter_mut().enumerate() {
            let (i, j) = (at / q, at % q);
            (0..p).for_each(|l| equation[l * q + j] = equation[l * q + j].plus(x(i, l)));
            for l in 0..q {
                let at = y + i * q + l;
                equation[at] = equation[at].minus(x(p + l, p + j));
            }
            equation[count] = x(i, p + j);
        }
        made
    }

    /// Applies rotations of the rows or columns from k on that triangularize the basis (-x, 1).
    fn lead(&mut self, k: usize, [p, q]: [usize; 2], [rows, columns]: [bool; 2], x: &[Complex<f64>]) {
        let mut basis: Vec<Vec<Complex<f64>>> =
            (0..p).map(|i| (0..q).map(|j| negative(x[i * q + j])).collect()).collect();
        basis.extend((0..q).map(|i| (0..q).map(|j| real(f64::from(u8::from(i == j)))).collect()));
        for j in 0..q {
            for i in (j + 1..=p + j).rev() {
                let turn = Turn::of(basis[i - 1][j], basis[i][j]);
                let turned = turn.conj();
                let (above, below) = basis.split_at_mut(i);
                for (x, y) in above[i - 1][j..].iter_mut().zip(&mut below[0][j..]) {
                    let (old, next) = (*x, *y);
                    *x = scaled(old, turn.c).plus(turn.s.times(next));
                    *y = scaled(next, turn.c).minus(turned.s.times(old));
                }
                if rows {
                    self.rows(k + i - 1, k, turn);
                }
                if columns {
                    self.columns(k + i - 1, k + i, k + p + q - 1, turned);
                }
            }
        }
    }

    /// Makes the lower left block of exchanged blocks 0; `None` if its numbers are too large.
    fn drop(&mut self, side: Side, k: usize, [p, q]: [usize; 2]) -> Option<()> {
        let whole = self.window(side, k, p + q);
        let mut dropped = 0.0;
        for (i, j) in (q..p + q).flat_map(|i| (0..q).map(move |j| (k + i, k + j))) {
            dropped += size(self.side(side).at(i, j));
            self.side_mut(side).put(i, j, ZERO);
        }
        (dropped <= 20.0 * PRECISION * whole).then_some(())
    }

    /// Exchanges the block of p rows from k on and the block of q rows after it; `None` if it fails.
    fn swap(&mut self, k: usize, p: usize, q: usize) -> Option<()> {
        let (single, sizes) = (p * q, [p, q]);
        let count = single * self.sides().len();
        let mut system: System = [[ZERO; 9]; 8];
        let y = |side| if side == Side::A { count - single } else { single };
        let equations: Vec<_> =
            self.sides().iter().flat_map(|side| self.equations(*side, k, sizes, y(*side), count)).collect();
        system[..count].copy_from_slice(&equations);
        let found = solve(count, &mut system);
        let alone = self.b.is_none();
        self.lead(k, sizes, [alone, true], &found[..single]);
        if !alone {
            self.lead(k, sizes, [true, false], &found[single..]);
        }
        for side in self.sides() {
            self.drop(*side, k, sizes)?;
        }
        for (first, size) in [(0, q), (q, p)] {
            if size == 2 {
                if !alone {
                    self.clear_below(Side::B, (k + first, k + first), k + first);
                }
                self.pair(k + first);
            }
        }
        Some(())
    }

    /// Moves the block of `size` rows from row k up to row `to`; `None` if it fails.
    fn lift(&mut self, mut k: usize, to: usize, size: usize) -> Option<()> {
        while k > to {
            let before = if k >= to + 2 && self.is_pair(k - 2) { 2 } else { 1 };
            self.swap(k - before, before, size)?;
            k -= before;
            if size == 2 && !self.is_pair(k) {
                self.lift(k, to, 1)?;
                return self.lift(k + 1, to + 1, 1);
            }
        }
        Some(())
    }

    /// Returns the numerators and denominators of the eigenvalues of the block of row k.
    pub(super) fn values(&self, k: usize) -> Vec<(Complex<f64>, f64)> {
        let [of_a, of_b] = self.scales;
        let own = self.a.at(k, k);
        if !self.is_pair(k) {
            let beta = if self.b.is_none() { 1.0 } else { self.side(Side::B).at(k, k).re / of_b };
            return vec![(Complex::new(own.re / of_a, own.im / of_a), beta)];
        }
        let (mean, root, length, beta) = if self.b.is_none() {
            let [_, above, below, _] = self.block(Side::A, k);
            (own.re, above.abs().sqrt() * below.abs().sqrt(), 1.0, 1.0)
        } else {
            let (_, mean, root) = self.eigenvalues(k);
            let [first, _, _, last] = self.block(Side::B, k);
            let length = first.sqrt() * last.sqrt();
            (mean, root, length, length / of_b)
        };
        let alpha = Complex::new(mean * length / of_a, root * length / of_a);
        vec![(alpha, beta), (alpha.conj(), beta)]
    }

    /// Moves the blocks whose eigenvalues come first to the top; `None` if it fails.
    pub(super) fn sort(&mut self, sort: EigenvalueSort) -> Option<()> {
        let (mut k, mut to) = (0, 0);
        while k < self.n {
            let values = self.values(k);
            let (alpha, beta) = values[0];
            if sort.is_first(self.b.is_some(), alpha, beta) {
                self.lift(k, to, values.len())?;
                to += values.len();
            }
            k += values.len();
        }
        Some(())
    }
}

/// Solves a system of n equations, whose right sides are column n, by elimination with complete pivoting. Pivots that are
/// too small are replaced.
fn solve(n: usize, x: &mut System) -> Vec<Complex<f64>> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut least = 0.0;
    for k in 0..n {
        let (mut row, mut column, mut largest) = (k, k, -1.0);
        for (i, j) in (k..n).flat_map(|i| (k..n).map(move |j| (i, j))) {
            if size(x[i][j]) > largest {
                (largest, row, column) = (size(x[i][j]), i, j);
            }
        }
        if k == 0 {
            least = (largest * PRECISION).max(2_f64.powi(-900));
        }
        x.swap(k, row);
        x[..n].iter_mut().for_each(|x| x.swap(k, column));
        order.swap(k, column);
        if size(x[k][k]) < least {
            x[k][k] = real(least);
        }
        let (done, rest) = x.split_at_mut(k + 1);
        let pivot = &done[k];
        for row in &mut rest[..n - k - 1] {
            let factor = row[k].over(pivot[k]);
            for (x, y) in row[k + 1..=n].iter_mut().zip(&pivot[k + 1..=n]) {
                *x = x.minus(factor.times(*y));
            }
        }
    }
    let mut found = vec![ZERO; n];
    for k in (0..n).rev() {
        let sum = (k + 1..n).fold(x[k][n], |sum, j| sum.minus(x[k][j].times(found[order[j]])));
        found[order[k]] = sum.over(x[k][k]);
    }
    found
}

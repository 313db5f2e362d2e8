//! The reference implementation of generalized Schur decompositions.
//!
//! `c/precast/ops/linalg/qz.h` has the same operations in the same order, so the bits are equal.

use super::complex_schur::{root, size};
use super::eigenvalue_sort::EigenvalueSort;
use super::pencil::{Pencil, Side, Square, Turn, ZERO, abs, negative, real, scaled};
use super::schur::{EXCEPTION, SWEEPS};
use crate::scalar::ComplexNumber;
use precast_graph::Complex;

/// Decomposes a pair; `None` if its eigenvalues do not converge or cannot be sorted.
pub(super) fn decompose(
    is_real: bool,
    [a, b]: [Square; 2],
    scales: [f64; 2],
    sort: Option<EigenvalueSort>,
) -> Option<Pencil> {
    let n = a.n;
    let mut of = Pencil { n, is_real, a, b: Some(b), q: Square::units(n), z: Square::units(n), scales };
    hessenberg(&mut of);
    make_diagonal(&mut of)?;
    if let Some(sort) = sort {
        of.sort(sort)?;
        turn(&mut of);
    }
    Some(of)
}

/// Returns the power of 2 that moves a number of this size next to 1.
pub(super) fn scale(largest: f64) -> f64 {
    let exponent = (largest.to_bits() >> 52).clamp(1, 2045);
    if largest == 0.0 { 1.0 } else { f64::from_bits((2046 - exponent) << 52) }
}

/// Returns the size below which numbers of a matrix count as 0.
fn least(of: &Pencil, x: &Square) -> f64 {
    let mut sum = 0.0;
    for row in x.data.chunks(of.n.max(1)) {
        row.iter().for_each(|x| sum += x.re * x.re);
        if !of.is_real {
            row.iter().for_each(|x| sum += x.im * x.im);
        }
    }
    f64::EPSILON * f64::sqrt(sum)
}

/// Makes b triangular and a Hessenberg.
fn hessenberg(of: &mut Pencil) {
    let n = of.n;
    for j in 0..n {
        (j..n.saturating_sub(1)).rev().for_each(|i| of.clear_below(Side::B, (i, j), 0));
    }
    for j in 0..n.saturating_sub(2) {
        for i in (j + 1..n - 1).rev() {
            of.clear_below(Side::A, (i, j), j);
            of.clear_left(Side::B, (i + 1, i), n - 1);
        }
    }
}

/// Moves the 0 in row k of the diagonal of b down to row `last`.
fn chase(of: &mut Pencil, first: usize, k: usize, last: usize) {
    for j in k..last {
        of.clear_below(Side::B, (j, j + 1), if j > first { j - 1 } else { j });
        if j > first {
            of.clear_left(Side::A, (j + 1, j - 1), j + 1);
        }
    }
    of.clear_left(Side::A, (last, last - 1), last);
}

/// Returns the last two rows of a·b⁻¹ from `first` to `last`. An exceptional shift replaces them.
fn end(of: &Pencil, first: usize, last: usize, sweeps: usize) -> [Complex<f64>; 4] {
    let k = last - 1;
    let (a, b) = (|i, j| of.a.at(i, j), |i, j| of.side(Side::B).at(i, j));
    let (own, end, above) = (b(k, k), b(last, last), b(k, last));
    let (mut before, mut x, mut y) = (ZERO, a(k, k), a(k, last));
    if k > first {
        before = a(k, k - 1).over(b(k - 1, k - 1));
        x = x.minus(before.times(b(k - 1, k)));
        y = y.minus(before.times(b(k - 1, last)));
    }
    let (start, below) = (x.over(own), a(last, k).over(own));
    let beside = y.minus(start.times(above)).over(end);
    let corner = a(last, last).minus(below.times(above)).over(end);
    if sweeps % EXCEPTION == EXCEPTION - 1 {
        let size = size(below) + size(before);
        let both = Complex::new(0.75 * size + corner.re, corner.im);
        return [both, real(-0.4375 * size), real(size), both];
    }
    [start, beside, below, corner]
}

/// Returns the start of a sweep with two shifts.
fn double(of: &Pencil, first: usize, last: usize, sweeps: usize) -> [Complex<f64>; 3] {
    let m = end(of, first, last, sweeps).map(|x| x.re);
    let (a, b) = (
        |i: usize, j: usize| of.a.at(first + i, first + j).re,
        |i: usize, j: usize| of.side(Side::B).at(first + i, first + j).re,
    );
    let (own, below) = (a(0, 0) / b(0, 0), a(1, 0) / b(0, 0));
    let (beside, next) = ((a(0, 1) - own * b(0, 1)) / b(1, 1), (a(1, 1) - below * b(0, 1)) / b(1, 1));
    let half = (m[0] - m[3]) / 2.0;
    let square = half * half + m[1] * m[2];
    let root = square.abs().sqrt();
    let (mut x, mut y, mut product) = (m[0] - own, m[3] - own, m[1] * m[2]);
    if square >= 0.0 {
        y += if half < 0.0 { half + root } else { half - root };
        (x, product) = (y, 0.0);
    }
    [real((x * y - product) / below + beside), real(next - own - x - y), real(a(2, 1) / b(1, 1))]
}

/// Returns the start of a sweep with one shift.
fn single(of: &Pencil, first: usize, last: usize, sweeps: usize) -> [Complex<f64>; 3] {
    let m = end(of, first, last, sweeps);
    let (half, product) = (scaled(m[0].minus(m[3]), 0.5), m[1].times(m[2]));
    let mut root = root(half.times(half).plus(product));
    if half.re * root.re + half.im * root.im < 0.0 {
        root = negative(root);
    }
    let sum = half.plus(root);
    let shift = if sum.re != 0.0 || sum.im != 0.0 { m[3].minus(product.over(sum)) } else { m[3] };
    let start = of.a.at(first, first).minus(shift.times(of.side(Side::B).at(first, first)));
    [start, of.a.at(first + 1, first), ZERO]
}

fn sweep(of: &mut Pencil, first: usize, last: usize, sweeps: usize) {
    let mut v = if of.is_real { double(of, first, last, sweeps) } else { single(of, first, last, sweeps) };
    for k in first..last {
        let is_wide = of.is_real && k + 2 <= last;
        if k == first {
            if is_wide {
                let turn = Turn::of(v[1], v[2]);
                of.rows(k + 1, k, turn);
                v[1] = scaled(v[1], turn.c).plus(turn.s.times(v[2]));
            }
            of.rows(k, k, Turn::of(v[0], v[1]));
        } else {
            if is_wide {
                of.clear_below(Side::A, (k + 1, k - 1), k - 1);
            }
            of.clear_below(Side::A, (k, k - 1), k - 1);
        }
        let reach = last.min(k + if of.is_real { 3 } else { 2 });
        if is_wide {
            of.clear_left(Side::B, (k + 2, k + 1), reach);
        }
        of.clear_left(Side::B, (k + 1, k), reach);
    }
}

/// Makes the numbers of the diagonal of b real and not negative by factors of columns.
fn turn(of: &mut Pencil) {
    for j in 0..of.n {
        let own = of.side(Side::B).at(j, j);
        let size = abs(own);
        if own.re >= 0.0 && own.im == 0.0 {
            continue;
        }
        let by = Complex::new(own.re / size, -own.im / size);
        let is_real = of.is_real;
        let turned = |x: Complex<f64>| {
            let x = x.times(by);
            if is_real { real(x.re) } else { x }
        };
        let is_pair = of.is_pair(j);
        for side in [Side::A, Side::B] {
            let below = usize::from(is_pair && side == Side::A);
            for i in 0..=j + below {
                let x = turned(of.side(side).at(i, j));
                of.side_mut(side).put(i, j, x);
            }
        }
        for i in 0..of.n {
            let x = turned(of.z.at(j, i));
            of.z.put(j, i, x);
        }
        of.side_mut(Side::B).put(j, j, real(size));
    }
}

/// Makes a triangular or quasi-triangular; `None` if its eigenvalues do not converge.
fn make_diagonal(of: &mut Pencil) -> Option<()> {
    let (of_a, of_b) = (least(of, &of.a), least(of, of.side(Side::B)));
    let (mut sweeps, mut rows) = (0, of.n);
    while rows > 0 {
        let last = rows - 1;
        let is_small = |k: &usize| abs(of.a.at(*k, k - 1)) <= of_a;
        let first = (1..=last).rev().find(is_small).unwrap_or(0);
        if first > 0 {
            of.a.put(first, first - 1, ZERO);
        }
        let is_pair = of.is_real && first + 1 == last;
        if let Some(k) = (first..=last).rev().find(|k| abs(of.side(Side::B).at(*k, *k)) <= of_b) {
            of.side_mut(Side::B).put(k, k, ZERO);
            if first < last {
                chase(of, first, k, last);
            }
            rows = last;
        } else if first == last || is_pair {
            if is_pair {
                of.pair(first);
            }
            rows = first;
        } else {
            if sweeps == SWEEPS {
                return None;
            }
            sweep(of, first, last, sweeps);
            sweeps += 1;
            continue;
        }
        sweeps = 0;
    }
    turn(of);
    Some(())
}

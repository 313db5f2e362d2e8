//! Compares products with their definition, bit by bit: shapes at the edges of tiles and blocks, layouts, and levels.

use super::{Factor, matmul, matrix, multiply, multiply_by, multiply_stack, threads};
use crate::{Complex, DType, cpu};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder as _, s};
use std::ffi::c_void;

/// A real number type.
trait Real: Copy + std::fmt::Debug {
    const ZERO: Self;
    fn of(x: f64) -> Self;
    fn chain(self, by: Self, sum: Self, once: bool) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self) -> Self;
}

macro_rules! real {
    ($($real:ident),*) => {$(
        impl Real for $real {
            const ZERO: Self = 0.0;
            fn of(x: f64) -> Self {
                x as Self
            }
            fn chain(self, by: Self, sum: Self, once: bool) -> Self {
                if once { self.mul_add(by, sum) } else { self * by + sum }
            }
            fn plus(self, other: Self) -> Self {
                self + other
            }
            fn minus(self) -> Self {
                -self
            }
        }
    )*};
}
real!(f32, f64);

/// An element as a list of reals.
trait Parts: Factor {
    type Real: Real;
    fn of_reals(reals: &[Self::Real]) -> Self;
    fn reals(self) -> Vec<Self::Real>;
}

macro_rules! parts {
    ($($real:ident),*) => {$(
        impl Parts for $real {
            type Real = $real;
            fn of_reals(reals: &[$real]) -> Self {
                reals[0]
            }
            fn reals(self) -> Vec<$real> {
                vec![self]
            }
        }
        impl Parts for Complex<$real> {
            type Real = $real;
            fn of_reals(reals: &[$real]) -> Self {
                Self::new(reals[0], reals[1])
            }
            fn reals(self) -> Vec<$real> {
                vec![self.re, self.im]
            }
        }
    )*};
}
parts!(f32, f64);

fn filled<T: Parts>(rows: usize, columns: usize) -> Array2<T> {
    let real = |at: usize| T::Real::of((at as f64 * 0.37 + 1.0).sin());
    Array2::from_shape_fn((rows, columns), |(i, j)| {
        let at = 2 * (i * 131 + j * 17);
        T::of_reals(&[real(at), real(at + 1)])
    })
}

/// Returns the factor pairs that are summed to one real of a result. A complex result has twice as many real products.
fn terms<T: Parts>(a: &[T], b: &[T], part: usize) -> Vec<(T::Real, T::Real)> {
    let both = a.iter().zip(b).map(|(a, b)| (a.reals(), b.reals()));
    let pairs = both.flat_map(|(a, b)| match (part, a.len()) {
        (_, 1) => vec![(a[0], b[0])],
        (0, _) => vec![(a[0], b[0]), (a[1], b[1].minus())],
        _ => vec![(a[0], b[1]), (a[1], b[0])],
    });
    pairs.collect()
}

/// Computes a result by the definition. `once` is whether a multiplication and its addition are rounded once.
fn expected<T: Parts>(a: &[T], b: &[T], vector: bool, turned: bool, once: bool) -> T {
    let of_part = |part| {
        // The reals of the vector come second.
        let terms = if turned { terms(b, a, part) } else { terms(a, b, part) };
        if vector {
            let mut lanes = [T::Real::ZERO; 8];
            terms.iter().enumerate().for_each(|(q, (a, b))| lanes[q % 8] = a.chain(*b, lanes[q % 8], false));
            let [a, b, c, d, e, f, g, h] = lanes;
            return (a.plus(b).plus(c.plus(d))).plus(e.plus(f).plus(g.plus(h)));
        }
        let chain = |block: &[(T::Real, T::Real)]| {
            block.iter().fold(T::Real::ZERO, |sum, (a, b)| a.chain(*b, sum, once))
        };
        terms.chunks(256).map(chain).reduce(|sum, block| sum.plus(block)).unwrap_or(T::Real::ZERO)
    };
    T::of_reals(&[of_part(0), of_part(1)])
}

/// Computes one result in `every` by the definition, with its position.
fn some_expected<T: Parts>(
    a: &Array2<T>,
    b: &Array2<T>,
    once: bool,
    every: usize,
) -> Vec<((usize, usize), T)> {
    let (m, n) = (a.nrows(), b.ncols());
    let one = |at: usize| {
        let (i, j) = (at / n, at % n);
        let (row, column) = (a.row(i).to_vec(), b.column(j).to_vec());
        ((i, j), expected(&row, &column, n == 1 || m == 1, m == 1 && n != 1, once))
    };
    (0..m * n).step_by(every).map(one).collect()
}

fn product_by<T: Parts>(
    level: i32,
    a: &ArrayView2<'_, T>,
    b: &ArrayView2<'_, T>,
    c: &mut ArrayViewMut2<'_, T>,
) {
    let extents = [a.nrows(), b.ncols(), a.ncols()].map(|extent| extent as i64);
    let to = matrix(c.as_mut_ptr().cast(), c.strides(), size_of::<T>());
    let (a, b) = (
        matrix(a.as_ptr().cast(), a.strides(), size_of::<T>()),
        matrix(b.as_ptr().cast(), b.strides(), size_of::<T>()),
    );
    // SAFETY: views are memory of their extents; the tests use levels of this CPU.
    assert!(unsafe { multiply_by(level, T::DTYPE, (1, extents), a, b, to) }.is_some());
}

fn differing<T: Parts>(found: &Array2<T>, expected: &[((usize, usize), T)]) -> Option<(usize, usize)> {
    expected.iter().find(|(at, x)| found[*at].bits() != x.bits()).map(|(at, _)| *at)
}

/// Returns whether a level rounds a multiplication and its addition once.
fn once(level: i32) -> bool {
    level > 0 || cfg!(target_arch = "aarch64")
}

/// Returns the same matrix in four layouts, with their names.
fn layouts<T: Parts>(of: &Array2<T>) -> [(&'static str, Array2<T>); 4] {
    let (rows, columns) = of.dim();
    let mut by_columns = Array2::default((rows, columns).f());
    let mut steps = Array2::default((2 * rows, 3 * columns)).slice_move(s![..;2, ..;3]);
    let mut backwards = Array2::default((rows, columns));
    backwards.invert_axis(Axis(0));
    backwards.invert_axis(Axis(1));
    [&mut by_columns, &mut steps, &mut backwards].into_iter().for_each(|to| to.assign(of));
    [("rows", of.clone()), ("columns", by_columns), ("steps", steps), ("backwards", backwards)]
}

const SHAPES: [[usize; 3]; 21] = [
    [1, 1, 1],
    [2, 2, 1],
    [3, 2, 7],
    [8, 24, 8],
    [7, 23, 9],
    [9, 25, 257],
    [4, 48, 256],
    [17, 49, 300],
    [2, 1000, 3],
    [130, 5, 20],
    [1, 1, 1000],
    [1, 33, 40],
    [33, 1, 77],
    [300, 1, 9],
    [1, 300, 35],
    [5, 1, 600],
    [700, 1, 200],
    [40, 1, 4100],
    [3, 3, 0],
    [0, 3, 2],
    [3, 0, 2],
];

fn products_are_their_definition<T: Parts>() {
    for [m, n, k] in SHAPES {
        let (a, b) = (filled::<T>(m, k), filled::<T>(k, n));
        let of_once = [false, true].map(|once| some_expected(&a, &b, once, 1));
        for level in 0..=cpu::kernels() {
            for (of_a, a) in &layouts(&a) {
                for (of_b, b) in &layouts(&b) {
                    // The layout of the result is tested with only one pair of operand layouts.
                    let results = if (*of_a, *of_b) == ("steps", "columns") { 4 } else { 1 };
                    for (of_c, mut c) in layouts(&filled(m, n)).into_iter().take(results) {
                        product_by(level, &a.view(), &b.view(), &mut c.view_mut());
                        let case =
                            format!("{} {m}x{k} by {k}x{n}, level {level}: {of_a}, {of_b}, {of_c}", T::DTYPE);
                        assert_eq!(differing(&c, &of_once[usize::from(once(level))]), None, "{case}");
                    }
                }
            }
        }
    }
}

#[test]
fn float_products_match_definition_at_every_level() {
    products_are_their_definition::<f32>();
    products_are_their_definition::<f64>();
}

#[test]
fn complex_products_match_definition_at_every_level() {
    products_are_their_definition::<Complex<f32>>();
    products_are_their_definition::<Complex<f64>>();
}

/// Tests products so large that operands are copied, and m, n and k are divided into blocks. They are divided by rows and
/// by columns, on one and three threads.
fn large_products_are_their_definition<T: Parts>() {
    for (m, n) in [(140, 1000), (1000, 140)] {
        let (a, b) = (filled::<T>(m, 300), filled::<T>(300, n));
        for level in 0..=cpu::kernels() {
            let expected = some_expected(&a, &b, once(level), 53);
            for threads in [1, 3] {
                threads::limit(threads);
                let mut c = Array2::default((m, n));
                product_by(level, &a.view(), &b.view(), &mut c.view_mut());
                assert_eq!(differing(&c, &expected), None, "{m}×{n}, level {level}, {threads} threads");
            }
        }
    }
}

#[test]
fn large_product_matches_its_definition() {
    large_products_are_their_definition::<f32>();
    large_products_are_their_definition::<f64>();
    large_products_are_their_definition::<Complex<f32>>();
}

/// Tests stacks with enough products for several threads; the left matrices are adjacent, and the right one is shared.
#[test]
fn stack_products_match_pair_products() {
    threads::limit(3);
    for ([m, n, k], count) in
        [([8, 8, 8], 3000), ([5, 1, 7], 40), ([9, 30, 300], 7), ([200, 190, 160], 3), ([90, 300, 200], 2)]
    {
        let (a, b) = (filled::<f64>(count * m, k), filled::<f64>(k, n));
        let mut c = Array2::<f64>::zeros((count * m, n));
        let of = |array: &Array2<f64>, step: usize| {
            let mut of = matrix(array.as_ptr().cast::<c_void>(), array.strides(), 8);
            of.stack = (8 * step) as i64;
            of
        };
        let (left, right) = (of(&a, m * k), of(&b, 0));
        let mut to = matrix(c.as_mut_ptr().cast(), c.strides(), 8);
        to.stack = (8 * m * n) as i64;
        let extents = (count as i64, [m, n, k].map(|extent| extent as i64));
        // SAFETY: arrays of `count` matrices.
        assert!(unsafe { multiply_stack(DType::F64, extents, left, right, to) }.is_some());
        for i in 0..count {
            let mut one = Array2::zeros((m, n));
            matmul(&a.slice(s![i * m..(i + 1) * m, ..]), &b.view(), &mut one.view_mut());
            assert_eq!(c.slice(s![i * m..(i + 1) * m, ..]), one, "product {i} of {m}x{n}x{k}");
        }
    }
}

#[test]
fn nan_affects_only_its_row_and_column() {
    for [m, n, k] in [[10, 30, 20], [9, 1, 30], [1, 40, 21]] {
        let (mut a, b) = (filled::<f64>(m, k), filled::<f64>(k, n));
        a[(m / 2, k - 1)] = f64::NAN;
        let mut c = Array2::zeros((m, n));
        matmul(&a.view(), &b.view(), &mut c.view_mut());
        for ((i, _), x) in c.indexed_iter() {
            assert_eq!(x.is_nan(), i == m / 2, "{m}x{n}x{k} row {i}");
        }
    }
}

#[test]
fn invalid_products_are_rejected() {
    let (a, mut c) = ([1_i32; 4], [0_i32; 4]);
    let of = |step| super::Matrix { data: a.as_ptr().cast(), row: 2 * step, column: step, stack: 0 };
    let to = super::Matrix { data: c.as_mut_ptr().cast(), row: 8, column: 4, stack: 0 };
    for (dtype, step) in [(DType::I32, 4), (DType::F32, 3), (DType::C64, 4)] {
        // SAFETY: `multiply` rejects the arguments before it reads or writes memory.
        assert_eq!(unsafe { multiply(dtype, [2, 2, 2], of(step), of(step), to) }, None);
    }
}

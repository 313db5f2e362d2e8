//! The reference implementation of reflections and rotations, and of decompositions of stacks of matrices by them.
//!
//! All computations are in f64, and results are rounded once to the dtype of the matrices. The order of operations is
//! that of `c/precast/ops/linalg/reflect.h`, so the bits are equal.

use super::matrix::expect_matrix;
use crate::declared::of;
use crate::elements;
use ndarray::{ArrayD, IxDyn};
use precast_graph::{Array, DType, Extent, MakeNodeError, PerformError, Type};
use std::cmp::Ordering;

/// Rows of numbers, one after another.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    pub(super) length: usize,
    pub(super) data: Vec<f64>,
}

impl Rows {
    /// Creates the first unit vectors of this length.
    fn units(count: usize, length: usize) -> Self {
        let data = (0..count * length).map(|at| f64::from(at / length == at % length)).collect();
        Self { length, data }
    }

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.data[row * self.length..(row + 1) * self.length]
    }

    pub(super) fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.data[row * self.length..(row + 1) * self.length]
    }

    /// Returns the matrix whose columns are these rows, in C order.
    pub(super) fn turned(&self) -> Vec<f64> {
        let count = self.data.len().checked_div(self.length).unwrap_or(0);
        (0..self.data.len()).map(|at| self.data[at % count * self.length + at / count]).collect()
    }

    /// Rotates two rows: `c·x + s·y` and `c·y - s·x`.
    pub(super) fn rotate(&mut self, x: usize, y: usize, (c, s): (f64, f64)) {
        for i in 0..self.length {
            let (of_x, of_y) = (self.row(x)[i], self.row(y)[i]);
            self.row_mut(x)[i] = c * of_x + s * of_y;
            self.row_mut(y)[i] = c * of_y - s * of_x;
        }
    }
}

/// Returns the sum of the products of pairs, in eight lanes.
pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut s = [0.0; 8];
    for (i, (x, y)) in x.iter().zip(y).enumerate() {
        s[i % 8] += x * y;
    }
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

/// Returns the largest absolute value; NaN if any number is NaN.
pub(super) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest: f64, x| if x.abs() > largest || x.is_nan() { x.abs() } else { largest })
}

/// Returns whether squares of this size neither overflow nor lose digits.
pub(super) fn square_fits(square: f64) -> bool {
    square > 2_f64.powi(-900) && square < 2_f64.powi(900)
}

/// Returns the factor that moves a number of this size to the middle of the range.
pub(super) fn to_middle(largest: f64) -> f64 {
    if largest > 2_f64.powi(400) {
        2_f64.powi(-600)
    } else if largest < 2_f64.powi(-400) {
        2_f64.powi(600)
    } else {
        1.0
    }
}

/// Returns the Euclidean norm.
pub(super) fn norm(x: &[f64]) -> f64 {
    let square = dot(x, x);
    if square.is_nan() || square_fits(square) {
        return square.sqrt();
    }
    let largest = largest(x);
    if largest == 0.0 || largest.is_infinite() {
        return largest;
    }
    let scale = to_middle(largest);
    let square = x.iter().fold(0.0, |sum, x| sum + (x * scale) * (x * scale));
    square.sqrt() / scale
}

/// Returns the root of `x² + y²`.
pub(super) fn length(x: f64, y: f64) -> f64 {
    let square = x * x + y * y;
    if square_fits(square) { square.sqrt() } else { norm(&[x, y]) }
}

/// The reflection `1 - tau·v·vᵀ`.
#[derive(Debug, Clone, Default)]
pub(super) struct Reflection {
    /// The index of the first element of `v`.
    pub(super) start: usize,
    pub(super) v: Vec<f64>,
    pub(super) tau: f64,
}

impl Reflection {
    /// Returns the reflection that turns x into a multiple of one axis, and this multiple.
    pub(super) fn of(start: usize, x: &[f64], pivot: usize) -> (Self, f64) {
        let without = |x: &[f64]| if pivot == 0 { x[1..].to_vec() } else { x[..pivot].to_vec() };
        let mut v = x.to_vec();
        let (mut alpha, mut rest) = (x[pivot], norm(&without(x)));
        v[pivot] = 1.0;
        if rest == 0.0 {
            return (Self { start, v, tau: 0.0 }, alpha);
        }
        let scale = to_middle(if alpha.abs() > rest { alpha.abs() } else { rest });
        if scale != 1.0 {
            alpha *= scale;
            v.iter_mut().for_each(|x| *x *= scale);
            rest = norm(&without(&v));
        }
        let beta = if alpha >= 0.0 { -length(alpha, rest) } else { length(alpha, rest) };
        v.iter_mut().for_each(|x| *x /= alpha - beta);
        v[pivot] = 1.0;
        (Self { start, v, tau: (beta - alpha) / beta }, beta / scale)
    }

    /// Reflects a row.
    pub(super) fn apply(&self, row: &mut [f64]) {
        if self.tau == 0.0 {
            return;
        }
        let row = &mut row[self.start..self.start + self.v.len()];
        let factor = self.tau * dot(row, &self.v);
        row.iter_mut().zip(&self.v).for_each(|(x, v)| *x -= factor * v);
    }
}

/// Returns the columns of the product of reflections as rows.
pub(super) fn reflected_units(count: usize, length: usize, reflections: &[Reflection]) -> Rows {
    let mut rows = Rows::units(count, length);
    for row in 0..count {
        for reflection in reflections.iter().rev().filter(|reflection| reflection.start <= row) {
            reflection.apply(rows.row_mut(row));
        }
    }
    rows
}

/// Returns whether the first of the largest absolute values is negative.
pub(super) fn is_turned(x: &[f64]) -> bool {
    let best = x.iter().fold(0.0, |best: f64, x| if x.abs() > best.abs() { *x } else { best });
    best < 0.0
}

/// Returns the order of numbers; equal ones keep theirs.
pub(super) fn order(x: &[f64], descending: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = if descending { (b, a) } else { (a, b) };
        x[*a].partial_cmp(&x[*b]).unwrap_or(Ordering::Equal)
    });
    order
}

/// Checks that an input is a stack of matrices; returns the stack, the rows and the columns.
pub(super) fn expect_matrices<'a>(
    op: &str,
    inputs: &'a [Type],
) -> Result<(&'a [Extent], [Extent; 2]), MakeNodeError> {
    MakeNodeError::expect_inputs(op, 1, inputs)?;
    expect_matrix(op, 0, inputs)?;
    let (stack, matrix) = inputs[0].shape().split_at(inputs[0].ndim() - 2);
    Ok((stack, [matrix[0], matrix[1]]))
}

/// Returns the smaller one of two extents.
pub(super) fn least([m, n]: [Extent; 2]) -> Extent {
    match (m, n) {
        (Extent::Fixed(m), Extent::Fixed(n)) => Extent::Fixed(m.min(n)),
        _ => Extent::Unknown,
    }
}

/// Returns the type of a result, with these extents for each matrix.
pub(super) fn result(dtype: DType, stack: &[Extent], extents: &[Extent]) -> Type {
    of(dtype, [stack, extents].concat())
}

/// Decomposes each matrix of a stack. `one` gets the rows, the columns and the elements in C order, and returns the
/// elements of each result. `shapes`: the extents of the results for one matrix.
pub(super) fn each_factor(
    op: &str,
    a: &Array,
    shapes: &[Vec<usize>],
    one: impl Fn(usize, usize, Vec<f64>) -> Vec<Vec<f64>>,
) -> Result<Vec<Array>, PerformError> {
    let Array::F64(numbers) = a.cast(DType::F64) else { return Err(elements::mismatch(op)) };
    let (stack, matrix) = a.shape().split_at(a.shape().len() - 2);
    let (m, n) = (matrix[0], matrix[1]);
    let numbers: Vec<f64> = numbers.iter().copied().collect();
    let mut results = vec![Vec::new(); shapes.len()];
    for at in 0..stack.iter().product() {
        let made = one(m, n, numbers[at * m * n..(at + 1) * m * n].to_vec());
        results.iter_mut().zip(made).for_each(|(all, one)| all.extend(one));
    }
    let arrays = results.into_iter().zip(shapes).map(|(all, shape)| {
        let shape = [stack, shape].concat();
        let array = ArrayD::from_shape_vec(IxDyn(&shape), all).map_err(|_| elements::mismatch(op))?;
        Ok(Array::F64(array).cast(a.dtype()))
    });
    arrays.collect()
}

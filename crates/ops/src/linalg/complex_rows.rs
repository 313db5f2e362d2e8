//! The reference implementation of reflections of rows of complex numbers.
//!
//! The order of operations is that of `c/precast/ops/linalg/reflect_complex.h`, so the bits are equal.

use super::reflections::{Rows, dot, length, norm, to_middle};
use crate::elements;
use crate::scalar::ComplexNumber;
use ndarray::{ArrayD, IxDyn};
use precast_graph::{Array, Complex, DType, PerformError};

/// Complex numbers: the real parts and the imaginary parts.
#[derive(Debug, Clone, Default)]
pub(super) struct ComplexRow {
    pub(super) re: Vec<f64>,
    pub(super) im: Vec<f64>,
}

impl ComplexRow {
    pub(super) fn zeros(length: usize) -> Self {
        Self { re: vec![0.0; length], im: vec![0.0; length] }
    }

    pub(super) fn unit(length: usize, at: usize) -> Self {
        let mut row = Self::zeros(length);
        row.set(at, Complex::new(1.0, 0.0));
        row
    }

    pub(super) fn of(numbers: impl IntoIterator<Item = Complex<f64>>) -> Self {
        let (re, im) = numbers.into_iter().map(|x| (x.re, x.im)).unzip();
        Self { re, im }
    }

    /// Returns the numbers with these indices.
    pub(super) fn part(&self, range: std::ops::Range<usize>) -> Self {
        Self { re: self.re[range.clone()].to_vec(), im: self.im[range].to_vec() }
    }

    pub(super) fn len(&self) -> usize {
        self.re.len()
    }

    pub(super) fn at(&self, i: usize) -> Complex<f64> {
        Complex::new(self.re[i], self.im[i])
    }

    pub(super) fn set(&mut self, i: usize, x: Complex<f64>) {
        (self.re[i], self.im[i]) = (x.re, x.im);
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = Complex<f64>> {
        self.re.iter().zip(&self.im).map(|(re, im)| Complex::new(*re, *im))
    }

    /// Subtracts `factor · v` from the numbers from `start` on.
    pub(super) fn subtract(&mut self, start: usize, factor: Complex<f64>, v: &Self) {
        for i in 0..v.len() {
            self.re[start + i] -= factor.re * v.re[i] - factor.im * v.im[i];
            self.im[start + i] -= factor.re * v.im[i] + factor.im * v.re[i];
        }
    }

    pub(super) fn scale(&mut self, factor: Complex<f64>) {
        for i in 0..self.len() {
            let (re, im) = (self.re[i], self.im[i]);
            self.re[i] = re * factor.re - im * factor.im;
            self.im[i] = re * factor.im + im * factor.re;
        }
    }

    /// Returns the sum of the products of conjugates and other numbers.
    pub(super) fn dot(&self, x: &Self) -> Complex<f64> {
        let re = dot(&self.re, &x.re) + dot(&self.im, &x.im);
        Complex::new(re, dot(&self.re, &x.im) - dot(&self.im, &x.re))
    }

    /// Returns the factor that makes the first of the largest numbers real and positive, and the index of that number.
    pub(super) fn turn(&self) -> (Complex<f64>, usize) {
        let (mut best, mut largest) = (0, 0.0);
        for (i, x) in self.numbers().enumerate() {
            let size = length(x.re, x.im);
            if size > largest {
                (best, largest) = (i, size);
            }
        }
        if largest == 0.0 {
            return (Complex::new(1.0, 0.0), best);
        }
        (Complex::new(self.re[best] / largest, -self.im[best] / largest), best)
    }
}

/// Returns rows of real parts, each followed by its imaginary parts.
pub(super) fn joined_parts(length: usize, rows: &[ComplexRow]) -> Rows {
    let data = rows.iter().flat_map(|row| [row.re.clone(), row.im.clone()].concat()).collect();
    Rows { length: 2 * length, data }
}

/// Returns one of such rows.
pub(super) fn split_parts(rows: &Rows, row: usize) -> ComplexRow {
    let (re, im) = rows.row(row).split_at(rows.length / 2);
    ComplexRow { re: re.to_vec(), im: im.to_vec() }
}

/// The reflection `1 - tau·v·vᴴ`.
#[derive(Debug, Clone)]
pub(super) struct ComplexReflection {
    /// The index of the first element of `v`.
    pub(super) start: usize,
    pub(super) v: ComplexRow,
    pub(super) tau: Complex<f64>,
}

impl ComplexReflection {
    /// Returns the reflection whose adjoint turns x into a real multiple of one axis, and this multiple.
    pub(super) fn of(start: usize, x: &ComplexRow, pivot: usize) -> (Self, f64) {
        let others = if pivot == 0 { 1..x.len() } else { 0..pivot };
        let mut rest = x.part(others.clone());
        let (mut alpha, mut size_of_rest) = (x.at(pivot), length(norm(&rest.re), norm(&rest.im)));
        let made = |rest: &ComplexRow, tau: Complex<f64>| {
            let mut v = ComplexRow::unit(x.len(), pivot);
            others.clone().zip(rest.numbers()).for_each(|(i, x)| v.set(i, x));
            Self { start, v, tau }
        };
        if size_of_rest == 0.0 && alpha.im == 0.0 {
            return (made(&rest, Complex::new(0.0, 0.0)), alpha.re);
        }
        let mut size = length(alpha.re, alpha.im);
        let scale = to_middle(if size > size_of_rest { size } else { size_of_rest });
        if scale != 1.0 {
            alpha = Complex::new(alpha.re * scale, alpha.im * scale);
            rest.re.iter_mut().chain(&mut rest.im).for_each(|x| *x *= scale);
            size_of_rest = length(norm(&rest.re), norm(&rest.im));
            size = length(alpha.re, alpha.im);
        }
        let whole = length(size, size_of_rest);
        let beta = if alpha.re >= 0.0 { -whole } else { whole };
        let tau = Complex::new((beta - alpha.re) / beta, -alpha.im / beta);
        rest.scale(Complex::new(1.0, 0.0).over(Complex::new(alpha.re - beta, alpha.im)));
        (made(&rest, tau), beta / scale)
    }

    /// Reflects a row.
    pub(super) fn apply(&self, row: &mut ComplexRow) {
        self.apply_with(self.tau, row);
    }

    /// Reflects a row by the adjoint.
    pub(super) fn apply_adjoint(&self, row: &mut ComplexRow) {
        self.apply_with(Complex::new(self.tau.re, -self.tau.im), row);
    }

    fn apply_with(&self, tau: Complex<f64>, row: &mut ComplexRow) {
        if self.is_identity() {
            return;
        }
        let product = self.v.dot(&row.part(self.start..self.start + self.v.len()));
        row.subtract(self.start, tau.times(product), &self.v);
    }

    pub(super) fn is_identity(&self) -> bool {
        self.tau.re == 0.0 && self.tau.im == 0.0
    }
}

/// Returns the columns of the product of reflections as rows.
pub(super) fn reflected_units(
    count: usize,
    length: usize,
    reflections: &[ComplexReflection],
) -> Vec<ComplexRow> {
    let reflected = |row: usize| {
        let mut unit = ComplexRow::unit(length, row);
        for reflection in reflections.iter().rev().filter(|reflection| reflection.start <= row) {
            reflection.apply(&mut unit);
        }
        unit
    };
    (0..count).map(reflected).collect()
}

/// Decomposes each complex matrix of a stack. `one` gets the rows, the columns and the elements in C order, and returns
/// the elements of each result. `shapes`: the extents of the results for one matrix, and whether they are complex.
pub(super) fn each_complex_factor(
    op: &str,
    a: &Array,
    shapes: &[(Vec<usize>, bool)],
    one: impl Fn(usize, usize, Vec<Complex<f64>>) -> Vec<Vec<Complex<f64>>>,
) -> Result<Vec<Array>, PerformError> {
    let Array::C128(numbers) = a.cast(DType::C128) else { return Err(elements::mismatch(op)) };
    let (stack, matrix) = a.shape().split_at(a.shape().len() - 2);
    let (m, n) = (matrix[0], matrix[1]);
    let numbers: Vec<Complex<f64>> = numbers.iter().copied().collect();
    let mut results = vec![Vec::new(); shapes.len()];
    for at in 0..stack.iter().product() {
        let made = one(m, n, numbers[at * m * n..(at + 1) * m * n].to_vec());
        results.iter_mut().zip(made).for_each(|(all, one)| all.extend(one));
    }
    let arrays = results.into_iter().zip(shapes).map(|(all, (shape, is_complex))| {
        let shape = [stack, shape].concat();
        let array = ArrayD::from_shape_vec(IxDyn(&shape), all).map_err(|_| elements::mismatch(op))?;
        let dtype = if *is_complex { a.dtype() } else { a.dtype().real() };
        Ok(Array::C128(array).cast(dtype))
    });
    arrays.collect()
}

/// Returns the matrix whose columns are these rows, in C order.
pub(super) fn turned(rows: &[ComplexRow]) -> Vec<Complex<f64>> {
    let length = rows.first().map_or(0, ComplexRow::len);
    (0..length).flat_map(|i| rows.iter().map(move |row| row.at(i))).collect()
}

/// Returns real numbers as complex ones.
pub(super) fn complex(x: Vec<f64>) -> Vec<Complex<f64>> {
    x.into_iter().map(|x| Complex::new(x, 0.0)).collect()
}

/// Returns NaN for each element of a result.
pub(super) fn nan(count: usize) -> Vec<Complex<f64>> {
    vec![Complex::new(f64::NAN, f64::NAN); count]
}

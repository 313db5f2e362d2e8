//! Eig: the eigenvalues and right eigenvectors of matrices.

use super::complex_rows::{ComplexRow, each_complex_factor, nan, split_parts, turned};
use super::complex_schur::{self, ComplexSchur, size};
use super::matrix::{expect_square, rows};
use super::reflections::{Rows, dot, expect_matrices, largest, norm, result, square_fits, to_middle};
use super::schur::{Schur, decompose};
use crate::call::{Call, Called, called};
use crate::declared::Declared;
use crate::scalar::ComplexNumber;
use precast_codegen::Node;
use precast_graph::{Array, Complex, DType, MakeNodeError, Op, PerformError, Prop, Props, Type};
use std::sync::Arc;

const NAME: &str = "eig";

/// The most passes that balance a matrix.
const PASSES: usize = 100;

/// An op that returns the complex eigenvalues of square matrices, and their right eigenvectors as columns. The
/// eigenvalues are in the order of the diagonal of the Schur form; of a conjugate pair of a real matrix, the one with the
/// positive imaginary part is first. An eigenvector has norm 1, and its first element of the largest absolute value is real and
/// positive.
///
/// # Shapes
/// `a[…, n, n] -> (values[…, n], vectors[…, n, n])`, or the values alone if `values_only`
///
/// # Errors
/// At run time: a matrix that is not square. A matrix with NaN or an infinity has only NaN as results.
///
/// # Source
/// NumPy, `numpy.linalg.eig`; LAPACK, `gebal`, `lahqr` and `trevc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Eig {
    /// Whether the eigenvalues are the only result.
    pub values_only: bool,
}

impl Eig {
    /// Rebuilds the op from its props.
    ///
    /// # Errors
    /// An unknown prop, or one that is not a bool.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["values_only"])?;
        Ok(Arc::new(Self { values_only: declared.flag("values_only")? }))
    }
}

impl Op for Eig {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        Props::from([("values_only".to_owned(), Prop::Bool(self.values_only))])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        let (stack, [_, n]) = expect_matrices(NAME, inputs)?;
        expect_square(NAME, inputs)?;
        let dtype = whole(inputs[0].dtype());
        let all = vec![result(dtype, stack, &[n]), result(dtype, stack, &[n, n])];
        Ok(all.into_iter().take(self.count()).collect())
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let n = rows(NAME, inputs[0].shape())?;
        let shapes = [(vec![n], true), (vec![n, n], true)];
        let (given, is_complex) = (inputs[0].dtype(), inputs[0].dtype().is_complex());
        each_complex_factor(NAME, &inputs[0].cast(whole(given)), &shapes[..self.count()], |n, _, a| {
            let made = if is_complex { complex_factor(n, &a) } else { factor(n, &a) };
            made.unwrap_or_else(|| vec![nan(n), nan(n * n)])
        })
    }
}

/// Returns the dtype of complex numbers with such parts; a complex one as it is.
fn whole(part: DType) -> DType {
    match part {
        DType::F32 => DType::C64,
        DType::F64 => DType::C128,
        _ => part,
    }
}

impl Eig {
    /// Returns the number of results.
    fn count(self) -> usize {
        if self.values_only { 1 } else { 2 }
    }
}

/// Returns the eigenvalues and eigenvectors of one real matrix; `None` without a result.
fn factor(n: usize, a: &[Complex<f64>]) -> Option<Vec<Vec<Complex<f64>>>> {
    let mut a: Vec<f64> = a.iter().map(|x| x.re).collect();
    let largest = largest(&a);
    if !largest.is_finite() {
        return None;
    }
    let scale = to_middle(largest);
    if scale != 1.0 {
        a.iter_mut().for_each(|x| *x *= scale);
    }
    let d = balance(n, &mut a);
    let of = decompose(Rows { length: n, data: a })?;
    let mut vectors = Vec::new();
    for k in 0..n {
        // The second eigenvector of a pair is the conjugate of the first one.
        let is_first = of.imaginary[k] >= 0.0;
        let ComplexRow { re, im } = vector(&of, if is_first { k } else { k - 1 }, &d);
        let im = im.into_iter().map(|x| if is_first { x } else { -x }).collect();
        vectors.push(ComplexRow { re, im });
    }
    let scaled = |x: &[f64]| x.iter().map(|x| x / scale).collect();
    let values = ComplexRow { re: scaled(&of.real), im: scaled(&of.imaginary) };
    Some(vec![values.numbers().collect(), turned(&vectors)])
}

/// Does the same for a complex matrix.
fn complex_factor(n: usize, a: &[Complex<f64>]) -> Option<Vec<Vec<Complex<f64>>>> {
    // The rows have the real parts, then the imaginary parts.
    let row =
        |row: &[Complex<f64>]| row.iter().map(|x| x.re).chain(row.iter().map(|x| x.im)).collect::<Vec<_>>();
    let mut a: Vec<f64> = a.chunks(n.max(1)).flat_map(row).collect();
    let largest = largest(&a);
    if !largest.is_finite() {
        return None;
    }
    let scale = to_middle(largest);
    if scale != 1.0 {
        a.iter_mut().for_each(|x| *x *= scale);
    }
    let d = balance(n, &mut a);
    let rows = Rows { length: 2 * n, data: a };
    let of = complex_schur::decompose((0..n).map(|i| split_parts(&rows, i)).collect())?;
    let values = (0..n).map(|i| of.h[i].at(i)).map(|x| Complex::new(x.re / scale, x.im / scale)).collect();
    let vectors: Vec<ComplexRow> = (0..n).map(|k| complex_vector(&of, k, &d)).collect();
    Some(vec![values, turned(&vectors)])
}

/// Returns the Euclidean norm.
fn balance_norm<'a>(x: impl Iterator<Item = &'a f64> + Clone) -> f64 {
    let square = x.clone().fold(0.0, |sum, x| sum + x * x);
    if square_fits(square) {
        return square.sqrt();
    }
    let largest = x.clone().fold(0.0, |largest: f64, x| if x.abs() > largest { x.abs() } else { largest });
    if largest == 0.0 {
        return 0.0;
    }
    largest * x.fold(0.0, |sum, x| sum + (x / largest) * (x / largest)).sqrt()
}

/// Balances the rows and columns of a matrix by powers of 2, which are returned. The rows have n numbers, or twice as many
/// parts of complex ones.
fn balance(n: usize, a: &mut [f64]) -> Vec<f64> {
    let width = a.len().checked_div(n).unwrap_or(0);
    let (mut d, mut changed) = (vec![1.0; n], true);
    for _ in 0..PASSES {
        if !std::mem::take(&mut changed) {
            break;
        }
        for i in 0..n {
            let mut column = balance_norm(a[i..].iter().step_by(n));
            let (mut row, mut factor) = (balance_norm(a[i * width..(i + 1) * width].iter()), 1.0);
            if column == 0.0 || row == 0.0 {
                continue;
            }
            let before = column + row;
            while column < row / 2.0 && factor * d[i] < 2_f64.powi(300) {
                (column, row, factor) = (column * 2.0, row / 2.0, factor * 2.0);
            }
            while row < column / 2.0 && factor * d[i] > 2_f64.powi(-300) {
                (column, row, factor) = (column / 2.0, row * 2.0, factor / 2.0);
            }
            if factor == 1.0 || column + row >= 0.95 * before {
                continue;
            }
            d[i] *= factor;
            a[i * width..(i + 1) * width].iter_mut().for_each(|x| *x /= factor);
            (0..width).for_each(|j| a[j * n + i] *= factor);
            changed = true;
        }
    }
    d
}

/// Returns x; if it is smaller than `least`, returns `least`.
fn at_least(x: Complex<f64>, least: f64) -> Complex<f64> {
    if size(x) < least { Complex::new(least, 0.0) } else { x }
}

/// Returns the least pivot for an eigenvalue of a matrix with this largest absolute value.
fn least_pivot(value: Complex<f64>, largest: f64) -> f64 {
    (f64::EPSILON * size(value)).max(2_f64.powi(-300) * largest).max(2_f64.powi(-960))
}

/// Solves two equations with two unknowns: the factors of both, and the right side.
fn two_unknowns(mut a: [Complex<f64>; 3], mut b: [Complex<f64>; 3], least: f64) -> [Complex<f64>; 2] {
    if size(a[0]) < size(b[0]) {
        std::mem::swap(&mut a, &mut b);
    }
    let factor = b[0].over(a[0]);
    let pivot = b[1].minus(factor.times(a[1]));
    let last = b[2].minus(factor.times(a[2])).over(at_least(pivot, least));
    [a[2].minus(a[1].times(last)).over(a[0]), last]
}

/// Returns the parts of the eigenvector of eigenvalue k in the basis of the columns of z.
fn coefficients(of: &Schur, k: usize) -> [Vec<f64>; 2] {
    let (re, im) = (of.real[k], of.imaginary[k]);
    let is_pair = im != 0.0;
    let last = k + usize::from(is_pair);
    let least = least_pivot(Complex::new(re, im), largest(&of.h.data));
    let (mut x, mut y) = (vec![0.0; last + 1], vec![0.0; last + 1]);
    x[k] = 1.0;
    if is_pair {
        let (above, below) = (of.h.row(k)[last], of.h.row(last)[k]);
        let is_wide = above.abs() >= below.abs();
        x[k] = if is_wide { 1.0 } else { -im / below };
        y[last] = if is_wide { im / above } else { 1.0 };
    }
    let mut rest = k;
    while rest > 0 {
        let j = rest - 1;
        let two = usize::from(j > 0 && of.h.row(j)[j - 1] != 0.0);
        let right = |row: usize| {
            let row = &of.h.row(row)[j + 1..=last];
            Complex::new(-dot(row, &x[j + 1..]), if is_pair { -dot(row, &y[j + 1..]) } else { 0.0 })
        };
        let element = |i: usize, column: usize| {
            let own = if i == column { Complex::new(re, im) } else { Complex::new(0.0, 0.0) };
            Complex::new(of.h.row(i)[column] - own.re, if i == column { -im } else { 0.0 })
        };
        let found = if two == 1 {
            let of_row = |i: usize| [element(i, j - 1), element(i, j), right(i)];
            two_unknowns(of_row(j - 1), of_row(j), least).to_vec()
        } else {
            vec![right(j).over(at_least(element(j, j), least))]
        };
        rest = j - two;
        for (r, found) in found.iter().enumerate() {
            (x[rest + r], y[rest + r]) = (found.re, found.im);
        }
        let size = found.iter().map(|x| size(*x)).fold(0.0, f64::max);
        if size > 2_f64.powi(300) {
            x[rest..].iter_mut().chain(&mut y[rest..]).for_each(|x| *x /= size);
        }
    }
    [x, y]
}

/// Returns the eigenvector of eigenvalue k of a real matrix. `d`: the powers of 2 that balanced the matrix.
fn vector(of: &Schur, k: usize, d: &[f64]) -> ComplexRow {
    let is_pair = of.imaginary[k] != 0.0;
    let n = d.len();
    let mut v = vec![0.0; 2 * n];
    for (part, of_part) in coefficients(of, k).iter().enumerate().take(1 + usize::from(is_pair)) {
        for (j, x) in of_part.iter().enumerate() {
            v[part * n..][..n].iter_mut().zip(of.z.row(j)).for_each(|(v, z)| *v += x * z);
        }
    }
    let mut v = normal(v, d);
    if !is_pair {
        v.im.fill(0.0);
    }
    v
}

/// Returns the eigenvector of eigenvalue k of a complex matrix.
fn complex_vector(of: &ComplexSchur, k: usize, d: &[f64]) -> ComplexRow {
    let value = of.h[k].at(k);
    let parts: Vec<f64> = of.h.iter().flat_map(|row| [row.re.clone(), row.im.clone()].concat()).collect();
    let least = least_pivot(value, largest(&parts));
    let mut x = ComplexRow::zeros(k + 1);
    x.re[k] = 1.0;
    for j in (0..k).rev() {
        let (row, rest) = (of.h[j].part(j + 1..k + 1), x.part(j + 1..k + 1));
        let re = dot(&row.im, &rest.im) - dot(&row.re, &rest.re);
        let right = Complex::new(re, -(dot(&row.re, &rest.im) + dot(&row.im, &rest.re)));
        let found = right.over(at_least(of.h[j].at(j).minus(value), least));
        x.set(j, found);
        let size = size(found);
        if size > 2_f64.powi(300) {
            x.re[j..].iter_mut().chain(&mut x.im[j..]).for_each(|x| *x /= size);
        }
    }
    let mut v = ComplexRow::zeros(d.len());
    for (x, z) in x.numbers().zip(&of.z) {
        v.subtract(0, Complex::new(-x.re, -x.im), z);
    }
    normal([v.re, v.im].concat(), d)
}

/// Returns an eigenvector from real parts and then imaginary parts of one of a balanced matrix.
fn normal(mut v: Vec<f64>, d: &[f64]) -> ComplexRow {
    v.iter_mut().zip(d.iter().chain(d)).for_each(|(v, d)| *v *= d);
    let norm = norm(&v);
    v.iter_mut().for_each(|v| *v /= norm);
    let im = v.split_off(d.len());
    let mut v = ComplexRow { re: v, im };
    let (factor, best) = v.turn();
    v.scale(factor);
    v.im[best] = 0.0;
    v
}

impl Called for Eig {
    const HEADER: &'static str = "precast/ops/linalg/eig.h";

    fn call(&self, _node: &Node) -> Call {
        Call::of("pc_eig", vec![i64::from(!self.values_only)])
    }
}
called!(Eig);

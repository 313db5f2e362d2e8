//! Eigh: the eigenvalues and eigenvectors of symmetric and Hermitian matrices.

use super::complex_rows::{
    ComplexReflection, ComplexRow, complex, each_complex_factor, joined_parts, nan, split_parts, turned,
};
use super::matrix::expect_square;
use super::reflections::{
    Reflection, Rows, dot, each_factor, expect_matrices, is_turned, largest, length, order, reflected_units,
    result, to_middle,
};
use crate::call::{Call, Called, called};
use crate::declared::Declared;
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_graph::{Array, Complex, MakeNodeError, Op, PerformError, Prop, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "eigh";

/// The most sweeps for one eigenvalue.
const SWEEPS: usize = 60;
const STRICT: usize = 30;

/// An op that returns the eigenvalues of symmetric or Hermitian matrices in ascending order, and their orthonormal
/// eigenvectors as columns. One triangle is read, and of a complex diagonal the real parts. Of each eigenvector, the first
/// of the largest absolute values is positive; a complex one is real and positive.
///
/// # Shapes
/// `a[…, n, n] -> (values[…, n], vectors[…, n, n])`, or the values alone if `values_only`
///
/// # Errors
/// At run time: a matrix that is not square. A matrix with NaN or an infinity has only NaN as results.
///
/// # Source
/// NumPy, `numpy.linalg.eigh`; EISPACK, `tred2` and `imtql2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Eigh {
    /// Whether the upper triangle is read.
    pub upper: bool,
    /// Whether the eigenvalues are the only result.
    pub values_only: bool,
}

impl Eigh {
    /// Rebuilds the op from its props.
    ///
    /// # Errors
    /// An unknown prop, or one that is not a bool.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["upper", "values_only"])?;
        Ok(Arc::new(Self { upper: declared.flag("upper")?, values_only: declared.flag("values_only")? }))
    }
}

impl Op for Eigh {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        Props::from([
            ("upper".to_owned(), Prop::Bool(self.upper)),
            ("values_only".to_owned(), Prop::Bool(self.values_only)),
        ])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        let (stack, [_, n]) = expect_matrices(NAME, inputs)?;
        expect_square(NAME, inputs)?;
        let values = result(inputs[0].dtype().real(), stack, &[n]);
        Ok(if self.values_only { vec![values] } else { vec![values, inputs[0].clone()] })
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::factors::eigh(*self, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let n = super::matrix::rows(NAME, inputs[0].shape())?;
        let count = if self.values_only { 1 } else { 2 };
        if inputs[0].dtype().is_complex() {
            let shapes = [(vec![n], false), (vec![n, n], true)];
            return each_complex_factor(NAME, inputs[0], &shapes[..count], |n, _, a| {
                let element =
                    |i: usize, j: usize| if self.upper { a[j * n + i].conj() } else { a[i * n + j] };
                let rows = (0..n).map(|i| ComplexRow::of((0..n).map(|j| element(i, j)))).collect();
                complex_decompose(rows).unwrap_or_else(|| vec![nan(n), nan(n * n)])
            });
        }
        each_factor(NAME, inputs[0], &[vec![n], vec![n, n]][..count], |n, _, a| {
            let a =
                Rows { length: n, data: if self.upper { Rows { length: n, data: a }.turned() } else { a } };
            let made = decompose(n, a).unwrap_or_else(|| vec![vec![f64::NAN; n], vec![f64::NAN; n * n]]);
            made.into_iter().take(count).collect()
        })
    }
}

/// Returns the eigenvalues and eigenvectors of one matrix, of which the lower triangle is read; `None` without a
/// result.
fn decompose(n: usize, mut a: Rows) -> Option<Vec<Vec<f64>>> {
    let triangle: Vec<f64> = (0..n).flat_map(|i| a.row(i)[..=i].to_vec()).collect();
    let largest = largest(&triangle);
    if !largest.is_finite() {
        return None;
    }
    let scale = to_middle(largest);
    if scale != 1.0 {
        a.data.iter_mut().for_each(|x| *x *= scale);
    }
    let (mut d, mut e, reflections) = tridiagonal(n, &mut a);
    let mut z = reflected_units(n, n, &[]);
    for reflection in &reflections {
        (0..reflection.v.len()).for_each(|row| reflection.apply(z.row_mut(row)));
    }
    diagonal(n, &mut d, &mut e, &mut z)?;
    let order = order(&d, false);
    let mut vectors = Rows { length: n, data: Vec::new() };
    for row in &order {
        let turned = is_turned(z.row(*row));
        vectors.data.extend(z.row(*row).iter().map(|x| if turned { -x } else { *x }));
    }
    Some(vec![order.iter().map(|at| d[*at] / scale).collect(), vectors.turned()])
}

/// Makes a matrix tridiagonal. Returns the diagonal, the numbers beside it and a 0, and the reflections in the order
/// in which they are applied to unit vectors.
fn tridiagonal(n: usize, a: &mut Rows) -> (Vec<f64>, Vec<f64>, Vec<Reflection>) {
    let (mut d, mut e, mut reflections) = (vec![0.0; n], vec![0.0; n], Vec::new());
    for i in (1..n).rev() {
        d[i] = a.row(i)[i];
        let (reflection, beta) = Reflection::of(0, &a.row(i)[..i], i - 1);
        e[i - 1] = beta;
        let v = reflection.v.clone();
        if reflection.tau != 0.0 {
            let mut y = vec![0.0; i];
            for r in 0..i {
                y[r] = dot(&a.row(r)[..=r], &v[..=r]);
                (0..r).for_each(|j| y[j] += v[r] * a.row(r)[j]);
            }
            y.iter_mut().for_each(|y| *y *= reflection.tau);
            let part = -0.5 * reflection.tau * dot(&y, &v);
            y.iter_mut().zip(&v).for_each(|(y, v)| *y += part * v);
            for r in 0..i {
                (0..=r).for_each(|j| a.row_mut(r)[j] -= v[r] * y[j] + y[r] * v[j]);
            }
        }
        reflections.push(reflection);
    }
    if n > 0 {
        d[0] = a.row(0)[0];
    }
    reflections.reverse();
    (d, e, reflections)
}

/// Does the same for a Hermitian matrix, of which the conjugate is decomposed.
fn complex_decompose(mut a: Vec<ComplexRow>) -> Option<Vec<Vec<Complex<f64>>>> {
    let n = a.len();
    let read = |i: usize| a[i].re[..=i].iter().chain(&a[i].im[..i]).copied();
    let largest = largest(&(0..n).flat_map(read).collect::<Vec<f64>>());
    if !largest.is_finite() {
        return None;
    }
    let scale = to_middle(largest);
    if scale != 1.0 {
        a.iter_mut().for_each(|row| row.re.iter_mut().chain(&mut row.im).for_each(|x| *x *= scale));
    }
    let (mut d, mut e, reflections) = hermitian_tridiagonal(&mut a);
    let mut units: Vec<ComplexRow> = (0..n).map(|row| ComplexRow::unit(n, row)).collect();
    for reflection in &reflections {
        units[..reflection.v.len()].iter_mut().for_each(|row| reflection.apply(row));
    }
    let mut z = joined_parts(n, &units);
    diagonal(n, &mut d, &mut e, &mut z)?;
    let order = order(&d, false);
    let vectors = order.iter().map(|row| {
        let mut vector = split_parts(&z, *row);
        let (factor, best) = vector.turn();
        vector.scale(factor);
        vector.im[best] = 0.0;
        (0..n).filter(|i| *i != best).for_each(|i| vector.im[i] = -vector.im[i]);
        vector
    });
    let vectors: Vec<ComplexRow> = vectors.collect();
    Some(vec![complex(order.iter().map(|at| d[*at] / scale).collect()), turned(&vectors)])
}

/// Makes the conjugate of a Hermitian matrix tridiagonal, with real numbers. Returns the same as [`tridiagonal`].
fn hermitian_tridiagonal(a: &mut [ComplexRow]) -> (Vec<f64>, Vec<f64>, Vec<ComplexReflection>) {
    let n = a.len();
    let (mut d, mut e, mut reflections) = (vec![0.0; n], vec![0.0; n], Vec::new());
    for i in (1..n).rev() {
        d[i] = a[i].re[i];
        let (reflection, beta) = ComplexReflection::of(0, &a[i].part(0..i), i - 1);
        e[i - 1] = beta;
        if !reflection.is_identity() {
            let (v, tau) = (&reflection.v, reflection.tau);
            let mut y = ComplexRow::zeros(i);
            for (r, row) in a[..i].iter().enumerate() {
                let (own, row) = (row.re[r], row.part(0..r));
                let sum = row.dot(&v.part(0..r));
                y.set(r, Complex::new(sum.re + own * v.re[r], sum.im + own * v.im[r]));
                y.subtract(0, Complex::new(-v.re[r], -v.im[r]), &row);
            }
            y.scale(tau);
            let sum = v.dot(&y);
            y.subtract(0, Complex::new(0.5 * (tau.re * sum.re + tau.im * sum.im), 0.0), v);
            for (r, row) in a[..i].iter_mut().enumerate() {
                row.subtract(0, y.at(r).conj(), &v.part(0..r + 1));
                row.subtract(0, v.at(r).conj(), &y.part(0..r + 1));
            }
        }
        reflections.push(reflection);
    }
    if n > 0 {
        d[0] = a[0].re[0];
    }
    reflections.reverse();
    (d, e, reflections)
}

/// Makes a tridiagonal matrix diagonal by the QL algorithm, and rotates the rows of `z` alike.
fn diagonal(n: usize, d: &mut [f64], e: &mut [f64], z: &mut Rows) -> Option<()> {
    let (of_d, of_e) = (largest(d), largest(e));
    let norm = if of_d > of_e { of_d } else { of_e };
    for first in 0..n {
        for sweeps in 0.. {
            let least = if sweeps < STRICT { 2_f64.powi(-960) } else { f64::EPSILON * norm };
            let is_zero = |i: usize| e[i].abs() <= f64::EPSILON * (d[i].abs() + d[i + 1].abs()) + least;
            let last = (first..n - 1).find(|i| is_zero(*i)).unwrap_or(n - 1);
            if last == first {
                break;
            }
            if sweeps == SWEEPS {
                return None;
            }
            sweep(first, last, d, e, z);
        }
    }
    Some(())
}

fn sweep(first: usize, last: usize, d: &mut [f64], e: &mut [f64], z: &mut Rows) {
    let g = (d[first + 1] - d[first]) / (2.0 * e[first]);
    let r = length(g, 1.0);
    let mut g = d[last] - d[first] + e[first] / (g + if g >= 0.0 { r } else { -r });
    let (mut sine, mut cosine, mut p) = (1.0, 1.0, 0.0);
    for i in (first..last).rev() {
        let (f, b) = (sine * e[i], cosine * e[i]);
        let r = length(f, g);
        e[i + 1] = r;
        if r == 0.0 {
            d[i + 1] -= p;
            e[last] = 0.0;
            return;
        }
        (sine, cosine) = (f / r, g / r);
        g = d[i + 1] - p;
        let r = (d[i] - g) * sine + 2.0 * cosine * b;
        p = sine * r;
        d[i + 1] = g + p;
        g = cosine * r - b;
        z.rotate(i + 1, i, (cosine, sine));
    }
    d[first] -= p;
    e[first] = g;
    e[last] = 0.0;
}

impl Called for Eigh {
    const HEADER: &'static str = "precast/ops/linalg/eigh.h";

    fn call(&self, _node: &Node) -> Call {
        Call::of("pc_eigh", vec![i64::from(self.upper), i64::from(!self.values_only)])
    }
}
called!(Eigh);

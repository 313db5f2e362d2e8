//! Svd: singular value decompositions.

use super::complex_rows::{self, ComplexRow, complex, each_complex_factor, nan, split_parts};
use super::reflections::{
    Rows, each_factor, expect_matrices, is_turned, largest, least, order, result, to_middle,
};
use super::singular::{complex_decompose, decompose};
use crate::call::{Call, Called, called};
use crate::declared::Declared;
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_graph::{Array, Complex, MakeNodeError, Op, PerformError, Prop, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "svd";

/// An op that decomposes matrices into `u @ diag(s) @ vh`: the columns of `u` and the rows of `vh` are orthonormal, and
/// the singular values `s` descend to 0 or more. Of each column of `u`, the first of the largest absolute values is
/// positive, or of complex matrices, real and positive, and so it is for rows of `vh` without a column of `u`. With `k` the smaller one of `m` and `n`:
///
/// # Shapes
/// `a[…, m, n] -> (u[…, m, k], s[…, k], vh[…, k, n])`, with square `u` and `vh` if `full`, or `s` alone if
/// `values_only`
///
/// # Errors
/// None at run time. A matrix with NaN or an infinity has only NaN as results.
///
/// # Source
/// NumPy, `numpy.linalg.svd`; G. H. Golub, C. Reinsch, 1970; LINPACK, `svdc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Svd {
    /// Whether `u` and `vh` are square.
    pub full: bool,
    /// Whether the singular values are the only result.
    pub values_only: bool,
}

impl Svd {
    /// Rebuilds the op from its props.
    ///
    /// # Errors
    /// An unknown prop, or one that is not a bool.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["full", "values_only"])?;
        Ok(Arc::new(Self { full: declared.flag("full")?, values_only: declared.flag("values_only")? }))
    }
}

impl Op for Svd {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        Props::from([
            ("full".to_owned(), Prop::Bool(self.full)),
            ("values_only".to_owned(), Prop::Bool(self.values_only)),
        ])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        let (stack, [m, n]) = expect_matrices(NAME, inputs)?;
        let (dtype, count) = (inputs[0].dtype(), least([m, n]));
        let (left, right) = if self.full { (m, n) } else { (count, count) };
        let values = result(dtype.real(), stack, &[count]);
        if self.values_only {
            return Ok(vec![values]);
        }
        Ok(vec![result(dtype, stack, &[m, left]), values, result(dtype, stack, &[right, n])])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::factors::svd(*self, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let shape = inputs[0].shape();
        let (m, n) = (shape[shape.len() - 2], shape[shape.len() - 1]);
        let (left, right) = if self.full { (m, n) } else { (m.min(n), m.min(n)) };
        let shapes = [vec![m, left], vec![m.min(n)], vec![right, n]];
        if inputs[0].dtype().is_complex() {
            let all =
                [true, false, true].into_iter().zip(shapes).map(|(is_complex, shape)| (shape, is_complex));
            let all: Vec<_> = all.collect();
            let skipped = usize::from(self.values_only);
            let chosen = if self.values_only { &all[1..2] } else { &all[..] };
            return each_complex_factor(NAME, inputs[0], chosen, |m, n, a| {
                complex_factor(m, n, (left, right), &a).split_off(skipped)
            });
        }
        if self.values_only {
            let values = |m, n, a| factor(m, n, (left, right), a).into_iter().skip(1).take(1).collect();
            return each_factor(NAME, inputs[0], &shapes[1..2], values);
        }
        each_factor(NAME, inputs[0], &shapes, |m, n, a| factor(m, n, (left, right), a))
    }
}

/// Returns u, s and vh of one matrix, with these numbers of columns of u and rows of vh.
fn factor(m: usize, n: usize, (left, right): (usize, usize), a: Vec<f64>) -> Vec<Vec<f64>> {
    let (largest, wide) = (largest(&a), m < n);
    let failed = || [m * left, m.min(n), right * n].map(|count| vec![f64::NAN; count]).to_vec();
    if !largest.is_finite() {
        return failed();
    }
    let scale = to_middle(largest);
    let data = if wide { a } else { Rows { length: n, data: a }.turned() };
    let data = data.into_iter().map(|x| if scale == 1.0 { x } else { x * scale }).collect();
    // The rows are the columns of a matrix that is not wide.
    let columns = Rows { length: m.max(n), data };
    let height = if wide { right } else { left };
    let Some((mut u, d, mut v)) = decompose(m.min(n), height, columns) else { return failed() };
    let sizes: Vec<f64> = d.iter().map(|d| d.abs()).collect();
    let order = order(&sizes, true);
    for row in (0..d.len()).filter(|row| d[*row] < 0.0) {
        v.row_mut(row).iter_mut().for_each(|x| *x = -*x);
    }
    let all: Vec<usize> = order.iter().copied().chain(order.len()..height).collect();
    for row in &all {
        let paired = *row < order.len();
        if !is_turned(if wide && paired { v.row(*row) } else { u.row(*row) }) {
            continue;
        }
        u.row_mut(*row).iter_mut().for_each(|x| *x = -*x);
        if paired {
            v.row_mut(*row).iter_mut().for_each(|x| *x = -*x);
        }
    }
    let sorted = |rows: &Rows, order: &[usize]| Rows {
        length: rows.length,
        data: order.iter().flat_map(|row| rows.row(*row).to_vec()).collect(),
    };
    let (u, v) = (sorted(&u, &all), sorted(&v, &order));
    let s = order.iter().map(|at| sizes[*at] / scale).collect();
    if wide { vec![v.turned(), s, u.data] } else { vec![u.turned(), s, v.data] }
}

/// Does the same for a complex matrix.
fn complex_factor(
    m: usize,
    n: usize,
    (left, right): (usize, usize),
    a: &[Complex<f64>],
) -> Vec<Vec<Complex<f64>>> {
    let parts: Vec<f64> = a.iter().flat_map(|x| [x.re, x.im]).collect();
    let (largest, wide) = (largest(&parts), m < n);
    let failed = || vec![nan(m * left), nan(m.min(n)), nan(right * n)];
    if !largest.is_finite() {
        return failed();
    }
    let scale = to_middle(largest);
    let element = |column: usize, i: usize| {
        let x = if wide { a[column * n + i] } else { a[i * n + column] };
        if scale == 1.0 { x } else { Complex::new(x.re * scale, x.im * scale) }
    };
    // The rows are the columns of a matrix that is not wide.
    let (count, length, height) = (m.min(n), m.max(n), if wide { right } else { left });
    let columns = (0..count).map(|j| ComplexRow::of((0..length).map(|i| element(j, i)))).collect();
    let Some((u, d, v)) = complex_decompose(height, length, columns) else { return failed() };
    let sizes: Vec<f64> = d.iter().map(|d| d.abs()).collect();
    let order = order(&sizes, true);
    let (mut of_u, mut of_v) = (Vec::new(), Vec::new());
    for row in order.iter().copied().chain(count..height) {
        let (mut u, paired) = (split_parts(&u, row), row < count);
        let mut v = if paired { split_parts(&v, row) } else { ComplexRow::default() };
        if paired && d[row] < 0.0 {
            v.re.iter_mut().chain(&mut v.im).for_each(|x| *x = -*x);
        }
        let (factor, best) = if wide && paired { v.turn() } else { u.turn() };
        u.scale(factor);
        v.scale(factor);
        v.im.iter_mut().for_each(|x| *x = -*x);
        if wide && paired { &mut v } else { &mut u }.im[best] = 0.0;
        of_u.push(u);
        if paired {
            of_v.push(v);
        }
    }
    let s = complex(order.iter().map(|at| sizes[*at] / scale).collect());
    let rows = |rows: &[ComplexRow]| rows.iter().flat_map(|row| row.numbers().collect::<Vec<_>>()).collect();
    if wide {
        vec![complex_rows::turned(&of_v), s, rows(&of_u)]
    } else {
        vec![complex_rows::turned(&of_u), s, rows(&of_v)]
    }
}

impl Called for Svd {
    const HEADER: &'static str = "precast/ops/linalg/svd.h";

    fn call(&self, _node: &Node) -> Call {
        Call::of("pc_svd", vec![i64::from(self.full), i64::from(!self.values_only)])
    }
}
called!(Svd);

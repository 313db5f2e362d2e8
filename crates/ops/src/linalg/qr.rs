//! Qr: decomposes matrices by reflections.

use super::column_order::ColumnOrder;
use super::complex_rows::{self, ComplexReflection, ComplexRow, each_complex_factor};
use super::reflections::{
    Reflection, Rows, each_factor, expect_matrices, least, length, norm, reflected_units, result,
};
use crate::call::{Call, Called, called};
use crate::declared::Declared;
use crate::elements;
use crate::gradient::rules::Pulled;
use ndarray::{ArrayD, IxDyn};
use precast_codegen::Node;
use precast_graph::{Array, Complex, DType, MakeNodeError, Op, PerformError, Prop, Props, Pullback, Type};
use std::cell::RefCell;
use std::sync::Arc;

const NAME: &str = "qr";

/// An op that decomposes matrices into `q @ r`: the columns of `q` are orthonormal, and `r` is zero below its diagonal.
/// The signs are LAPACK's: the diagonal of `r` is real. With `k` the smaller one of `m` and `n`, or `m` if `complete`:
///
/// # Shapes
/// `a[…, m, n] -> (q[…, m, k], r[…, k, n])`, or `r` alone if `r_only`; with `pivoting` also `i64[…, n]`
///
/// # Errors
/// None at run time. NaN and infinities propagate.
///
/// # Source
/// NumPy, `numpy.linalg.qr`; SciPy, `scipy.linalg.qr`; LAPACK, `geqrf`, `geqp3` and `orgqr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Qr {
    /// Whether `q` is square.
    pub complete: bool,
    /// Whether `q` is not a result.
    pub r_only: bool,
    /// Whether columns are exchanged, so that the sizes on the diagonal of `r` descend: the columns of `q @ r` are those
    /// of the matrix with the indices of the last result.
    pub pivoting: bool,
}

impl Qr {
    /// Rebuilds the op from its props.
    ///
    /// # Errors
    /// An unknown prop, or one that is not a bool.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["complete", "r_only", "pivoting"])?;
        let (complete, r_only) = (declared.flag("complete")?, declared.flag("r_only")?);
        Ok(Arc::new(Self { complete, r_only, pivoting: declared.flag("pivoting")? }))
    }
}

impl Op for Qr {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        Props::from([
            ("complete".to_owned(), Prop::Bool(self.complete)),
            ("r_only".to_owned(), Prop::Bool(self.r_only)),
            ("pivoting".to_owned(), Prop::Bool(self.pivoting)),
        ])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        let (stack, [m, n]) = expect_matrices(NAME, inputs)?;
        let height = if self.complete { m } else { least([m, n]) };
        let dtype = inputs[0].dtype();
        let all = [
            result(dtype, stack, &[m, height]),
            result(dtype, stack, &[height, n]),
            result(DType::I64, stack, &[n]),
        ];
        Ok(all[usize::from(self.r_only)..2 + usize::from(self.pivoting)].to_vec())
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        if self.pivoting {
            return None;
        }
        Some(crate::gradient::factors::qr(*self, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let shape = inputs[0].shape();
        let (m, n) = (shape[shape.len() - 2], shape[shape.len() - 1]);
        let height = if self.complete { m } else { m.min(n) };
        let skipped = usize::from(self.r_only);
        let shapes = &[vec![m, height], vec![height, n]][skipped..];
        let orders = RefCell::new(Vec::new());
        let keep = |order: &[usize]| orders.borrow_mut().extend(order.iter().map(|column| *column as i64));
        let mut results = if inputs[0].dtype().is_complex() {
            let shapes: Vec<_> = shapes.iter().map(|shape| (shape.clone(), true)).collect();
            each_complex_factor(NAME, inputs[0], &shapes, |m, n, a| {
                let (mut factors, order) = complex_factor((m, n, height), &a, self.pivoting);
                keep(&order);
                factors.split_off(skipped)
            })
        } else {
            each_factor(NAME, inputs[0], shapes, |m, n, a| {
                let (mut factors, order) = factor((m, n, height), &a, self.pivoting);
                keep(&order);
                factors.split_off(skipped)
            })
        }?;
        if self.pivoting {
            let shape = [&shape[..shape.len() - 2], &[n]].concat();
            let orders = ArrayD::from_shape_vec(IxDyn(&shape), orders.into_inner());
            results.push(Array::I64(orders.map_err(|_| elements::mismatch(NAME))?));
        }
        Ok(results)
    }
}

/// Returns q and r of one matrix, with this number of columns of q, and the order of the matrix's columns.
fn factor((m, n, height): (usize, usize, usize), a: &[f64], pivoting: bool) -> (Vec<Vec<f64>>, Vec<usize>) {
    let mut columns = Rows { length: m, data: Rows { length: n, data: a.to_vec() }.turned() };
    let mut order = ColumnOrder::of(n, |j| norm(columns.row(j)));
    let mut reflections = Vec::new();
    for k in 0..m.min(n) {
        if let Some(longest) = pivoting.then(|| order.exchange(k)).flatten() {
            (0..m).for_each(|i| columns.data.swap(k * m + i, longest * m + i));
        }
        let (reflection, beta) = Reflection::of(k, &columns.row(k)[k..], 0);
        (k + 1..n).for_each(|j| reflection.apply(columns.row_mut(j)));
        columns.row_mut(k)[k] = beta;
        columns.row_mut(k)[k + 1..].fill(0.0);
        reflections.push(reflection);
        if pivoting {
            order.shorten(k, |j| columns.row(j)[k].abs(), |j| norm(&columns.row(j)[k + 1..]));
        }
    }
    let r = (0..height * n).map(|at| columns.row(at % n)[at / n]).collect();
    (vec![reflected_units(height, m, &reflections).turned(), r], order.columns)
}

/// Does the same for a complex matrix.
fn complex_factor(
    (m, n, height): (usize, usize, usize),
    a: &[Complex<f64>],
    pivoting: bool,
) -> (Vec<Vec<Complex<f64>>>, Vec<usize>) {
    let mut columns: Vec<ComplexRow> = (0..n).map(|j| ComplexRow::of((0..m).map(|i| a[i * n + j]))).collect();
    let norm_from = |column: &ComplexRow, k: usize| length(norm(&column.re[k..]), norm(&column.im[k..]));
    let mut order = ColumnOrder::of(n, |j| norm_from(&columns[j], 0));
    let mut reflections = Vec::new();
    for k in 0..m.min(n) {
        if let Some(longest) = pivoting.then(|| order.exchange(k)).flatten() {
            columns.swap(k, longest);
        }
        let (reflection, beta) = ComplexReflection::of(k, &columns[k].part(k..m), 0);
        columns[k + 1..].iter_mut().for_each(|column| reflection.apply_adjoint(column));
        (k..m).for_each(|i| columns[k].set(i, Complex::new(if i == k { beta } else { 0.0 }, 0.0)));
        reflections.push(reflection);
        if pivoting {
            let size = |j: usize| length(columns[j].re[k], columns[j].im[k]);
            order.shorten(k, size, |j| norm_from(&columns[j], k + 1));
        }
    }
    let r = (0..height * n).map(|at| columns[at % n].at(at / n)).collect();
    (vec![complex_rows::turned(&complex_rows::reflected_units(height, m, &reflections)), r], order.columns)
}

impl Called for Qr {
    const HEADER: &'static str = "precast/ops/linalg/qr.h";

    fn header(&self) -> &'static str {
        if self.pivoting { "precast/ops/linalg/qr_pivoted.h" } else { Self::HEADER }
    }

    fn call(&self, _node: &Node) -> Call {
        let function = if self.pivoting { "pc_qr_pivoted" } else { "pc_qr" };
        Call::of(function, vec![i64::from(self.complete), i64::from(!self.r_only)])
    }
}
called!(Qr);

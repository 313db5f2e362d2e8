//! Qr: decomposes matrices by reflections.

use super::complex_rows::{self, ComplexReflection, ComplexRow, each_complex_factor};
use super::reflections::{Reflection, Rows, each_factor, expect_matrices, least, reflected_units, result};
use crate::call::{Call, Called, called};
use crate::declared::Declared;
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_graph::{Array, Complex, MakeNodeError, Op, PerformError, Prop, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "qr";

/// An op that decomposes matrices into `q @ r`: the columns of `q` are orthonormal, and `r` is zero below its diagonal.
/// The signs are LAPACK's: the diagonal of `r` is real. With `k` the smaller one of `m` and `n`, or `m` if `complete`:
///
/// # Shapes
/// `a[…, m, n] -> (q[…, m, k], r[…, k, n])`, or `r` alone if `r_only`
///
/// # Errors
/// None at run time. NaN and infinities propagate.
///
/// # Source
/// NumPy, `numpy.linalg.qr`; LAPACK, `geqrf` and `orgqr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Qr {
    /// Whether `q` is square.
    pub complete: bool,
    /// Whether `r` is the only result.
    pub r_only: bool,
}

impl Qr {
    /// Rebuilds the op from its props.
    ///
    /// # Errors
    /// An unknown prop, or one that is not a bool.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["complete", "r_only"])?;
        Ok(Arc::new(Self { complete: declared.flag("complete")?, r_only: declared.flag("r_only")? }))
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
        ])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        let (stack, [m, n]) = expect_matrices(NAME, inputs)?;
        let height = if self.complete { m } else { least([m, n]) };
        let dtype = inputs[0].dtype();
        let all = [result(dtype, stack, &[m, height]), result(dtype, stack, &[height, n])];
        Ok(all[usize::from(self.r_only)..].to_vec())
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::factors::qr(*self, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let shape = inputs[0].shape();
        let (m, n) = (shape[shape.len() - 2], shape[shape.len() - 1]);
        let height = if self.complete { m } else { m.min(n) };
        let skipped = usize::from(self.r_only);
        let shapes = &[vec![m, height], vec![height, n]][skipped..];
        if inputs[0].dtype().is_complex() {
            let shapes: Vec<_> = shapes.iter().map(|shape| (shape.clone(), true)).collect();
            return each_complex_factor(NAME, inputs[0], &shapes, |m, n, a| {
                complex_factor(m, n, height, &a).split_off(skipped)
            });
        }
        each_factor(NAME, inputs[0], shapes, |m, n, a| factor(m, n, height, &a).split_off(skipped))
    }
}

/// Returns q and r of one matrix, with this number of columns of q.
fn factor(m: usize, n: usize, height: usize, a: &[f64]) -> Vec<Vec<f64>> {
    let mut columns = Rows { length: m, data: Rows { length: n, data: a.to_vec() }.turned() };
    let mut reflections = Vec::new();
    for k in 0..m.min(n) {
        let (reflection, beta) = Reflection::of(k, &columns.row(k)[k..], 0);
        (k + 1..n).for_each(|j| reflection.apply(columns.row_mut(j)));
        columns.row_mut(k)[k] = beta;
        columns.row_mut(k)[k + 1..].fill(0.0);
        reflections.push(reflection);
    }
    let r = (0..height * n).map(|at| columns.row(at % n)[at / n]).collect();
    vec![reflected_units(height, m, &reflections).turned(), r]
}

/// Does the same for a complex matrix.
fn complex_factor(m: usize, n: usize, height: usize, a: &[Complex<f64>]) -> Vec<Vec<Complex<f64>>> {
    let mut columns: Vec<ComplexRow> = (0..n).map(|j| ComplexRow::of((0..m).map(|i| a[i * n + j]))).collect();
    let mut reflections = Vec::new();
    for k in 0..m.min(n) {
        let (reflection, beta) = ComplexReflection::of(k, &columns[k].part(k..m), 0);
        columns[k + 1..].iter_mut().for_each(|column| reflection.apply_adjoint(column));
        (k..m).for_each(|i| columns[k].set(i, Complex::new(if i == k { beta } else { 0.0 }, 0.0)));
        reflections.push(reflection);
    }
    let r = (0..height * n).map(|at| columns[at % n].at(at / n)).collect();
    vec![complex_rows::turned(&complex_rows::reflected_units(height, m, &reflections)), r]
}

impl Called for Qr {
    const HEADER: &'static str = "precast/ops/linalg/qr.h";

    fn call(&self, _node: &Node) -> Call {
        Call::of("pc_qr", vec![i64::from(self.complete), i64::from(!self.r_only)])
    }
}
called!(Qr);

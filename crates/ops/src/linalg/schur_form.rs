//! Schur: decomposes square matrices into triangular ones by similarities.

use super::complex_rows::{ComplexRow, each_complex_factor, nan, turned};
use super::eigenvalue_sort::EigenvalueSort;
use super::matrix::{expect_square, rows};
use super::reflections::{Rows, each_factor, expect_matrices, largest, to_middle};
use super::{complex_schur, schur, schur_sorted};
use crate::call::{Call, Called, called};
use crate::declared::Declared;
use precast_codegen::Node;
use precast_graph::{Array, Complex, MakeNodeError, Op, PerformError, Prop, Props, Type};
use std::sync::Arc;

const NAME: &str = "schur";

/// An op that decomposes matrices into `z @ t @ zᴴ`: the columns of `z` are orthonormal. `t` is triangular, or of real
/// matrices quasi-triangular: a block of two rows has equal numbers on its diagonal and conjugate eigenvalues.
///
/// # Shapes
/// `a[…, n, n] -> (t[…, n, n], z[…, n, n])`
///
/// # Errors
/// At run time: a matrix that is not square. A matrix with NaN or an infinity has only NaN as results, and so has one
/// whose eigenvalues are too close to be exchanged.
///
/// # Source
/// SciPy, `scipy.linalg.schur`; LAPACK, `lahqr` and `trsen`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Schur {
    /// The eigenvalues that come first.
    pub sort: Option<EigenvalueSort>,
}

impl Schur {
    /// Rebuilds the op from its props.
    ///
    /// # Errors
    /// A prop that is unknown or of the wrong kind.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Ok(Arc::new(Self { sort: EigenvalueSort::declared(&Declared::new(NAME, props, &["sort"])?)? }))
    }
}

impl Op for Schur {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        self.sort.map(|sort| ("sort".to_owned(), Prop::Str(sort.name().to_owned()))).into_iter().collect()
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        expect_matrices(NAME, inputs)?;
        expect_square(NAME, inputs)?;
        Ok(vec![inputs[0].clone(); 2])
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let n = rows(NAME, inputs[0].shape())?;
        if inputs[0].dtype().is_complex() {
            let shapes = [(vec![n, n], true), (vec![n, n], true)];
            return each_complex_factor(NAME, inputs[0], &shapes, |n, _, a| {
                complex_factor(n, &a, self.sort).unwrap_or_else(|| vec![nan(n * n); 2])
            });
        }
        each_factor(NAME, inputs[0], &[vec![n, n], vec![n, n]], |n, _, a| {
            factor(n, a, self.sort).unwrap_or_else(|| vec![vec![f64::NAN; n * n]; 2])
        })
    }
}

/// Returns the factors of one real matrix; `None` without a result.
fn factor(n: usize, mut a: Vec<f64>, sort: Option<EigenvalueSort>) -> Option<Vec<Vec<f64>>> {
    if let Some(sort) = sort {
        let a: Vec<Complex<f64>> = a.into_iter().map(|x| Complex::new(x, 0.0)).collect();
        let [t, z] = schur_sorted::decompose(n, true, &a, sort)?;
        return Some([t.data, z.turned()].map(|x| x.into_iter().map(|x| x.re).collect()).into());
    }
    let largest = largest(&a);
    if !largest.is_finite() {
        return None;
    }
    let scale = to_middle(largest);
    if scale != 1.0 {
        a.iter_mut().for_each(|x| *x *= scale);
    }
    let mut made = schur::decompose(Rows { length: n, data: a })?;
    if scale != 1.0 {
        made.h.data.iter_mut().for_each(|x| *x /= scale);
    }
    Some(vec![made.h.data, made.z.turned()])
}

/// Does the same for a complex matrix.
fn complex_factor(
    n: usize,
    a: &[Complex<f64>],
    sort: Option<EigenvalueSort>,
) -> Option<Vec<Vec<Complex<f64>>>> {
    if let Some(sort) = sort {
        return schur_sorted::decompose(n, false, a, sort).map(|[t, z]| vec![t.data, z.turned()]);
    }
    let largest = largest(&a.iter().flat_map(|x| [x.re, x.im]).collect::<Vec<f64>>());
    if !largest.is_finite() {
        return None;
    }
    let scale = to_middle(largest);
    let scaled = |x: Complex<f64>| if scale == 1.0 { x } else { Complex::new(x.re * scale, x.im * scale) };
    let rows = (0..n).map(|i| ComplexRow::of((0..n).map(|j| scaled(a[i * n + j])))).collect();
    let made = complex_schur::decompose(rows)?;
    let back = |x: Complex<f64>| if scale == 1.0 { x } else { Complex::new(x.re / scale, x.im / scale) };
    Some(vec![made.h.iter().flat_map(|row| row.numbers().map(back)).collect(), turned(&made.z)])
}

impl Called for Schur {
    const HEADER: &'static str = "precast/ops/linalg/schur_stack.h";

    fn header(&self) -> &'static str {
        if self.sort.is_some() { "precast/ops/linalg/schur_sorted.h" } else { Self::HEADER }
    }

    fn call(&self, _node: &Node) -> Call {
        match self.sort {
            None => Call::of("pc_schur", vec![]),
            sort => Call::of("pc_schur_sorted", vec![EigenvalueSort::number(sort)]),
        }
    }
}
called!(Schur);

//! Qz: decomposes pairs of square matrices into triangular ones by orthonormal matrices on both sides.

use super::complex_rows::nan;
use super::eigenvalue_sort::EigenvalueSort;
use super::matrix::{expect_matrix, expect_square, rows};
use super::pencil::Square;
use super::qz::{decompose, scale};
use super::reflections::{largest, result};
use crate::call::{Call, Called, called};
use crate::declared::{Declared, refuse};
use crate::elements;
use ndarray::{ArrayD, IxDyn};
use precast_codegen::Node;
use precast_graph::{Array, Complex, DType, Extent, MakeNodeError, Op, PerformError, Prop, Props, Type};
use std::sync::Arc;

const NAME: &str = "qz";

/// An op that decomposes pairs of matrices into `a = q @ aa @ zᴴ` and `b = q @ bb @ zᴴ`: the columns of `q` and `z` are
/// orthonormal. `bb` is triangular, and its diagonal is real and not negative. `aa` is triangular, or of real matrices
/// quasi-triangular: a block of two rows has conjugate eigenvalues and a diagonal block of `bb`. The eigenvalues are
/// `alpha / beta`.
///
/// # Shapes
/// `(a[…, n, n], b[…, n, n]) -> (aa[…, n, n], bb[…, n, n], alpha[…, n], beta[…, n], q[…, n, n], z[…, n, n])`
///
/// # Errors
/// At run time: matrices that are not square, and different shapes. A pair with NaN or an infinity has only NaN as
/// results, and so has one whose eigenvalues are too close to be exchanged.
///
/// # Source
/// SciPy, `scipy.linalg.qz` and `scipy.linalg.ordqz`; LAPACK, `hgeqz` and `tgsen`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Qz {
    /// The eigenvalues that come first.
    pub sort: Option<EigenvalueSort>,
}

impl Qz {
    /// Rebuilds the op from its props.
    ///
    /// # Errors
    /// A prop that is unknown or of the wrong kind.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Ok(Arc::new(Self { sort: EigenvalueSort::declared(&Declared::new(NAME, props, &["sort"])?)? }))
    }

    /// Returns the results for one pair; `None` without results.
    fn factor(self, n: usize, is_real: bool, pair: [&[Complex<f64>]; 2]) -> Option<[Vec<Complex<f64>>; 6]> {
        let largest = pair.map(|x| largest(&x.iter().flat_map(|x| [x.re, x.im]).collect::<Vec<f64>>()));
        if largest.iter().any(|largest| !largest.is_finite()) {
            return None;
        }
        let scales = largest.map(scale);
        let scaled = |at: usize| {
            let data = pair[at].iter().map(|x| Complex::new(x.re * scales[at], x.im * scales[at])).collect();
            Square { n, data }
        };
        let of = decompose(is_real, [scaled(0), scaled(1)], scales, self.sort)?;
        let (mut alpha, mut beta) = (Vec::new(), Vec::new());
        while alpha.len() < n {
            for (above, below) in of.values(alpha.len()) {
                alpha.push(above);
                beta.push(Complex::new(below, 0.0));
            }
        }
        let back = |x: Square, by: f64| x.data.iter().map(|x| Complex::new(x.re / by, x.im / by)).collect();
        let (q, z) = (of.q.turned(), of.z.turned());
        Some([back(of.a, scales[0]), back(of.b?, scales[1]), alpha, beta, q, z])
    }
}

impl Op for Qz {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        self.sort.map(|sort| ("sort".to_owned(), Prop::Str(sort.name().to_owned()))).into_iter().collect()
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, 2, inputs)?;
        expect_square(NAME, inputs)?;
        expect_matrix(NAME, 1, inputs)?;
        let (a, b) = (&inputs[0], &inputs[1]);
        let differ =
            |(a, b): (&Extent, &Extent)| matches!((a, b), (Extent::Fixed(a), Extent::Fixed(b)) if a != b);
        if a.dtype() != b.dtype() || a.ndim() != b.ndim() || a.shape().iter().zip(b.shape()).any(differ) {
            return Err(refuse(NAME, 1, b, format!("matrices of the type `{a}`")));
        }
        let (stack, square) = a.shape().split_at(a.ndim() - 2);
        let dtypes = results(a.dtype());
        let ranks = [2, 2, 1, 1, 2, 2];
        Ok(dtypes.into_iter().zip(ranks).map(|(dtype, rank)| result(dtype, stack, &square[..rank])).collect())
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let [a, b] = [inputs[0], inputs[1]];
        let n = rows(NAME, a.shape())?;
        if a.shape() != b.shape() {
            let [a, b] = [a, b].map(|x| elements::text(x.shape()));
            let problem = format!("expected matrices of equal shapes, found the shapes {a} and {b}");
            return Err(PerformError::value(NAME, problem));
        }
        let (Array::C128(of_a), Array::C128(of_b)) = (a.cast(DType::C128), b.cast(DType::C128)) else {
            return Err(elements::mismatch(NAME));
        };
        let [of_a, of_b] = [of_a, of_b].map(|x| x.iter().copied().collect::<Vec<_>>());
        let stack = &a.shape()[..a.shape().len() - 2];
        let mut all: [Vec<Complex<f64>>; 6] = Default::default();
        for at in 0..stack.iter().product() {
            let one = at * n * n..(at + 1) * n * n;
            let made = self.factor(n, !a.dtype().is_complex(), [&of_a[one.clone()], &of_b[one]]);
            let made = made.unwrap_or_else(|| [n * n, n * n, n, n, n * n, n * n].map(nan));
            all.iter_mut().zip(made).for_each(|(all, one)| all.extend(one));
        }
        let arrays = all.into_iter().zip(results(a.dtype())).enumerate().map(|(at, (all, dtype))| {
            let own: &[usize] = if [2, 3].contains(&at) { &[n] } else { &[n, n] };
            let shape = [stack, own].concat();
            let array = ArrayD::from_shape_vec(IxDyn(&shape), all).map_err(|_| elements::mismatch(NAME))?;
            Ok(Array::C128(array).cast(dtype))
        });
        arrays.collect()
    }
}

/// Returns the dtypes of the results.
fn results(dtype: DType) -> [DType; 6] {
    let whole = if dtype.real() == DType::F32 { DType::C64 } else { DType::C128 };
    [dtype, dtype, whole, dtype.real(), dtype, dtype]
}

impl Called for Qz {
    const HEADER: &'static str = "precast/ops/linalg/qz_stack.h";

    fn call(&self, _node: &Node) -> Call {
        Call::of("pc_qz", vec![EigenvalueSort::number(self.sort)])
    }
}
called!(Qz);

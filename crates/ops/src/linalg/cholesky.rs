//! Cholesky: decomposes positive definite matrices.

use super::matrix::{self, Number, c_function, each, expect_square, of_numbers};
use crate::call::{Call, Called, called};
use crate::declared::Declared;
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_graph::{Array, MakeNodeError, Op, PerformError, Prop, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "cholesky";

/// An op that returns the lower triangle L of `a = L·Lᴴ`. Of `a` only the lower triangle is read, and of its diagonal
/// only the real parts.
///
/// # Shapes
/// `a[…, n, n] -> a`
///
/// # Errors
/// At run time: a matrix that is not square or, unless `nan_on_error`, not positive definite. NaN propagates.
///
/// # Source
/// NumPy, `numpy.linalg.cholesky`; LAPACK, `potrf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cholesky {
    /// Whether a matrix that is not positive definite gives NaN instead of an error.
    pub nan_on_error: bool,
}

impl Cholesky {
    /// Rebuilds the op from its props.
    ///
    /// # Errors
    /// `nan_on_error` is not a bool.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["nan_on_error"])?;
        Ok(Arc::new(Self { nan_on_error: declared.flag("nan_on_error")? }))
    }
}

impl Op for Cholesky {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        Props::from([("nan_on_error".to_owned(), Prop::Bool(self.nan_on_error))])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, 1, inputs)?;
        expect_square(NAME, inputs)?;
        Ok(inputs.to_vec())
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::linalg::cholesky(*self, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let problem = "the matrix is not positive definite";
        let factors = of_numbers!(NAME, [inputs[0]], |a| each(NAME, a, |n, a| {
            matrix::or_nan(NAME, factor(n, &a), self.nan_on_error, problem)
        }))?;
        Ok(vec![factors])
    }
}

/// Returns the factor of one matrix.
fn factor<T: Number>(n: usize, a: &[T]) -> Result<Vec<T>, usize> {
    let mut l = vec![T::ZERO; n * n];
    for i in 0..n {
        for j in 0..=i {
            let mut rest = a[i * n + j];
            for k in 0..j {
                rest = rest.less_product(l[j * n + k].conjugate(), l[i * n + k]);
            }
            l[i * n + j] = if i == j { rest.root().ok_or(n * n)? } else { rest.over_real(l[j * n + j]) };
        }
    }
    Ok(l)
}

impl Called for Cholesky {
    const HEADER: &'static str = "precast/ops/linalg/matrix.h";

    fn call(&self, node: &Node) -> Call {
        let function = c_function(
            node.inputs[0].dtype(),
            ["pc_cholesky_f32", "pc_cholesky_f64", "pc_cholesky_c64", "pc_cholesky_c128"],
        );
        Call::of(function, vec![i64::from(self.nan_on_error)])
    }
}
called!(Cholesky);

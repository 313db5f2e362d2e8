//! Solve: solves systems of linear equations.

use super::matrix::{self, c_function, each_system, lu, of_numbers, solve_triangular};
use crate::call::{Call, Called, called};
use crate::declared::Declared;
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_graph::{Array, MakeNodeError, Op, PerformError, Prop, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "solve";

/// An op that solves `a·x = b` by an LU decomposition with partial pivoting. The stacks of both inputs are broadcast.
///
/// # Shapes
/// `(a[…, n, n], b[…, n, m]) -> x[…, n, m]`
///
/// # Errors
/// At run time: extents that do not fit and, unless `nan_on_error`, a singular matrix. NaN propagates.
///
/// # Source
/// NumPy, `numpy.linalg.solve`; LAPACK, `gesv`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Solve {
    /// Whether a singular matrix gives NaN instead of an error.
    pub nan_on_error: bool,
}

impl Solve {
    /// Rebuilds the op from its props.
    ///
    /// # Errors
    /// `nan_on_error` is not a bool.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["nan_on_error"])?;
        Ok(Arc::new(Self { nan_on_error: declared.flag("nan_on_error")? }))
    }
}

impl Op for Solve {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        Props::from([("nan_on_error".to_owned(), Prop::Bool(self.nan_on_error))])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        Ok(vec![matrix::system(NAME, inputs)?])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::linalg::solve(*self, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let solutions =
            of_numbers!(NAME, [inputs[0], inputs[1]], |a, b| each_system(NAME, (a, b), |n, a, b| {
                let m = b.len().checked_div(n).unwrap_or(0);
                let (mut u, mut x) = (a.to_vec(), b);
                for (k, pivot) in lu(n, &mut u).into_iter().enumerate() {
                    (0..m).for_each(|j| x.swap(k * m + j, pivot * m + j));
                }
                let x = solve_triangular((true, true), n, &u, x);
                let x = x.and_then(|x| solve_triangular((false, false), n, &u, x));
                matrix::or_nan(NAME, x, self.nan_on_error, "singular matrix")
            }))?;
        Ok(vec![solutions])
    }
}

impl Called for Solve {
    const HEADER: &'static str = "precast/ops/linalg/matrix.h";

    fn call(&self, node: &Node) -> Call {
        let function = c_function(
            node.inputs[0].dtype(),
            ["pc_solve_f32", "pc_solve_f64", "pc_solve_c64", "pc_solve_c128"],
        );
        Call::of(function, vec![i64::from(self.nan_on_error)])
    }
}
called!(Solve);

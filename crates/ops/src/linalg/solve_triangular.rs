//! SolveTriangular: solves systems of linear equations with triangular matrices.

use super::matrix::{self, c_function, each_system, of_numbers, solve_triangular};
use crate::call::{Call, Called, called};
use crate::declared::Declared;
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_graph::{Array, MakeNodeError, Op, PerformError, Prop, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "solve_triangular";

/// An op that solves `a·x = b` for triangular matrices, of which the other triangle is not read. The stacks of both
/// inputs are broadcast.
///
/// # Shapes
/// `(a[…, n, n], b[…, n, m]) -> x[…, n, m]`
///
/// # Errors
/// At run time: extents that do not fit and, unless `nan_on_error`, a 0 on the diagonal. NaN propagates.
///
/// # Source
/// SciPy, `scipy.linalg.solve_triangular`; LAPACK, `trtrs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SolveTriangular {
    /// Whether the lower triangle is used instead of the upper one.
    pub lower: bool,
    /// Whether the diagonal counts as ones and is not read.
    pub unit_diagonal: bool,
    /// Whether a singular matrix gives NaN instead of an error.
    pub nan_on_error: bool,
}

impl SolveTriangular {
    /// Rebuilds the op from its props.
    ///
    /// # Errors
    /// A prop is not a bool.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["lower", "nan_on_error", "unit_diagonal"])?;
        Ok(Arc::new(Self {
            lower: declared.flag("lower")?,
            unit_diagonal: declared.flag("unit_diagonal")?,
            nan_on_error: declared.flag("nan_on_error")?,
        }))
    }
}

impl Op for SolveTriangular {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        let flags = [
            ("lower", self.lower),
            ("nan_on_error", self.nan_on_error),
            ("unit_diagonal", self.unit_diagonal),
        ];
        flags.into_iter().map(|(name, flag)| (name.to_owned(), Prop::Bool(flag))).collect()
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        Ok(vec![matrix::system(NAME, inputs)?])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::linalg::solve_triangular(*self, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let solutions =
            of_numbers!(NAME, [inputs[0], inputs[1]], |a, b| each_system(NAME, (a, b), |n, a, b| {
                let x = solve_triangular((self.lower, self.unit_diagonal), n, a, b);
                matrix::or_nan(NAME, x, self.nan_on_error, "singular matrix")
            }))?;
        Ok(vec![solutions])
    }
}

impl Called for SolveTriangular {
    const HEADER: &'static str = "precast/ops/linalg/matrix.h";

    fn call(&self, node: &Node) -> Call {
        let functions = [
            "pc_solve_triangular_f32",
            "pc_solve_triangular_f64",
            "pc_solve_triangular_c64",
            "pc_solve_triangular_c128",
        ];
        let flags = [self.nan_on_error, !self.lower, self.unit_diagonal];
        Call::of(c_function(node.inputs[0].dtype(), functions), flags.map(i64::from).to_vec())
    }
}
called!(SolveTriangular);

//! LuFactor: decomposes matrices with partial pivoting.

use super::matrix::{c_function, each, expect_square, lu, of_numbers, pivots, pivots_array};
use crate::call::{Call, Called, called};
use crate::declared::Declared;
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_graph::{Array, MakeNodeError, Op, PerformError, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "lu_factor";

/// An op that decomposes matrices into `P·L·U`. The first result holds L, whose diagonal of ones is not stored, and U.
/// The second result is the row that each row was exchanged with, one after another.
///
/// # Shapes
/// `a[…, n, n] -> a, i64[…, n]`
///
/// # Errors
/// At run time: a matrix that is not square. A singular matrix has a 0 on the diagonal of U.
///
/// # Source
/// SciPy, `scipy.linalg.lu_factor`; LAPACK, `getrf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LuFactor;

impl LuFactor {
    /// Creates the op, which has no props.
    ///
    /// # Errors
    /// Any prop is an error.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Declared::new(NAME, props, &[]).map(|_| Arc::new(Self) as Arc<dyn Op>)
    }
}

impl Op for LuFactor {
    fn name(&self) -> &str {
        NAME
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, 1, inputs)?;
        expect_square(NAME, inputs)?;
        Ok(vec![inputs[0].clone(), pivots(&inputs[0])])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::linalg::lu_factor(at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let mut exchanged = Vec::new();
        let factors = of_numbers!(NAME, [inputs[0]], |a| each(NAME, a, |n, mut a| {
            exchanged.extend(lu(n, &mut a));
            Ok(a)
        }))?;
        let exchanged = pivots_array(NAME, inputs[0], &exchanged)?;
        Ok(vec![factors, exchanged])
    }
}

impl Called for LuFactor {
    const HEADER: &'static str = "precast/ops/linalg/matrix.h";

    fn call(&self, node: &Node) -> Call {
        let function = c_function(
            node.inputs[0].dtype(),
            ["pc_lu_factor_f32", "pc_lu_factor_f64", "pc_lu_factor_c64", "pc_lu_factor_c128"],
        );
        // The C function reads the flag of an op whose failures give NaN; this one does not fail.
        Call::of(function, vec![0])
    }
}
called!(LuFactor);

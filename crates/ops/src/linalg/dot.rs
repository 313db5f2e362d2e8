//! Dot: NumPy's `dot` of vectors, matrices and stacks of matrices.

use super::product;
use crate::call::{Call, Called, called};
use crate::declared::Declared;
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_graph::{Array, MakeNodeError, Op, PerformError, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "dot";

/// `a · b` for any pair of ranks 1 to 3. It follows NumPy's `dot`, not `matmul`: the stack dimensions of the right
/// operand follow those of the left, `(i, j, k)·(l, k, n) -> (i, j, l, n)`.
///
/// # Errors
/// At run time: different inner extents, in NumPy's words.
///
/// # Source
/// NumPy, `numpy.dot`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dot;

impl Dot {
    /// Creates a Dot, which has no props.
    ///
    /// # Errors
    /// Any prop is an error.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Declared::new(NAME, props, &[]).map(|_| Arc::new(Self) as Arc<dyn Op>)
    }
}

impl Op for Dot {
    fn name(&self) -> &str {
        NAME
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        Ok(vec![product::make_node(NAME, 0, inputs)?])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::linalg::dot(at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Ok(vec![product::perform(NAME, 0, inputs)?])
    }
}

impl Called for Dot {
    const HEADER: &'static str = "precast/ops/dot_plain.h";

    fn call(&self, node: &Node) -> Call {
        product::call(0, node)
    }
}
called!(Dot);

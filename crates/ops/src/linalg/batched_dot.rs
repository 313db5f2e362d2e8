//! BatchedDot: the dot product of each pair of two stacks.

use super::product;
use crate::call::{Call, Called, called};
use crate::declared::Declared;
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_graph::{Array, MakeNodeError, Op, PerformError, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "batched_dot";

/// `a[i] · b[i]` for each i, of ranks 2 and 3 in any pair: `(i, m, k)·(i, k, n) -> (i, m, n)`, `(i, k)·(i, k) -> (i)`.
///
/// # Errors
/// At run time: different first or inner extents.
///
/// # Source
/// `pytensor.tensor.blas.BatchedDot`; NumPy, `numpy.matmul` of each pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BatchedDot;

impl BatchedDot {
    /// Creates a BatchedDot, which has no props.
    ///
    /// # Errors
    /// Any prop is an error.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Declared::new(NAME, props, &[]).map(|_| Arc::new(Self) as Arc<dyn Op>)
    }
}

impl Op for BatchedDot {
    fn name(&self) -> &str {
        NAME
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        Ok(vec![product::make_node(NAME, 1, inputs)?])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::linalg::batched_dot(at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Ok(vec![product::perform(NAME, 1, inputs)?])
    }
}

impl Called for BatchedDot {
    const HEADER: &'static str = "precast/ops/dot_plain.h";

    fn call(&self, node: &Node) -> Call {
        product::call(1, node)
    }
}
called!(BatchedDot);

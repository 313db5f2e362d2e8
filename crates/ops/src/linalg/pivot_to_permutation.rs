//! PivotToPermutation: the order of rows after the exchanges of an LU decomposition.

use crate::call::{Call, Called, called};
use crate::declared::{Declared, refuse, tensor};
use crate::elements;
use precast_codegen::Node;
use precast_core::native::ErrorKind;
use precast_graph::{Array, DType, MakeNodeError, Op, PerformError, Props, Type};
use std::sync::Arc;

const NAME: &str = "pivot_to_permutation";

/// An op that returns the order `p` of rows after exchanges, so that `a[p]` is `L @ U` for the pivots of `lu_factor(a)`.
///
/// # Shapes
/// `i64[…, n] -> i64[…, n]`
///
/// # Errors
/// At run time: a pivot that is not a row (an index error).
///
/// # Source
/// `pytensor.tensor.slinalg.pivot_to_permutation`; `jax.lax.linalg.lu_pivots_to_permutation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PivotToPermutation;

impl PivotToPermutation {
    /// Creates the op, which has no props.
    ///
    /// # Errors
    /// Any prop is an error.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Declared::new(NAME, props, &[]).map(|_| Arc::new(Self) as Arc<dyn Op>)
    }
}

impl Op for PivotToPermutation {
    fn name(&self) -> &str {
        NAME
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, 1, inputs)?;
        let pivots = tensor(NAME, 0, inputs)?;
        if pivots.dtype != DType::I64 || pivots.shape.is_empty() {
            return Err(refuse(NAME, 0, &inputs[0], "pivots of i64, with a dimension or more"));
        }
        Ok(inputs.to_vec())
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let Array::I64(pivots) = inputs[0] else { return Err(elements::mismatch(NAME)) };
        let mut result = pivots.clone();
        for (mut order, pivots) in result.rows_mut().into_iter().zip(pivots.rows()) {
            let n = order.len();
            for (i, place) in order.iter_mut().enumerate() {
                *place = i as i64;
            }
            for (i, pivot) in pivots.iter().enumerate() {
                let other = usize::try_from(*pivot).ok().filter(|other| *other < n).ok_or_else(|| {
                    let problem = format!("pivot {pivot} of row {i} is out of bounds for {n} rows");
                    PerformError::of_kind(NAME, ErrorKind::Index, problem)
                })?;
                order.swap(i, other);
            }
        }
        Ok(vec![Array::I64(result)])
    }
}

impl Called for PivotToPermutation {
    const HEADER: &'static str = "precast/ops/linalg/permutation.h";

    fn call(&self, _node: &Node) -> Call {
        Call::of("pc_pivot_to_permutation", Vec::new())
    }
}
called!(PivotToPermutation);

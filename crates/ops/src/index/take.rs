//! AdvancedSubtensor1: selects the rows of a tensor given by a vector of indices.

use super::selector::position;
use crate::call::{Call, Called, called};
use crate::declared::{Declared, integers, of, refuse, tensor};
use crate::elements;
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_graph::{Array, MakeNodeError, Op, PerformError, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "advanced_subtensor1";

/// The rows of a tensor at a vector of indices: row k of the result is the row given by index k. Negative indices
/// count from the end.
///
/// # Shapes
/// `(x[m, …], i64[n]) -> x[n, …]`, a copy.
///
/// # Errors
/// At run time: an index out of bounds, which is an index error.
///
/// # Source
/// NumPy, `numpy.take` along axis 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AdvancedSubtensor1;

impl AdvancedSubtensor1 {
    /// Creates the op, which has no props.
    ///
    /// # Errors
    /// Any prop is an error.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Declared::new(NAME, props, &[]).map(|_| Arc::new(Self) as Arc<dyn Op>)
    }
}

impl Op for AdvancedSubtensor1 {
    fn name(&self) -> &str {
        NAME
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, 2, inputs)?;
        let whole = tensor(NAME, 0, inputs)?;
        let count = integers(NAME, 1, inputs)?;
        if whole.shape.is_empty() {
            return Err(refuse(NAME, 0, &inputs[0], "at least 1 dimension"));
        }
        Ok(vec![of(whole.dtype, [&[count], &whole.shape[1..]].concat())])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::index::take(at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let (shape, positions) = rows(NAME, inputs[0].shape(), inputs[1])?;
        Ok(vec![elements::pick(NAME, inputs[0], &shape, &positions)?])
    }
}

/// Returns the shape of the selected rows, and the positions of their elements.
pub(super) fn rows(
    op: &str,
    whole: &[usize],
    indices: &Array,
) -> Result<(Vec<usize>, Vec<usize>), PerformError> {
    let run: usize = whole[1..].iter().product();
    let (mut count, mut positions) = (0, Vec::new());
    elements::room(op, &[indices.shape(), &whole[1..]].concat())?;
    for index in elements::integers(op, indices)? {
        let row = position(op, index, 0, whole[0])?;
        positions.extend(row * run..(row + 1) * run);
        count += 1;
    }
    Ok(([&[count], &whole[1..]].concat(), positions))
}

impl Called for AdvancedSubtensor1 {
    const HEADER: &'static str = "precast/ops/index.h";

    fn call(&self, _node: &Node) -> Call {
        Call::of("pc_take", Vec::new())
    }
}
called!(AdvancedSubtensor1);

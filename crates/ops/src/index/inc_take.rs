//! AdvancedIncSubtensor1: sets rows of a tensor given by a vector of indices, or adds to them.

use super::inc_subtensor::{flags, values, writing, written};
use super::take::rows;
use crate::call::{Call, Called, called};
use crate::declared::{Declared, integers, refuse, tensor};
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_graph::{Array, MakeNodeError, Op, PerformError, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "advanced_inc_subtensor1";

/// An op that returns the first input with rows set to the second input, or with the second added to them. Indices
/// are processed in order: of equal indices the last one sets the row, but all of them add to it.
///
/// # Shapes
/// `(x[m, …], values, i64[n]) -> x[m, …]`; the values are broadcast to `x[n, …]`. The result is a copy, or the first
/// input itself if in place; that input must not share memory with the values.
///
/// # Errors
/// At run time: an index out of bounds, or values that cannot be broadcast. In these cases nothing is written.
///
/// # Source
/// NumPy, `numpy.add.at` and assignment to `x[indices]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdvancedIncSubtensor1 {
    /// Sets the rows instead of adding to them.
    pub set: bool,
    /// Whether the first input is overwritten.
    pub in_place: bool,
}

impl AdvancedIncSubtensor1 {
    /// Rebuilds the op from its props.
    ///
    /// # Errors
    /// `set` or `inplace` is not a bool.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["set", "inplace"])?;
        Ok(Arc::new(Self { set: declared.flag("set")?, in_place: declared.flag("inplace")? }))
    }
}

impl Op for AdvancedIncSubtensor1 {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        flags(self.set, self.in_place)
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, 3, inputs)?;
        let whole = tensor(NAME, 0, inputs)?;
        let count = integers(NAME, 2, inputs)?;
        if whole.shape.is_empty() {
            return Err(refuse(NAME, 0, &inputs[0], "at least 1 dimension"));
        }
        values(NAME, &[&[count], &whole.shape[1..]].concat(), self.set, inputs)?;
        Ok(vec![inputs[0].clone()])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::index::inc_take(*self, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let (shape, positions) = rows(NAME, inputs[0].shape(), inputs[2])?;
        Ok(vec![written(NAME, self.set, [inputs[0], inputs[1]], &shape, &positions)?])
    }

    fn destroy_map(&self) -> Vec<(usize, usize)> {
        if self.in_place { vec![(0, 0)] } else { Vec::new() }
    }

    fn inplace(&self) -> Option<Arc<dyn Op>> {
        (!self.in_place).then(|| Arc::new(Self { in_place: true, ..*self }) as Arc<dyn Op>)
    }
}

impl Called for AdvancedIncSubtensor1 {
    const HEADER: &'static str = "precast/ops/index_add.h";

    fn call(&self, node: &Node) -> Call {
        let set = self.set.then_some("pc_set_take");
        writing(set, "pc_inc_take", node.inputs[0].dtype(), vec![i64::from(self.in_place)])
    }
}
called!(AdvancedIncSubtensor1);

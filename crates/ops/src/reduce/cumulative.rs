//! CumOp: cumulative sums and products.

use super::argmax::{axis_props, lines};
use crate::call::{Call, Called, called};
use crate::declared::{Declared, axis, of, tensor};
use crate::elements;
use crate::gradient::rules::Pulled;
use crate::scalar::{self, find};
use precast_codegen::Node;
use precast_graph::{Array, DType, Extent, MakeNodeError, Op, PerformError, Props, Pullback, Type};
use std::sync::Arc;

/// A cumulative sum or product along an axis, or over all elements in C order: each element of the result combines
/// the elements up to it. The computation is sequential, and each step is rounded to the dtype. Integers wrap.
///
/// # Shapes
/// `x -> x`; without an axis the result has one dimension.
///
/// # Source
/// NumPy, `numpy.cumsum` and `numpy.cumprod`: the same bits for the same dtype.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CumOp {
    /// Whether to compute products instead of sums.
    pub product: bool,
    /// The axis; `None` for all elements.
    pub axis: Option<usize>,
}

impl CumOp {
    /// Rebuilds the op from its name and props.
    ///
    /// # Errors
    /// `axis` is not a valid position.
    pub fn from_props(name: &str, props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(name, props, &["axis"])?;
        let axis = if declared.has("axis") { Some(declared.count("axis")?) } else { None };
        Ok(Arc::new(Self { product: name == "cumprod", axis }))
    }

    /// Returns the scalar op that accumulates one element.
    fn scalar(self) -> &'static str {
        if self.product { "mul" } else { "add" }
    }
}

impl Op for CumOp {
    fn name(&self) -> &str {
        if self.product { "cumprod" } else { "cumsum" }
    }

    fn props(&self) -> Props {
        axis_props(self.axis)
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(self.name(), 1, inputs)?;
        let x = tensor(self.name(), 0, inputs)?;
        let adds = find(self.scalar()).is_some_and(|op| op.output(&[x.dtype; 2]) == Some(x.dtype));
        if !adds || x.dtype == DType::Bool {
            let (op, expected) = (self.name().to_owned(), "numbers".to_owned());
            return Err(MakeNodeError::DType { op, input: 0, found: x.dtype, expected });
        }
        let Some(along) = self.axis else {
            let count = x.shape.iter().try_fold(1_u64, |count, extent| match extent {
                Extent::Fixed(n) => count.checked_mul(*n),
                Extent::Unknown => None,
            });
            return Ok(vec![of(x.dtype, vec![count.map_or(Extent::Unknown, Extent::Fixed)])]);
        };
        axis(self.name(), along, x.shape.len())?;
        Ok(inputs.to_vec())
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::reduce::cumulative(*self, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let whole = inputs[0].shape();
        let mismatch = || elements::mismatch(self.name());
        let mut all = scalar::elements(inputs[0], whole).ok_or_else(mismatch)?;
        let count = self.axis.map_or(all.len(), |axis| whole[axis]);
        let step = self.axis.map_or(1, |axis| elements::steps(whole)[axis]);
        let op = find(self.scalar()).ok_or_else(mismatch)?;
        for start in lines(whole, self.axis) {
            for i in 1..count {
                let at = start + i * step;
                let value = op.perform(&[all[at - step], all[at]])?.first().copied();
                all[at] = value.ok_or_else(mismatch)?;
            }
        }
        let shape = if self.axis.is_some() { whole.to_vec() } else { vec![all.len()] };
        Ok(vec![scalar::collect(inputs[0].dtype(), &shape, &all).ok_or_else(mismatch)?])
    }
}

impl Called for CumOp {
    const HEADER: &'static str = "precast/ops/cumulative.h";

    fn call(&self, node: &Node) -> Call {
        let dtype = node.inputs[0].dtype();
        let axis = self.axis.map_or(-1, |axis| axis as i64);
        Call::stamped("PC_CUMULATIVE", format!("{dtype}, pc_{}_{dtype}", self.scalar()), vec![axis])
    }
}
called!(CumOp);

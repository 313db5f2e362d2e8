//! Split: cuts a tensor into pieces along an axis.

use crate::call::{Call, Called, called};
use crate::declared::{Declared, axis, integers, of, position, refuse, tensor};
use crate::elements::{self, pick};
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_graph::{Array, Extent, MakeNodeError, Op, PerformError, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "split";

/// An op that cuts a tensor into `pieces` views, whose extents along `axis` are given at run time.
///
/// # Shapes
/// `(tensor, i64[pieces]) -> pieces tensors`; the extents must not be negative and must add up to that of `axis`.
///
/// # Errors
/// At run time: extents that do not add up, or a negative extent.
///
/// # Source
/// NumPy, `numpy.split`, with extents instead of positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// The axis to cut.
    pub axis: usize,
    /// The number of pieces.
    pub pieces: usize,
}

impl Split {
    /// Rebuilds a Split from its props.
    ///
    /// # Errors
    /// `axis` or `pieces` is missing or is not a count.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["axis", "pieces"])?;
        Ok(Arc::new(Self { axis: declared.count("axis")?, pieces: declared.count("pieces")? }))
    }
}

impl Op for Split {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        let props = [("axis", self.axis), ("pieces", self.pieces)];
        props.into_iter().map(|(name, n)| (name.to_owned(), position(n))).collect()
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, 2, inputs)?;
        let tensor = tensor(NAME, 0, inputs)?;
        axis(NAME, self.axis, tensor.shape.len())?;
        if !integers(NAME, 1, inputs)?.admits(self.pieces as u64) {
            return Err(refuse(NAME, 1, &inputs[1], format!("a vector of {} extents", self.pieces)));
        }
        if self.pieces == 0 {
            return Err(MakeNodeError::prop(NAME, "pieces", "must be at least 1"));
        }
        let mut shape = tensor.shape.clone();
        shape[self.axis] = Extent::Unknown;
        Ok(vec![of(tensor.dtype, shape); self.pieces])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::shape::split(self.axis, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let refuse = |problem: String| Err(PerformError::value(NAME, problem));
        let extents = elements::integers(NAME, inputs[1])?;
        let whole = inputs[0].shape();
        if extents.len() != self.pieces {
            return refuse(format!("split: there are {} extents for {} pieces", extents.len(), self.pieces));
        }
        if let Some((i, n)) = extents.iter().enumerate().find(|(_, n)| **n < 0) {
            return refuse(format!("split: extent {n} of piece {i} is negative"));
        }
        let total = extents.iter().try_fold(0_i64, |sum, n| sum.checked_add(*n)).unwrap_or(i64::MAX);
        if usize::try_from(total) != Ok(whole[self.axis]) {
            let (axis, extent) = (self.axis, whole[self.axis]);
            return refuse(format!(
                "split: the extents of the pieces sum to {total}, axis {axis} has size {extent}"
            ));
        }
        let steps: Vec<i64> = elements::steps(whole).into_iter().map(|s| s as i64).collect();
        let (mut start, mut shape, mut pieces) = (0, whole.to_vec(), Vec::new());
        for n in extents {
            shape[self.axis] = n.unsigned_abs() as usize;
            let positions = elements::positions(&shape, start * steps[self.axis], &steps);
            pieces.push(pick(NAME, inputs[0], &shape, &positions)?);
            start += n;
        }
        Ok(pieces)
    }

    fn view_map(&self) -> Vec<(usize, usize)> {
        (0..self.pieces).map(|piece| (piece, 0)).collect()
    }
}

impl Called for Split {
    const HEADER: &'static str = "precast/ops/join.h";

    fn call(&self, _node: &Node) -> Call {
        Call::of("pc_split", vec![self.axis as i64, self.pieces as i64])
    }
}
called!(Split);

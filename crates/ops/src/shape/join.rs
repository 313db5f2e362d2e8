//! Join: concatenates tensors along an axis.

use crate::call::{Call, Called, called};
use crate::declared::{Declared, at_least, axis, of, position, refuse, tensor};
use crate::elements::{self, gather};
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_graph::{Array, Extent, MakeNodeError, Op, PerformError, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "join";

/// An op that concatenates tensors of one dtype and rank.
///
/// # Shapes
/// All extents except that of `axis` must agree; the extent of `axis` is the sum.
///
/// # Errors
/// At run time: different extents, in NumPy's words.
///
/// # Source
/// NumPy, `numpy.concatenate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Join {
    /// The axis of concatenation.
    pub axis: usize,
}

impl Join {
    /// Rebuilds a Join from its props.
    ///
    /// # Errors
    /// `axis` is missing or is not a valid position.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Ok(Arc::new(Self { axis: Declared::new(NAME, props, &["axis"])?.count("axis")? }))
    }
}

impl Op for Join {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        Props::from([("axis".to_owned(), position(self.axis))])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        at_least(NAME, 1, inputs)?;
        let first = tensor(NAME, 0, inputs)?;
        axis(NAME, self.axis, first.shape.len())?;
        let mut shape = first.shape.clone();
        for input in 1..inputs.len() {
            let other = tensor(NAME, input, inputs)?;
            if other.dtype != first.dtype || other.shape.len() != shape.len() {
                let expected = format!("the dtype and rank of input 0, `{}`", inputs[0]);
                return Err(refuse(NAME, input, &inputs[input], expected));
            }
            for (d, (mine, its)) in shape.iter_mut().zip(&other.shape).enumerate() {
                *mine = match (*mine, *its) {
                    (Extent::Fixed(a), Extent::Fixed(b)) if d == self.axis => {
                        a.checked_add(b).map_or(Extent::Unknown, Extent::Fixed)
                    }
                    _ if d == self.axis => Extent::Unknown,
                    (Extent::Fixed(a), Extent::Fixed(b)) if a != b => {
                        let expected = format!("extent {a} in dimension {d}, as in the inputs before");
                        return Err(refuse(NAME, input, &inputs[input], expected));
                    }
                    (Extent::Unknown, known) | (known, _) => known,
                };
            }
        }
        Ok(vec![of(first.dtype, shape)])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::shape::join(self.axis, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let mut shape = inputs[0].shape().to_vec();
        for (k, array) in inputs.iter().enumerate().skip(1) {
            for (d, n) in array.shape().iter().enumerate() {
                if d == self.axis {
                    shape[d] += n;
                } else if shape[d] != *n {
                    let problem = format!(
                        "all the input array dimensions except for the concatenation axis must match exactly, but along \
                         dimension {d}, the array at index 0 has size {} and the array at index {k} has size {n}",
                        shape[d]
                    );
                    return Err(PerformError::value(NAME, problem));
                }
            }
        }
        // The order is by outer index, then by array, then by the elements of the array at that index.
        let outer: usize = shape[..self.axis].iter().product();
        let mut order = Vec::new();
        for i in 0..outer {
            for (k, array) in inputs.iter().enumerate() {
                let run: usize = array.shape()[self.axis..].iter().product();
                order.extend((0..run).map(|j| (k, i * run + j)));
            }
        }
        Ok(vec![gather(NAME, inputs, &shape, &order).map_err(|_| elements::mismatch(NAME))?])
    }
}

impl Called for Join {
    const HEADER: &'static str = "precast/ops/join.h";

    fn call(&self, _node: &Node) -> Call {
        Call::of("pc_join", vec![self.axis as i64])
    }
}
called!(Join);

//! BooleanIndex: selects the parts of a tensor where a mask is true.

use super::nonzero::{mask, places};
use crate::call::{Call, Called, called};
use crate::declared::{Declared, of, refuse, tensor};
use crate::elements;
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_core::native::ErrorKind;
use precast_graph::{Array, Extent, MakeNodeError, Op, PerformError, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "boolean_index";

/// An op that concatenates the parts of a tensor where a mask over its first dimensions is true: `x[mask]`.
///
/// # Shapes
/// `(x[m…, r…], bool[m…]) -> x[n, r…]`, where n is the number of true elements; a copy.
///
/// # Errors
/// At run time: the extents of the mask differ from those of the tensor. This is an index error in NumPy's words.
///
/// # Source
/// NumPy, indexing with an array of bool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BooleanIndex;

impl BooleanIndex {
    /// Creates the op, which has no props.
    ///
    /// # Errors
    /// Any prop is an error.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Declared::new(NAME, props, &[]).map(|_| Arc::new(Self) as Arc<dyn Op>)
    }
}

impl Op for BooleanIndex {
    fn name(&self) -> &str {
        NAME
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, 2, inputs)?;
        let whole = tensor(NAME, 0, inputs)?;
        let masked = mask(NAME, 1, inputs)?;
        if masked > whole.shape.len() {
            let expected = format!("at most {} dimension(s), those of input 0", whole.shape.len());
            return Err(refuse(NAME, 1, &inputs[1], expected));
        }
        for (d, pair) in whole.shape.iter().zip(inputs[1].shape()).enumerate() {
            if let (Extent::Fixed(n), Extent::Fixed(m)) = pair
                && n != m
            {
                let expected = format!("extent {n} in dimension {d}, as in input 0");
                return Err(refuse(NAME, 1, &inputs[1], expected));
            }
        }
        Ok(vec![of(whole.dtype, [&[Extent::Unknown], &whole.shape[masked..]].concat())])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::index::boolean(at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let (whole, mask) = (inputs[0].shape(), inputs[1].shape());
        for (d, (n, m)) in whole.iter().zip(mask).enumerate() {
            if n != m {
                let problem = format!(
                    "boolean index did not match indexed array along axis {d}; size of axis is {n} but size of corresponding \
                     boolean axis is {m}"
                );
                return Err(PerformError::of_kind(NAME, ErrorKind::Index, problem));
            }
        }
        let (places, rest) = (places(NAME, inputs[1])?, &whole[mask.len()..]);
        let run: usize = rest.iter().product();
        let positions: Vec<usize> = places.iter().flat_map(|place| place * run..(place + 1) * run).collect();
        Ok(vec![elements::pick(NAME, inputs[0], &[&[places.len()], rest].concat(), &positions)?])
    }
}

impl Called for BooleanIndex {
    const HEADER: &'static str = "precast/ops/mask.h";

    fn call(&self, _node: &Node) -> Call {
        Call::of("pc_boolean_index", Vec::new())
    }
}
called!(BooleanIndex);

//! SearchSorted: finds the positions of elements in a sorted vector.

use super::{compare, stages};
use crate::call::{Call, Called, called};
use crate::declared::{Declared, of, refuse, tensor};
use crate::{elements, scalar};
use precast_codegen::Node;
use precast_graph::{Array, DType, MakeNodeError, Op, PerformError, Prop, Props, Type};
use std::cmp::Ordering;
use std::sync::Arc;

const NAME: &str = "searchsorted";

/// An op that returns the position in a sorted vector where each element would be inserted: before or after equal
/// elements. The search is a bisection; it also runs on vectors that are not sorted.
///
/// # Shapes
/// `(sorted x[n], x) -> i64` with the shape of the second input.
///
/// # Source
/// NumPy, `numpy.searchsorted`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchSorted {
    /// Whether the position is after equal elements instead of before them.
    pub right: bool,
}

impl SearchSorted {
    /// Rebuilds the op from its props.
    ///
    /// # Errors
    /// `right` is not a bool.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Ok(Arc::new(Self { right: Declared::new(NAME, props, &["right"])?.flag("right")? }))
    }
}

impl Op for SearchSorted {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        Props::from([("right".to_owned(), Prop::Bool(self.right))])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, 2, inputs)?;
        let sorted = tensor(NAME, 0, inputs)?;
        let x = tensor(NAME, 1, inputs)?;
        if sorted.shape.len() != 1 {
            return Err(refuse(NAME, 0, &inputs[0], "a vector"));
        }
        if x.dtype != sorted.dtype {
            return Err(refuse(NAME, 1, &inputs[1], format!("the dtype of input 0, `{}`", sorted.dtype)));
        }
        Ok(vec![of(DType::I64, x.shape.clone())])
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let mismatch = || elements::mismatch(NAME);
        let all = |array: &Array| scalar::elements(array, array.shape()).ok_or_else(mismatch);
        let (sorted, x) = (all(inputs[0])?, all(inputs[1])?);
        let behind = |order| order == Ordering::Less || self.right && order == Ordering::Equal;
        let place = |x: &scalar::Value| {
            let (mut low, mut high) = (0, sorted.len());
            while low < high {
                let middle = low + (high - low) / 2;
                if behind(compare(sorted[middle], *x)) { low = middle + 1 } else { high = middle }
            }
            scalar::Value::I64(low as i64)
        };
        let places: Vec<scalar::Value> = x.iter().map(place).collect();
        Ok(vec![scalar::collect(DType::I64, inputs[1].shape(), &places).ok_or_else(mismatch)?])
    }
}

impl Called for SearchSorted {
    const HEADER: &'static str = "precast/ops/search.h";

    fn call(&self, node: &Node) -> Call {
        let dtype = node.inputs[0].dtype();
        let arguments = format!("{dtype}, {}", stages(dtype));
        Call::stamped("PC_SEARCHSORTED", arguments, vec![i64::from(self.right)])
    }
}
called!(SearchSorted);

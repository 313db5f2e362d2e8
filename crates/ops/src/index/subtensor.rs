//! Subtensor: selects a part of a tensor by indices and slices; a view.

use super::selector::{self, Selector};
use crate::call::{Call, Called, called};
use crate::declared::{Declared, of, tensor};
use crate::elements;
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_graph::{Array, MakeNodeError, Op, PerformError, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "subtensor";

/// Python's basic indexing: `x[i, 1:n, ::-1]`. Dimensions without a selector are kept whole.
///
/// # Shapes
/// `(tensor, i64[], …) -> tensor`, with the integers of the selectors in their order; a view.
///
/// # Errors
/// At run time: an index out of bounds (an index error), or a step of 0.
///
/// # Source
/// Python, `slice.indices`; NumPy, basic indexing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subtensor {
    /// The selectors of the first dimensions.
    pub index: Vec<Selector>,
}

impl Subtensor {
    /// Rebuilds a Subtensor from its props.
    ///
    /// # Errors
    /// `index` is missing or is not a list of selectors.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let index = selector::from_prop(&Declared::new(NAME, props, &["index"])?)?;
        Ok(Arc::new(Self { index }))
    }
}

impl Op for Subtensor {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        Props::from([("index".to_owned(), selector::prop(&self.index))])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        crate::declared::at_least(NAME, 1, inputs)?;
        let shape = selector::part_type(NAME, &self.index, 1, inputs)?;
        Ok(vec![of(tensor(NAME, 0, inputs)?.dtype, shape)])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::index::subtensor(&self.index, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let (shape, positions) = selector::part(NAME, &self.index, inputs[0].shape(), &inputs[1..])?;
        Ok(vec![elements::pick(NAME, inputs[0], &shape, &positions)?])
    }

    fn view_map(&self) -> Vec<(usize, usize)> {
        vec![(0, 0)]
    }
}

impl Called for Subtensor {
    const HEADER: &'static str = "precast/ops/index.h";

    fn call(&self, _node: &Node) -> Call {
        Call::of("pc_subtensor", selector::table(&self.index))
    }
}
called!(Subtensor);

//! Nonzero: finds the true elements of a bool tensor.

use crate::call::{Call, Called, called};
use crate::declared::{Declared, of, refuse, tensor};
use crate::elements;
use precast_codegen::Node;
use precast_graph::{Array, DType, Extent, MakeNodeError, Op, PerformError, Props, Type};
use std::sync::Arc;

const NAME: &str = "nonzero";

/// An op that returns the indices of the true elements in C order, one row per dimension: the tuple of NumPy's
/// `nonzero` as a matrix.
///
/// # Shapes
/// `bool -> i64[ndim, n]`, where n is the number of true elements.
///
/// # Source
/// NumPy, `numpy.nonzero`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Nonzero;

impl Nonzero {
    /// Creates the op, which has no props.
    ///
    /// # Errors
    /// Any prop is an error.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Declared::new(NAME, props, &[]).map(|_| Arc::new(Self) as Arc<dyn Op>)
    }
}

/// Returns the number of dimensions of a mask.
pub(super) fn mask(op: &str, input: usize, types: &[Type]) -> Result<usize, MakeNodeError> {
    match tensor(op, input, types)? {
        mask if mask.dtype == DType::Bool => Ok(mask.shape.len()),
        _ => Err(refuse(op, input, &types[input], "a tensor of bool")),
    }
}

/// Returns the positions of the true elements of a mask, in C order.
pub(super) fn places(op: &str, mask: &Array) -> Result<Vec<usize>, PerformError> {
    let Array::Bool(mask) = mask else { return Err(elements::mismatch(op)) };
    Ok(mask.iter().enumerate().filter_map(|(i, is_true)| is_true.then_some(i)).collect())
}

impl Op for Nonzero {
    fn name(&self) -> &str {
        NAME
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, 1, inputs)?;
        let ndim = mask(NAME, 0, inputs)?;
        Ok(vec![of(DType::I64, vec![Extent::Fixed(ndim as u64), Extent::Unknown])])
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let (shape, places) = (inputs[0].shape(), places(NAME, inputs[0])?);
        let index = |(extent, step): (&usize, usize)| {
            places.iter().map(move |place| (place / step % extent) as i64).collect::<Vec<_>>()
        };
        let all: Vec<i64> = shape.iter().zip(elements::steps(shape)).flat_map(index).collect();
        let matrix = ndarray::ArrayD::from_shape_vec(vec![shape.len(), places.len()], all);
        Ok(vec![Array::I64(matrix.map_err(|_| elements::mismatch(NAME))?)])
    }
}

impl Called for Nonzero {
    const HEADER: &'static str = "precast/ops/mask.h";

    fn call(&self, _node: &Node) -> Call {
        Call::of("pc_nonzero", Vec::new())
    }
}
called!(Nonzero);

//! Shape and ShapeI: return the extents of a tensor as numbers.

use crate::call::{Call, Called, called};
use crate::declared::{Declared, axis, of, position};
use precast_codegen::{Node, TypeOp};
use precast_graph::{Array, DType, Extent, MakeNodeError, Op, PerformError, Props, Type};
use std::sync::Arc;

/// An op that returns the extents as a vector.
///
/// # Shapes
/// `x -> i64[ndim]`; empty for a C scalar.
///
/// # Source
/// NumPy, `numpy.shape`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape;

impl Shape {
    /// Creates a Shape, which has no props.
    ///
    /// # Errors
    /// Any prop is an error.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Declared::new("shape", props, &[]).map(|_| Arc::new(Self) as Arc<dyn Op>)
    }
}

impl Op for Shape {
    fn name(&self) -> &str {
        "shape"
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(self.name(), 1, inputs)?;
        Ok(vec![of(DType::I64, vec![Extent::Fixed(inputs[0].ndim() as u64)])])
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let extents: Vec<i64> = inputs[0].shape().iter().map(|n| *n as i64).collect();
        Ok(vec![Array::from(ndarray::Array1::from(extents))])
    }
}

impl Called for Shape {
    const HEADER: &'static str = "precast/ops/shape.h";
    const TYPE_OP: Option<TypeOp> = Some(TypeOp::Shape);

    fn call(&self, _node: &Node) -> Call {
        Call::of("pc_shape", Vec::new())
    }
}
called!(Shape);

/// An op that returns one extent.
///
/// # Shapes
/// `x -> i64[]`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShapeI {
    /// The axis of the extent.
    pub axis: usize,
}

impl ShapeI {
    /// Rebuilds a ShapeI from its props.
    ///
    /// # Errors
    /// `i` is missing or is not a valid position.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Ok(Arc::new(Self { axis: Declared::new("shape_i", props, &["i"])?.count("i")? }))
    }
}

impl Op for ShapeI {
    fn name(&self) -> &str {
        "shape_i"
    }

    fn props(&self) -> Props {
        Props::from([("i".to_owned(), position(self.axis))])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(self.name(), 1, inputs)?;
        axis(self.name(), self.axis, inputs[0].ndim())?;
        Ok(vec![of(DType::I64, Vec::new())])
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Ok(vec![Array::from(inputs[0].shape()[self.axis] as i64)])
    }
}

impl Called for ShapeI {
    const HEADER: &'static str = "precast/ops/shape.h";
    const TYPE_OP: Option<TypeOp> = Some(TypeOp::ShapeI);

    fn call(&self, _node: &Node) -> Call {
        Call::of("pc_shape_i", vec![self.axis as i64])
    }
}
called!(ShapeI);

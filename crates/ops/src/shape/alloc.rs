//! Alloc: broadcasts a value to given extents, in new memory.

use crate::call::{Call, Called, called};
use crate::declared::{Declared, at_least, integer, of, refuse};
use crate::elements;
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_core::MAX_NDIM;
use precast_graph::{Array, Extent, MakeNodeError, Op, PerformError, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "alloc";

/// An op that fills a new tensor with a value.
///
/// # Shapes
/// `(value, i64[], i64[], …) -> tensor` with one dimension per integer; the value is broadcast, aligned right.
///
/// # Errors
/// At run time: a negative extent, or a value that cannot be broadcast.
///
/// # Source
/// NumPy, `numpy.full`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Alloc;

impl Alloc {
    /// Creates an Alloc, which has no props.
    ///
    /// # Errors
    /// Any prop is an error.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Declared::new(NAME, props, &[]).map(|_| Arc::new(Self) as Arc<dyn Op>)
    }
}

impl Op for Alloc {
    fn name(&self) -> &str {
        NAME
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        at_least(NAME, 1, inputs)?;
        let ndim = inputs.len() - 1;
        for input in 1..inputs.len() {
            integer(NAME, input, inputs)?;
        }
        if inputs[0].ndim() > ndim || ndim > MAX_NDIM {
            return Err(refuse(NAME, 0, &inputs[0], format!("at most {} dimension(s)", ndim.min(MAX_NDIM))));
        }
        Ok(vec![of(inputs[0].dtype(), vec![Extent::Unknown; ndim])])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::shape::broadcast(at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let shape = elements::extents(NAME, &inputs[1..])?;
        elements::room(NAME, &shape)?;
        let own = inputs[0].shape();
        let positions =
            elements::broadcast(own, &shape).ok_or_else(|| elements::not_broadcast(NAME, own, &shape))?;
        Ok(vec![elements::pick(NAME, inputs[0], &shape, &positions)?])
    }
}

impl Called for Alloc {
    const HEADER: &'static str = "precast/ops/fill.h";

    fn call(&self, _node: &Node) -> Call {
        Call::of("pc_alloc", Vec::new())
    }
}
called!(Alloc);

//! Ops that hold a graph or another op in a prop.

use precast_graph::{Array, FunctionGraph, MakeNodeError, Op, PerformError, Prop, Props, Type, interpret};
use std::sync::Arc;

/// A whole graph as one op; its inputs must have the types that the graph declares.
#[derive(Debug, Clone)]
pub struct Composite(pub Arc<FunctionGraph>);

impl Op for Composite {
    fn name(&self) -> &str {
        "composite"
    }

    fn props(&self) -> Props {
        Props::from([("graph".to_owned(), Prop::Graph(self.0.clone()))])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(self.name(), self.0.inputs().len(), inputs)?;
        for (input, (found, inner)) in inputs.iter().zip(self.0.inputs()).enumerate() {
            let expected = self.0.ty(*inner);
            if !expected.covers(found) {
                let (op, found) = (self.name().to_owned(), found.to_string());
                return Err(MakeNodeError::Input { op, input, found, expected: format!("`{expected}`") });
            }
        }
        Ok(self.0.outputs().iter().map(|v| self.0.ty(*v).clone()).collect())
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let inputs: Vec<Array> = inputs.iter().map(|a| (*a).clone()).collect();
        interpret(&self.0, &inputs).map_err(|error| PerformError::value(self.name(), error.to_string()))
    }
}

/// A wrapper of another op, unchanged.
#[derive(Debug, Clone)]
pub(super) struct Map(pub(super) Arc<dyn Op>);

impl Op for Map {
    fn name(&self) -> &str {
        "map"
    }

    fn props(&self) -> Props {
        Props::from([("op".to_owned(), Prop::Op(self.0.clone()))])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        self.0.make_node(inputs)
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        self.0.perform(inputs)
    }
}

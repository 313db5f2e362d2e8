//! The interface of a graph as seen by callers.

use crate::{FunctionGraph, VarId};
use precast_core::program::Port;

impl FunctionGraph {
    /// Returns the names and types of the inputs and of the outputs, each in order.
    #[must_use]
    pub fn interface(&self) -> (Vec<Port>, Vec<Port>) {
        let port = |name: String, variable: &VarId| Port { name, ty: self.ty(*variable).clone() };
        let inputs = self.inputs().iter().enumerate();
        let outputs = self.outputs().iter().enumerate();
        (
            inputs.map(|(i, variable)| port(self.input_name(i).to_owned(), variable)).collect(),
            outputs.map(|(i, variable)| port(self.output_name(i), variable)).collect(),
        )
    }
}

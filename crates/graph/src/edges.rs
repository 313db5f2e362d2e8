//! Checks the types at the edge of a graph.

use crate::UserType;
use crate::build_error::BuildError;
use crate::graph::{FunctionGraph, VarId};

impl FunctionGraph {
    /// Checks that no input, constant or output is opaque. Every graph that callers can call must pass this check. A
    /// graph with a single Apply, which the host calls as part of a larger graph, may have opaque inputs and outputs.
    ///
    /// # Errors
    /// [`BuildError::Opaque`] for the first opaque value.
    pub fn check_edges(&self) -> Result<(), BuildError> {
        let opaque = |id: VarId| self.ty(id).as_user().is_some_and(UserType::is_opaque);
        let input = |(i, id): (usize, &VarId)| (*id, "input", self.input_name(i).to_owned());
        let output = |(i, id): (usize, &VarId)| (*id, "output", self.output_name(i));
        let constants = self.constants().map(|(id, _)| (id, "constant", format!("c{}", id.index())));
        let inputs = self.inputs().iter().enumerate().map(input);
        let outputs = self.outputs().iter().enumerate().map(output);
        match inputs.chain(constants).chain(outputs).find(|(id, ..)| opaque(*id)) {
            Some((id, what, name)) => Err(BuildError::Opaque { what, name, ty: self.ty(id).to_string() }),
            None => Ok(()),
        }
    }
}

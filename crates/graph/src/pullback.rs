//! The derivative of an Apply, for reverse mode.

use crate::build_error::BuildError;
use crate::graph::{FunctionGraph, VarId};
use crate::make_node_error::MakeNodeError;
use crate::op::{Op, OpLibrary};
use crate::operand::{Keywords, Operand};
use crate::text::{self, ParseTextError};
use std::sync::Arc;

/// An Apply of a graph, with the gradients of a cost by its outputs, from which [`Op::pullback`] builds those by its
/// inputs. New Applies are appended to the same graph.
pub struct Pullback<'a> {
    /// The graph.
    pub graph: &'a mut FunctionGraph,
    /// The functions of [`Pullback::call`].
    pub library: &'a dyn OpLibrary,
    /// The inputs of the Apply.
    pub inputs: &'a [VarId],
    /// The outputs of the Apply.
    pub outputs: &'a [VarId],
    /// The gradient by each output, of its dtype and shape; `None` for an output that the cost does not depend on.
    pub gradients: &'a [Option<VarId>],
    /// Whether the gradient by each input is needed.
    pub wanted: &'a [bool],
}

/// The gradient by each input, of its dtype and shape; `None` if it is zero or not needed.
pub type Gradients = Vec<Option<VarId>>;

impl Pullback<'_> {
    /// Returns the gradient by the output of an Apply with one output.
    ///
    /// # Errors
    /// A missing gradient, which callers of [`Op::pullback`] exclude.
    pub fn gradient(&self) -> Result<VarId, BuildError> {
        let gradient = self.gradients.first().copied().flatten();
        gradient.ok_or_else(|| Self::error("the first output has no gradient"))
    }

    /// Applies a function of the library.
    ///
    /// # Errors
    /// As [`OpLibrary::call`], or a function with several results.
    pub fn call(&mut self, function: &str, args: &[Operand]) -> Result<VarId, BuildError> {
        self.call_with(function, args, &[])
    }

    /// Applies a function of the library with keyword arguments.
    ///
    /// # Errors
    /// As [`Pullback::call`].
    pub fn call_with(
        &mut self,
        function: &str,
        args: &[Operand],
        named: &[(&str, Operand)],
    ) -> Result<VarId, BuildError> {
        let keywords: Keywords =
            named.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let result = self.library.call(self.graph, function, args, &keywords);
        let result = result.ok_or_else(|| Self::error(format!("unknown function `{function}`")))??;
        Ok(result.variable(self.graph)?)
    }

    /// Applies an op with one output.
    ///
    /// # Errors
    /// As [`FunctionGraph::apply`].
    pub fn apply(&mut self, op: impl Op, inputs: &[VarId]) -> Result<VarId, BuildError> {
        let outputs = self.graph.apply(Arc::new(op), inputs)?;
        outputs.first().copied().ok_or_else(|| Self::error("an op has no outputs"))
    }

    /// Evaluates an expression of the text form, in which names stand for operands.
    ///
    /// # Errors
    /// As [`text::evaluate`].
    pub fn evaluate(&mut self, text: &str, names: &[(&str, Operand)]) -> Result<VarId, ParseTextError> {
        text::evaluate(text, names, self.graph, self.library)
    }

    /// Creates an error of a gradient.
    #[must_use]
    pub fn error(problem: impl Into<String>) -> BuildError {
        MakeNodeError::Value { op: "grad".to_owned(), problem: problem.into() }.into()
    }
}

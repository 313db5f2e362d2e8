//! Functions of operands: arguments of `scan`, `cond` and similar functions.

use crate::build_error::BuildError;
use crate::graph::FunctionGraph;
use crate::op::OpLibrary;
use crate::operand::Operand;
use std::fmt;
use std::sync::Arc;

/// The code of a [`Function`].
type Code =
    dyn Fn(&mut FunctionGraph, &dyn OpLibrary, &[Operand]) -> Result<Operand, BuildError> + Send + Sync;

/// A function of operands, which appends Applies to a graph. It is a `lambda` or a `def` of the text form, or a closure.
#[derive(Clone)]
pub struct Function(Arc<Code>);

impl Function {
    /// Creates a function from a closure.
    pub fn new<F>(code: F) -> Self
    where
        F: Fn(&mut FunctionGraph, &dyn OpLibrary, &[Operand]) -> Result<Operand, BuildError>
            + Send
            + Sync
            + 'static,
    {
        Self(Arc::new(code))
    }

    /// Calls the function.
    ///
    /// # Errors
    /// Arguments that the function rejects.
    pub fn call(
        &self,
        graph: &mut FunctionGraph,
        library: &dyn OpLibrary,
        args: &[Operand],
    ) -> Result<Operand, BuildError> {
        (self.0)(graph, library, args)
    }
}

impl PartialEq for Function {
    /// Two functions are equal if they are clones of one function.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Function")
    }
}

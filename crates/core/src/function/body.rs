//! The implementation of functions that do more than run their modules.

use super::{CallError, Function, check_inputs};
use crate::native::{ArrayRef, Targets};
use crate::program::Port;
use crate::value::Array;
use std::any::Any;
use std::fmt::Debug;

/// A custom implementation of a function's calls, such as a reference implementation or checks around the modules.
pub trait Body: Debug + Send + Sync + Any {
    /// Checks inputs against the function's interface. Returns an optional replacement for each input, or an empty list if
    /// all inputs are used unchanged.
    ///
    /// # Errors
    /// The declared types do not admit the inputs.
    fn admit(&self, ports: &[Port], inputs: &[ArrayRef<'_>]) -> Result<Vec<Option<Array>>, CallError> {
        check_inputs(ports, inputs).map(|()| Vec::new())
    }

    /// Runs a call whose inputs and targets have been checked against the function's interface.
    ///
    /// # Errors
    /// As [`Function::call`].
    fn run(&self, inputs: &[ArrayRef<'_>], targets: &mut Targets<'_, '_>) -> Result<(), CallError>;

    /// Returns the function that answers for this body.
    fn delegate(&self) -> Delegate<'_> {
        Delegate::Itself
    }
}

/// The function that answers for a body.
#[derive(Debug, Clone, Copy)]
pub enum Delegate<'a> {
    /// No other function: the body computes the results.
    Itself,
    /// Every call is forwarded to this function unchanged, and no other method of the body is called. It may differ between
    /// calls.
    Forwards(&'a Function),
    /// The body checks the calls of this function. Its modules are reported as the provenance.
    Checks {
        /// The function.
        function: &'a Function,
        /// Whether all numbers are admitted unchanged, so that the native function of `function` also serves this body.
        admits_numbers: bool,
    },
}

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

    /// Returns the inner function if calls are forwarded to it unchanged; no other method is called then. It may differ
    /// between calls.
    fn stands_for(&self) -> Option<&Function> {
        None
    }

    /// Returns the inner function if this body adds checks around one. Its modules are then reported as the provenance.
    fn around(&self) -> Option<&Function> {
        None
    }

    /// Returns the function whose native function also serves this one, if all numbers are admitted unchanged.
    fn admits_numbers(&self) -> Option<&Function> {
        None
    }

    /// Returns the error of every call, if all calls fail. The inputs of the function are unknown then.
    fn refusal(&self) -> Option<&CallError> {
        None
    }
}

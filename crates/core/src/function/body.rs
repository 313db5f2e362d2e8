//! What serves the calls of a function whose modules are not all there is to it.

use super::{CallError, Function, check_inputs};
use crate::native::{ArrayRef, Targets};
use crate::program::Port;
use crate::value::Array;
use std::any::Any;
use std::fmt::Debug;

/// What serves the calls of a function otherwise than by its modules alone: a reference implementation, checks around them.
pub trait Body: Debug + Send + Sync + Any {
    /// Checks inputs against the function's interface; gives in its place what each is to be replaced by, if by anything.
    ///
    /// # Errors
    /// Inputs that the declared types do not admit.
    fn admit(&self, ports: &[Port], inputs: &[ArrayRef<'_>]) -> Result<Vec<Option<Array>>, CallError> {
        check_inputs(ports, inputs).map(|()| Vec::new())
    }

    /// Serves a call whose inputs and targets were checked against the function's interface.
    ///
    /// # Errors
    /// As [`Function::call`].
    fn run(&self, inputs: &[ArrayRef<'_>], targets: &mut Targets<'_, '_>) -> Result<(), CallError>;

    /// The function that serves every call as it is, without anything around it: then nothing else of this is asked. It may
    /// be another one from one call to the next.
    fn stands_for(&self) -> Option<&Function> {
        None
    }

    /// The function that computes what this one gives, where this is something around it: then its modules are told of.
    fn around(&self) -> Option<&Function> {
        None
    }

    /// The function whose native function is this one's too, as every number is admitted as it is.
    fn admits_numbers(&self) -> Option<&Function> {
        None
    }

    /// Why every call fails, where that is so: then nothing is known of what it takes.
    fn refusal(&self) -> Option<&CallError> {
        None
    }
}

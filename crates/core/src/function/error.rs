//! Why a call failed.

use crate::native::ErrorKind;
use std::error::Error;
use std::sync::Arc;

/// Why a call failed. The function can be called again.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// Wrong number of inputs.
    #[error("the function takes {expected} input(s), found {found}")]
    Inputs {
        /// Inputs of the function.
        expected: usize,
        /// Arrays given.
        found: usize,
    },
    /// Wrong number of outputs.
    #[error("the function gives {expected} output(s), found room for {found}")]
    Outputs {
        /// Outputs of the function.
        expected: usize,
        /// Arrays given.
        found: usize,
    },
    /// An input that its declared type does not admit.
    #[error("input `{name}` is `{found}`, expected `{expected}`")]
    Input {
        /// Name of the input.
        name: String,
        /// Its exact type.
        found: String,
        /// The declared type.
        expected: String,
    },
    /// An input that the rules of its user type refuse.
    #[error("input `{name}` is refused by its type")]
    Filter {
        /// Name of the input.
        name: String,
        /// Why.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// An output array of another dtype, or of another shape where it cannot be replaced.
    #[error("output `{name}` has room for `{found}`, expected `{expected}`")]
    Output {
        /// Name of the output.
        name: String,
        /// The exact type of the room.
        found: String,
        /// The type of the result.
        expected: String,
    },
    /// An op refused its values.
    #[error("`{signature}`: {message}{inputs}")]
    Op {
        /// The Apply, or the module it is part of, in short.
        signature: String,
        /// What kind of error the op reported.
        kind: ErrorKind,
        /// The op's words.
        message: String,
        /// The inputs of the function that went into it, in words: ``, where `x`: (5), `y`: (3)``; or nothing.
        inputs: String,
    },
    /// What serves the function otherwise than by its modules refused: the reference implementation, or debug mode.
    #[error("{what}")]
    Other {
        /// What was done.
        what: &'static str,
        /// Why it refused.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// An op gave another dtype, rank or extent than it declares.
    #[error(
        "`{signature}` gave `{found}` for output `{name}`, declared as `{expected}`\nhint: the op's C and its declared outputs disagree; debug mode shows the first Apply that does so"
    )]
    Undeclared {
        /// The Applies that the output is of.
        signature: String,
        /// Name of the output.
        name: String,
        /// What it is.
        found: String,
        /// The declared type.
        expected: String,
    },
    /// A module left an output without a value, against its contract.
    #[error("output `{name}` was left without a value")]
    NoValue {
        /// Name of the output.
        name: String,
    },
}

crate::debug_as_chain!(CallError);

impl CallError {
    /// Why it failed, if that is a `T`: what debug mode found, or what the reference implementation said.
    #[must_use]
    pub fn cause<T: Error + 'static>(&self) -> Option<&T> {
        if let Self::Other { source, .. } = self { source.downcast_ref() } else { None }
    }
}

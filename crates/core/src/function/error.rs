//! The errors of calls.

use crate::native::ErrorKind;
use std::error::Error;
use std::sync::Arc;

/// The reason why a call failed. The function can be called again.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// Wrong number of inputs.
    #[error("expected {expected} input(s), found {found}")]
    Inputs {
        /// The number of inputs of the function.
        expected: usize,
        /// The number of arrays passed.
        found: usize,
    },
    /// Wrong number of outputs.
    #[error("expected {expected} output array(s), found {found}")]
    Outputs {
        /// The number of outputs of the function.
        expected: usize,
        /// The number of arrays passed.
        found: usize,
    },
    /// The declared type does not admit the input.
    #[error("input `{name}` is `{found}`, expected `{expected}`")]
    Input {
        /// Name of the input.
        name: String,
        /// Its exact type.
        found: String,
        /// The declared type.
        expected: String,
    },
    /// Extents of one name differ.
    #[error(transparent)]
    Extent(Box<ExtentError>),
    /// The rules of a user type reject the input.
    #[error("input `{name}` was rejected by its type")]
    Filter {
        /// Name of the input.
        name: String,
        /// The reason.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// An output array has the wrong dtype, or the wrong shape and cannot be replaced.
    #[error("output `{name}` has type `{found}`, expected `{expected}`")]
    Output {
        /// Name of the output.
        name: String,
        /// The exact type of the output array.
        found: String,
        /// The type of the result.
        expected: String,
    },
    /// An op rejected its values.
    #[error("`{signature}`: {message}{inputs}")]
    Op {
        /// A short form of the Apply, or of the module that contains it.
        signature: String,
        /// The kind of error that the op reported.
        kind: ErrorKind,
        /// The message of the op.
        message: String,
        /// The inputs of the function that the op depends on, such as ``, where `x`: (5), `y`: (3)``; may be empty.
        inputs: String,
    },
    /// A custom body failed: the reference implementation, or debug mode.
    #[error("{what}")]
    Other {
        /// The operation that failed.
        what: &'static str,
        /// The reason.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// A result has another extent than declared.
    #[error(
        "output `{name}` is `{found}`, expected `{expected}`\nhint: check the declared type of the output; debug mode \
         shows whether an op returned other extents than it declares"
    )]
    Result {
        /// Name of the output.
        name: String,
        /// The type of the result.
        found: String,
        /// The declared type.
        expected: String,
    },
    /// A result has another dtype or rank than the op declares.
    #[error(
        "`{signature}` returned `{found}` for output `{name}`, declared as `{expected}`\nhint: fix the op, whose C \
         and declared outputs disagree; debug mode shows the first Apply that does so"
    )]
    Undeclared {
        /// The Applies that compute the output.
        signature: String,
        /// Name of the output.
        name: String,
        /// The type of the result.
        found: String,
        /// The declared type.
        expected: String,
    },
    /// A module violated its contract: it left an output without a value.
    #[error("output `{name}` was not set")]
    NoValue {
        /// Name of the output.
        name: String,
    },
}

crate::debug_as_chain!(CallError);

/// The error for an input or output with another extent than the first one of the same name. [`CallError`] boxes it, because
/// it is large.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{port} has extent {found} on axis {axis}, but `{name}` is {expected} (axis {first_axis} of {first})"
)]
pub struct ExtentError {
    /// The name of the extents.
    pub name: String,
    /// The input or output, such as ``input `y` ``.
    pub port: String,
    /// Its axis.
    pub axis: usize,
    /// Its extent.
    pub found: usize,
    /// The input or output that defines the extent of this name.
    pub first: String,
    /// The axis that defines it.
    pub first_axis: usize,
    /// The extent of this name.
    pub expected: usize,
}

impl CallError {
    /// Returns the source of [`CallError::Other`] if it is a `T`, such as the findings of debug mode or the error of the
    /// reference implementation.
    #[must_use]
    pub fn cause<T: Error + 'static>(&self) -> Option<&T> {
        if let Self::Other { source, .. } = self { source.downcast_ref() } else { None }
    }
}

//! Errors found while a graph is built.

use crate::contracts::ContractError;
use crate::make_node_error::MakeNodeError;
use crate::text::ParseTextError;
use precast_core::names::NameError;

/// Why a graph cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The op rejects the types of its inputs.
    #[error(transparent)]
    MakeNode(#[from] MakeNodeError),
    /// Text that is not a valid name for an input, an output or a variable.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Two inputs or two outputs have the same name.
    #[error("duplicate name `{name}`: {what} names must be unique")]
    DuplicateName {
        /// The name.
        name: String,
        /// `input` or `output`.
        what: &'static str,
    },
    /// An extent has the name of an input.
    #[error(
        "`{name}` names both an input and an extent\nhint: choose another name for the extent, which is not an input"
    )]
    ExtentName {
        /// The name.
        name: String,
    },
    /// No value has both the declared type of an output and the type of its variable.
    #[error("output `{name}` is `{found}`, declared as `{declared}`")]
    Declared {
        /// The output.
        name: String,
        /// The type of its variable.
        found: String,
        /// The declared type.
        declared: String,
    },
    /// The variable does not belong to this graph.
    #[error("variable {index} does not belong to this graph")]
    ForeignVariable {
        /// The position of the variable.
        index: usize,
    },
    /// The graph has no outputs, so it computes nothing.
    #[error("the graph has no outputs")]
    NoOutputs,
    /// An input, a constant or an output has an opaque type. Opaque values never cross the edge of a graph.
    #[error("{what} `{name}` has the opaque type `{ty}`, which cannot cross a graph boundary")]
    Opaque {
        /// `input`, `constant` or `output`.
        what: &'static str,
        /// Its name.
        name: String,
        /// Its type.
        ty: String,
    },
    /// A function of a text is invalid.
    #[error(transparent)]
    Text(#[from] Box<ParseTextError>),
    /// The `view_map` or `destroy_map` of an op is invalid, or the op breaks the memory rules of this graph.
    #[error(transparent)]
    Contract(Box<ContractError>),
}

impl BuildError {
    /// Adds the calling `function` to the error; see [`MakeNodeError::within`].
    #[must_use]
    pub fn within(self, function: &str) -> Self {
        match self {
            Self::MakeNode(error) => Self::MakeNode(error.within(function)),
            other => other,
        }
    }
}

// Boxed, because a large error type would enlarge every stack frame of the recursive parsers.
impl From<ContractError> for BuildError {
    fn from(error: ContractError) -> Self {
        Self::Contract(Box::new(error))
    }
}

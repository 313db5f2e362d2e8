//! What can be wrong with a graph that is being built.

use crate::contracts::ContractError;
use crate::make_node_error::MakeNodeError;
use precast_core::names::NameError;

/// Why a graph cannot be built this way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The op refuses the types.
    #[error(transparent)]
    MakeNode(#[from] MakeNodeError),
    /// Text that cannot be the name of an input, an output or a variable.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Two inputs or two outputs of one name.
    #[error("duplicate name `{name}`: {what} names must be unique")]
    DuplicateName {
        /// The name.
        name: String,
        /// `input` or `output`.
        what: &'static str,
    },
    /// A variable that this graph does not have.
    #[error("variable {index} is not in this graph")]
    ForeignVariable {
        /// Its position.
        index: usize,
    },
    /// A graph without outputs computes nothing.
    #[error("the graph has no outputs")]
    NoOutputs,
    /// An opaque value that would come from outside, or leave.
    #[error("{what} `{name}` has the opaque type `{ty}`, whose values live inside a graph only")]
    Opaque {
        /// `input`, `constant` or `output`.
        what: &'static str,
        /// Its name.
        name: String,
        /// Its type.
        ty: String,
    },
    /// An op's view_map or destroy_map is broken, or breaks something in this graph.
    #[error(transparent)]
    Contract(Box<ContractError>),
}

impl BuildError {
    /// This error in a call of `function`; see [`MakeNodeError::within`].
    #[must_use]
    pub fn within(self, function: &str) -> Self {
        match self {
            Self::MakeNode(error) => Self::MakeNode(error.within(function)),
            other => other,
        }
    }
}

// Boxed: a large error would cost every frame of the parsers' recursion its size.
impl From<ContractError> for BuildError {
    fn from(error: ContractError) -> Self {
        Self::Contract(Box::new(error))
    }
}

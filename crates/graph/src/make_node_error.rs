//! The errors of an op that refuses the types, props or literals of a call.

use crate::literal::LiteralError;
use crate::{DType, Type};

/// Why an op cannot be applied to these types.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MakeNodeError {
    /// Wrong number of inputs.
    #[error("`{op}` takes {expected} input(s), found {found}")]
    Arity {
        /// The op.
        op: String,
        /// How many it takes, in words or digits.
        expected: String,
        /// How many were given.
        found: usize,
    },
    /// An input has a dtype that the op does not support.
    #[error("`{op}` does not support dtype `{found}` of input {input}; it supports {expected}")]
    DType {
        /// The op.
        op: String,
        /// Position of the input.
        input: usize,
        /// Its dtype.
        found: DType,
        /// What is supported.
        expected: String,
    },
    /// Literals that have no result.
    #[error("`{op}` of literals")]
    Arithmetic {
        /// The op.
        op: String,
        /// Why not.
        source: LiteralError,
    },
    /// A literal that the dtype it meets cannot hold.
    #[error("`{op}`: input {input} is the literal `{literal}`, which does not fit `{dtype}`")]
    Literal {
        /// The op.
        op: String,
        /// Position of the input.
        input: usize,
        /// The literal.
        literal: String,
        /// The dtype that it would take.
        dtype: DType,
    },
    /// Values, known when the graph is built, that the op refuses.
    #[error("`{op}`: {problem}")]
    Value {
        /// The op.
        op: String,
        /// What is wrong, in words.
        problem: String,
    },
    /// An input has the wrong type otherwise (rank, extent, scalar against tensor).
    #[error("`{op}`: input {input} has type `{found}`, expected {expected}")]
    Input {
        /// The op.
        op: String,
        /// Position of the input.
        input: usize,
        /// Its type.
        found: String,
        /// What was expected, in words.
        expected: String,
    },
    /// Extents that can never be broadcast together.
    #[error("`{op}`: dimension {dimension} of the inputs cannot be broadcast: extents {extents}")]
    Broadcast {
        /// The op.
        op: String,
        /// The dimension, counted in the result.
        dimension: usize,
        /// The extents, in words.
        extents: String,
    },
    /// An axis that the tensor does not have.
    #[error("`{op}`: prop `{prop}` is {axis}, out of range for {ndim} dimension(s)")]
    Axis {
        /// The op.
        op: String,
        /// The prop.
        prop: String,
        /// The axis.
        axis: i64,
        /// The number of dimensions.
        ndim: usize,
    },
    /// The error of an op that a function is made of.
    #[error("`{function}`: {inner}")]
    Within {
        /// The function that was called.
        function: String,
        /// The error of the op.
        inner: Box<Self>,
    },
    /// A prop is missing, unknown, or of the wrong kind.
    #[error("`{op}`: prop `{prop}` {problem}")]
    Prop {
        /// The op.
        op: String,
        /// The prop.
        prop: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl MakeNodeError {
    /// Checks the number of inputs.
    ///
    /// # Errors
    /// [`MakeNodeError::Arity`] when it is not `expected`.
    pub fn expect_inputs(op: &str, expected: usize, inputs: &[Type]) -> Result<(), Self> {
        if inputs.len() == expected {
            return Ok(());
        }
        Err(Self::Arity { op: op.to_owned(), expected: expected.to_string(), found: inputs.len() })
    }

    /// A problem with a prop.
    #[must_use]
    pub fn prop(op: &str, prop: &str, problem: impl Into<String>) -> Self {
        Self::Prop { op: op.to_owned(), prop: prop.to_owned(), problem: problem.into() }
    }

    /// The op or function that refuses its arguments.
    #[must_use]
    pub fn op(&self) -> &str {
        match self {
            Self::Arity { op, .. }
            | Self::DType { op, .. }
            | Self::Arithmetic { op, .. }
            | Self::Literal { op, .. }
            | Self::Value { op, .. }
            | Self::Input { op, .. }
            | Self::Broadcast { op, .. }
            | Self::Axis { op, .. }
            | Self::Prop { op, .. } => op,
            Self::Within { function, .. } => function,
        }
    }

    /// This error in a call of `function`, which calls the op. Only the outermost function and the op itself are kept.
    #[must_use]
    pub fn within(self, function: &str) -> Self {
        match self {
            Self::Within { inner, .. } => inner.within(function),
            error if error.op() == function => error,
            error => Self::Within { function: function.to_owned(), inner: Box::new(error) },
        }
    }

    /// The error of the op, without the function that calls it.
    #[must_use]
    pub fn innermost(&self) -> &Self {
        if let Self::Within { inner, .. } = self { inner.innermost() } else { self }
    }
}

//! Errors of an op that rejects the types, props or literals of a call.

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
        /// The expected number of inputs, in words or digits.
        expected: String,
        /// The number of inputs found.
        found: usize,
    },
    /// An input has a dtype that the op does not support.
    #[error("`{op}` does not support dtype `{found}` of input {input}; it supports {expected}")]
    DType {
        /// The op.
        op: String,
        /// The position of the input.
        input: usize,
        /// Its dtype.
        found: DType,
        /// The supported dtypes.
        expected: String,
    },
    /// An operation on literals without a result.
    #[error("`{op}` of literals")]
    Arithmetic {
        /// The op.
        op: String,
        /// The reason.
        source: LiteralError,
    },
    /// A literal does not fit the dtype of the operand it is combined with.
    #[error("`{op}`: input {input} is the literal `{literal}`, which does not fit into `{dtype}`")]
    Literal {
        /// The op.
        op: String,
        /// The position of the input.
        input: usize,
        /// The literal.
        literal: String,
        /// The dtype that it would take.
        dtype: DType,
    },
    /// The op rejects values that are known when the graph is built.
    #[error("`{op}`: {problem}")]
    Value {
        /// The op.
        op: String,
        /// A description of the problem.
        problem: String,
    },
    /// An input has the wrong rank or extent, or is a scalar where a tensor is required or vice versa.
    #[error("`{op}`: input {input} has type `{found}`, expected {expected}")]
    Input {
        /// The op.
        op: String,
        /// The position of the input.
        input: usize,
        /// Its type.
        found: String,
        /// A description of the expected type.
        expected: String,
    },
    /// Extents that can never be broadcast together.
    #[error("`{op}`: cannot broadcast dimension {dimension} of the inputs: extents {extents}")]
    Broadcast {
        /// The op.
        op: String,
        /// The dimension, counted in the result.
        dimension: usize,
        /// A description of the extents.
        extents: String,
    },
    /// An axis that is out of range for the tensor.
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
    /// The error of an op inside a composed function.
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
        /// A description of the problem.
        problem: String,
    },
}

impl MakeNodeError {
    /// Checks the number of inputs.
    ///
    /// # Errors
    /// [`MakeNodeError::Arity`] if the number is not `expected`.
    pub fn expect_inputs(op: &str, expected: usize, inputs: &[Type]) -> Result<(), Self> {
        if inputs.len() == expected {
            return Ok(());
        }
        Err(Self::Arity { op: op.to_owned(), expected: expected.to_string(), found: inputs.len() })
    }

    /// Creates an error about a prop.
    #[must_use]
    pub fn prop(op: &str, prop: &str, problem: impl Into<String>) -> Self {
        Self::Prop { op: op.to_owned(), prop: prop.to_owned(), problem: problem.into() }
    }

    /// Returns the op or function that rejects its arguments.
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

    /// Adds the calling `function` to the error. Only the outermost function and the op itself are kept.
    #[must_use]
    pub fn within(self, function: &str) -> Self {
        match self {
            Self::Within { inner, .. } => inner.within(function),
            error if error.op() == function => error,
            error => Self::Within { function: function.to_owned(), inner: Box::new(error) },
        }
    }

    /// Returns the error of the op without the calling function.
    #[must_use]
    pub fn innermost(&self) -> &Self {
        if let Self::Within { inner, .. } = self { inner.innermost() } else { self }
    }
}

//! What a row says of a scalar op.

use super::Value;

/// What a function does to the dtypes of its arguments before its scalar op is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promotion {
    /// All to their common dtype.
    Common,
    /// As `registry::compare` says: integers exactly.
    Order,
    /// As [`Promotion::Common`]; literal bounds may lie beyond the dtype.
    Bounds,
    /// All to their common dtype, or i8 if that is bool.
    Number,
    /// All to their common dtype, or f64 if that is bool or an integer.
    Quotient,
    /// Each to the float that holds it, then all to their common dtype.
    Inexact,
    /// As [`Promotion::Common`]; bool and integers are given back as they are.
    Rounding,
    /// As [`Promotion::Rounding`], but bool becomes f16.
    Nearest,
    /// As [`Promotion::Common`]; what is real is given back as it is.
    Complex,
    /// As [`Promotion::Complex`], but bool becomes i8.
    Conjugate,
    /// All to bool.
    Bool,
    /// The first to bool, the others to their common dtype.
    Condition,
    /// As NumPy's operator `**`, which knows literal exponents.
    Power,
    /// As [`Promotion::Inexact`], but bool becomes f64.
    Angle,
}

/// What a scalar op makes of operands of one dtype.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gives {
    /// The dtype of the operands.
    Same,
    /// bool.
    Bool,
    /// The dtype of a part; for real dtypes the same.
    Part,
    /// The complex dtype whose parts the operands are.
    Whole,
    /// The dtype of the operands, which is not one that is widened before.
    Exact,
    /// The dtype of the operands after the first, which is bool.
    Choice,
}

/// What an element costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// A few instructions.
    Cheap,
    /// More.
    Costly,
}

/// The scalar op of a row.
#[derive(Debug)]
pub(crate) struct Scalar {
    pub(crate) promotion: Promotion,
    pub(crate) gives: Gives,
    pub(super) cost: Cost,
    /// `and` in `pc_and_bool`.
    pub(super) c_name: &'static str,
    pub(super) arms: Arms,
}

/// What a row says for each kind of dtypes.
#[derive(Debug)]
pub(super) struct Arms {
    pub(super) takes: u8,
    /// The header of floats and that of complex numbers, if it is not that of the dtype.
    pub(super) headers: [&'static [&'static str]; 2],
    pub(super) evaluate: fn(&[Value]) -> Option<Value>,
}

//! The columns of a row for a scalar op.

use super::Value;

/// The promotion of a function's arguments before its scalar op is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promotion {
    /// All arguments to their common dtype.
    Common,
    /// The rules of `registry::compare`: integers are compared exactly.
    Order,
    /// As [`Promotion::Common`], but literal bounds may exceed the range of the dtype.
    Bounds,
    /// All arguments to their common dtype, or i8 if that is bool.
    Number,
    /// All arguments to their common dtype, or f64 if that is bool or an integer.
    Quotient,
    /// Each argument to the float that can hold it, then all to their common dtype.
    Inexact,
    /// As [`Promotion::Common`], but bool and integers are returned unchanged.
    Rounding,
    /// As [`Promotion::Rounding`], but bool becomes f16.
    Nearest,
    /// As [`Promotion::Common`], but real arguments are returned unchanged.
    Complex,
    /// As [`Promotion::Complex`], but bool becomes i8.
    Conjugate,
    /// All arguments to bool.
    Bool,
    /// The first argument to bool, the rest to their common dtype.
    Condition,
    /// The rules of NumPy's operator `**`, including literal exponents.
    Power,
    /// As [`Promotion::Inexact`], but bool becomes f64.
    Angle,
    /// The first argument, and for [`Gives::Word`] the others too, must be u64; the rest to f64.
    Words,
}

/// The dtype of a scalar op's result for operands of one dtype.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gives {
    /// The dtype of the operands.
    Same,
    /// Bool.
    Bool,
    /// The dtype of a complex part; real dtypes stay the same.
    Part,
    /// The complex dtype whose parts are the operands.
    Whole,
    /// The dtype of the operands, which must not be a dtype that is widened first.
    Exact,
    /// The dtype of the operands after the first one, which is bool.
    Choice,
    /// u64 for operands of u64.
    Word,
    /// f64 for a u64, which operands of f64 follow.
    Draw,
}

/// The cost of one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// A few instructions.
    Cheap,
    /// More instructions, e.g. a division or a function.
    Costly,
    /// So many instructions that all kernels of a module call one function, block by block.
    Heavy,
    /// As [`Cost::Heavy`], with branches or loops, so that compilers do not vectorise its general form.
    Branching,
}

/// The scalar op of a row.
#[derive(Debug)]
pub(crate) struct Scalar {
    pub(crate) promotion: Promotion,
    pub(crate) gives: Gives,
    pub(super) cost: Cost,
    /// The C name, e.g. `and` in `pc_and_bool`.
    pub(super) c_name: &'static str,
    pub(super) arms: Arms,
    /// The derivative by each operand, as an expression; empty without any.
    pub(crate) derivatives: &'static [&'static str],
}

/// The entries of a row for each kind of dtypes.
#[derive(Debug)]
pub(super) struct Arms {
    pub(super) takes: u8,
    /// The headers for floats, words or draws, and for complex numbers, if they are not the headers of the dtypes.
    pub(super) headers: [&'static [&'static str]; 2],
    /// The regions of f32 and of f64, in the order in which they are tried.
    pub(super) regions: [&'static [&'static str]; 2],
    pub(super) evaluate: fn(&[Value]) -> Option<Value>,
}

//! What can be called by name: one row each.
//!
//! [`scalar`] is the table of elementwise functions, which are scalar ops too. Lists of them are made from it: names,
//! promotion, headers, costs, methods of the builder, the C that the build script compiles, the tests' functions.

mod scalar;

use crate::scalar::Scalar;
pub(crate) use scalar::scalar_rows;

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

/// A function that can be called by name, in text and with [`crate::build::Graph::apply`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Other names, most of them NumPy's.
    pub aliases: &'static [&'static str],
    /// Its arguments, by name.
    pub arguments: &'static [&'static str],
    /// What it is, in a line of Markdown.
    pub help: &'static str,
    pub(crate) promotion: Promotion,
    pub(crate) scalar: Scalar,
}

/// All rows.
pub(crate) fn all() -> impl Iterator<Item = &'static Row> {
    crate::scalar::LIBRARY.iter()
}

/// The row of a name, which may be another name of it.
pub(crate) fn find(name: &str) -> Option<&'static Row> {
    all().find(|row| row.name == name || row.aliases.contains(&name))
}

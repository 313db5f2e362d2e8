//! Functions that are made of others and give an operand: an array, or a list of several.

use super::edit::{delete, insert, pad, select};
use super::grid::{array_split, column_stack, dstack, meshgrid, unstack};
use super::parts::{divmod, frexp, ldexp, modf};
use super::places::take_along_axis;
use super::products::{convolve, cross, kron, matvec, vecdot};
use super::samples::{bincount, digitize, gradient, interp, polyval, trapezoid};
use super::sets::{isin, unique_parts};
use super::structural::is_there;
use super::totals::{cumulative, matrix_norm, vector_norm};
use crate::rows::{Keyword, Row, composed_rows};

macro_rules! library {
    ($(#[doc = $help:literal] $name:ident($($x:ident),* $(; $more:ident $(of $rows:ident)?)?) [$($alias:ident)*]
       {$($keyword:ident = $default:expr),* $(; $($named:ident = $else:expr),*)?} = $apply:ident;)*) => {
        /// The rows of these functions.
        pub(crate) const COMPOSED: &[Row] = &[$(Row {
            name: stringify!($name),
            aliases: &[$(stringify!($alias)),*],
            arguments: &[$(stringify!($x),)* $(concat!(stringify!($more), "…"))?],
            keywords: &[
                $(Keyword { name: stringify!($keyword), default: stringify!($default), positional: true },)*
                $($(Keyword { name: stringify!($named), default: stringify!($else), positional: false },)*)?
            ],
            help: $help.trim_ascii(),
            apply: Some($apply),
            takes_rows: is_there(&[$($(stringify!($rows))?)?]),
            register: |library| library,
            combinations: None,
            scalar: None,
        }),*];
    };
}
composed_rows!(library);

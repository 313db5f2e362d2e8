//! Methods of [`Var`] for functions without settings. Names and meaning match the text form.

use super::structural::axis;
use super::{Arg, Var};
use crate::rows::{scalar_rows, structural_rows};
use precast_graph::DType;

/// Generates the methods of the elementwise rows.
macro_rules! methods {
    ($(#[doc = $help:literal] $name:ident $x:tt [$($alias:ident)*] $({$keyword:ident = $default:expr})? $promotion:ident => $gives:ident, $cost:ident,
       $builder:ident $(as $c_name:literal)? { $($arms:tt)* } $(d $derivatives:tt)?)*) => {
        impl Var {
            $(methods!(@$builder $help $name $x);)*
        }
    };
    (@method $help:literal $name:ident ($x:ident $(, $other:ident)*)) => {
        #[doc = $help]
        #[must_use]
        pub fn $name(&self $(, $other: impl Into<Arg>)*) -> Self {
            self.call(stringify!($name), &[$($other.into()),*])
        }
    };
    (@method $help:literal $name:ident ($x:ident; $more:ident)) => {
        methods!(@method $help $name ($x));
    };
    (@along $help:literal $name:ident $x:tt) => {
        #[doc = $help]
        ///
        /// Computes along an axis, or over all elements in C order.
        #[must_use]
        pub fn $name(&self, along: Option<i64>) -> Self {
            self.with(stringify!($name), &[], &axis(along))
        }
    };
    (@other $($row:tt)*) => {};
}
scalar_rows!(methods);

/// Generates the methods of the structural rows. Functions with more arguments have methods in `structural`.
macro_rules! structural {
    ($(#[doc = $help:literal] $name:ident $x:tt [$($alias:ident)*] $keywords:tt = $apply:tt $op:tt $cases:tt
       $builder:ident;)*) => {
        impl Var {
            $(methods!(@$builder $help $name $x);)*
        }
    };
}
structural_rows!(structural);

impl Var {
    /// Casts the elements to another dtype. A cast to bool tests `!= 0`; integers keep their low bits. A cast from
    /// float to integer truncates and saturates, and converts NaN to 0. A cast from complex to real drops the
    /// imaginary part.
    #[must_use]
    pub fn cast(&self, dtype: DType) -> Self {
        self.call(dtype.name(), &[])
    }
}

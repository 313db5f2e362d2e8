//! Functions that take no settings as methods of [`Var`]; names and meaning are those of the text form.

use super::{Arg, Var};
use crate::rows::scalar_rows;
use precast_graph::DType;

macro_rules! unary {
    ($($name:ident: $doc:literal;)*) => {$(
        #[doc = $doc]
        #[must_use]
        pub fn $name(&self) -> Self {
            self.call(stringify!($name), &[])
        }
    )*};
}

macro_rules! binary {
    ($($name:ident: $doc:literal;)*) => {$(
        #[doc = $doc]
        #[must_use]
        pub fn $name(&self, other: impl Into<Arg>) -> Self {
            self.call(stringify!($name), &[other.into()])
        }
    )*};
}

/// The method of each row that has one.
macro_rules! methods {
    ($(#[doc = $help:literal] $name:ident $x:tt [$($alias:ident)*] $promotion:ident => $gives:ident, $cost:ident,
       $builder:ident $(as $c_name:literal)? { $($arms:tt)* })*) => {
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
    (@operator $($row:tt)*) => {};
    (@text $($row:tt)*) => {};
}
scalar_rows!(methods);

#[rustfmt::skip]
impl Var {
    unary! {
        sum: "The sum of all elements.";
        mean: "The mean of all elements.";
        max: "The largest element; NaN if there is one.";
        min: "The smallest element; NaN if there is one.";
        prod: "The product of all elements.";
        any: "Whether any element is true.";
        all: "Whether all elements are true.";
        flatten: "All elements in one dimension, in C order.";
        shape: "The extents, a vector of i64.";
        transpose: "The axes turned round.";
    }
    binary! {
        dot: "Inner product: vectors and matrices.";
        matmul: "Product of matrices, or of stacks of them, which are broadcast.";
    }
}

impl Var {
    /// The elements in another dtype: to bool `!= 0`; integers keep their low bits; float to integer truncates, saturates,
    /// and makes NaN 0; complex to real drops the imaginary part.
    #[must_use]
    pub fn cast(&self, dtype: DType) -> Self {
        self.call(dtype.name(), &[])
    }
}

//! The operators `+ - * / % & | ^ << >>` and unary `-`, `!` between variables and numbers, by value and by reference.
//!
//! `%` follows the text form and therefore Python: the remainder has the sign of the divisor. `!` is `~`.

use super::{Arg, Var};
use precast_graph::Props;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};

/// Implements one operator for every combination of variables and numbers.
macro_rules! operator {
    ($trait:ident, $method:ident, $function:literal, [$($number:ty),*]) => {
        impl<T: Into<Arg>> $trait<T> for &Var {
            type Output = Var;
            fn $method(self, other: T) -> Var {
                self.call($function, &[other.into()])
            }
        }
        impl<T: Into<Arg>> $trait<T> for Var {
            type Output = Var;
            fn $method(self, other: T) -> Var {
                self.call($function, &[other.into()])
            }
        }
        $(
            impl $trait<&Var> for $number {
                type Output = Var;
                fn $method(self, other: &Var) -> Var {
                    other.graph.apply($function, &[self.into(), other.into()], &Props::new())
                }
            }
            impl $trait<Var> for $number {
                type Output = Var;
                fn $method(self, other: Var) -> Var {
                    $trait::$method(self, &other)
                }
            }
        )*
    };
}
operator!(Add, add, "add", [f64, i64]);
operator!(Sub, sub, "sub", [f64, i64]);
operator!(Mul, mul, "mul", [f64, i64]);
operator!(Div, div, "div", [f64, i64]);

operator!(Rem, rem, "mod", [f64, i64]);
operator!(BitAnd, bitand, "bitwise_and", [i64, bool]);
operator!(BitOr, bitor, "bitwise_or", [i64, bool]);
operator!(BitXor, bitxor, "bitwise_xor", [i64, bool]);
operator!(Shl, shl, "left_shift", [i64]);
operator!(Shr, shr, "right_shift", [i64]);

/// Implements a unary operator.
macro_rules! prefix {
    ($trait:ident, $method:ident, $function:literal) => {
        impl $trait for &Var {
            type Output = Var;
            fn $method(self) -> Var {
                self.call($function, &[])
            }
        }
        impl $trait for Var {
            type Output = Self;
            fn $method(self) -> Self {
                self.call($function, &[])
            }
        }
    };
}
prefix!(Neg, neg, "neg");
prefix!(Not, not, "invert");

//! `+ - * /` and unary `-` between variables and numbers, by value and by reference.

use super::{Arg, Var};
use precast_graph::Props;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Stamps one operator for every combination of variables and numbers.
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

impl Neg for &Var {
    type Output = Var;
    fn neg(self) -> Var {
        self.call("neg", &[])
    }
}

impl Neg for Var {
    type Output = Self;
    fn neg(self) -> Self {
        -&self
    }
}

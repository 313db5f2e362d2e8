//! A case for each function of `math`, made from the library's own list: one that a table below this lacks fails a test.

use precast_ops::math;

/// A function by its name, `exp_f64`; operands of one element stand together.
pub(crate) struct Case<T> {
    pub(crate) name: &'static str,
    pub(crate) arity: usize,
    pub(crate) function: fn(&[T]) -> T,
}

macro_rules! functions {
    (#[$doc:meta] $module:ident: $narrow:ident = $n:ty, $wide:ident = $w:ty;
     $($f:ident, $g:ident ($($x:ident),+) of $header:literal;)+) => {
        #[$doc]
        pub(crate) fn $module() -> (Vec<super::Case<$n>>, Vec<super::Case<$w>>) {
            let narrow = vec![$(functions!(@case $module $f $($x)+)),+];
            (narrow, vec![$(functions!(@case $module $g $($x)+)),+])
        }
    };
    (@case $module:ident $f:ident $x:ident) => {
        super::Case { name: stringify!($f), arity: 1, function: |x| super::math::$module::$f(x[0]) }
    };
    (@case $module:ident $f:ident $x:ident $y:ident) => {
        super::Case { name: stringify!($f), arity: 2, function: |x| super::math::$module::$f(x[0], x[1]) }
    };
}

#[path = "../../src/math/functions.rs"]
mod functions;

pub(crate) use functions::{complex, floats};

//! One line an op of the library: its name, arity, the kinds of dtypes it takes, what it gives, and its value.
//!
//! `c/precast/ops/scalar/` has the same in C, function by function.

use super::arms::{binary, unary};
use super::complex::ComplexNumber as _;
use super::float::Float as _;
use super::integer::Integer as _;
use super::table::{ALL, BOOL, COMPLEX, FLOAT, Gives, INT, NUMBER, Row};
use super::value::Value;
use crate::math;
use precast_graph::Complex;

const fn row(
    name: &'static str,
    arity: usize,
    takes: u8,
    gives: Gives,
    evaluate: fn(&[Value]) -> Option<Value>,
) -> Row {
    Row { name, arity, takes, gives, evaluate }
}

/// A function of `math`, by its names for two or four dtypes.
macro_rules! function {
    ($f32:ident, $f64:ident) => {
        unary!(x; f32 math::$f32(x), f64 math::$f64(x);)
    };
    ($f32:ident, $f64:ident, $c64:ident, $c128:ident) => {
        unary!(x; f32 math::$f32(x), f64 math::$f64(x); c64 math::complex::$c64(x), c128 math::complex::$c128(x);)
    };
}

use Gives::{Bool, Choice, Part, Same, Whole};

/// The library, in the order of its document: arithmetic, order, logic, bits, rounding, functions, complex numbers.
#[rustfmt::skip]
pub(super) const LIBRARY: &[Row] = &[
    row("add", 2, ALL, Same, binary!(x, y; bool x | y; int x.wrapping_add(y); float x + y; complex x.plus(y);)),
    row("sub", 2, NUMBER, Same, binary!(x, y; int x.wrapping_sub(y); float x - y; complex x.minus(y);)),
    row("mul", 2, ALL, Same, binary!(x, y; bool x & y; int x.wrapping_mul(y); float x * y; complex x.times(y);)),
    row("div", 2, FLOAT | COMPLEX, Same, binary!(x, y; float x / y; complex x.over(y);)),
    row("floor_div", 2, INT | FLOAT, Same, binary!(x, y; int x.floor_div(y); float x.floor_div(y);)),
    row("mod", 2, INT | FLOAT, Same, binary!(x, y; int x.modulo(y); float x.modulo(y);)),
    row("pow", 2, NUMBER, Same, power),
    row("neg", 1, NUMBER, Same, unary!(x; int x.wrapping_neg(); float -x; complex Complex::new(-x.re, -x.im);)),
    row("abs", 1, ALL, Part, unary!(x; bool x; int x.magnitude(); float x.abs(); complex x.magnitude();)),
    row("sign", 1, NUMBER, Same, unary!(x; int x.sign(); float x.sign(); complex x.sign();)),
    row("square", 1, NUMBER, Same, unary!(x; int x.wrapping_mul(x); float x * x; complex x.times(x);)),
    row("reciprocal", 1, NUMBER, Same, unary!(x; int x.reciprocal(); float 1.0 / x; complex x.reciprocal();)),
    row("sqrt", 1, FLOAT | COMPLEX, Same, unary!(x; float x.sqrt(); c64 math::complex::sqrt_c64(x), c128 math::complex::sqrt_c128(x);)),

    row("eq", 2, ALL, Bool, binary!(x, y; bool x == y; int x == y; float x == y; complex x == y;)),
    row("ne", 2, ALL, Bool, binary!(x, y; bool x != y; int x != y; float x != y; complex x != y;)),
    row("lt", 2, ALL, Bool, binary!(x, y; bool !x & y; int x < y; float x < y; complex x.less(y);)),
    row("le", 2, ALL, Bool, binary!(x, y; bool x <= y; int x <= y; float x <= y; complex x.less_or_equal(y);)),
    row("gt", 2, ALL, Bool, binary!(x, y; bool x & !y; int x > y; float x > y; complex y.less(x);)),
    row("ge", 2, ALL, Bool, binary!(x, y; bool x >= y; int x >= y; float x >= y; complex y.less_or_equal(x);)),
    row("maximum", 2, ALL, Same, MAXIMUM),
    row("minimum", 2, ALL, Same, MINIMUM),
    row("clip", 3, ALL, Same, clip),
    row("switch", 3, ALL, Choice, choose),

    row("isnan", 1, ALL, Bool, unary!(x; bool { let _ = x; false }; int { let _ = x; false }; float x.is_nan(); complex x.lacks();)),
    row("isinf", 1, ALL, Bool, unary!(x; bool { let _ = x; false }; int { let _ = x; false }; float x.is_infinite(); complex x.re.is_infinite() || x.im.is_infinite();)),
    row("isfinite", 1, ALL, Bool, unary!(x; bool { let _ = x; true }; int { let _ = x; true }; float x.is_finite(); complex x.re.is_finite() && x.im.is_finite();)),

    row("logical_and", 2, BOOL, Same, binary!(x, y; bool x & y;)),
    row("logical_or", 2, BOOL, Same, binary!(x, y; bool x | y;)),
    row("logical_xor", 2, BOOL, Same, binary!(x, y; bool x ^ y;)),
    row("logical_not", 1, BOOL, Same, unary!(x; bool !x;)),
    row("bitwise_and", 2, BOOL | INT, Same, binary!(x, y; bool x & y; int x & y;)),
    row("bitwise_or", 2, BOOL | INT, Same, binary!(x, y; bool x | y; int x | y;)),
    row("bitwise_xor", 2, BOOL | INT, Same, binary!(x, y; bool x ^ y; int x ^ y;)),
    row("invert", 1, BOOL | INT, Same, unary!(x; bool !x; int !x;)),
    row("left_shift", 2, INT, Same, binary!(x, y; int x.left_shift(y);)),
    row("right_shift", 2, INT, Same, binary!(x, y; int x.right_shift(y);)),

    row("floor", 1, FLOAT, Same, unary!(x; float x.floor();)),
    row("ceil", 1, FLOAT, Same, unary!(x; float x.ceil();)),
    row("trunc", 1, FLOAT, Same, unary!(x; float x.trunc();)),
    row("round", 1, FLOAT | COMPLEX, Same, unary!(x; float x.round_ties_even(); complex x.rounded();)),
    row("round_half_away", 1, FLOAT, Same, unary!(x; float x.round();)),

    row("exp", 1, FLOAT | COMPLEX, Same, function!(exp_f32, exp_f64, exp_c64, exp_c128)),
    row("exp2", 1, FLOAT, Same, function!(exp2_f32, exp2_f64)),
    row("expm1", 1, FLOAT, Same, function!(expm1_f32, expm1_f64)),
    row("log", 1, FLOAT | COMPLEX, Same, function!(log_f32, log_f64, log_c64, log_c128)),
    row("log2", 1, FLOAT | COMPLEX, Same, function!(log2_f32, log2_f64, log2_c64, log2_c128)),
    row("log10", 1, FLOAT | COMPLEX, Same, function!(log10_f32, log10_f64, log10_c64, log10_c128)),
    row("log1p", 1, FLOAT | COMPLEX, Same, function!(log1p_f32, log1p_f64, log1p_c64, log1p_c128)),
    row("log1mexp", 1, FLOAT, Same, function!(log1mexp_f32, log1mexp_f64)),
    row("sigmoid", 1, FLOAT, Same, function!(sigmoid_f32, sigmoid_f64)),
    row("softplus", 1, FLOAT, Same, function!(softplus_f32, softplus_f64)),
    row("erf", 1, FLOAT, Same, function!(erf_f32, erf_f64)),
    row("erfc", 1, FLOAT, Same, function!(erfc_f32, erfc_f64)),
    row("gammaln", 1, FLOAT, Same, function!(gammaln_f32, gammaln_f64)),
    row("digamma", 1, FLOAT, Same, function!(digamma_f32, digamma_f64)),
    row("cbrt", 1, FLOAT, Same, function!(cbrt_f32, cbrt_f64)),
    row("hypot", 2, FLOAT, Same, binary!(x, y; f32 math::hypot_f32(x, y), f64 math::hypot_f64(x, y);)),
    row("sin", 1, FLOAT | COMPLEX, Same, function!(sin_f32, sin_f64, sin_c64, sin_c128)),
    row("cos", 1, FLOAT | COMPLEX, Same, function!(cos_f32, cos_f64, cos_c64, cos_c128)),
    row("tan", 1, FLOAT | COMPLEX, Same, function!(tan_f32, tan_f64, tan_c64, tan_c128)),
    row("asin", 1, FLOAT | COMPLEX, Same, function!(asin_f32, asin_f64, asin_c64, asin_c128)),
    row("acos", 1, FLOAT | COMPLEX, Same, function!(acos_f32, acos_f64, acos_c64, acos_c128)),
    row("atan", 1, FLOAT | COMPLEX, Same, function!(atan_f32, atan_f64, atan_c64, atan_c128)),
    row("atan2", 2, FLOAT, Same, binary!(x, y; f32 math::atan2_f32(x, y), f64 math::atan2_f64(x, y);)),
    row("sinh", 1, FLOAT | COMPLEX, Same, function!(sinh_f32, sinh_f64, sinh_c64, sinh_c128)),
    row("cosh", 1, FLOAT | COMPLEX, Same, function!(cosh_f32, cosh_f64, cosh_c64, cosh_c128)),
    row("tanh", 1, FLOAT | COMPLEX, Same, function!(tanh_f32, tanh_f64, tanh_c64, tanh_c128)),
    row("asinh", 1, FLOAT | COMPLEX, Same, function!(asinh_f32, asinh_f64, asinh_c64, asinh_c128)),
    row("acosh", 1, FLOAT | COMPLEX, Same, function!(acosh_f32, acosh_f64, acosh_c64, acosh_c128)),
    row("atanh", 1, FLOAT | COMPLEX, Same, function!(atanh_f32, atanh_f64, atanh_c64, atanh_c128)),
    row("deg2rad", 1, FLOAT, Same, unary!(x; float x.radians();)),
    row("rad2deg", 1, FLOAT, Same, unary!(x; float x.degrees();)),

    row("complex", 2, FLOAT, Whole, binary!(x, y; float Complex::new(x, y);)),
    row("imag", 1, ALL, Part, unary!(x; bool { let _ = x; false }; int x.wrapping_sub(x); float { let _ = x; 0.0 }; complex x.im;)),
    row("real", 1, COMPLEX, Part, unary!(x; complex x.re;)),
    row("conj", 1, COMPLEX, Same, unary!(x; complex Complex::new(x.re, -x.im);)),
];

const MAXIMUM: fn(&[Value]) -> Option<Value> =
    binary!(x, y; bool x | y; int x.max(y); float x.larger(y); complex x.larger(y););
const MINIMUM: fn(&[Value]) -> Option<Value> =
    binary!(x, y; bool x & y; int x.min(y); float x.smaller(y); complex x.smaller(y););

/// The smaller of `high` and of the larger of `x` and `low`.
fn clip(v: &[Value]) -> Option<Value> {
    let [x, low, high] = v else { return None };
    MINIMUM(&[MAXIMUM(&[*x, *low])?, *high])
}

fn choose(v: &[Value]) -> Option<Value> {
    match v {
        [Value::Bool(condition), a, b] if a.dtype() == b.dtype() => Some(if *condition { *a } else { *b }),
        _ => None,
    }
}

/// `None` for a negative exponent of integers, too.
fn power(v: &[Value]) -> Option<Value> {
    macro_rules! integers {
        ($($variant:ident),*) => {
            match v {
                $([Value::$variant(x), Value::$variant(y)] => x.power(*y).map(Value::from),)*
                [Value::F32(x), Value::F32(y)] => Some(math::pow_f32(*x, *y).into()),
                [Value::F64(x), Value::F64(y)] => Some(math::pow_f64(*x, *y).into()),
                [Value::C64(x), Value::C64(y)] => Some(math::complex::pow_c64(*x, *y).into()),
                [Value::C128(x), Value::C128(y)] => Some(math::complex::pow_c128(*x, *y).into()),
                _ => None,
            }
        };
    }
    integers!(I8, I16, I32, I64, U8, U16, U32, U64)
}

//! The table of elementwise functions: one row per function, from which everything else about it is generated.
//!
//! ```text
//! /// Help.
//! name(operands) [aliases] {keyword = default} Promotion => Gives, Cost, builder as "C name" {
//!     kind "header" = value in Rust;                          for each kind of dtypes that it supports
//! } d["derivative", …]
//! ```
//! | column | meaning | read by |
//! |---|---|---|
//! | help, name, aliases | a description for users, and the names | [`Row`](super::Row), the builder's documentation |
//! | keyword | an optional setting: by name, or after the operands | calls by name |
//! | [`Promotion`](super::Promotion) | the cast of the operands' dtypes before the call | calls by name |
//! | [`Gives`](super::Gives) | the dtype of the result | the scalar op |
//! | [`Cost`](super::Cost) | `Cheap` for a few instructions, `Heavy` and `Branching` for very many | fusion, kernels |
//! | builder | `method` of `Var`; `other`: an operator, or only text | `build` |
//! | C name | `<C name>` in `pc_<C name>_<dtype>`, if it differs from the name | the scalar op |
//! | kinds | `bool`, `int` (all eight), `float`, `complex` in order; empty if the scalar op is defined apart | the scalar op |
//!
//! The header of a kind is below `precast/ops/`; the default is the header of the dtype. A kind without a Rust value
//! is computed by its C code, which `build.rs` compiles for the host. 16-bit floats are widened first.
//!
//! A kind `float "header" f32 [region …] f64 [region …];` names regions: sets of operands for which C has a shorter form
//! of the function. For a function F, a dtype D and a region R these are `pc_F_R_D(x…)`, and the predicate
//! `pc_F_is_R_D(x…)` as a `uint32_t` or `uint64_t` of 0 or 1. Both must be free of branches. A form has the bits of the
//! general `pc_F_D(x…)` in its region. Kernels try the regions in this order (`c/precast/ops/block.h`).
//!
//! A kind `word "header";` takes and gives u64, and `draw "header";` takes a u64 and then f64, and gives f64. They are computed by
//! the C functions `pc_<name>_u64` and `pc_<name>_f64` of the header, and are the only kind of their row.
//!
//! `d["…", …]` after the braces has the derivative by each operand: an expression of the language that gives the gradient
//! by the operand, where `g` is the gradient by the result `out`. `"0"` means that it is zero everywhere, and `""` that no
//! expression is known; a gradient that needs it is an error. At kinks, the conventions are those of JAX.
//!
//! To add a scalar op, add its row, its C code in the header, and its line in `tests/golden/precise.py` (`scalar.py` for exact
//! functions).
//!
//! The build script includes this file too, so it must contain nothing but the table.

/// Passes the whole table to the macro `$with`.
macro_rules! scalar_rows {
    ($with:ident) => {
        $with! {
            /// The sum; for bool, logical or.
            add(x, y) [] Common => Same, Cheap, other { bool = x | y; int = x.wrapping_add(y); float = x + y; complex = x.plus(y); } d["g", "g"]
            /// The difference.
            sub(x, y) [subtract] Common => Same, Cheap, other { int = x.wrapping_sub(y); float = x - y; complex = x.minus(y); } d["g", "-g"]
            /// The product; for bool, logical and.
            mul(x, y) [multiply] Common => Same, Cheap, other { bool = x & y; int = x.wrapping_mul(y); float = x * y; complex = x.times(y); }
                d["g * y", "g * x"]
            /// The quotient; integers are divided in f64.
            div(x, y) [divide true_divide] Quotient => Same, Costly, other { float = x / y; complex = x.over(y); } d["g / y", "-(g * out) / y"]
            /// The quotient, rounded down; 0 for integers divided by 0.
            floor_div(x, y) [floor_divide] Number => Same, Costly, method { int = x.floor_div(y); float "scalar/modulo.h" = x.floor_div(y); }
                d["0", "0"]
            /// The remainder, with the divisor's sign; 0 for integers divided by 0.
            mod(x, y) [remainder] Number => Same, Costly, other { int = x.modulo(y); float "scalar/modulo.h" = x.modulo(y); } d["g", "-g * (x // y)"]
            /// `x` raised to the power `y`; a negative power of integers fails in the call.
            pow(x, y) [power] Power => Same, Heavy, method { int = x.power(y)?; float "math/pow.h"; complex "math/complex/pow.h"; }
                d["where(y == 0, 0, g * y * x ** (y - 1))", "g * out * log(where(x == 0, 1, x))"]
            /// The negated elements.
            neg(x) [negative] Common => Same, Cheap, other { int = x.wrapping_neg(); float = -x; complex = Complex::new(-x.re, -x.im); } d["-g"]
            /// The absolute value; real for complex numbers. The smallest integer is unchanged.
            abs(x) [absolute] Common => Part, Cheap, method { bool = x; int = x.magnitude(); float = x.abs(); complex "scalar/magnitude.h" = x.magnitude(); }
                d["where(x < 0, -g, g)"]
            /// -1, 0 or 1; for complex numbers `x / abs(x)`.
            sign(x) [] Common => Same, Costly, method as "signum" { int = x.sign(); float = x.sign(); complex "scalar/magnitude.h" = x.sign(); }
                d["0"]
            /// `x * x`.
            square(x) [] Number => Same, Costly, method { int = x.wrapping_mul(x); float = x * x; complex = x.times(x); } d["2 * g * x"]
            /// `1 / x`; integers are truncated, and 0 gives 0.
            reciprocal(x) [] Number => Same, Costly, method { int = x.reciprocal(); float = 1.0 / x; complex = x.reciprocal(); } d["-g * out * out"]
            /// The square root.
            sqrt(x) [] Inexact => Same, Costly, method { float = x.sqrt(); complex "math/complex/root.h"; } d["0.5 * g / out"]

            /// Whether elements are equal.
            eq(x, y) [equal] Order => Bool, Cheap, method { bool = x == y; int = x == y; float = x == y; complex = x == y; }
            /// Whether elements differ.
            ne(x, y) [not_equal] Order => Bool, Cheap, method { bool = x != y; int = x != y; float = x != y; complex = x != y; }
            /// Whether the elements of `x` are less.
            lt(x, y) [less] Order => Bool, Cheap, method { bool = !x & y; int = x < y; float = x < y; complex = x.less(y); }
            /// Whether the elements of `x` are less or equal.
            le(x, y) [less_equal] Order => Bool, Cheap, method { bool = x <= y; int = x <= y; float = x <= y; complex = x.less_or_equal(y); }
            /// Whether the elements of `x` are greater.
            gt(x, y) [greater] Order => Bool, Cheap, method { bool = x & !y; int = x > y; float = x > y; complex = y.less(x); }
            /// Whether the elements of `x` are greater or equal.
            ge(x, y) [greater_equal] Order => Bool, Cheap, method { bool = x >= y; int = x >= y; float = x >= y; complex = y.less_or_equal(x); }
            /// The larger of two elements; NaN if either is NaN.
            maximum(x, y) [] Common => Same, Cheap, method { bool = x | y; int = x.max(y); float = x.larger(y); complex = x.larger(y); }
                d["where(x > y, g, where(x == y, 0.5 * g, 0))", "where(x < y, g, where(x == y, 0.5 * g, 0))"]
            /// The smaller of two elements; NaN if either is NaN.
            minimum(x, y) [] Common => Same, Cheap, method { bool = x & y; int = x.min(y); float = x.smaller(y); complex = x.smaller(y); }
                d["where(x < y, g, where(x == y, 0.5 * g, 0))", "where(x > y, g, where(x == y, 0.5 * g, 0))"]
            /// The elements limited to `min` and `max`, either of which may be missing; if `min` exceeds `max`, the result is `max`.
            clip(x, min, max) [] Bounds => Same, Costly, method {
                bool = (x | min) & max; int = x.max(min).min(max); float = x.larger(min).smaller(max); complex = x.larger(min).smaller(max);
            }
                d[
                "where(x > min, where(maximum(x, min) < max, g, where(maximum(x, min) == max, 0.5 * g, 0)), where(x == min, 0.5 * where(maximum(x, min) < max, g, where(maximum(x, min) == max, 0.5 * g, 0)), 0))",
                "where(x < min, where(maximum(x, min) < max, g, where(maximum(x, min) == max, 0.5 * g, 0)), where(x == min, 0.5 * where(maximum(x, min) < max, g, where(maximum(x, min) == max, 0.5 * g, 0)), 0))",
                "where(maximum(x, min) > max, g, where(maximum(x, min) == max, 0.5 * g, 0))"
            ]
            /// `yes` where the condition is true, and `no` where it is false.
            switch(condition, yes, no) [where] Condition => Choice, Cheap, method { any = choose; }
                d["0", "where(condition, g, 0)", "where(condition, 0, g)"]

            /// Whether an element, or a part of it, is NaN.
            isnan(x) [] Common => Bool, Costly, method { bool = false; int = false; float = x.is_nan(); complex = x.lacks(); }
            /// Whether an element, or a part of it, is infinite.
            isinf(x) [] Common => Bool, Costly, method { bool = false; int = false; float = x.is_infinite(); complex = x.re.is_infinite() || x.im.is_infinite(); }
            /// Whether an element, and each part of it, is a finite number.
            isfinite(x) [] Common => Bool, Costly, method { bool = true; int = true; float = x.is_finite(); complex = x.re.is_finite() && x.im.is_finite(); }

            /// Logical and; nonzero elements are true.
            logical_and(x, y) [] Bool => Same, Cheap, method as "and" { bool = x & y; }
            /// Logical or; nonzero elements are true.
            logical_or(x, y) [] Bool => Same, Cheap, method as "or" { bool = x | y; }
            /// Logical exclusive or; nonzero elements are true.
            logical_xor(x, y) [] Bool => Same, Cheap, method as "xor" { bool = x ^ y; }
            /// Logical not; nonzero elements are true.
            logical_not(x) [] Bool => Same, Cheap, method as "not" { bool = !x; }
            /// Bitwise and.
            bitwise_and(x, y) [] Common => Same, Costly, other { bool = x & y; int = x & y; }
            /// Bitwise or.
            bitwise_or(x, y) [] Common => Same, Costly, other { bool = x | y; int = x | y; }
            /// Bitwise exclusive or.
            bitwise_xor(x, y) [] Common => Same, Costly, other { bool = x ^ y; int = x ^ y; }
            /// Bitwise not.
            invert(x) [bitwise_invert bitwise_not] Common => Same, Costly, other { bool = !x; int = !x; }
            /// The bits shifted left; a count that is negative or exceeds the width gives 0.
            left_shift(x, y) [bitwise_left_shift] Number => Same, Costly, other { int = x.left_shift(y); }
            /// The bits shifted right; a count that is negative or exceeds the width gives 0, or -1 for a negative number.
            right_shift(x, y) [bitwise_right_shift] Number => Same, Costly, other { int = x.right_shift(y); }

            /// The largest integer that is not greater.
            floor(x) [] Rounding => Same, Costly, method { float = x.floor(); } d["0"]
            /// The smallest integer that is not less.
            ceil(x) [] Rounding => Same, Costly, method { float = x.ceil(); } d["0"]
            /// The integer part, rounded toward 0.
            trunc(x) [fix] Rounding => Same, Costly, method { float = x.trunc(); } d["0"]
            /// The nearest integer, or the nearest number with `decimals` decimals; half to even.
            round(x) [around] {decimals = 0} Nearest => Same, Costly, method { float = x.round_ties_even(); complex = x.rounded(); } d["0"]
            /// The nearest integer; half away from 0.
            round_half_away(x) [] Rounding => Same, Costly, method { float = x.round(); } d["0"]

            /// e raised to the power `x`.
            exp(x) [] Inexact => Same, Costly, method { float "math/exp.h"; complex "math/complex/exp.h"; } d["g * out"]
            /// 2 raised to the power `x`.
            exp2(x) [] Inexact => Same, Costly, method { float "math/exp2.h"; } d["0.6931471805599453 * g * out"]
            /// `exp(x) - 1`, accurate near 0.
            expm1(x) [] Inexact => Same, Costly, method { float "math/exp2.h"; complex "math/complex/expm1.h"; } d["g * (out + 1)"]
            /// The natural logarithm.
            log(x) [] Inexact => Same, Costly, method { float "math/log.h"; complex "math/complex/log.h"; } d["g / x"]
            /// The logarithm to base 2.
            log2(x) [] Inexact => Same, Costly, method { float "math/log2.h"; complex "math/complex/log.h"; } d["1.4426950408889634 * g / x"]
            /// The logarithm to base 10.
            log10(x) [] Inexact => Same, Costly, method { float "math/log2.h"; complex "math/complex/log.h"; } d["0.4342944819032518 * g / x"]
            /// `log(1 + x)`, accurate near 0.
            log1p(x) [] Inexact => Same, Costly, method { float "math/log1p.h"; complex "math/complex/log.h"; } d["g / (1 + x)"]
            /// `log(1 - exp(x))` for negative numbers.
            log1mexp(x) [] Inexact => Same, Costly, method { float "math/log1p.h"; } d["-g / expm1(-x)"]
            /// `1 / (1 + exp(-x))`.
            sigmoid(x) [expit] Inexact => Same, Costly, method { float "math/sigmoid.h"; } d["g * out * (1 - out)"]
            /// `log(1 + exp(x))`.
            softplus(x) [] Inexact => Same, Costly, method { float "math/log1p.h"; } d["g * sigmoid(x)"]
            /// `log(exp(x) - 1)`, the inverse of `softplus`; NaN for negative `x`.
            softplus_inverse(x) [] Inexact => Same, Costly, method { float "math/log1p.h"; } d["-g / expm1(-x)"]
            /// The error function.
            erf(x) [] Inexact => Same, Costly, method { float "math/erf.h"; } d["1.1283791670955126 * g * exp(-x * x)"]
            /// `1 - erf(x)`, accurate for small results.
            erfc(x) [] Inexact => Same, Heavy, method { float "math/erf.h"; } d["-1.1283791670955126 * g * exp(-x * x)"]
            /// `exp(x*x) * erfc(x)`, which does not underflow.
            erfcx(x) [] Inexact => Same, Heavy, method { float "math/normal.h"; }
                d["g * where(x > 32, -0.5641895835477563 / square(maximum(x, 32)) * (1 - 1.5 / square(maximum(x, 32)) * (1 - 2.5 / square(maximum(x, 32)) * (1 - 3.5 / square(maximum(x, 32)) * (1 - 4.5 / square(maximum(x, 32)) * (1 - 5.5 / square(maximum(x, 32))))))), 2 * x * out - 1.1283791670955126)"]
            /// The inverse of `erf`.
            erfinv(x) [] Inexact => Same, Heavy, method { float "math/normal.h"; } d["0.886226925452758 * g * exp(out * out)"]
            /// The inverse of `erfc`.
            erfcinv(x) [] Inexact => Same, Heavy, method { float "math/normal.h"; } d["-0.886226925452758 * g * exp(out * out)"]
            /// The probability that a standard normal number is at most `x`.
            ndtr(x) [] Inexact => Same, Heavy, method { float "math/normal.h"; } d["0.3989422804014327 * g * exp(-0.5 * x * x)"]
            /// The logarithm of `ndtr(x)`.
            log_ndtr(x) [] Inexact => Same, Heavy, method { float "math/normal.h"; } d["0.7978845608028654 * g / erfcx(-0.7071067811865476 * x)"]
            /// The inverse of `ndtr`, the quantiles of the standard normal distribution.
            ndtri(p) [] Inexact => Same, Heavy, method { float "math/normal.h"; } d["2.5066282746310002 * g * exp(0.5 * out * out)"]
            /// The inverse of `log_ndtr`: the quantile of the probability `exp(y)`.
            ndtri_exp(y) [] Inexact => Same, Branching, method { float "math/normal.h"; }
                d["1.2533141373155003 * g * erfcx(-0.7071067811865476 * out)"]
            /// `x * log(y)`; 0 where `x` is 0.
            xlogy(x, y) [] Inexact => Same, Costly, method { float "math/entropy.h"; } d["g * log(y)", "g * x / y"]
            /// `x * log1p(y)`; 0 where `x` is 0.
            xlog1py(x, y) [] Inexact => Same, Costly, method { float "math/entropy.h"; } d["g * log1p(y)", "g * x / (1 + y)"]
            /// `-x * log(x)`; 0 where `x` is 0, and -inf where it is negative.
            entr(x) [] Inexact => Same, Costly, method { float "math/entropy.h"; } d["-g * (1 + log(x))"]
            /// `x * log(x / y)`; 0 where `x` is 0, and inf outside of the domain.
            rel_entr(x, y) [] Inexact => Same, Heavy, method { float "math/entropy.h"; } d["g * (1 + log(x / y))", "-g * x / y"]
            /// `x * log(x / y) - x + y`; inf outside of the domain.
            kl_div(x, y) [] Inexact => Same, Heavy, method { float "math/entropy.h"; } d["g * log(x / y)", "g * (1 - x / y)"]
            /// `log(p / (1 - p))`, the inverse of `sigmoid`.
            logit(p) [] Inexact => Same, Heavy, method { float "math/entropy.h"; } d["g / (p * (1 - p))"]
            /// The modified Bessel function of the first kind of order 0.
            i0(x) [] Inexact => Same, Heavy, method { float "math/bessel.h"; } d["g * i1(x)"]
            /// `exp(-abs(x)) * i0(x)`, which does not overflow.
            i0e(x) [] Inexact => Same, Heavy, method { float "math/bessel.h"; }
                d["g * where(abs(x) > 4096, -sign(x) * out * (0.5 + (0.125 + 0.125 / abs(x)) / abs(x)) / abs(x), i1e(x) - sign(x) * out)"]
            /// The modified Bessel function of the first kind of order 1.
            i1(x) [] Inexact => Same, Heavy, method { float "math/bessel.h"; } d["g * (i0(x) - where(abs(x) <= 1e-30, 0.5, out / where(abs(x) <= 1e-30, 1, x)))"]
            /// `exp(-abs(x)) * i1(x)`, which does not overflow.
            i1e(x) [] Inexact => Same, Heavy, method { float "math/bessel.h"; }
                d["g * where(abs(x) > 4096, -sign(x) * out * (0.5 - (0.375 + 0.375 / abs(x)) / abs(x)) / abs(x), where(abs(x) <= 1e-30, 0.5, i0e(x) - out * (sign(x) + 1 / where(abs(x) <= 1e-30, 1, x))))"]
            /// The Bessel function of the first kind of order 0.
            j0(x) [] Inexact => Same, Heavy, method { float "math/bessel_j.h"; } d["-g * j1(x)"]
            /// The Bessel function of the first kind of order 1.
            j1(x) [] Inexact => Same, Heavy, method { float "math/bessel_j.h"; } d["g * (j0(x) - where(abs(x) <= 1e-30, 0.5, out / where(abs(x) <= 1e-30, 1, x)))"]
            /// The Bessel function of the second kind of order 0; NaN for negative `x`.
            y0(x) [] Inexact => Same, Heavy, method { float "math/bessel_j.h"; } d["-g * y1(x)"]
            /// The Bessel function of the second kind of order 1; NaN for negative `x`.
            y1(x) [] Inexact => Same, Heavy, method { float "math/bessel_j.h"; } d["g * (y0(x) - out / x)"]
            /// The gamma function; NaN at negative integers.
            gamma(x) [] Inexact => Same, Heavy, method { float "math/factorial.h" f64 [near usual right]; } d["g * out * digamma(x)"]
            /// The beta function; inf where `a` or `b` is 0 or a negative integer.
            beta(a, b) [] Inexact => Same, Heavy, method { float "math/beta.h" f32 [right] f64 [right]; }
                d["g * out * (digamma(a) - digamma(a + b))", "g * out * (digamma(b) - digamma(a + b))"]
            /// The logarithm of the absolute value of the beta function.
            betaln(a, b) [] Inexact => Same, Heavy, method { float "math/beta.h" f32 [right] f64 [right]; }
                d["g * (digamma(a) - digamma(a + b))", "g * (digamma(b) - digamma(a + b))"]
            /// Hurwitz's zeta function: the sum of `(q + k)**-s` over `k = 0, 1, …`; NaN below `q = -1000`.
            zeta(s, q) [] Inexact => Same, Branching, method { float "math/zeta.h" f32 [right] f64 [right]; } d["", "-g * s * zeta(s + 1, q)"]
            /// The derivative of `digamma` of order `n`, a whole number.
            polygamma(n, x) [] Inexact => Same, Branching, method { float "math/zeta.h" f32 [right] f64 [right]; } d["", "g * polygamma(n + 1, x)"]
            /// Owen's T function: the probability that `x > h` and `0 < y < a*x` of two standard normal numbers.
            owens_t(h, a) [] Inexact => Same, Heavy, method { float "math/owens.h"; }
                d["-0.19947114020071635 * g * exp(-0.5 * h * h) * erf(0.7071067811865476 * a * h)", "0.15915494309189535 * g * exp(-0.5 * h * h * (1 + a * a)) / (1 + a * a)"]
            /// The logarithm of the absolute value of the gamma function.
            gammaln(x) [lgamma] Inexact => Same, Branching, method { float "math/gamma.h" f32 [right] f64 [near far right]; } d["g * digamma(x)"]
            /// The derivative of `gammaln`.
            digamma(x) [psi] Inexact => Same, Heavy, method { float "math/gamma.h" f32 [right] f64 [near far]; } d["g * trigamma(x)"]
            /// The derivative of `digamma`.
            trigamma(x) [tri_gamma] Inexact => Same, Heavy, method { float "math/trigamma.h" f64 [far right]; } d["g * polygamma(2, x)"]
            /// The regularized lower incomplete gamma function.
            gammainc(a, x) [] Inexact => Same, Branching, method { float "math/gammainc.h" f32 [usual] f64 [usual]; } d["", "g * exp(xlogy(a - 1, where(isinf(x), 1, x)) - x - gammaln(a))"]
            /// The regularized upper incomplete gamma function, `1 - gammainc(a, x)`.
            gammaincc(a, x) [] Inexact => Same, Branching, method { float "math/gammainc.h" f32 [usual] f64 [usual]; }
                d["", "-g * exp(xlogy(a - 1, where(isinf(x), 1, x)) - x - gammaln(a))"]
            /// The regularized incomplete beta function.
            betainc(a, b, x) [] Inexact => Same, Branching, method { float "math/betainc.h"; }
                d["", "", "g * exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b))"]
            /// The inverse of `gammainc`: the `x` of which `gammainc(a, x)` is `p`.
            gammaincinv(a, p) [] Inexact => Same, Branching, method { float "math/gammaincinv.h"; }
                d["", "g * exp(out + gammaln(a) - xlogy(a - 1, where(isinf(out), 1, out)))"]
            /// The inverse of `gammaincc`: the `x` of which `gammaincc(a, x)` is `q`.
            gammainccinv(a, q) [] Inexact => Same, Branching, method { float "math/gammaincinv.h"; }
                d["", "-g * exp(out + gammaln(a) - xlogy(a - 1, where(isinf(out), 1, out)))"]
            /// The inverse of `betainc`: the `x` of which `betainc(a, b, x)` is `p`.
            betaincinv(a, b, p) [] Inexact => Same, Branching, method { float "math/betaincinv.h"; }
                d["", "", "g * exp(betaln(a, b) - xlogy(a - 1, out) - xlog1py(b - 1, -out))"]
            /// The Bessel function of the first kind of order `v`; NaN for negative `x` unless `v` is whole.
            jv(v, x) [] Inexact => Same, Branching, method { float "math/bessel_jv.h"; } d["", "0.5 * g * (jv(v - 1, x) - jv(v + 1, x))"]
            /// The modified Bessel function of the first kind of order `v`; NaN for negative `x` unless `v` is whole.
            iv(v, x) [] Inexact => Same, Branching, method { float "math/bessel_order.h"; } d["", "0.5 * g * (iv(v - 1, x) + iv(v + 1, x))"]
            /// `exp(-abs(x)) * iv(v, x)`, which does not overflow.
            ive(v, x) [] Inexact => Same, Branching, method { float "math/bessel_order.h"; }
                d["", "g * where(abs(x) > maximum(abs(v), 4096), sign(x) * out * ((v / maximum(abs(x), 4096)) * (v / (maximum(abs(x), 4096) + hypot(maximum(abs(x), 4096), v))) - (1 - square(v / hypot(maximum(abs(x), 4096), v))) / maximum(abs(x), 4096) * (0.5 + ((1 - 5 * square(v / hypot(maximum(abs(x), 4096), v))) / 8 + (1 + square(v / hypot(maximum(abs(x), 4096), v)) * (15 * square(v / hypot(maximum(abs(x), 4096), v)) - 12)) / 8 / hypot(maximum(abs(x), 4096), v)) / hypot(maximum(abs(x), 4096), v))), 0.5 * (ive(v - 1, x) + ive(v + 1, x)) - sign(x) * out)"]
            /// The modified Bessel function of the second kind of order `v`; NaN for negative `x`.
            kv(v, x) [] Inexact => Same, Branching, method { float "math/bessel_order.h"; } d["", "-0.5 * g * (kv(v - 1, x) + kv(v + 1, x))"]
            /// `exp(x) * kv(v, x)`, which does not underflow.
            kve(v, x) [] Inexact => Same, Branching, method { float "math/bessel_order.h"; }
                d["", "g * where(x > maximum(abs(v), 4096), out * (-(v / maximum(x, 4096)) * (v / (maximum(x, 4096) + hypot(maximum(x, 4096), v))) - (1 - square(v / hypot(maximum(x, 4096), v))) / maximum(x, 4096) * (0.5 - ((1 - 5 * square(v / hypot(maximum(x, 4096), v))) / 8 - (1 + square(v / hypot(maximum(x, 4096), v)) * (15 * square(v / hypot(maximum(x, 4096), v)) - 12)) / 8 / hypot(maximum(x, 4096), v)) / hypot(maximum(x, 4096), v))), out - 0.5 * (kve(v - 1, x) + kve(v + 1, x)))"]
            /// Gauss's hypergeometric function 2F1; inf where `c` is a pole, NaN for `z > 1` unless it is a polynomial.
            hyp2f1(a, b, c, z) [] Inexact => Same, Branching, method { float "math/hyp2f1.h"; }
                d["", "", "", "g * where(a * b == 0, 0, (a * b / c) * hyp2f1(a + 1, b + 1, c + 1, z))"]
            /// Lambert's function, the real `w` of which `w * exp(w)` is `x`; `k` is 0 for `w >= -1`, -1 for `w <= -1`. NaN where no `w` is real.
            lambertw(x) [] {k = 0} Inexact => Same, Heavy, method { float "math/lambert.h"; } d["g / (x + exp(out))"]
            /// `lambertw(x, k=-1)`.
            lambertw_lower(x) [] Inexact => Same, Heavy, method { float "math/lambert.h"; } d["g / (x + exp(out))"]
            /// `round(x * power) / power`, where `power` is `hi + lo`; used by `round` for many decimals.
            round_decimals(x, hi, lo) [] Inexact => Same, Costly, other { float "scalar/decimal.h"; } d["0", "0", "0"]
            /// `round(x / power) * power`, where `power` is `hi + lo`.
            round_multiples(x, hi, lo) [] Inexact => Same, Costly, other { float "scalar/decimal.h"; } d["0", "0", "0"]
            /// The cube root.
            cbrt(x) [] Inexact => Same, Costly, method { float "math/root.h"; } d["g / (3 * out * out)"]
            /// The square root of the sum of squares, without intermediate overflow.
            hypot(x, y) [] Inexact => Same, Costly, method { float "math/root.h"; } d["g * x / where(out == 0, 1, out)", "g * y / where(out == 0, 1, out)"]
            /// The sine, accurate for any angle.
            sin(x) [] Inexact => Same, Heavy, method { float "math/trig.h" f32 [near] f64 [near]; complex "math/complex/hyperbolic.h"; }
                d["g * cos(x)"]
            /// The cosine, accurate for any angle.
            cos(x) [] Inexact => Same, Heavy, method { float "math/trig.h" f32 [near] f64 [near]; complex "math/complex/hyperbolic.h"; }
                d["-g * sin(x)"]
            /// The tangent, accurate for any angle.
            tan(x) [] Inexact => Same, Heavy, method { float "math/trig.h" f32 [near] f64 [near]; complex "math/complex/hyperbolic.h"; }
                d["g * (1 + out * out)"]
            /// The arc sine.
            asin(x) [arcsin] Inexact => Same, Costly, method { float "math/arc.h"; complex "math/complex/arc.h"; } d["g / sqrt((1 - x) * (1 + x))"]
            /// The arc cosine.
            acos(x) [arccos] Inexact => Same, Costly, method { float "math/arc.h"; complex "math/complex/arc.h"; } d["-g / sqrt((1 - x) * (1 + x))"]
            /// The arc tangent.
            atan(x) [arctan] Inexact => Same, Costly, method { float "math/atan.h"; complex "math/complex/area.h"; } d["g / (1 + x * x)"]
            /// The angle of the point `(x, y)`.
            atan2(y, x) [arctan2] Inexact => Same, Costly, method { float "math/atan.h"; } d["g * x / (x * x + y * y)", "-g * y / (x * x + y * y)"]
            /// The hyperbolic sine.
            sinh(x) [] Inexact => Same, Costly, method { float "math/hyperbolic.h"; complex "math/complex/hyperbolic.h"; } d["g * cosh(x)"]
            /// The hyperbolic cosine.
            cosh(x) [] Inexact => Same, Costly, method { float "math/hyperbolic.h"; complex "math/complex/hyperbolic.h"; } d["g * sinh(x)"]
            /// The hyperbolic tangent.
            tanh(x) [] Inexact => Same, Costly, method { float "math/sigmoid.h"; complex "math/complex/hyperbolic.h"; } d["g * (1 - out) * (1 + out)"]
            /// The inverse hyperbolic sine.
            asinh(x) [arcsinh] Inexact => Same, Costly, method { float "math/area.h"; complex "math/complex/arc.h"; } d["g / sqrt(x * x + 1)"]
            /// The inverse hyperbolic cosine.
            acosh(x) [arccosh] Inexact => Same, Costly, method { float "math/area.h"; complex "math/complex/arc.h"; } d["g / sqrt((x - 1) * (x + 1))"]
            /// The inverse hyperbolic tangent.
            atanh(x) [arctanh] Inexact => Same, Costly, method { float "math/area.h"; complex "math/complex/area.h"; } d["g / ((1 - x) * (1 + x))"]
            /// Converts degrees to radians.
            deg2rad(x) [radians] Inexact => Same, Costly, method { float = x.radians(); } d["deg2rad(g)"]
            /// Converts radians to degrees.
            rad2deg(x) [degrees] Inexact => Same, Costly, method { float = x.degrees(); } d["rad2deg(g)"]

            /// The complex numbers with these real and imaginary parts.
            complex(re, im) [] Inexact => Whole, Costly, method { float "scalar/complex.h" = Complex::new(re, im); }
            /// The imaginary part; 0 for real numbers.
            imag(x) [] Common => Part, Costly, method { bool = false; int = x.wrapping_sub(x); float = 0.0; complex = x.im; } d["0"]
            /// The real part.
            real(x) [] Complex => Part, Costly, method { complex = x.re; }
            /// The complex conjugate.
            conj(x) [conjugate] Conjugate => Same, Costly, method { complex = Complex::new(x.re, -x.im); }
            /// The angle of a complex number in radians, or in degrees with `deg=True`; 0 or π for real numbers.
            angle(x) [] {deg = False} Angle => Part, Costly, method {}
            /// A copy.
            identity(x) [] Common => Same, Cheap, other {} d["g"]

            /// A word of 64 random bits, by Threefry-2x32 with 20 rounds; `key` and `counter` are u64.
            threefry(key, counter) [] Words => Word, Costly, other { word "random/threefry.h"; } d["0", "0"]
            /// The high 52 bits of a word as a number from 0 to 1, excluding 1; f64.
            unit_draw(word) [] Words => Draw, Costly, other { draw "random/threefry.h"; } d["0"]
            /// A draw of the gamma distribution with shape `a` for each word of `threefry`.
            gamma_draw(word, a) [] Words => Draw, Costly, other { draw "random/gamma.h"; } d["0", ""]
            /// The logarithm of `gamma_draw`, which does not underflow.
            loggamma_draw(word, a) [] Words => Draw, Costly, other { draw "random/gamma.h"; } d["0", ""]
            /// A draw of the Poisson distribution with this mean for each word of `threefry`.
            poisson_draw(word, mean) [] Words => Draw, Costly, other { draw "random/counts.h"; } d["0", ""]
            /// A draw of the binomial distribution with `n` trials of probability `p` for each word of `threefry`.
            binomial_draw(word, n, p) [] Words => Draw, Costly, other { draw "random/counts.h"; } d["0", "", ""]
            /// A draw of the von Mises distribution about 0 for each word of `threefry`.
            von_mises_draw(word, kappa) [] Words => Draw, Costly, other { draw "random/von_mises.h"; } d["0", ""]

            /// The same elements, which `grad` treats as constants.
            stop_gradient(x) [] Common => Same, Cheap, method as "identity" { bool = x; int = x; float = x; complex = x; } d["0"]

            /// The absolute value of `x` with the sign of `y`, even if `y` is NaN.
            copysign(x, y) [] Inexact => Same, Costly, method { float = x.copysign(y); } d["where(signbit(x) == signbit(y), g, -g)", "0"]
            /// Whether the sign bit is set, including for zeros and NaN.
            signbit(x) [] Inexact => Bool, Costly, method { float = x.is_sign_negative(); }
            /// The next number of the dtype from `x` toward `y`; for f32 and f64.
            nextafter(x, y) [] Inexact => Exact, Costly, method { float "scalar/steps.h" = x.next_to(y); } d["g", "0"]
            /// The nearest integer as a float; half to even.
            rint(x) [] Inexact => Same, Costly, method as "round" { float = x.round_ties_even(); complex = x.rounded(); } d["0"]
            /// The absolute value as a float.
            fabs(x) [] Inexact => Same, Costly, method as "abs" { float = x.abs(); } d["where(x < 0, -g, g)"]
            /// The remainder, with the dividend's sign; 0 for integers divided by 0.
            fmod(x, y) [] Number => Same, Costly, method { int = x.rest(y); float "scalar/modulo.h" = x % y; } d["g", "-g * trunc(x / y)"]
            /// `x * 2**n`, rounded once; `n` is truncated.
            scalb(x, n) [] Inexact => Same, Costly, method { float "scalar/steps.h" = x.scaled(n); } d["scalb(g, n)", "0"]
        }
    };
}
pub(crate) use scalar_rows;

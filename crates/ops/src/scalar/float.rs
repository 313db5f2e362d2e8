//! Float operations that Rust does not have: `c/precast/ops/scalar/{float,modulo,steps}.h`.
//!
//! `floor`, `ceil`, `trunc`, `round_ties_even`, `sqrt` and `%` are exact in Rust, so they are used directly.

/// Returns NaN if either operand is NaN, and the first of equal operands.
macro_rules! maximum {
    ($x:expr, $y:expr) => {{
        let m = if $y > $x { $y } else { $x };
        if $y.is_nan() { $y } else { m }
    }};
}
macro_rules! minimum {
    ($x:expr, $y:expr) => {{
        let m = if $y < $x { $y } else { $x };
        if $y.is_nan() { $y } else { m }
    }};
}
pub(crate) use {maximum, minimum};

/// Float operations with the results of the C code.
pub(super) trait Float: Sized {
    /// Returns the larger number; NaN if either is NaN.
    fn larger(self, other: Self) -> Self;
    /// Returns the smaller number; NaN if either is NaN.
    fn smaller(self, other: Self) -> Self;
    /// Returns -1, 0 or 1; NaN for NaN.
    fn sign(self) -> Self;
    /// Returns `self // other`.
    fn floor_div(self, other: Self) -> Self;
    /// Returns `self % other`, with the sign of the divisor.
    fn modulo(self, other: Self) -> Self;
    /// Converts degrees to radians.
    fn radians(self) -> Self;
    /// Converts radians to degrees.
    fn degrees(self) -> Self;
    /// Returns the next number in the direction of another: `c/precast/ops/scalar/steps.h`.
    fn next_to(self, other: Self) -> Self;
    /// Returns `self * 2**exponent`, rounded once.
    fn scaled(self, exponent: Self) -> Self;
}

const RADIANS: f64 = std::f64::consts::PI / 180.0;
const DEGREES: f64 = 180.0 / std::f64::consts::PI;

macro_rules! float {
    ($t:ident, $u:ident, $i:ident) => {
        impl Float for $t {
            fn larger(self, other: Self) -> Self {
                maximum!(self, other)
            }

            fn smaller(self, other: Self) -> Self {
                minimum!(self, other)
            }

            fn sign(self) -> Self {
                let r = if self > 0.0 { 1.0 } else { 0.0 };
                let r = if self < 0.0 { -1.0 } else { r };
                if self.is_nan() { self } else { r }
            }

            fn floor_div(self, other: Self) -> Self {
                if other == 0.0 {
                    return self / other;
                }
                let rest = self % other;
                let mut q = (self - rest) / other;
                if rest != 0.0 && (other < 0.0) != (rest < 0.0) {
                    q -= 1.0;
                }
                if q.is_nan() {
                    return q;
                }
                if q == 0.0 {
                    return (0.0 as $t).copysign(self / other);
                }
                let down = q.floor();
                if q - down > 0.5 { down + 1.0 } else { down }
            }

            fn modulo(self, other: Self) -> Self {
                let rest = self % other;
                if other == 0.0 || rest.is_nan() {
                    return rest;
                }
                if rest == 0.0 {
                    return (0.0 as $t).copysign(other);
                }
                if (other < 0.0) != (rest < 0.0) { rest + other } else { rest }
            }

            fn radians(self) -> Self {
                self * RADIANS as $t
            }

            fn degrees(self) -> Self {
                self * DEGREES as $t
            }

            fn next_to(self, other: Self) -> Self {
                if self.is_nan() || other.is_nan() {
                    return self + other;
                }
                if self == other {
                    return other;
                }
                if self == 0.0 {
                    return $t::from_bits(1).copysign(other);
                }
                let bits = self.to_bits();
                $t::from_bits(if (self < other) == (self > 0.0) { bits + 1 } else { bits - 1 })
            }

            fn scaled(self, exponent: Self) -> Self {
                const TOP: $i = $t::MAX_EXP as $i - 1;
                const MANT: $i = $t::MANTISSA_DIGITS as $i;
                if exponent.is_nan() {
                    return exponent + self;
                }
                let power = |n: $i| $t::from_bits(((n + TOP) as $u) << (MANT - 1));
                // Steps before the last are exact, or leave so little that the result is 0.
                let step = |n: $i| if n < 1 - TOP { 1 - TOP + MANT } else { n.min(TOP) };
                let n = exponent.clamp((-4 * TOP) as $t, (4 * TOP) as $t) as $i;
                let (first, second) = (step(n), step(n - step(n)));
                self * power(first) * power(second) * power((n - first - second).clamp(1 - TOP, TOP))
            }
        }
    };
}
float!(f32, u32, i32);
float!(f64, u64, i64);

//! Arithmetic of complex numbers with the formulas of `c/precast/ops/scalar/complex.h`, operation by operation.
//!
//! The crate `num-complex` uses other formulas: its quotient overflows in cases where this one does not.

use super::float::Float;
use crate::math;
use precast_graph::Complex;

/// Arithmetic and order as in NumPy.
pub(crate) trait ComplexNumber: Sized {
    /// The dtype of a part.
    type Part;
    /// Returns the sum.
    fn plus(self, other: Self) -> Self;
    /// Returns the difference.
    fn minus(self, other: Self) -> Self;
    /// Returns the product.
    fn times(self, other: Self) -> Self;
    /// Returns the quotient.
    fn over(self, other: Self) -> Self;
    /// Returns 1 / self.
    fn reciprocal(self) -> Self;
    /// Returns self / |self|, and 0 for 0.
    fn sign(self) -> Self;
    /// Returns |self|.
    fn magnitude(self) -> Self::Part;
    /// Rounds each part to the nearest integer.
    fn rounded(self) -> Self;
    /// Returns whether a part is NaN.
    fn lacks(self) -> bool;
    /// Compares by real part, then by imaginary part; false if a part is NaN.
    fn less(self, other: Self) -> bool;
    /// Returns whether the numbers are equal or [`ComplexNumber::less`] is true.
    fn less_or_equal(self, other: Self) -> bool;
    /// Returns the larger number, or an operand with a NaN.
    fn larger(self, other: Self) -> Self;
    /// Returns the smaller number, or an operand with a NaN.
    fn smaller(self, other: Self) -> Self;
}

macro_rules! complex {
    ($t:ident) => {
        impl ComplexNumber for Complex<$t> {
            type Part = $t;

            fn plus(self, b: Self) -> Self {
                Self::new(self.re + b.re, self.im + b.im)
            }

            fn minus(self, b: Self) -> Self {
                Self::new(self.re - b.re, self.im - b.im)
            }

            fn times(self, b: Self) -> Self {
                Self::new(self.re * b.re - self.im * b.im, self.re * b.im + self.im * b.re)
            }

            fn over(self, b: Self) -> Self {
                let (x, y) = (b.re.abs(), b.im.abs());
                if x == 0.0 && y == 0.0 {
                    return Self::new(self.re / x, self.im / x);
                }
                let turned = x < y;
                let (p, q) = if turned { (b.im, b.re) } else { (b.re, b.im) };
                let (u, v) = if turned { (self.im, self.re) } else { (self.re, self.im) };
                let ratio = q / p;
                let scale = 1.0 / (p + q * ratio);
                let t = u * ratio;
                Self::new((u + v * ratio) * scale, (if turned { t - v } else { v - t }) * scale)
            }

            fn reciprocal(self) -> Self {
                let wide = self.im.abs() <= self.re.abs();
                let turned = !wide; // also with a NaN
                let (p, q) = if turned { (self.im, self.re) } else { (self.re, self.im) };
                let ratio = q / p;
                let d = if turned { q * ratio + p } else { p + q * ratio };
                if turned { Self::new(ratio / d, -1.0 / d) } else { Self::new(1.0 / d, -ratio / d) }
            }

            fn sign(self) -> Self {
                let n = self.magnitude();
                if n == 0.0 {
                    return Self::new(0.0, 0.0);
                }
                match (self.re.is_infinite(), self.im.is_infinite()) {
                    (true, false) => Self::new(Float::sign(self.re), 0.0),
                    (false, true) => Self::new(0.0, Float::sign(self.im)),
                    _ => Self::new(self.re / n, self.im / n),
                }
            }

            fn magnitude(self) -> $t {
                math::call!(hypot, $t: $t, self.re, self.im)
            }

            fn rounded(self) -> Self {
                Self::new(self.re.round_ties_even(), self.im.round_ties_even())
            }

            fn lacks(self) -> bool {
                self.re.is_nan() || self.im.is_nan()
            }

            fn less(self, b: Self) -> bool {
                let whole = !self.im.is_nan() && !b.im.is_nan();
                self.re < b.re && whole || self.re == b.re && self.im < b.im
            }

            fn less_or_equal(self, b: Self) -> bool {
                let whole = !self.im.is_nan() && !b.im.is_nan();
                self.re < b.re && whole || self.re == b.re && self.im <= b.im
            }

            fn larger(self, b: Self) -> Self {
                if self.lacks() || b.less_or_equal(self) { self } else { b }
            }

            fn smaller(self, b: Self) -> Self {
                if self.lacks() || self.less_or_equal(b) { self } else { b }
            }
        }
    };
}
complex!(f32);
complex!(f64);

//! Functions that take no settings as methods of [`Var`]; names and meaning are those of the text form.

use super::{Arg, Var};
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

#[rustfmt::skip]
impl Var {
    unary! {
        exp: "e to the power of each element.";
        exp2: "2 to the power of each element.";
        expm1: "`exp(x) - 1`, exact near 0.";
        log: "Natural logarithm.";
        log2: "Logarithm to base 2.";
        log10: "Logarithm to base 10.";
        log1p: "`log(1 + x)`, exact near 0.";
        log1mexp: "`log(1 - exp(x))` of negative numbers.";
        sqrt: "Square root.";
        cbrt: "Cube root.";
        square: "The product with itself.";
        reciprocal: "1 / x; of integers truncated, of 0 then 0.";
        sigmoid: "1 / (1 + exp(-x)).";
        softplus: "`log(1 + exp(x))`.";
        erf: "The error function.";
        erfc: "`1 - erf(x)`, exact where that is small.";
        gammaln: "The logarithm of the absolute value of the gamma function.";
        digamma: "The derivative of `gammaln`.";
        sin: "Sine, of any angle.";
        cos: "Cosine, of any angle.";
        tan: "Tangent, of any angle.";
        asin: "Arc sine.";
        acos: "Arc cosine.";
        atan: "Arc tangent.";
        sinh: "Hyperbolic sine.";
        cosh: "Hyperbolic cosine.";
        tanh: "Hyperbolic tangent.";
        asinh: "Inverse hyperbolic sine.";
        acosh: "Inverse hyperbolic cosine.";
        atanh: "Inverse hyperbolic tangent.";
        deg2rad: "Degrees in radians.";
        rad2deg: "Radians in degrees.";
        abs: "Absolute value; of complex numbers a real one. The least integer stays as it is.";
        sign: "-1, 0 or 1; of a complex number `x / abs(x)`.";
        floor: "The integer below.";
        ceil: "The integer above.";
        trunc: "The integer nearer to 0.";
        round: "The nearest integer, the even one of two.";
        round_half_away: "The nearest integer, the one farther from 0 of two.";
        isnan: "Whether an element, or a part of it, is NaN.";
        isinf: "Whether an element, or a part of it, is infinite.";
        isfinite: "Whether an element, and each part of it, is a finite number.";
        logical_not: "Not, of elements taken as truth values.";
        real: "The real part.";
        imag: "The imaginary part; of real numbers 0.";
        conj: "The complex conjugate.";
        angle: "The angle of a complex number in the plane.";

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
        maximum: "The larger of two elements; NaN if one is.";
        minimum: "The smaller of two elements; NaN if one is.";
        eq: "Whether elements are equal.";
        ne: "Whether elements differ.";
        lt: "Whether elements are less.";
        le: "Whether elements are less or equal.";
        gt: "Whether elements are greater.";
        ge: "Whether elements are greater or equal.";
        pow: "Elements to a power; integers to negative ones are an error when it is run.";
        floor_div: "The quotient rounded down; of integers by 0 it is 0.";
        atan2: "The angle of the point `(other, self)`.";
        hypot: "The square root of the sum of squares, without overflow on the way.";
        logical_and: "And, of elements taken as truth values.";
        logical_or: "Or, of elements taken as truth values.";
        logical_xor: "Either but not both, of elements taken as truth values.";
        complex: "The complex numbers with these real and those imaginary parts.";

        dot: "Inner product: vectors and matrices.";
        matmul: "Product of matrices, or of stacks of them, which are broadcast.";
    }
}

impl Var {
    /// No less than `low` and no more than `high`, which wins where they contradict each other.
    #[must_use]
    pub fn clip(&self, low: impl Into<Arg>, high: impl Into<Arg>) -> Self {
        self.call("clip", &[low.into(), high.into()])
    }

    /// `yes` where this is true, else `no`.
    #[must_use]
    pub fn switch(&self, yes: impl Into<Arg>, no: impl Into<Arg>) -> Self {
        self.call("switch", &[yes.into(), no.into()])
    }

    /// The elements in another dtype: to bool `!= 0`; integers keep their low bits; float to integer truncates, saturates,
    /// and makes NaN 0; complex to real drops the imaginary part.
    #[must_use]
    pub fn cast(&self, dtype: DType) -> Self {
        self.call(dtype.name(), &[])
    }
}

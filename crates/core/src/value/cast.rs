//! Conversion between dtypes. `cast`, `filter` and params use the same rules as the C function `pc_cast_<from>_<to>`.
//!
//! Conversion to bool is `!= 0`. Integers keep their low bits. Float to integer truncates and saturates, and NaN becomes 0.
//! Conversion to a float rounds once, to nearest. Complex to real drops the imaginary part.

use crate::value::array::Array;
use crate::value::dtype::DType;
use crate::value::element::Element;
use crate::value::float16::{bf16, f16};
use crate::{for_each_dtype, with_array};
use ndarray::{ArrayD, IxDyn};
use num_complex::Complex;

/// A lossless intermediate value for conversions between dtypes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// An integer or a Boolean.
    Int(i128),
    /// A float.
    Float(f64),
    /// A complex number.
    Complex(f64, f64),
}

impl Number {
    /// Returns whether two numbers are equal. All NaNs are equal.
    #[must_use]
    pub fn same(self, other: Self) -> bool {
        let part = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a == b,
            // A finite float equal to its truncation is an integer, and below 2¹²⁷ the conversion to `i128` is exact.
            (Self::Int(a), Self::Float(b)) | (Self::Float(b), Self::Int(a)) => {
                b.trunc() == b && b.abs() < 1e30 && b as i128 == a
            }
            (a, b) => {
                let (ar, ai) = a.parts();
                let (br, bi) = b.parts();
                part(ar, br) && part(ai, bi)
            }
        }
    }

    /// Returns real and imaginary part. Integers are rounded.
    #[must_use]
    pub fn parts(self) -> (f64, f64) {
        match self {
            Self::Int(x) => (x as f64, 0.0),
            Self::Float(x) => (x, 0.0),
            Self::Complex(re, im) => (re, im),
        }
    }
}

/// Conversion of an element to and from a number.
pub trait Convert {
    /// Returns the exact number.
    fn number(self) -> Number;

    /// Converts a number to this type by the rules in the module documentation.
    fn from_number(x: Number) -> Self;
}

impl Convert for bool {
    fn number(self) -> Number {
        Number::Int(self.into())
    }

    fn from_number(x: Number) -> Self {
        match x {
            Number::Int(x) => x != 0,
            Number::Float(x) => x != 0.0,
            Number::Complex(re, im) => re != 0.0 || im != 0.0,
        }
    }
}

macro_rules! integers {
    ($($element:ty),*) => {$(
        impl Convert for $element {
            fn number(self) -> Number {
                Number::Int(self.into())
            }

            fn from_number(x: Number) -> Self {
                match x {
                    Number::Int(x) => x as Self,
                    Number::Float(x) | Number::Complex(x, _) => x as Self,
                }
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! floats {
    ($($element:ty: $x:ident => $from_int:expr, $from_float:expr),*) => {$(
        impl Convert for $element {
            fn number(self) -> Number {
                Number::Float(self.into())
            }

            fn from_number(x: Number) -> Self {
                match x {
                    Number::Int($x) => $from_int,
                    Number::Float($x) | Number::Complex($x, _) => $from_float,
                }
            }
        }
    )*};
}
// Integers are converted to 16-bit floats through f32, like the arithmetic of these types.
floats!(
    f16: x => Self::from_f32(x as f32), Self::from_f64(x),
    bf16: x => Self::from_f32(x as f32), Self::from_f64(x),
    f32: x => x as Self, x as Self,
    f64: x => x as Self, x
);

macro_rules! complex {
    ($($part:ty),*) => {$(
        impl Convert for Complex<$part> {
            fn number(self) -> Number {
                Number::Complex(self.re.into(), self.im.into())
            }

            fn from_number(x: Number) -> Self {
                match x {
                    // Rounded once, not through f64.
                    Number::Int(x) => Self::new(x as $part, 0.0),
                    Number::Float(re) => Self::new(re as $part, 0.0),
                    Number::Complex(re, im) => Self::new(re as $part, im as $part),
                }
            }
        }
    )*};
}
complex!(f32, f64);

macro_rules! cast {
    ($($variant:ident => $element:ty),*) => {
        impl Array {
            /// Creates an array without dimensions that holds a number as `dtype`.
            #[must_use]
            pub fn of(number: Number, dtype: DType) -> Self {
                match dtype {
                    $(DType::$variant => Self::from(<$element>::from_number(number)),)*
                }
            }

            /// Converts the elements to another dtype.
            ///
            /// # Examples
            /// ```
            /// use precast_core::{Array, DType};
            /// let floats = Array::from(ndarray::array![1.9, -300.0, f64::NAN]);
            /// assert_eq!(floats.cast(DType::I8), Array::from(ndarray::array![1_i8, -128, 0]));
            /// ```
            #[must_use]
            pub fn cast(&self, to: DType) -> Self {
                if self.dtype() == to {
                    return self.clone();
                }
                match to {
                    $(DType::$variant => Self::$variant(converted::<$element>(self)),)*
                }
            }
        }
    };
}
for_each_dtype!(cast);

impl Array {
    /// Returns the elements in C order, as numbers.
    #[must_use]
    pub fn numbers(&self) -> Vec<Number> {
        let mut numbers = Vec::with_capacity(self.shape().iter().product());
        self.each_number(&mut |x| numbers.push(x));
        numbers
    }

    /// Calls a function with each element in C order.
    ///
    /// The function pointer separates the source dtype from the target dtype. So there is one loop per dtype on each side,
    /// not one per pair of dtypes.
    fn each_number(&self, take: &mut dyn FnMut(Number)) {
        with_array!(self, a => a.iter().for_each(|x| take(x.number())));
    }
}

fn converted<T: Element>(array: &Array) -> ArrayD<T> {
    let mut elements = Vec::with_capacity(array.shape().iter().product());
    array.each_number(&mut |x| elements.push(T::from_number(x)));
    ArrayD::from_shape_vec(IxDyn(array.shape()), elements).expect("an element for each of the array")
}

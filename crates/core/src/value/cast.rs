//! Conversion between dtypes: the one rule that `cast`, `filter` and params share with the C of `pc_cast_<from>_<to>`.
//!
//! To bool is `!= 0`; integers keep their low bits; float to integer truncates and saturates, NaN becomes 0; to a float
//! rounds once, to nearest; complex to real drops the imaginary part.

use crate::value::array::Array;
use crate::value::dtype::DType;
use crate::value::element::Element;
use crate::value::float16::{bf16, f16};
use crate::{for_each_dtype, with_array};
use ndarray::{ArrayD, IxDyn};
use num_complex::Complex;

/// A number on its way from one dtype to another, without loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// An integer or a truth value.
    Int(i128),
    /// A float.
    Float(f64),
    /// A complex number.
    Complex(f64, f64),
}

impl Number {
    /// Whether the two are the same number; a NaN is the same as any NaN.
    #[must_use]
    pub fn same(self, other: Self) -> bool {
        let part = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a == b,
            // A float that equals an integer is one, and below 2¹²⁷ the conversion back is exact.
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

    /// Real and imaginary part; integers rounded.
    #[must_use]
    pub fn parts(self) -> (f64, f64) {
        match self {
            Self::Int(x) => (x as f64, 0.0),
            Self::Float(x) => (x, 0.0),
            Self::Complex(re, im) => (re, im),
        }
    }
}

/// An element as a number, and back.
pub trait Convert {
    /// The number, exactly.
    fn number(self) -> Number;

    /// The element that is nearest by the rule above.
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
// 16-bit floats are reached from integers through f32, as their arithmetic is.
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
            /// The array without dimensions that holds a number in `dtype`.
            #[must_use]
            pub fn of(number: Number, dtype: DType) -> Self {
                match dtype {
                    $(DType::$variant => Self::from(<$element>::from_number(number)),)*
                }
            }

            /// The array with its elements converted.
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
    /// The elements in C order, as numbers.
    #[must_use]
    pub fn numbers(&self) -> Vec<Number> {
        let mut numbers = Vec::with_capacity(self.shape().iter().product());
        self.each_number(&mut |x| numbers.push(x));
        numbers
    }

    /// Calls a function with each element in C order.
    ///
    /// Elements leave one dtype and enter another through a function pointer: one loop a dtype on either side, where a generic
    /// conversion would be compiled for each of their pairs.
    fn each_number(&self, take: &mut dyn FnMut(Number)) {
        with_array!(self, a => a.iter().for_each(|x| take(x.number())));
    }
}

fn converted<T: Element>(array: &Array) -> ArrayD<T> {
    let mut elements = Vec::with_capacity(array.shape().iter().product());
    array.each_number(&mut |x| elements.push(T::from_number(x)));
    ArrayD::from_shape_vec(IxDyn(array.shape()), elements).expect("an element for each of the array")
}

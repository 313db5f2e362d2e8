//! Python-style numbers without a dtype, as written in a text or passed to the builder.
//!
//! A literal has a kind but no dtype. It takes the dtype of the operand it is combined with, unless that dtype cannot
//! hold its kind (NumPy 2's weak scalars, NEP 50). Integers are unbounded, so `2**100 / 2**99` is 2. [`arithmetic`]
//! on integers is exact; the op library evaluates functions of floats in f64.
//!
//! ```text
//! 2**70 ── arithmetic ──▶ Literal::Int ── Literal::value(F32) ──▶ the constant that meets an f32
//! ```

mod arithmetic;
mod ratio;

pub use arithmetic::{LiteralError, arithmetic};

use crate::Array;
use crate::Complex;
use crate::DType;
use crate::Number;
use num_bigint::BigInt;
use std::fmt;

/// A number without a dtype.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `True` or `False`.
    Bool(bool),
    /// An integer of any length.
    Int(BigInt),
    /// A float.
    Float(f64),
    /// A complex number, as in `2j`.
    Complex(Complex<f64>),
}

/// The kind of a number without a dtype. Each kind can represent all earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A boolean.
    Bool,
    /// An integer.
    Int,
    /// A float.
    Float,
    /// A complex number.
    Complex,
}

impl Kind {
    /// Returns the kind of the numbers of a dtype.
    #[must_use]
    pub fn of(dtype: DType) -> Self {
        match dtype {
            DType::Bool => Self::Bool,
            dtype if dtype.is_integer() => Self::Int,
            dtype if dtype.is_complex() => Self::Complex,
            _ => Self::Float,
        }
    }

    /// Returns the default dtype of this kind, for a number that is not combined with an array.
    #[must_use]
    pub fn dtype(self) -> DType {
        match self {
            Self::Bool => DType::Bool,
            Self::Int => DType::I64,
            Self::Float => DType::F64,
            Self::Complex => DType::C128,
        }
    }

    /// Returns the dtype to which a number of this kind and an array of `dtype` promote in NumPy 2.
    #[must_use]
    pub fn meet(self, dtype: DType) -> DType {
        let inexact = dtype.is_float() || dtype.is_complex();
        match self {
            Self::Int if dtype == DType::Bool => DType::I64,
            Self::Bool | Self::Int => dtype,
            Self::Float if inexact => dtype,
            Self::Float => DType::F64,
            Self::Complex if dtype.is_complex() => dtype,
            Self::Complex if dtype.is_float() && dtype != DType::F64 => DType::C64,
            Self::Complex => DType::C128,
        }
    }
}

impl Literal {
    /// Returns the kind of the literal.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Bool(_) => Kind::Bool,
            Self::Int(_) => Kind::Int,
            Self::Float(_) => Kind::Float,
            Self::Complex(_) => Kind::Complex,
        }
    }

    /// Returns the dtype of a literal that is not combined with an array: the default of its kind, but u64 for an
    /// integer that only u64 can hold.
    #[must_use]
    pub fn dtype(&self) -> DType {
        match self {
            Self::Int(n) if i64::try_from(n).is_err() && u64::try_from(n).is_ok() => DType::U64,
            _ => self.kind().dtype(),
        }
    }

    /// Converts the literal to `dtype`, or returns `None` if the value does not fit. Integers must be exact in an
    /// integer dtype, and finite numbers must remain finite in a float dtype. Floats are rounded to nearest. The
    /// value for bool is `self != 0`.
    #[must_use]
    pub fn value(&self, dtype: DType) -> Option<Array> {
        let value = self.rounded(dtype)?;
        let finite = |(re, im): (f64, f64)| re.is_finite() && im.is_finite();
        let is_float = dtype.is_float() || dtype.is_complex();
        let lost =
            is_float && finite(self.number()?.parts()) && !value.numbers().iter().all(|x| finite(x.parts()));
        (!lost).then_some(value)
    }

    /// Converts like [`Literal::value`], but a number too large for a float `dtype` becomes infinite.
    #[must_use]
    pub fn rounded(&self, dtype: DType) -> Option<Array> {
        if dtype == DType::Bool {
            return Some(Array::from(self.is_true()));
        }
        if let (Self::Int(n), true) = (self, dtype.is_integer()) {
            let n = i128::try_from(n).ok()?;
            let value = Array::of(Number::Int(n), dtype);
            return (value.numbers() == [Number::Int(n)]).then_some(value);
        }
        Some(Array::of(self.number()?, dtype))
    }

    /// Returns whether the number is not 0.
    #[must_use]
    pub fn is_true(&self) -> bool {
        match self {
            Self::Bool(b) => *b,
            Self::Int(n) => *n != BigInt::ZERO,
            Self::Float(x) => *x != 0.0,
            Self::Complex(z) => z.re != 0.0 || z.im != 0.0,
        }
    }

    /// Returns the integer value; a boolean counts as 0 or 1.
    #[must_use]
    pub fn int(&self) -> Option<BigInt> {
        match self {
            Self::Bool(b) => Some(BigInt::from(u8::from(*b))),
            Self::Int(n) => Some(n.clone()),
            Self::Float(_) | Self::Complex(_) => None,
        }
    }

    /// Returns the number as a float; `None` for a complex number and for an integer that is too large.
    #[must_use]
    pub fn float(&self) -> Option<f64> {
        match self {
            Self::Float(x) => Some(*x),
            Self::Complex(_) => None,
            Self::Bool(_) | Self::Int(_) => {
                Some(ratio::ratio(&self.int()?, &BigInt::from(1))).filter(|x| x.is_finite())
            }
        }
    }

    /// Returns the number for conversion to a dtype. Integers become floats as in Python.
    fn number(&self) -> Option<Number> {
        match self {
            Self::Complex(z) => Some(Number::Complex(z.re, z.im)),
            _ => self.float().map(Number::Float),
        }
    }
}

impl From<Number> for Literal {
    fn from(number: Number) -> Self {
        match number {
            Number::Int(n) => Self::Int(n.into()),
            Number::Float(x) => Self::Float(x),
            Number::Complex(re, im) => Self::Complex(Complex::new(re, im)),
        }
    }
}

macro_rules! from {
    ($($from:ty => $variant:ident),*) => {$(
        impl From<$from> for Literal {
            fn from(value: $from) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}
from!(bool => Bool, i32 => Int, i64 => Int, u64 => Int, BigInt => Int, f32 => Float, f64 => Float);
from!(Complex<f64> => Complex);

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Float(x) => write!(f, "{x:?}"),
            Self::Complex(z) if z.re == 0.0 => write!(f, "{:?}j", z.im),
            Self::Complex(z) => write!(f, "({:?}{:+?}j)", z.re, z.im),
            Self::Int(n) => {
                let digits = n.to_string();
                match digits.get(..30) {
                    Some(first) if digits.len() > 40 => write!(f, "{first}… ({} digits)", digits.len()),
                    _ => f.write_str(&digits),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Literal};
    use crate::Array;
    use crate::DType;
    use num_bigint::BigInt;

    #[test]
    fn integers_keep_every_bit_or_are_rejected() {
        let n = Literal::Int(BigInt::from(u64::MAX));
        assert_eq!(n.dtype(), DType::U64);
        assert_eq!(n.value(DType::U64), Some(Array::from(u64::MAX)));
        assert_eq!(n.value(DType::I64), None);
        assert_eq!(n.value(DType::F32), Some(Array::from(18_446_744_073_709_551_616_f32)));
        assert_eq!(Literal::Int(BigInt::from(10).pow(400)).value(DType::F64), None);
        assert_eq!(Literal::Int(BigInt::from(10).pow(20)).value(DType::F64), Some(Array::from(1e20)));
    }

    #[test]
    fn floats_stay_finite_unless_rounded() {
        let large = Literal::Float(1e10);
        assert_eq!(large.value(DType::F16), None);
        assert!(large.rounded(DType::F16).is_some_and(|value| value.numbers()[0].parts().0.is_infinite()));
        assert!(Literal::Float(f64::INFINITY).value(DType::F16).is_some());
    }

    #[test]
    fn dtypes_widen_only_when_literals_need_it() {
        assert_eq!(Kind::Int.meet(DType::Bool), DType::I64);
        assert_eq!(Kind::Int.meet(DType::U8), DType::U8);
        assert_eq!(Kind::Float.meet(DType::I8), DType::F64);
        assert_eq!(Kind::Float.meet(DType::F16), DType::F16);
        assert_eq!(Kind::Complex.meet(DType::F16), DType::C64);
        assert_eq!(Kind::Complex.meet(DType::I8), DType::C128);
    }
}

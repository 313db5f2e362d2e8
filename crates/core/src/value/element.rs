//! The Rust type of each dtype's elements. Code with an arm for each dtype is generated from one list,
//! [`for_each_dtype!`](crate::for_each_dtype).

use crate::value::cast::Convert;
use crate::value::dtype::DType;
use crate::value::float16::{bf16, f16};
use num_complex::Complex;
use std::fmt;

/// Calls a macro with every dtype and the Rust type of its elements: `callback! { Bool => bool, I8 => i8, … }`.
///
/// # Examples
/// ```
/// use precast_core::DType;
/// macro_rules! sizes {
///     ($($variant:ident => $element:ty),*) => { [$((DType::$variant, size_of::<$element>())),*] };
/// }
/// for (dtype, size) in precast_core::for_each_dtype!(sizes) {
///     assert_eq!(dtype.itemsize_bytes(), size);
/// }
/// ```
#[macro_export]
macro_rules! for_each_dtype {
    ($callback:ident) => {
        $callback! {
            Bool => bool,
            I8 => i8, I16 => i16, I32 => i32, I64 => i64,
            U8 => u8, U16 => u16, U32 => u32, U64 => u64,
            F16 => $crate::f16, Bf16 => $crate::bf16, F32 => f32, F64 => f64,
            C64 => $crate::Complex<f32>, C128 => $crate::Complex<f64>
        }
    };
}

mod sealed {
    /// Restricts [`super::Element`] to the types of [`for_each_dtype!`](crate::for_each_dtype). Arrays of another type
    /// would be treated as arrays of these.
    pub trait Sealed {}

    macro_rules! sealed {
        ($($variant:ident => $element:ty),*) => { $(impl Sealed for $element {})* };
    }
    crate::for_each_dtype!(sealed);
}

/// A Rust type whose values are the elements of a dtype: one of the types that [`for_each_dtype!`](crate::for_each_dtype)
/// lists.
pub trait Element:
    sealed::Sealed + Convert + Copy + Default + PartialEq + fmt::Debug + Send + Sync + 'static
{
    /// The dtype.
    const DTYPE: DType;

    /// Returns the bits in [`DType::words`] words. Floats are converted by `to_bits`, so NaN payloads and −0 are preserved.
    /// An unused second word is 0.
    fn bits(self) -> [u64; 2];

    /// Creates an element from bits. Bits beyond its size are ignored.
    fn from_bits(bits: [u64; 2]) -> Self;
}

impl Element for bool {
    const DTYPE: DType = DType::Bool;

    fn bits(self) -> [u64; 2] {
        [u64::from(self), 0]
    }

    fn from_bits(bits: [u64; 2]) -> Self {
        bits[0] != 0
    }
}

macro_rules! integers {
    ($($element:ident => $variant:ident as $unsigned:ident),*) => {$(
        impl Element for $element {
            const DTYPE: DType = DType::$variant;

            fn bits(self) -> [u64; 2] {
                [u64::from(self as $unsigned), 0]
            }

            fn from_bits(bits: [u64; 2]) -> Self {
                bits[0] as Self
            }
        }
    )*};
}
integers!(i8 => I8 as u8, i16 => I16 as u16, i32 => I32 as u32, i64 => I64 as u64);
integers!(u8 => U8 as u8, u16 => U16 as u16, u32 => U32 as u32, u64 => U64 as u64);

macro_rules! floats {
    ($($element:ident => $variant:ident as $unsigned:ident),*) => {$(
        impl Element for $element {
            const DTYPE: DType = DType::$variant;

            fn bits(self) -> [u64; 2] {
                [u64::from(self.to_bits()), 0]
            }

            fn from_bits(bits: [u64; 2]) -> Self {
                Self::from_bits(bits[0] as $unsigned)
            }
        }
    )*};
}
floats!(f16 => F16 as u16, bf16 => Bf16 as u16, f32 => F32 as u32, f64 => F64 as u64);

impl Element for Complex<f32> {
    const DTYPE: DType = DType::C64;

    fn bits(self) -> [u64; 2] {
        [u64::from(self.im.to_bits()) << 32 | u64::from(self.re.to_bits()), 0]
    }

    fn from_bits([bits, _]: [u64; 2]) -> Self {
        Self::new(f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32))
    }
}

impl Element for Complex<f64> {
    const DTYPE: DType = DType::C128;

    fn bits(self) -> [u64; 2] {
        [self.re.to_bits(), self.im.to_bits()]
    }

    fn from_bits([re, im]: [u64; 2]) -> Self {
        Self::new(f64::from_bits(re), f64::from_bits(im))
    }
}

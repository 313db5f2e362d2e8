//! The 16-bit floats and rounding to them, with the same operations as the C code of `precast/ops/half.h`.
//!
//! The crate `half` is not used: it rounds with a CPU instruction if available, and rounds an f64 twice by way of f32. These
//! types round once, to nearest even. Overflow gives infinity, and every NaN becomes the quiet NaN of its sign. Widening is
//! exact. With the feature `half`, its types convert to these and back, bit by bit.

use std::cmp::Ordering;
use std::fmt;

macro_rules! float16 {
    ($name:ident, $rounding:ident, $widen:ident, $title:literal, $one:literal) => {
        #[doc = $title]
        /// The type is for storage and conversion only. For arithmetic, convert to `f32`, which holds all of its values. It
        /// is compared and printed like an `f32`.
        #[allow(non_camel_case_types, reason = "named as `f32` is")]
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name(u16);

        impl $name {
            /// The number 1.
            pub const ONE: Self = Self($one);

            /// Creates the float with these bits.
            #[must_use]
            pub const fn from_bits(bits: u16) -> Self {
                Self(bits)
            }

            /// Returns the bits.
            #[must_use]
            pub const fn to_bits(self) -> u16 {
                self.0
            }

            /// Converts with one rounding, to nearest even.
            #[must_use]
            pub fn from_f32(value: f32) -> Self {
                Self::from_f64(value.into())
            }

            /// Converts with one rounding, to nearest even.
            #[must_use]
            pub fn from_f64(value: f64) -> Self {
                Self(round(value, &$rounding))
            }

            /// Converts exactly.
            #[must_use]
            pub fn to_f32(self) -> f32 {
                $widen(self.0)
            }

            /// Converts exactly.
            #[must_use]
            pub fn to_f64(self) -> f64 {
                self.to_f32().into()
            }

            /// Returns whether the value is NaN.
            #[must_use]
            pub fn is_nan(self) -> bool {
                self.to_f32().is_nan()
            }

            /// Returns whether the value is neither infinite nor NaN.
            #[must_use]
            pub fn is_finite(self) -> bool {
                self.to_f32().is_finite()
            }
        }

        impl From<$name> for f32 {
            fn from(value: $name) -> Self {
                value.to_f32()
            }
        }

        impl From<$name> for f64 {
            fn from(value: $name) -> Self {
                value.to_f64()
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), f)
            }
        }

        #[cfg(feature = "half")]
        impl From<half::$name> for $name {
            fn from(value: half::$name) -> Self {
                Self::from_bits(value.to_bits())
            }
        }

        #[cfg(feature = "half")]
        impl From<$name> for half::$name {
            fn from(value: $name) -> Self {
                Self::from_bits(value.to_bits())
            }
        }
    };
}
float16!(f16, F16, widen_f16, "IEEE 754's binary16: 5 bits of exponent, 10 of fraction.", 0x3c00);
float16!(bf16, BF16, widen_bf16, "The upper half of a `f32`: 8 bits of exponent, 7 of fraction.", 0x3f80);

fn widen_f16(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let (exponent, fraction) = (u32::from(bits >> 10 & 0x1f), u32::from(bits & 0x3ff));
    let magnitude = match exponent {
        // Subnormal: `fraction` times 2^-24.
        0 => (fraction as f32 / 16_777_216.0).to_bits(),
        0x1f => 0x7f80_0000 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | magnitude)
}

fn widen_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// The constants for rounding an f64 to a 16-bit float.
struct Rounding {
    shift: u32,
    rebias: u64,
    least: u64,
    magic: f64,
    limit: u64,
    infinite: u64,
}

/// The constants of f16. The last bit of `magic`, 2^28, has the value of the least subnormal f16.
const F16: Rounding = Rounding {
    shift: 42,
    rebias: 1008 << 52,
    least: 1009 << 52,
    magic: 268_435_456.0,
    limit: 1039 << 52,
    infinite: 0x7c00,
};

/// The constants of bf16. The last bit of `magic`, 2^-81, has the value of the least subnormal bf16.
const BF16: Rounding = Rounding {
    shift: 45,
    rebias: 896 << 52,
    least: 897 << 52,
    magic: f64::from_bits((1023 - 81) << 52),
    limit: 1151 << 52,
    infinite: 0x7f80,
};

fn round(a: f64, rounding: &Rounding) -> u16 {
    let u = a.to_bits() & (u64::MAX >> 1);
    let sign = a.to_bits() >> 48 & 0x8000;
    let odd = u >> rounding.shift & 1;
    let normal =
        u.wrapping_sub(rounding.rebias).wrapping_add((1 << (rounding.shift - 1)) - 1 + odd) >> rounding.shift;
    let small = (f64::from_bits(u) + rounding.magic).to_bits().wrapping_sub(rounding.magic.to_bits());
    let r = if u < rounding.least { small } else { normal };
    let r = if u >= rounding.limit { rounding.infinite } else { r };
    let r =
        if u > 2047 << 52 { rounding.infinite | (rounding.infinite >> 1 & !rounding.infinite) } else { r };
    (r | sign) as u16
}

#[cfg(test)]
mod tests {
    use super::{bf16, f16};

    #[test]
    fn widening_matches_the_half_crate() {
        for bits in 0..=u16::MAX {
            let (a, b) = (half::f16::from_bits(bits).to_f64(), half::bf16::from_bits(bits).to_f64());
            let same = |x: f64, y: f64| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
            assert!(same(f16::from_bits(bits).to_f64(), a), "0x{bits:x}");
            assert!(same(bf16::from_bits(bits).to_f64(), b), "0x{bits:x}");
        }
    }

    #[test]
    fn halves_round_trip_and_round_to_nearest() {
        for bits in 0..=u16::MAX {
            let (a, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            if a.is_finite() {
                let next = f16::from_bits(bits + 1);
                let there = if next.is_finite() { next.to_f64() } else { a.to_f64().signum() * 65536.0 };
                check(bits, a.to_f64(), there, |x| f16::from_f64(x).to_bits());
            } else {
                assert_eq!(f16::from_f64(a.to_f64()).is_nan(), a.is_nan());
            }
            if b.is_finite() {
                let next = bf16::from_bits(bits + 1);
                let there =
                    if next.is_finite() { next.to_f64() } else { b.to_f64().signum() * 2_f64.powi(128) };
                check(bits, b.to_f64(), there, |x| bf16::from_f64(x).to_bits());
            } else {
                assert_eq!(bf16::from_f64(b.to_f64()).is_nan(), b.is_nan());
            }
        }
    }

    fn check(bits: u16, here: f64, there: f64, round: impl Fn(f64) -> u16) {
        let middle = here / 2.0 + there / 2.0;
        let below = f64::from_bits(middle.to_bits() - 1);
        let above = f64::from_bits(middle.to_bits() + 1);
        let even = if bits.is_multiple_of(2) { bits } else { bits + 1 };
        for (x, expected) in [(here, bits), (below, bits), (middle, even), (above, bits + 1)] {
            assert_eq!(round(x), expected, "{x:e} after 0x{bits:x}");
        }
    }
}

//! Integer operations that Rust does not have: `c/precast/ops/scalar/int.h`.

/// Division as in Python, shifts by any count, and powers. Nothing panics.
pub(super) trait Integer: Sized {
    /// Returns `self // other`; 0 for a divisor of 0.
    fn floor_div(self, other: Self) -> Self;
    /// Returns `self % other`, with the sign of the divisor; 0 for a divisor of 0.
    fn modulo(self, other: Self) -> Self;
    /// Returns the remainder with the sign of the dividend; 0 for a divisor of 0.
    fn rest(self, other: Self) -> Self;
    /// Returns `|self|`, wrapping.
    fn magnitude(self) -> Self;
    /// Returns -1, 0 or 1.
    fn sign(self) -> Self;
    /// Returns 1 / self, truncated; 0 for 0.
    fn reciprocal(self) -> Self;
    /// Returns `self << count`; 0 if the count is negative or exceeds the width.
    fn left_shift(self, count: Self) -> Self;
    /// Returns `self >> count`; all sign bits if the count is negative or exceeds the width.
    fn right_shift(self, count: Self) -> Self;
    /// Returns `self ** exponent`, wrapping; `None` for a negative exponent.
    fn power(self, exponent: Self) -> Option<Self>;
}

macro_rules! shared {
    ($t:ident) => {
        fn left_shift(self, count: Self) -> Self {
            u32::try_from(count).ok().and_then(|n| self.checked_shl(n)).unwrap_or(0)
        }

        fn rest(self, other: Self) -> Self {
            if other == 0 { 0 } else { self.wrapping_rem(other) }
        }

        fn power(self, exponent: Self) -> Option<Self> {
            let mut left = u64::try_from(exponent).ok()?;
            let (mut result, mut factor): ($t, $t) = (1, self);
            while left != 0 {
                if left & 1 == 1 {
                    result = result.wrapping_mul(factor);
                }
                factor = factor.wrapping_mul(factor);
                left >>= 1;
            }
            Some(result)
        }
    };
}

macro_rules! signed {
    ($($t:ident),*) => {$(
        impl Integer for $t {
            shared!($t);

            fn floor_div(self, other: Self) -> Self {
                if other == 0 {
                    return 0;
                }
                let (quotient, rest) = (self.wrapping_div(other), self.wrapping_rem(other));
                if rest != 0 && (rest < 0) != (other < 0) { quotient - 1 } else { quotient }
            }

            fn modulo(self, other: Self) -> Self {
                if other == 0 {
                    return 0;
                }
                let rest = self.wrapping_rem(other);
                if rest != 0 && (rest < 0) != (other < 0) { rest + other } else { rest }
            }

            fn magnitude(self) -> Self {
                self.wrapping_abs()
            }

            fn sign(self) -> Self {
                self.signum()
            }

            fn reciprocal(self) -> Self {
                if self == 1 || self == -1 { self } else { 0 }
            }

            fn right_shift(self, count: Self) -> Self {
                let fill = if self < 0 { -1 } else { 0 };
                u32::try_from(count).ok().and_then(|n| self.checked_shr(n)).unwrap_or(fill)
            }
        }
    )*};
}
signed!(i8, i16, i32, i64);

macro_rules! unsigned {
    ($($t:ident),*) => {$(
        impl Integer for $t {
            shared!($t);

            fn floor_div(self, other: Self) -> Self {
                self.checked_div(other).unwrap_or(0)
            }

            fn modulo(self, other: Self) -> Self {
                self.checked_rem(other).unwrap_or(0)
            }

            fn magnitude(self) -> Self {
                self
            }

            fn sign(self) -> Self {
                Self::from(self != 0)
            }

            fn reciprocal(self) -> Self {
                Self::from(self == 1)
            }

            fn right_shift(self, count: Self) -> Self {
                u32::try_from(count).ok().and_then(|n| self.checked_shr(n)).unwrap_or(0)
            }
        }
    )*};
}
unsigned!(u8, u16, u32, u64);

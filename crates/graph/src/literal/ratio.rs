//! Computes the float nearest to a quotient of integers.

use num_bigint::{BigInt, BigUint, Sign};

/// The number of significand bits of a float.
const PRECISION: i64 = 53;
/// The exponent of the smallest positive float.
const LEAST: i64 = -1074;

/// Returns `a / b` rounded once, to nearest, ties to even, as Python divides integers. The result is infinite if it
/// is too large. `b` must not be 0.
pub(super) fn ratio(a: &BigInt, b: &BigInt) -> f64 {
    let magnitude = quotient(a.magnitude(), b.magnitude());
    if (a.sign() == Sign::Minus) == (b.sign() == Sign::Minus) { magnitude } else { -magnitude }
}

fn quotient(a: &BigUint, b: &BigUint) -> f64 {
    if *a == BigUint::ZERO {
        return 0.0;
    }
    let bits = |n: &BigUint| i64::try_from(n.bits()).unwrap_or(i64::MAX);
    // `scaled · 2^exponent` has at least two bits more than a float. The last bit records whether any bits were cut
    // off.
    let exponent = bits(a) - bits(b) - PRECISION - 2;
    let shift = exponent.unsigned_abs();
    let (a, b) = if exponent < 0 { (a << shift, b.clone()) } else { (a.clone(), b << shift) };
    let (mut scaled, rest) = (&a / &b, &a % &b);
    if rest != BigUint::ZERO {
        scaled = (scaled << 1_u32) | BigUint::from(1_u32);
    } else {
        scaled <<= 1_u32;
    }
    let exponent = exponent - 1;
    let cut = (bits(&scaled) - PRECISION).max(LEAST - exponent);
    let mut significand = &scaled >> cut.unsigned_abs();
    let (cut_off, half) =
        (&scaled - (&significand << cut.unsigned_abs()), BigUint::from(1_u32) << (cut.unsigned_abs() - 1));
    if cut_off > half || cut_off == half && significand.bit(0) {
        significand += 1_u32;
    }
    let significand = u64::try_from(&significand).unwrap_or(u64::MAX) as f64;
    // Scales in two steps, each by a power of two that is a valid float. The first step is exact, and the second is
    // exact unless it overflows.
    let exponent = i32::try_from((exponent + cut).clamp(-2000, 2000)).unwrap_or(0);
    let first = exponent / 2;
    significand * 2_f64.powi(first) * 2_f64.powi(exponent - first)
}

#[cfg(test)]
mod tests {
    use super::ratio;
    use num_bigint::BigInt;

    #[test]
    fn quotients_are_rounded_once() {
        let ten = BigInt::from(10);
        for (a, b, expected) in [
            (BigInt::from(1), BigInt::from(3), 1.0 / 3.0),
            (BigInt::from(2).pow(100), BigInt::from(2).pow(99), 2.0),
            (BigInt::from(1), ten.pow(20), 1e-20),
            (BigInt::from(-7), ten.pow(320), -7e-320),
            (BigInt::from(5), ten.pow(324), 5e-324),
            (BigInt::from(2), ten.pow(324), 0.0),
            (BigInt::from((1_i64 << 53) + 1), BigInt::from(1), 9_007_199_254_740_992.0),
            (BigInt::from((1_i64 << 53) + 3), BigInt::from(1), 9_007_199_254_740_996.0),
            (ten.pow(308), BigInt::from(1), 1e308),
            (ten.pow(309), BigInt::from(1), f64::INFINITY),
            (BigInt::from(u64::MAX), BigInt::from(1), 18_446_744_073_709_551_615_u64 as f64),
            (BigInt::from(0), BigInt::from(-3), 0.0),
        ] {
            assert_eq!(ratio(&a, &b), expected, "{a} / {b}");
        }
    }

    #[test]
    fn small_quotients_match_float_division() {
        for a in -60_i32..60 {
            for b in (1_i32..40).chain([1_000_003, 1 << 30]) {
                assert_eq!(ratio(&a.into(), &b.into()), f64::from(a) / f64::from(b), "{a} / {b}");
            }
        }
    }
}

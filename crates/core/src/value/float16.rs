//! Rounding to the 16-bit floats: what the C of `precast/ops/half.h` does, operation by operation.
//!
//! The crate `half` rounds with an instruction where the CPU has one, and a f64 by way of f32, so twice. Here it is once, to
//! nearest even; overflow gives infinity, every NaN becomes the quiet one of its sign. Widening is exact whoever does it.

use half::{bf16, f16};

/// Where a f64 is cut to a 16-bit float.
struct Cut {
    shift: u32,
    rebias: u64,
    least: u64,
    magic: f64,
    limit: u64,
    infinite: u64,
}

/// 2^28: its last bit is that of the subnormal f16.
const F16: Cut = Cut {
    shift: 42,
    rebias: 1008 << 52,
    least: 1009 << 52,
    magic: 268_435_456.0,
    limit: 1039 << 52,
    infinite: 0x7c00,
};

/// 2^-81: its last bit is that of the subnormal bf16.
const BF16: Cut = Cut {
    shift: 45,
    rebias: 896 << 52,
    least: 897 << 52,
    magic: f64::from_bits((1023 - 81) << 52),
    limit: 1151 << 52,
    infinite: 0x7f80,
};

fn round(a: f64, cut: &Cut) -> u16 {
    let u = a.to_bits() & (u64::MAX >> 1);
    let sign = a.to_bits() >> 48 & 0x8000;
    let odd = u >> cut.shift & 1;
    let normal = u.wrapping_sub(cut.rebias).wrapping_add((1 << (cut.shift - 1)) - 1 + odd) >> cut.shift;
    let small = (f64::from_bits(u) + cut.magic).to_bits().wrapping_sub(cut.magic.to_bits());
    let r = if u < cut.least { small } else { normal };
    let r = if u >= cut.limit { cut.infinite } else { r };
    let r = if u > 2047 << 52 { cut.infinite | (cut.infinite >> 1 & !cut.infinite) } else { r };
    (r | sign) as u16
}

/// Rounds once, to nearest even; what is a f32 is rounded as `pc_cast_f32_f16` does.
pub(crate) fn f16_of(a: f64) -> f16 {
    f16::from_bits(round(a, &F16))
}

/// Rounds once, to nearest even.
pub(crate) fn bf16_of(a: f64) -> bf16 {
    bf16::from_bits(round(a, &BF16))
}

#[cfg(test)]
mod tests {
    use super::{bf16, bf16_of, f16, f16_of};

    #[test]
    fn every_16_bit_float_comes_back_and_what_lies_between_goes_to_the_nearest() {
        for bits in 0..=u16::MAX {
            let (a, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            if a.is_finite() {
                let next = f16::from_bits(bits + 1);
                let there = if next.is_finite() { next.to_f64() } else { a.to_f64().signum() * 65536.0 };
                check(bits, a.to_f64(), there, |x| f16_of(x).to_bits());
            } else {
                assert_eq!(f16_of(a.to_f64()).is_nan(), a.is_nan());
            }
            if b.is_finite() {
                let next = bf16::from_bits(bits + 1);
                let there =
                    if next.is_finite() { next.to_f64() } else { b.to_f64().signum() * 2_f64.powi(128) };
                check(bits, b.to_f64(), there, |x| bf16_of(x).to_bits());
            } else {
                assert_eq!(bf16_of(b.to_f64()).is_nan(), b.is_nan());
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

//! The special values of each dtype, for tests and for checks of ops on unusual inputs.

use crate::{Complex, DType, Element, bf16, f16};

/// Returns the bits of the special values of a dtype, in the format of [`crate::Array::bits`].
///
/// Floats: ±0, ±1, ±infinity, NaN of either sign and with a payload, the least and greatest subnormal, the least
/// normal, the greatest finite, the neighbours of 1, halves (for rounding), and ± the point where `exp` overflows.
/// Integers: 0, ±1, and both ends of the range.
#[must_use]
pub fn special_bits(dtype: DType) -> Vec<u64> {
    match dtype {
        DType::Bool => vec![0, 1],
        DType::F16 => words::<f16>(&sixteen(0x03ff, 0x0400, 0x7bff).map(f16::from_bits)),
        DType::Bf16 => words::<bf16>(&sixteen(0x007f, 0x0080, 0x7f7f).map(bf16::from_bits)),
        DType::F32 => words(&SPECIAL_F32),
        DType::F64 => words(&SPECIAL_F64),
        DType::C64 => words(&pairs(&SPECIAL_F32)),
        DType::C128 => words(&pairs(&SPECIAL_F64)),
        integer => {
            let bits = integer.itemsize_bytes() * 8;
            let mask = u64::MAX >> (64 - bits);
            let top = 1_u64 << (bits - 1);
            [0, 1, 2, mask, mask - 1, top, top - 1, top + 1].to_vec()
        }
    }
}

const SPECIAL_F32: [f32; 22] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    f32::from_bits(0xffc0_0000),
    f32::from_bits(1),
    f32::from_bits(0x8000_0001),
    f32::MIN_POSITIVE,
    f32::from_bits(0x7f_ffff),
    f32::MAX,
    f32::MIN,
    1.0 + f32::EPSILON,
    1.0 - f32::EPSILON / 2.0,
    0.5,
    -2.5,
    88.75,
    -88.75,
    -104.5,
    f32::from_bits(0x7fc0_1234),
];

const SPECIAL_F64: [f64; 22] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    f64::from_bits(0xfff8_0000_0000_0000),
    f64::from_bits(1),
    f64::from_bits(0x8000_0000_0000_0001),
    f64::MIN_POSITIVE,
    f64::from_bits(0xf_ffff_ffff_ffff),
    f64::MAX,
    f64::MIN,
    1.0 + f64::EPSILON,
    1.0 - f64::EPSILON / 2.0,
    0.5,
    -2.5,
    709.8,
    -709.8,
    -745.5,
    f64::from_bits(0x7ff8_0000_0000_1234),
];

/// Returns the patterns of a 16-bit float type, given its greatest subnormal, least normal and greatest finite
/// number. Infinity is the next pattern after the greatest finite number.
fn sixteen(subnormal: u16, normal: u16, greatest: u16) -> [u16; 14] {
    let (infinity, sign) = (greatest + 1, 0x8000);
    let nan = infinity | (infinity >> 1 & !infinity);
    let one = if infinity == 0x7c00 { 0x3c00 } else { 0x3f80 };
    [
        0,
        sign,
        one,
        one | sign,
        infinity,
        infinity | sign,
        nan,
        nan | sign,
        1,
        1 | sign,
        subnormal,
        normal,
        greatest,
        one + 1,
    ]
}

/// Returns complex numbers: each special part with an ordinary part on either side, and pairs of neighbouring special
/// parts.
fn pairs<T: Copy>(parts: &[T]) -> Vec<Complex<T>> {
    let one = parts[2];
    let alone = parts.iter().flat_map(|x| [Complex::new(*x, one), Complex::new(one, *x)]);
    alone.chain(parts.windows(2).map(|pair| Complex::new(pair[0], pair[1]))).collect()
}

fn words<T: Element>(values: &[T]) -> Vec<u64> {
    values.iter().flat_map(|x| x.bits().into_iter().take(T::DTYPE.words())).collect()
}

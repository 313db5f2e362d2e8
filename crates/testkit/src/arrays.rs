//! Random arrays, with the values that break kernels among them.

use crate::Choices;
use precast_graph::{Array, DType};

/// The bits of the values that a dtype goes wrong at, as [`Array::bits`] gives them.
///
/// Floats: ±0, ±1, ±infinity, NaN of either sign and with a payload, the least and greatest subnormal, the least normal,
/// the greatest finite, the neighbours of 1, halves (rounding), ±where `exp` overflows. Integers: 0, ±1, both ends.
#[must_use]
pub fn special_bits(dtype: DType) -> Vec<u64> {
    let f32s = |values: &[f32]| values.iter().map(|x| u64::from(x.to_bits())).collect::<Vec<_>>();
    let f64s = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    match dtype {
        DType::Bool => vec![0, 1],
        DType::I64 => [0, 1, -1, i64::MIN, i64::MAX, i64::MIN + 1, i64::from(i32::MAX) + 1]
            .map(i64::cast_unsigned)
            .to_vec(),
        DType::F32 => {
            let tiny = f32::from_bits(1);
            let mut bits =
                f32s(&[0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN]);
            bits.extend(f32s(&[
                tiny,
                -tiny,
                f32::MIN_POSITIVE,
                f32::from_bits(0x7f_ffff),
                f32::MAX,
                f32::MIN,
            ]));
            bits.extend(f32s(&[
                1.0 + f32::EPSILON,
                1.0 - f32::EPSILON / 2.0,
                0.5,
                -2.5,
                88.75,
                -88.75,
                -104.5,
            ]));
            bits.push(0x7fc0_1234);
            bits
        }
        DType::F64 => {
            let tiny = f64::from_bits(1);
            let mut bits =
                f64s(&[0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN]);
            bits.extend(f64s(&[tiny, -tiny, f64::MIN_POSITIVE, f64::from_bits(0xf_ffff_ffff_ffff)]));
            bits.extend(f64s(&[f64::MAX, f64::MIN, 1.0 + f64::EPSILON, 1.0 - f64::EPSILON / 2.0]));
            bits.extend(f64s(&[0.5, -2.5, 709.8, -709.8, -745.5]));
            bits.push(0x7ff8_0000_0000_1234);
            bits
        }
    }
}

/// Every special value of a dtype, in one dimension.
///
/// # Panics
/// Never; the number of bits is the extent.
#[must_use]
pub fn specials(dtype: DType) -> Array {
    let bits = special_bits(dtype);
    Array::from_bits(dtype, &[bits.len()], &bits).expect("as many bits as the extent says")
}

/// Draws an array: mostly moderate values of either sign, one element in eight special.
///
/// # Panics
/// If the shape has more elements than memory.
#[must_use]
pub fn draw(choices: &mut Choices, dtype: DType, shape: &[usize]) -> Array {
    let special = special_bits(dtype);
    let count = shape.iter().product();
    let bits: Vec<u64> = (0..count)
        .map(|_| {
            if choices.one_in(8) {
                return choices.pick(&special).copied().unwrap_or(0);
            }
            plain_bits(choices, dtype)
        })
        .collect();
    Array::from_bits(dtype, shape, &bits).expect("as many bits as elements")
}

/// Draws an array without special values: floats within ±8, integers within ±100.
///
/// # Panics
/// If the shape has more elements than memory.
#[must_use]
pub fn draw_plain(choices: &mut Choices, dtype: DType, shape: &[usize]) -> Array {
    let bits: Vec<u64> = (0..shape.iter().product()).map(|_| plain_bits(choices, dtype)).collect();
    Array::from_bits(dtype, shape, &bits).expect("as many bits as elements")
}

fn plain_bits(choices: &mut Choices, dtype: DType) -> u64 {
    let float = |choices: &mut Choices| {
        let sign = if choices.one_in(2) { -8.0 } else { 8.0 };
        sign * choices.unit()
    };
    match dtype {
        DType::Bool => choices.below(2) as u64,
        DType::I64 => {
            let magnitude = choices.below(101) as u64;
            if choices.one_in(2) { magnitude.wrapping_neg() } else { magnitude }
        }
        DType::F32 => u64::from((float(choices) as f32).to_bits()),
        DType::F64 => float(choices).to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::{draw, draw_plain, special_bits, specials};
    use crate::Choices;
    use precast_graph::{Array, DType};

    #[test]
    fn specials_hold_what_their_documentation_promises() {
        let Array::F64(values) = specials(DType::F64) else { panic!("another dtype") };
        assert!(values.iter().any(|x| x.is_nan()) && values.iter().any(|x| x.is_subnormal()));
        assert!(values.iter().any(|x| x.to_bits() == (-0.0_f64).to_bits()));
        let Array::F32(values) = specials(DType::F32) else { panic!("another dtype") };
        assert_eq!(values.iter().filter(|x| x.is_infinite()).count(), 2);
        assert_eq!(values.iter().filter(|x| x.is_subnormal()).count(), 3);
    }

    #[test]
    fn plain_arrays_have_no_specials_and_others_do() {
        for dtype in DType::ALL {
            let array = draw(&mut Choices::seeded(3), dtype, &[40, 10]);
            assert_eq!((array.dtype(), array.shape()), (dtype, &[40, 10][..]));
            if dtype != DType::Bool {
                let special = special_bits(dtype);
                assert!(array.bits().iter().any(|bits| special[3..].contains(bits)), "{dtype}");
            }
        }
        let Array::F32(plain) = draw_plain(&mut Choices::seeded(3), DType::F32, &[1000]) else { panic!() };
        assert!(plain.iter().all(|x| x.abs() <= 8.0) && plain.iter().any(|x| *x < 0.0));
    }
}

//! Random arrays, including the values that break kernels.

use crate::Choices;
pub use precast_graph::special_bits;
use precast_graph::{Array, Complex, DType, Element, bf16, f16};

/// Returns every special value of a dtype, in one dimension.
///
/// # Panics
/// Never; the number of bits matches the extent.
#[must_use]
pub fn specials(dtype: DType) -> Array {
    let bits = special_bits(dtype);
    Array::from_bits(dtype, &[bits.len() / dtype.words()], &bits).expect("as many bits as the extent says")
}

/// Draws an array: mostly moderate values of either sign, with one special element in eight.
///
/// # Panics
/// If the shape has more elements than memory.
#[must_use]
pub fn draw(choices: &mut Choices, dtype: DType, shape: &[usize]) -> Array {
    let special = special_bits(dtype);
    let count = shape.iter().product();
    let special: Vec<&[u64]> = special.chunks_exact(dtype.words()).collect();
    let bits: Vec<u64> = (0..count)
        .flat_map(|_| {
            if choices.one_in(8) {
                return choices.pick(&special).map(|words| words.to_vec()).unwrap_or_default();
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
    let bits: Vec<u64> = (0..shape.iter().product()).flat_map(|_| plain_bits(choices, dtype)).collect();
    Array::from_bits(dtype, shape, &bits).expect("as many bits as elements")
}

fn words<T: Element>(values: &[T]) -> Vec<u64> {
    values.iter().flat_map(|x| x.bits().into_iter().take(T::DTYPE.words())).collect()
}

fn plain_bits(choices: &mut Choices, dtype: DType) -> Vec<u64> {
    let mut float = || {
        let sign = if choices.one_in(2) { -8.0 } else { 8.0 };
        sign * choices.unit()
    };
    match dtype {
        DType::Bool => vec![choices.below(2) as u64],
        DType::F16 => words(&[f16::from_f32(float() as f32)]),
        DType::Bf16 => words(&[bf16::from_f32(float() as f32)]),
        DType::F32 => words(&[float() as f32]),
        DType::F64 => words(&[float()]),
        DType::C64 => words(&[Complex::new(float() as f32, float() as f32)]),
        DType::C128 => words(&[Complex::new(float(), float())]),
        integer => {
            let magnitude = choices.below(101) as u64;
            let negative = !integer.is_unsigned() && choices.one_in(2);
            let bits = if negative { magnitude.wrapping_neg() } else { magnitude };
            vec![bits & (u64::MAX >> (64 - integer.itemsize_bytes() * 8))]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{draw, draw_plain, special_bits, specials};
    use crate::Choices;
    use precast_graph::{Array, DType};

    #[test]
    fn specials_match_their_documentation() {
        let Array::F64(values) = specials(DType::F64) else { panic!("another dtype") };
        assert!(values.iter().any(|x| x.is_nan()) && values.iter().any(|x| x.is_subnormal()));
        assert!(values.iter().any(|x| x.to_bits() == (-0.0_f64).to_bits()));
        let Array::F32(values) = specials(DType::F32) else { panic!("another dtype") };
        assert_eq!(values.iter().filter(|x| x.is_infinite()).count(), 2);
        assert_eq!(values.iter().filter(|x| x.is_subnormal()).count(), 3);
    }

    #[test]
    fn only_plain_arrays_have_no_specials() {
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

//! Tests of the values that a type accepts: against NumPy's table of safe casts, and by hand for dtypes that NumPy
//! lacks.

use ndarray::{Array1, array};
use precast_graph::{
    Array, CarrierRules, Complex, Convert, DType, FilterError, Number, Type, TypeRules, bf16, f16,
};
use precast_testkit::arrays::specials;
use proptest::prelude::*;

/// The table of `numpy.can_cast(from, to, "safe")` in NumPy 2.4: the source, then all targets.
const SAFE: &str = "
    bool : bool i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 c64 c128
    i8 : i8 i16 i32 i64 f16 f32 f64 c64 c128
    i16 : i16 i32 i64 f32 f64 c64 c128
    i32 : i32 i64 f64 c128
    i64 : i64 f64 c128
    u8 : i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 c64 c128
    u16 : i32 i64 u16 u32 u64 f32 f64 c64 c128
    u32 : i64 u32 u64 f64 c128
    u64 : u64 f64 c128
    f16 : f16 f32 f64 c64 c128
    f32 : f32 f64 c64 c128
    f64 : f64 c128
    c64 : c64 c128
    c128 : c128";

fn vector(dtype: DType) -> Type {
    Type::tensor(dtype, 1)
}

fn filter(ty: &str, value: impl Into<Array>, strict: bool, down: Option<bool>) -> Result<Array, FilterError> {
    CarrierRules.filter(&ty.parse().unwrap(), value.into(), strict, down)
}

#[test]
fn filter_converts_arrays_where_numpy_casts_safely() {
    for line in SAFE.lines().filter(|line| !line.is_empty()) {
        let (from, safe) = line.split_once(':').unwrap();
        let from: DType = from.trim().parse().unwrap();
        let safe: Vec<&str> = safe.split_whitespace().collect();
        let value = specials(from);
        let value = Array::from_bits(from, &[value.bits().len() / from.words()], &value.bits()).unwrap();
        for to in DType::ALL.into_iter().filter(|to| *to != DType::Bf16) {
            for down in [None, Some(false)] {
                let result = CarrierRules.filter(&vector(to), value.clone(), false, down);
                assert_eq!(result.is_ok(), safe.contains(&to.name()), "{from} to {to}");
            }
            let strict = CarrierRules.filter(&vector(to), value.clone(), true, Some(true));
            assert_eq!(strict.is_ok(), from == to, "{from} to {to}");
            let down = CarrierRules.filter(&vector(to), value.clone(), false, Some(true)).unwrap();
            assert_eq!(down.dtype(), to);
        }
    }
}

#[test]
fn filter_accepts_single_numbers_without_loss() {
    assert_eq!(filter("i8[]", 100_i64, false, Some(false)), Ok(Array::from(100_i8)));
    assert!(filter("i8[]", 200_i64, false, None).is_err());
    assert_eq!(filter("f32[]", 16_777_216_i64, false, Some(false)), Ok(Array::from(16_777_216.0_f32)));
    assert!(filter("f32[]", 16_777_217_i64, false, Some(false)).is_err());
    assert!(filter("f64", i64::MAX, false, Some(false)).is_ok(), "numpy casts i64 to f64 safely");
    assert_eq!(filter("f32", 0.5_f64, false, Some(false)), Ok(Array::from(0.5_f32)));
    assert!(filter("f32", 0.1_f64, false, Some(false)).is_err());
    assert_eq!(filter("f32", 0.1_f64, false, None), Ok(Array::from(0.1_f32)));
    assert!(filter("f32", 0.1_f64, true, None).is_err());
    assert_eq!(filter("f16[]", f64::NAN, false, Some(false)).unwrap().dtype(), DType::F16);
    assert!(filter("i64", 0.5_f64, false, None).is_err());
    assert_eq!(filter("f64", Complex::new(2.0_f64, 0.0), false, None), Ok(Array::from(2.0)));
    assert!(filter("f64", Complex::new(2.0_f64, 1.0), false, None).is_err());
}

#[test]
fn filter_rejects_other_extents() {
    let rows: [(&str, &[usize]); 4] =
        [("f64[2]", &[3]), ("f64[?,?]", &[2]), ("f64", &[1]), ("a<f64[1]>", &[])];
    for (ty, shape) in rows {
        let error = filter(ty, Array::zeros(DType::F64, shape), false, Some(true)).unwrap_err();
        assert_eq!(error.to_string(), format!("a value of type `{ty}` cannot have extents {shape:?}"));
    }
    let error = filter("f32[?]", array![1.0_f64], false, None).unwrap_err().to_string();
    assert_eq!(error, "cannot convert dtype `f64` to type `f32[?]` without loss");
}

#[test]
fn values_are_equal_within_rounding() {
    let eq = |a: Array, b: Array| (CarrierRules.values_eq(&a, &b), CarrierRules.values_eq_approx(&a, &b));
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    assert_eq!(eq(array![nan, 0.0, inf].into(), array![-nan, -0.0, inf].into()), (true, true));
    assert_eq!(eq(array![1.0].into(), array![1.0 + 9e-6].into()), (false, true));
    assert_eq!(eq(array![1.0].into(), array![1.0 + 2e-5].into()), (false, false));
    for b in [-inf, nan, 1e308] {
        assert_eq!(eq(array![inf].into(), array![b].into()), (false, false));
    }
    assert_eq!(eq(array![0.0].into(), array![nan].into()), (false, false));
    assert_eq!(eq(array![1.0_f32].into(), array![1.0_f64].into()), (false, false));
    assert_eq!(eq(array![1_i64].into(), array![2_i64].into()), (false, false));
    assert_eq!(eq(array![u64::MAX].into(), array![u64::MAX - 1].into()), (false, false));
    assert_eq!(eq(array![1.0, 1.0].into(), array![1.0].into()), (false, false));
    let half = |x: f32| Array::from(f16::from_f32(x));
    assert_eq!(eq(half(1.0), half(1.001)), (false, true));
    let complex = |re: f64, im: f64| Array::from(Complex::new(re, im));
    assert_eq!(eq(complex(1.0, nan), complex(1.0, nan)), (true, true));
    assert_eq!(eq(complex(1.0, 2.0), complex(1.0 + 1e-9, 2.0 - 1e-9)), (false, true));
    assert_eq!(eq(complex(1.0, 2.0), complex(1.0, 2.1)), (false, false));
}

#[test]
fn casts_round_once() {
    // 2^53 + 1 to f32 is 2^53. 2^24 + 1 + 2^-30 to f32 rounds up; integers must not be rounded through f64 first.
    let int = (1_i64 << 60) + (1 << 36) + 1;
    assert_eq!(Array::from(int).cast(DType::F32), Array::from(int as f32));
    assert_ne!(int as f32, int as f64 as f32, "the row tells one rounding from two");
    assert_eq!(Array::from(300.7_f64).cast(DType::U8), Array::from(255_u8));
    assert_eq!(Array::from(300_i64).cast(DType::U8), Array::from(44_u8));
    assert_eq!(Array::from(0.1_f64).cast(DType::Bool), Array::from(true));
    assert_eq!(Array::from(1.0_f64).cast(DType::Bf16), Array::from(bf16::ONE));
}

/// Returns numbers at the limits of the dtypes, and numbers between their elements or beyond them.
fn edges() -> Vec<Array> {
    let integers = [i64::MIN, i64::MAX, (1 << 53) + 1, (1 << 60) + (1 << 36) + 1, -129, 65_535, 0, 1];
    let floats = [-0.0, 0.5, -1.5, 65_519.99, 65_520.0, 1e-8, 1e300, -1e300, f64::MIN_POSITIVE / 4.0];
    let wide = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0 + 2f64.powi(-24), 9.3e18, 1.9e19];
    let floats: Vec<f64> = floats.into_iter().chain(wide).collect();
    let complex: Vec<_> = floats.iter().map(|x| Complex::new(*x, 0.25)).collect();
    vec![
        Array::from(Array1::from(integers.to_vec())),
        Array::from(Array1::from(vec![u64::MAX, u64::MAX - 1, 1 << 63])),
        Array::from(Array1::from(floats)),
        Array::from(Array1::from(complex)),
    ]
}

#[test]
fn arrays_cast_between_any_two_dtypes() {
    for from in DType::ALL {
        for source in edges() {
            let source = source.cast(from);
            for to in DType::ALL {
                let whole = source.cast(to);
                assert_eq!((whole.dtype(), whole.shape()), (to, source.shape()));
                precast_graph::with_array!(&source, a => for (i, x) in a.iter().enumerate() {
                    let one = Array::from(*x).cast(to);
                    assert_eq!(one.bits(), whole.bits()[i * to.words()..(i + 1) * to.words()], "{x} to {to}");
                });
            }
        }
    }
}

#[test]
fn casts_keep_order_in_any_layout() {
    let c = ndarray::arr2(&[[1_i16, -2, 3], [4, 5, -6]]);
    let reversed = c.slice(ndarray::s![..;-1, ..;-1]).to_owned();
    for (turned, expected) in [
        (c.t().to_owned(), [1.0, 4.0, -2.0, 5.0, 3.0, -6.0].to_vec()),
        (c.clone().reversed_axes(), [1.0, 4.0, -2.0, 5.0, 3.0, -6.0].to_vec()),
        (reversed, [-6.0, 5.0, 4.0, 3.0, -2.0, 1.0].to_vec()),
    ] {
        let cast: ndarray::ArrayD<f64> = Array::from(turned).cast(DType::F64).try_into().unwrap();
        assert_eq!(cast.iter().copied().collect::<Vec<f64>>(), expected);
    }
}

proptest! {
    #[test]
    fn equal_numbers_compare_equal_across_dtypes(x: i32) {
        for dtype in [DType::I64, DType::F64, DType::C128] {
            let numbers = Array::from(x).cast(dtype).numbers();
            prop_assert!(numbers[0].same(x.number()) && x.number().same(numbers[0]));
        }
        prop_assert!(!Number::Int(x.into()).same(Number::Float(f64::from(x) + 0.5)));
        let back: Array = Array::from(Array1::from(vec![x])).cast(DType::F64).cast(DType::I32);
        prop_assert_eq!(back, Array::from(array![x]));
    }
}

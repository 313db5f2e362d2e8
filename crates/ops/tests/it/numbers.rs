//! Tests of rounding to decimals, sequences of one array, dtypes of sums, and other values from NumPy or exact
//! arithmetic.

use crate::functions::value;
use precast_graph::{Array, Complex, f16};

/// Evaluates a text over `x`.
fn of(text: &str, x: Array) -> Array {
    value(text, &[x]).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn vector<T>(items: &[T]) -> Array
where
    T: Clone,
    ndarray::Array1<T>: Into<Array>,
{
    ndarray::Array1::from(items.to_vec()).into()
}

#[test]
fn floats_round_to_any_number_of_decimals() {
    for (x, decimals, expected) in [
        (1.5e-300, 308, 1.5e-300),
        (1e-32, 32, 1e-32),
        (1.234e-310, 311, 1.2e-310),
        (1e-25, 25, 1e-25),
        (-1.2e308, -308, -1e308),
        (1.6e308, -400, 0.0),
        (1e300, 20, 1e300),
        (2.675, 1000, 2.675),
        (0.0, 400, 0.0),
        (f64::INFINITY, 30, f64::INFINITY),
        (f64::INFINITY, -400, f64::INFINITY),
    ] {
        let text = format!("round(x, {decimals})");
        assert_eq!(of(&text, Array::from(x)), Array::from(expected), "{text} of {x}");
    }
    assert_eq!(of("round(x, 44)", Array::from(1.45e-42_f32)), Array::from(1.45e-42_f32));
    assert_eq!(of("round(x, 5)", Array::from(f16::from_f32(0.125))), Array::from(f16::from_f32(0.125)));
    assert_eq!(of("round(x, 5)", Array::from(f16::from_f32(3e-6))), Array::from(f16::from_f32(0.0)));
    let z = Complex::new(1e-32, 2e300);
    assert_eq!(of("round(x, 32)", Array::from(z)), Array::from(z));
}

#[test]
fn integers_round_exactly_to_powers_of_ten() {
    macro_rules! rounds {
        ($($x:expr, $decimals:literal => $expected:expr;)*) => {$(
            assert_eq!(of(concat!("round(x, ", $decimals, ")"), Array::from($x)), Array::from($expected));
        )*};
    }
    rounds! {
        i64::MAX - 4, -1 => 9_223_372_036_854_775_800_i64;
        -9_223_372_036_854_775_803_i64, -1 => -9_223_372_036_854_775_800_i64;
        u64::MAX, -2 => 18_446_744_073_709_551_600_u64;
        25_i32, -1 => 20_i32;
        35_i32, -1 => 40_i32;
        -25_i16, -1 => -20_i16;
        -26_i16, -1 => -30_i16;
        255_u8, -1 => 4_u8;
        127_i8, -1 => -126_i8;
        i8::MIN, -1 => 126_i8;
        4_i64, -19 => 0_i64;
        u64::MAX, -20 => 0_u64;
        123_u16, -100 => 0_u16;
        123_u16, 7 => 123_u16;
    }
}

#[test]
fn sums_of_a_narrow_dtype_wrap_around() {
    let x = || vector(&[100_i64, 100, 3]);
    assert_eq!(of("sum(x, dtype=int32)", x()), Array::from(203_i32));
    assert_eq!(of("prod(x, dtype=int8)", x()), Array::from(48_i8));
    assert_eq!(of("mean(x, dtype=int64)", x()), Array::from(67_i64));
    assert_eq!(of("std(x, dtype=int64)", x()), Array::from(45_i64));
    assert_eq!(of("cumsum(x, dtype=int8)", x()), vector(&[100_i8, -56, -53]));
    assert_eq!(of("cumprod(x - 3, dtype=bool)", x()), vector(&[true, true, false]));
    assert_eq!(of("sum(x, dtype=bool)", x()), Array::from(true));
    assert_eq!(of("sum(x, acc_dtype=int8)", x()), Array::from(-53_i64));
}

#[test]
fn concatenate_accepts_an_array_as_rows() {
    let x = || Array::from(ndarray::arr2(&[[1_i8, 2, 3], [4, 5, 6]]));
    for text in ["concatenate(x)", "hstack(x)", "concatenate(tensors=x)"] {
        assert_eq!(of(text, x()), vector(&[1_i8, 2, 3, 4, 5, 6]), "{text}");
    }
    for text in ["stack(x)", "vstack(x)", "concatenate([x])", "hstack([x])"] {
        assert_eq!(of(text, x()), x(), "{text}");
    }
    assert_eq!(of("stack([x])", x()).shape(), [1, 2, 3]);
    assert_eq!(of("stack(x, axis=-1)", x()), of("transpose(x)", x()));
}

#[test]
fn einsum_broadcasts_extent_one() {
    let ones = |shape: &[usize]| Array::from(ndarray::ArrayD::<f64>::ones(shape));
    for (text, x, y, expected) in [
        ("einsum('ij,ij->', x, y)", [2, 3], [2, 1], 6.0),
        ("einsum('ij,ij->', x, y)", [1, 3], [2, 1], 6.0),
        ("einsum('ij,jk->', x, y)", [2, 1], [3, 4], 24.0),
        ("einsum('ij,ij->ij', x, y).sum()", [2, 1], [1, 4], 8.0),
    ] {
        assert_eq!(value(text, &[ones(&x), ones(&y)]), Ok(Array::from(expected)), "{text}");
    }
}

#[test]
fn special_values_match_numpy() {
    let nan = f64::NAN;
    assert_eq!(of("unique_values(x)", vector(&[nan, 1.0, nan])).shape(), [3]);
    assert_eq!(of("unique(x)", vector(&[nan, 1.0, nan])).shape(), [2]);
    let inverse = of("x**-1", Array::from(Complex::new(0.0, 0.0)));
    let parts = inverse.numbers()[0].parts();
    assert!(parts.0.is_nan() && parts.1.is_nan());
    assert_eq!(of("x**-1", Array::from(Complex::new(1.0, 1.0))), Array::from(Complex::new(0.5, -0.5)));
    let dtype = |text| of(text, vector(&[1.0_f32, 2.0])).dtype().name();
    assert_eq!(dtype("percentile(x, [10, 50, 90])"), "f64");
    assert_eq!(dtype("percentile(x, 10)"), "f32");
}

#[test]
fn sort_angle_and_norm_use_their_settings() {
    let x = || vector(&[2_i64, 3, 1, 3]);
    assert_eq!(of("sort(x, descending=True)", x()), vector(&[3_i64, 3, 2, 1]));
    assert_eq!(of("argsort(x, descending=True)", x()), vector(&[1_i64, 3, 0, 2]));
    assert_eq!(of("argtopk(x, 3)", x()), vector(&[1_i64, 3, 0]));
    assert_eq!(of("angle(x, deg=True)", Array::from(Complex::new(0.0, 2.0))), Array::from(90.0));
    assert_eq!(of("norm(x, 1, axis=())", vector(&[-1.5, 2.0])), vector(&[1.5, 2.0]));
    assert_eq!(of("angle(x, True)", Array::from(-1.0)), Array::from(180.0));
}

#[test]
fn distribution_tails_are_exact_for_large_arguments() {
    let near = |text: &str, x: f64, expected: f64| {
        let found = of(text, Array::from(x)).numbers()[0].parts().0;
        assert!((found - expected).abs() <= 1e-14 * expected.abs(), "{text}: {found:e}, not {expected:e}");
    };
    near("gammaincc(1e6 + 1, x)", 1e6, 0.500_265_961_486_283_7);
    near("gammainc(1e10, x)", 1e10 + 3e5, 0.998_649_983_783_308);
    near("gammainc(0, x)", 1.0, 1.0);
    near("tri_gamma(x)", -0.5, 8.934_802_200_544_679);
    near("betainc(1e6, 1e6, x)", 0.5, 0.5);
    near("betainc(2.0**-1000, 2.0**-838, x)", 2f64.powi(-677), 1.0);
    near("betainc(2.0**-100, 2.0**-101, x)", 0.25, 1.0 / 3.0);
    near("betaincinv(127, 1, x)", 1e-9, 0.849_442_249_826_379_7);
    near("betaincinv(1, 1000, x)", 1e-300, 1e-303);
    near("betainc(1e8, 0.3, x)", 1.0 - 1e-9, 0.454_087_155_150_242_2);
    near("gammaln(x)", -13.999_999_999_970_726, -0.936_912_138_686_534_2);
    near("gammaln(x)", -14.000_000_000_010_93, 0.048_295_617_928_917_954);
}

#[test]
fn special_functions_have_documented_edges() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for (text, x, expected) in [
        ("j0(x)", inf, 0.0),
        ("j1(x)", -0.0, -0.0),
        ("y0(x)", 0.0, -inf),
        ("y1(x)", -1.0, nan),
        ("y1(x)", 5e-324, -inf),
        ("jv(-1.5, x)", 0.0, -inf),
        ("jv(0, x)", 0.0, 1.0),
        ("jv(0.5, x)", -1.0, nan),
        ("jv(2, x)", inf, 0.0),
        ("jv(2**22, x)", 1e3, 0.0),
        ("jv(2**22, x)", 4194304.0, nan),
        ("softplus_inverse(x)", 0.0, -inf),
        ("softplus_inverse(x)", -1.0, nan),
        ("softplus_inverse(x)", inf, inf),
        ("lambertw(x)", -0.0, -0.0),
        ("lambertw(x)", -0.367_879_441_171_442_33, -1.0),
        ("lambertw(x)", -0.367_879_441_171_442_4, nan),
        ("lambertw(x, -1)", -0.367_879_441_171_442_33, -1.0),
        ("lambertw(x, k=-1)", 0.0, -inf),
        ("lambertw(x, k=-1)", 1.0, nan),
        ("hyp2f1(1, 2, -1, x)", 0.5, inf),
        ("hyp2f1(-1, 2, -1, x)", 0.5, 2.0),
        ("hyp2f1(-2, 2, -1, x)", 0.5, inf),
        ("hyp2f1(1, 1, 2, x)", 1.0, inf),
        ("hyp2f1(1, 1, 3, x)", 1.0, 2.0),
        ("hyp2f1(1, 2, 3, x)", 1.5, nan),
        ("hyp2f1(0.5, -2, -3, x)", 2.0, 13.0 / 6.0),
        ("hyp2f1(0.5, 1, 1.5, x)", -1e300, 0.5e-150 * std::f64::consts::PI),
    ] {
        let found = of(text, Array::from(x)).numbers()[0].parts().0;
        let same = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
        let near = expected.is_normal() && (found - expected).abs() <= 4e-16 * expected.abs();
        assert!(same || near, "{text} of {x:e}: {found:e}, not {expected:e}");
    }
    let problem = value("lambertw(x, k=1)", &[Array::from(1.0)]).unwrap_err();
    assert!(problem.contains("branches with real results are 0 and -1"), "{problem}");
}

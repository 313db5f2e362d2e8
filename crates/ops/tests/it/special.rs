//! Special functions and their gradients at arguments where their formulas change, cancel, overflow or underflow.
//!
//! The numbers are those of mpmath with 60 digits, rounded once, unless they are limits.

use precast_graph::text::parse;
use precast_graph::{Array, Type, interpret};
use precast_ops::Ops;

/// An expression of `x`, the value of `x`, the result, and the largest relative error.
type Case<'a> = (&'a str, f64, f64, f64);

/// The relative error of results that are right to the last digits.
const EXACT: f64 = 2e-15;

fn value(text: &str, x: f64) -> f64 {
    let of_x: Type = "f64[]".parse().unwrap();
    let graph = parse(&[text], &[("x".to_owned(), of_x)], &Ops::standard());
    let graph = graph.unwrap_or_else(|error| panic!("{text}: {}", precast_core::event::chain(&error)));
    interpret(&graph, &[Array::from(x)]).unwrap()[0].numbers()[0].parts().0
}

/// Checks values; 0 must have its sign.
fn check(cases: &[Case<'_>]) {
    for (text, x, expected, error) in cases {
        let found = value(text, *x);
        let same = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
        let near =
            expected.is_finite() && *expected != 0.0 && (found - expected).abs() <= error * expected.abs();
        assert!(same || near, "{text} of {x:e}: {found:e}, not {expected:e}");
    }
}

#[test]
fn modified_bessel_functions_reach_the_largest_operands() {
    let inf = f64::INFINITY;
    check(&[
        ("ive(2, x)", 1e17, 1.261_566_261_010_08e-9, EXACT),
        ("ive(2.5, x)", 1e100, 3.989_422_804_014_327e-51, EXACT),
        ("ive(1e12, x)", 1e23, 8.500_366_602_520_342e-15, EXACT),
        ("ive(1e308, x)", 1.0, 0.0, 0.0),
        ("iv(1e308, x)", 1e300, 0.0, 0.0),
        ("kv(1e308, x)", 1e300, inf, 0.0),
        ("kve(-1e308, x)", 5e-324, inf, 0.0),
    ]);
}

#[test]
fn bessel_functions_of_small_operands_are_right_to_the_last_digits() {
    check(&[
        ("kv(0, x)", 1e-300, 690.891_459_413_872_1, EXACT),
        ("kv(0.25, x)", 1e-20, 215_580.054_933_483_83, EXACT),
        ("kv(0.5, x)", 0.0625, 4.709_518_689_611_933, EXACT),
        ("kve(-2.5, x)", 0.01, 379_766.716_747_969_74, EXACT),
        ("kv(7, x)", 1e-30, 4.607_999_999_999_997e214, EXACT),
        ("kve(40.3, x)", 0.05, 1.182_378_838_907_917_2e111, EXACT),
        ("kv(6, x)", 1e-100, f64::INFINITY, 0.0),
        ("kve(300.5, x)", 0.05, f64::INFINITY, 0.0),
    ]);
}

#[test]
fn tails_end_without_nan_and_negative_numbers() {
    let inf = f64::INFINITY;
    check(&[
        ("erfcx(x)", -26.628, 1.728_618_506_590_026e308, 2e-13),
        ("erfcx(x)", -26.629, inf, 0.0),
        ("erfcx(x)", -26.65, inf, 0.0),
        ("erfcx(x)", -26.8, inf, 0.0),
        ("owens_t(x, 1.0000001)", 38.458, 0.0, 0.0),
        ("owens_t(x.astype('f32'), 1.01).astype('f64')", 14.4, 0.0, 0.0),
    ]);
}

#[test]
fn gradients_of_scaled_bessel_functions_keep_their_digits() {
    check(&[
        ("grad(ive(2, x), x)", 1e8, -1.994_711_289_804_648e-13, 1e-13),
        ("grad(ive(2, x), x)", -1e8, 1.994_711_289_804_648e-13, 1e-13),
        ("grad(ive(40, x), x)", 5000.0, -3.269_229_901_698_523e-7, 1e-11),
        ("grad(ive(2.5, x), x)", 4000.0, -7.867_055_747_757_356e-7, 1e-11),
        ("grad(ive(2.5, x), x)", f64::INFINITY, 0.0, 0.0),
        ("grad(kve(1.5, x), x)", 1e16, -6.266_570_686_577_503e-25, 1e-13),
        ("grad(kve(30, x), x)", 5000.0, -2.288_212_347_717_728_5e-6, 1e-11),
        ("grad(kve(0.25, x), x)", 4000.0, -2.476_905_431_019_902_5e-6, 1e-11),
        ("grad(i0e(x), x)", 1e8, -1.994_711_409_487_331_2e-13, 1e-13),
        ("grad(i0e(x), x)", -5000.0, 5.642_319_057_027_534e-7, 1e-11),
        ("grad(i1e(x), x)", 1e8, -1.994_711_379_566_66e-13, 1e-13),
        ("grad(i1e(x), x)", 5000.0, -5.640_626_276_650_238e-7, 1e-11),
    ]);
}

#[test]
fn inverses_of_beta_distributions_reach_the_largest_operands() {
    check(&[
        ("betaincinv(23.57, 1e12, x)", 0.82, 2.792_807_489_619_657e-11, EXACT),
        ("betaincinv(23.57, 1e17, x)", 0.82, 2.792_807_489_690_172_6e-16, EXACT),
        ("betaincinv(3, 1e100, x)", 0.8, 4.279_029_860_125_334e-100, EXACT),
        ("betaincinv(3, 1.797e308, x)", 0.8, 2.381_207_490_331_293e-308, EXACT),
        ("betaincinv(1e50, 1.43, x)", 0.09, 1.0, 0.0),
        ("betaincinv(1e308, 1.5e308, x)", 0.3, 0.4, EXACT),
        ("betaincinv(1.5e308, 1e308, x)", 0.3, 0.6, EXACT),
    ]);
}

#[test]
fn incomplete_functions_reach_the_least_and_largest_operands() {
    check(&[
        ("gammainc(1e308, x)", 1.0, 0.0, 0.0),
        ("gammaincc(1e308, x)", 1.0, 1.0, 0.0),
        ("gammaincc(x, 1)", 1e-307, 2.193_839_343_955_202_5e-308, EXACT),
        ("betainc(0.5, 0.5, x)", 5e-324, 1.415_052_169_125_239_1e-162, EXACT),
        ("betainc(1, x, 0.5)", 1e-307, 6.931_471_805_599_453e-308, EXACT),
        ("betainc(6.5, x, 0.99)", 1e-307, 2.289_429_230_682_134e-307, EXACT),
        ("betainc(2, 1e308, x)", 1e-308, 0.264_241_117_657_115_4, EXACT),
        ("betainc(1e308, 2, x)", 0.5, 0.0, 0.0),
        ("gammainccinv(1e-310, x)", 1e-310, 0.264_737_010_451_543_1, EXACT),
        ("gammainccinv(1e-310, x)", 5e-324, 27.297_105_511_725_46, EXACT),
        ("gammainccinv(1e-310, x)", 0.5, 0.0, 0.0),
        ("betaincinv(2.5, 1e-310, x)", 1e-310, 0.877_474_872_972_621_2, EXACT),
        ("betaincinv(2.5, 1e-310, x)", 0.5, 1.0, 0.0),
    ]);
}

#[test]
fn hypergeometric_polynomials_of_high_degree_keep_their_digits() {
    let inf = f64::INFINITY;
    check(&[
        ("hyp2f1(-1000, 0.5, 3, x)", 0.1, 0.149_272_129_873_830_18, EXACT),
        ("hyp2f1(0.5, -4000, 3, x)", 0.1, 0.075_077_377_273_648_79, EXACT),
        ("hyp2f1(-10000, 0.5, 3, x)", 0.1, 0.047_539_196_653_935_515, EXACT),
        (
            "hyp2f1(-50, 53.5413461678, 20.575056114466854, x)",
            0.744_425_651_490_130_4,
            4.870_426_739_586_427e-21,
            1e-14,
        ),
        ("hyp2f1(-0.87, -1e5, -1e6, x)", 0.13, 0.988_680_396_013_481_6, EXACT),
        (
            "hyp2f1(1.7224834731676077, -0.16571369840207623, -81.78839324361161, x)",
            -12.5,
            0.946_592_131_460_419_3,
            EXACT,
        ),
        ("hyp2f1(3.4737255755876078, 101.1830537920724, 2.5, x)", -2.5, -1.724_664_066_572_463_2e-10, EXACT),
        ("hyp2f1(-0.5, 3, 1, x)", 1.0, -inf, 0.0),
        ("hyp2f1(14.5, -0.1638, 0.8877, x)", 1.0, -inf, 0.0),
        ("hyp2f1(2, 3, -2, x)", 0.0, 1.0, 0.0),
    ]);
}

#[test]
fn largest_terms_decide_the_sign_of_infinite_zeta() {
    let inf = f64::INFINITY;
    check(&[
        ("polygamma(172, x)", -0.98, -inf, 0.0),
        ("polygamma(172, x)", -0.02, inf, 0.0),
        ("polygamma(171, x)", -0.02, inf, 0.0),
        ("polygamma(172, x)", -0.5, -7.337_003_656_221_51e280, 1e-13),
        ("zeta(3001, x)", -0.75, inf, 0.0),
        ("zeta(3001, x)", -0.25, -inf, 0.0),
        ("zeta(3000, x)", -1.25, inf, 0.0),
        ("zeta(5, x)", -0.5, 0.144_760_409_444_467_72, EXACT),
    ]);
}

#[test]
fn bessel_functions_reach_the_least_operands_and_largest_orders() {
    check(&[
        ("jv(1, x)", 5e-324, 0.0, 0.0),
        ("jv(1, x)", 1e-310, 5e-311, 0.0),
        ("jv(-0.5, x)", 5e-324, 3.589_613_857_049_051e161, EXACT),
        ("jv(0.5, x)", 5e-324, 1.773_504_888_603_627_3e-162, EXACT),
        ("jv(1e308, x)", 1.0, 0.0, 0.0),
        ("jv(-1e308, x)", 5e-324, 0.0, 0.0),
    ]);
}

#[test]
fn bessel_functions_of_large_orders_have_an_expansion() {
    check(&[
        ("jv(300.5, x)", 1000.0, 0.015_656_448_302_266_84, EXACT),
        ("jv(1000.25, x)", 5000.0, -0.010_478_515_775_605_712, EXACT),
        ("jv(257, x)", 1e5, 0.001_189_480_279_879_274, EXACT),
        ("jv(-300.5, x)", 700.0, 0.017_188_429_936_848_363, EXACT),
        ("jv(2000, x)", 2300.0, 0.001_335_765_068_499_466, 1e-14),
        ("jv(400, x)", 260.0, 2.187_860_623_455_333_4e-43, EXACT),
        ("jv(1048576, x)", 1e15, 6.143_185_926_287_838e-9, EXACT),
        // The order is a multiple of 4, so this is `j0(x)`.
        ("jv(1e9, x)", 1e300, -7.860_673_062_724_094e-151, EXACT),
    ]);
}

#[test]
fn gradients_are_finite_at_the_ends_of_domains() {
    let inf = f64::INFINITY;
    check(&[
        ("grad(erfcx(x), x)", 31.0, -0.000_586_171_943_036_972_7, 1e-12),
        ("grad(erfcx(x), x)", 33.0, -0.000_517_368_449_240_186_6, 1e-12),
        ("grad(erfcx(x), x)", 1e5, -5.641_895_834_631_278e-11, EXACT),
        ("grad(erfcx(x), x)", 1e10, -5.641_895_835_477_563e-21, EXACT),
        ("grad(erfcx(x), x)", inf, -0.0, 0.0),
        ("grad(erfcx(x), x)", 0.0, -std::f64::consts::FRAC_2_SQRT_PI, EXACT),
        ("grad(betainc(1, 1, x), x)", 0.0, 1.0, EXACT),
        ("grad(betainc(1, 1, x), x)", 1.0, 1.0, EXACT),
        ("grad(betainc(0.5, 1, x), x)", 0.0, inf, 0.0),
        ("grad(betainc(2, 1, x), x)", 0.0, 0.0, 0.0),
        ("grad(gammainc(1, x), x)", 0.0, 1.0, EXACT),
        ("grad(gammaincc(1, x), x)", 0.0, -1.0, EXACT),
        ("grad(gammainc(1, x), x)", inf, 0.0, 0.0),
        ("grad(gammainc(2.5, x), x)", inf, 0.0, 0.0),
        ("grad(jv(1, x), x)", 5e-324, 0.5, EXACT),
        ("grad(j1(x), x)", 5e-324, 0.5, EXACT),
        ("grad(i1(x), x)", 5e-324, 0.5, EXACT),
        ("grad(i1e(x), x)", 5e-324, 0.5, EXACT),
        ("grad(gammaincinv(2.5, x), x)", 1.0, inf, 0.0),
        ("grad(gammaincinv(1, x), x)", 0.0, 1.0, EXACT),
        ("grad(gammainccinv(2.5, x), x)", 0.0, -inf, 0.0),
        ("grad(betaincinv(1, 1, x), x)", 0.0, 1.0, EXACT),
        ("grad(betaincinv(1, 1, x), x)", 1.0, 1.0, EXACT),
        ("grad(hyp2f1(0, 1.5, -3, x), x)", 0.5, 0.0, 0.0),
    ]);
}

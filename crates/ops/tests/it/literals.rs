//! Tests of literals and extents combined with arrays: values, dtypes and errors of NumPy 2, line by line.

use crate::functions::value;
use precast_graph::{Array, Complex};
use precast_ops::Ops;
use precast_ops::build::Graph;

/// Compares the value of `text` for `x` (and `y`) with the expected value.
macro_rules! gives {
    ($($text:literal of $x:expr $(, $y:expr)? => $expected:expr;)*) => {$(
        assert_eq!(value($text, &[Array::from($x) $(, Array::from($y))?]), Ok(Array::from($expected)), $text);
    )*};
}

#[test]
fn literal_arithmetic_is_unbounded() {
    gives! {
        "x * 10**20" of 2.0_f64 => 2e20_f64;
        "x / 2**64" of 1_i64 => 2_f64.powi(-64);
        "x * (2**100 / 2**99)" of 3.0_f32 => 6.0_f32;
        "n = 10**20; x * n" of 2.0_f64 => 2e20_f64;
        "x + 10**-20" of 0.0_f64 => 1e-20_f64;
        "x + 18446744073709551615" of 0_u64 => u64::MAX;
        "x + (2**64 - 1)" of 0_u64 => u64::MAX;
        "x + (7 // 2 - 7 % 4)" of 1_i8 => 1_i8;
    }
    for text in ["x + 10**20", "x * 2**63", "x + 2**64 * 2"] {
        let message = value(text, &[Array::from(1_i64)]).unwrap_err();
        assert!(
            message.contains("does not fit into `i64`") && message.contains("\n    x "),
            "{text}: {message}"
        );
    }
    let message = value("x + 1 / 0", &[Array::from(1.0)]).unwrap_err();
    assert!(message.contains("division by zero"), "{message}");
}

#[test]
fn integer_comparisons_are_exact() {
    gives! {
        "x > 2**63" of i64::MAX => false;
        "x < 2**63" of i64::MAX => true;
        "-10**30 < x" of i64::MIN => true;
        "x != 2**64" of u64::MAX => true;
        "x == -1" of u64::MAX => false;
        "x == y" of u64::MAX, -1_i64 => false;
        "x > y" of u64::MAX, -1_i8 => true;
        "y < x" of u64::MAX, i64::MAX => true;
        "y >= x" of (1_u64 << 53) + 1, 1_i64 << 53 => false;
        "x == y" of (1_u64 << 53) + 1, (1_i64 << 53) + 1 => true;
        "x > 2**70" of true => false;
        "clip(x, 127, 2**31)" of 0_u16 => 127_u16;
        "clip(x, -300, 5)" of 7_i8 => 5_i8;
        "clip(x, -300, 2**31)" of -128_i8 => -128_i8;
    }
}

#[test]
fn literal_expressions_are_weak() {
    let third = 1.0_f32 / 3.0;
    gives! {
        "x / 2**0.5" of 1.0_f32 => 1.0_f32 / std::f32::consts::SQRT_2;
        "x / sqrt(2)" of 1.0_f32 => 1.0_f32 / std::f32::consts::SQRT_2;
        "x * abs(-2)" of 1.5_f32 => 3.0_f32;
        "x + abs(-2)" of 1_i8 => 3_i8;
        "x + 7 // 2" of 1.0_f32 => 4.0_f32;
        "x + 7 % 4" of 1_u8 => 4_u8;
        "x + ~2" of 1_i8 => -2_i8;
        "x * -(1 / 3)" of 1.0_f32 => -third;
        "x * maximum(1, 2.5)" of 1.0_f32 => 2.5_f32;
        "hypot(x, 2)" of false => 2.0_f64;
        "x + 2j" of 1.0_f32 => Complex::new(1.0_f32, 2.0);
    }
    let g = Graph::new();
    let x = g.input("x", "f32");
    g.output("y", &(&x / g.apply("sqrt", &[2.into()], &precast_graph::Props::new())));
    let graph = g.finish().unwrap();
    assert_eq!(graph.ty(graph.outputs()[0]).to_string(), "f32", "the builder's literals are weak too");
}

#[test]
fn extents_are_weak_integers() {
    let x = || Array::from(ndarray::array![1.0_f32, 2.0]);
    assert_eq!(value("x / shape(x)[0]", &[x()]), Ok(Array::from(ndarray::array![0.5_f32, 1.0])));
    assert_eq!(value("x / (shape_i(x, i=0) + 2)", &[x()]), Ok(Array::from(ndarray::array![0.25_f32, 0.5])));
    assert_eq!(value("n = shape(x)[0]; x * (n / 4)", &[x()]), Ok(Array::from(ndarray::array![0.5_f32, 1.0])));
    let small = |n: usize| Array::from(ndarray::Array1::from(vec![1_i8; n]));
    assert_eq!(value("sum(x + shape(x)[0])", &[small(100)]), Ok(Array::from(10_100_i64)));
    let message = value("x + shape(x)[0]", &[small(200)]).unwrap_err();
    assert!(message.contains("does not fit `i8`"), "{message}");
}

#[test]
fn quotients_by_powers_of_two_become_products() {
    let divides = |text: &str, ty: &str| {
        let inputs = [ty, "y=f64"].map(|input| precast_graph::text::parse_input(input).unwrap());
        let graph = precast_graph::text::parse(&[text], &inputs, &Ops::standard()).unwrap();
        graph.applies().iter().any(|apply| apply.op.label().contains("div"))
    };
    for divisor in [2.0, -0.25, 16384.0, 1.0 / 16384.0] {
        let text = format!("x / {divisor}");
        assert!(["x=f64[?]", "x=f32", "x=i8[?]"].iter().all(|ty| !divides(&text, ty)), "{text}");
        for x in [5e-324, 1.5e-323, f64::MAX, f64::INFINITY, f64::NAN, -0.0, 1.0 / 3.0, f64::MIN_POSITIVE] {
            let Ok(Array::F64(found)) = value(&text, &[Array::from(x)]) else { panic!("{text} of {x}") };
            let found = found.first().copied().unwrap();
            assert!(
                found.to_bits() == (x / divisor).to_bits() || x.is_nan() && found.is_nan(),
                "{text} of {x:e}"
            );
        }
    }
    for text in ["x / 3", "x / y", "x / 0", "x / 32768", "2 / x", "x / 2j"] {
        assert!(divides(text, "x=f64"), "{text}");
    }
    assert!(divides("x / 2", "x=c128"), "a product of complex numbers has other infinities");
}

#[test]
fn literal_negative_power_fails_at_its_place() {
    for text in ["x ** -1", "x ** -2", "pow(x, -1)"] {
        let message = value(text, &[Array::from(2_i64)]).unwrap_err();
        assert!(message.contains("negative integer powers are not allowed"), "{text}: {message}");
        assert!(message.contains("line 1, column"), "{text}: {message}");
    }
    gives! {
        "x ** -1.0" of 2_i64 => 0.5_f64;
        "x ** -1" of 2.0_f32 => 0.5_f32;
        "x ** 2" of true => 1_i8;
    }
}

#[test]
fn bool_functions_have_numpy_dtypes() {
    gives! {
        "round(x)" of true => precast_graph::f16::ONE;
        "conj(x)" of true => 1_i8;
        "floor(x)" of true => true;
        "angle(x)" of true => 0.0_f64;
    }
}

#[test]
fn scalars_accept_one_axis_in_sums() {
    gives! {
        "sum(x, axis=0)" of 2.5_f64 => 2.5_f64;
        "max(x, axis=-1)" of 2.5_f64 => 2.5_f64;
        "argmax(x, axis=0)" of 2.5_f64 => 0_i64;
    }
    assert!(value("sum(x, axis=1)", &[Array::from(2.5)]).is_err());
    assert!(value("mean(x, axis=0)", &[Array::from(2.5)]).is_err(), "as NumPy");
}

#[test]
fn an_infinite_power_of_infinity_is_infinite() {
    let inf = f64::INFINITY;
    let power = value("x ** y", &[Array::from(inf), Array::from(Complex::new(inf, 0.0))]).unwrap();
    let (re, im) = power.numbers()[0].parts();
    assert!(re == inf && im.is_nan(), "{re} {im}");
}

#[test]
fn matmul_broadcasts_stacks_and_dot_does_not() {
    let a = Array::from(ndarray::Array3::from_shape_fn((2, 2, 3), |(i, j, k)| (i * 6 + j * 3 + k) as f64));
    let b = Array::from(ndarray::Array3::from_shape_fn((1, 3, 2), |(_, j, k)| (j * 2 + k) as f64));
    let product = value("x @ y", &[a.clone(), b.clone()]).unwrap();
    assert_eq!(product.shape(), [2, 2, 2]);
    let numbers: Vec<f64> = product.numbers().into_iter().map(|n| n.parts().0).collect();
    assert_eq!(numbers, [10.0, 13.0, 28.0, 40.0, 46.0, 67.0, 64.0, 94.0]);
    assert_eq!(value("dot(x, y)", &[a.clone(), b]).unwrap().shape(), [2, 2, 1, 2]);
    let v = Array::from(ndarray::array![1.0, 2.0, 3.0]);
    assert_eq!(value("x @ y", &[a.clone(), v]).unwrap().shape(), [2, 2]);
    let wrong = Array::from(ndarray::Array3::<f64>::zeros((3, 3, 1)));
    assert!(value("x @ y", &[a, wrong]).unwrap_err().contains("broadcast"));
}

#[test]
fn take_without_axis_flattens_its_input() {
    let x = Array::from(ndarray::array![[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]);
    let v = Array::from(ndarray::array![[5_i64, -6], [1, 2]]);
    assert_eq!(
        value("take(x, y)", &[x.clone(), v]),
        Ok(Array::from(ndarray::array![[5.0, 0.0], [1.0, 2.0]]))
    );
    assert_eq!(value("take(x, 4)", std::slice::from_ref(&x)), Ok(Array::from(4.0)));
    let v = Array::from(ndarray::array![2_i64, 0]);
    assert_eq!(
        value("take(x, y, axis=1)", &[x, v]),
        Ok(Array::from(ndarray::array![[2.0, 0.0], [5.0, 3.0]]))
    );
}

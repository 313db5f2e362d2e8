//! Tests of results that NumPy or C leave open, of literals, of the builder's methods, and of combinations.

use precast_graph::{Array, DType, Prop, Props, Type, encode, interpret, text};
use precast_ops::build::{Graph, Var};
use precast_ops::{Ops, combinations, scalar};

/// Evaluates a text over the inputs `x` and `y`.
pub(crate) fn value(text: &str, inputs: &[Array]) -> Result<Array, String> {
    let typed = ["x", "y"].iter().zip(inputs);
    let types: Vec<(String, Type)> =
        typed.map(|(name, a)| ((*name).to_owned(), Type::tensor(a.dtype(), a.shape().len()))).collect();
    let graph = text::parse(&[text], &types, &Ops::standard()).map_err(|error| in_full(&error))?;
    interpret(&graph, inputs).map(|mut all| all.remove(0)).map_err(|error| in_full(&error))
}

/// Formats an error with all its causes.
fn in_full(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source()).map(|e| format!("{e}\n")).collect()
}

/// Compares the value of `text` for single numbers with the expected value.
macro_rules! gives {
    ($($text:literal of $x:expr $(, $y:expr)? => $expected:expr;)*) => {$(
        assert_eq!(value($text, &[Array::from($x) $(, Array::from($y))?]), Ok(Array::from($expected)), $text);
    )*};
}

#[test]
fn integers_never_trap_and_divide_like_python() {
    gives! {
        "x // y" of 7_i8, 0_i8 => 0_i8;
        "x % y" of 7_i8, 0_i8 => 0_i8;
        "x // y" of -7_i32, 2_i32 => -4_i32;
        "x % y" of -7_i32, 2_i32 => 1_i32;
        "x // y" of 7_i64, -2_i64 => -4_i64;
        "x % y" of 7_i64, -2_i64 => -1_i64;
        "x // y" of i16::MIN, -1_i16 => i16::MIN;
        "x % y" of i64::MIN, -1_i64 => 0_i64;
        "x // y" of 200_u8, 7_u8 => 28_u8;
        "reciprocal(x)" of 0_i32 => 0_i32;
        "x // y" of 1.0_f64, 0.0_f64 => f64::INFINITY;
        "x // y" of -1.0_f64, f64::INFINITY => -1.0_f64;
    }
}

#[test]
fn integers_wrap_around() {
    gives! {
        "x + y" of 255_u8, 2_u8 => 1_u8;
        "x - y" of 0_u32, 1_u32 => u32::MAX;
        "x * y" of i64::MAX, 2_i64 => -2_i64;
        "-x" of i8::MIN => i8::MIN;
        "-x" of 1_u16 => u16::MAX;
        "abs(x)" of i64::MIN => i64::MIN;
        "pow(x, y)" of 3_u8, 6_u8 => 217_u8;
        "square(x)" of 300_i16 => 24464_i16;
    }
}

#[test]
fn shifts_of_any_count_are_defined() {
    gives! {
        "x << y" of 1_i8, 7_i8 => i8::MIN;
        "x << y" of 1_i8, 8_i8 => 0_i8;
        "x << y" of 1_i64, 64_i64 => 0_i64;
        "x << y" of 1_i64, -1_i64 => 0_i64;
        "x >> y" of -8_i32, 1_i32 => -4_i32;
        "x >> y" of -8_i32, 32_i32 => -1_i32;
        "x >> y" of -8_i32, -1_i32 => -1_i32;
        "x >> y" of u64::MAX, 64_u64 => 0_u64;
        "x + y << 1" of 1_i32, 2_i32 => 6_i32;
        "x & y << 1" of 7_i32, 1_i32 => 2_i32;
        "x << 1 < y" of 3_i32, 7_i32 => true;
    }
}

#[test]
fn floats_saturate_when_cast_to_integers() {
    gives! {
        "i8(x)" of 300.0_f64 => 127_i8;
        "u8(x)" of -1.5_f32 => 0_u8;
        "i64(x)" of 1e300_f64 => i64::MAX;
        "i64(x)" of f64::NEG_INFINITY => i64::MIN;
        "u64(x)" of f32::INFINITY => u64::MAX;
        "i32(x)" of f64::NAN => 0_i32;
        "i32(x)" of -1.9_f64 => -1_i32;
        "bool(x)" of f64::NAN => true;
        "u8(x)" of 511_i64 => 255_u8;
    }
}

#[test]
fn literals_adopt_dtypes_or_are_rejected() {
    gives! {
        "x + 127" of 1_i8 => -128_i8;
        "x < 300" of 255_u8 => true;
        "300 <= x" of 255_u8 => false;
        "x == -1" of 255_u8 => false;
        "x * 0.5" of 3_i8 => 1.5_f64;
        "clip(x, 0, 9)" of 200_u8 => 9_u8;
        "where(x > 1, x, 0)" of 1.5_f32 => 1.5_f32;
        "x + True" of 1_i8 => 2_i8;
    }
    for (text, x, literal, dtype) in [
        ("x + 300", Array::from(1_u8), "300", "u8"),
        ("x - -1", Array::from(1_u64), "-1", "u64"),
        ("x // 128", Array::from(1_i8), "128", "i8"),
        ("clip(x, 256, 300)", Array::from(1_u8), "256", "u8"),
        ("x * 1e39", Array::from(1_f32), "1e39", "f32"),
        ("x + 70000", Array::from(precast_graph::f16::ONE), "70000", "f16"),
    ] {
        let message = value(text, &[x]).unwrap_err();
        let expected = format!("literal `{literal}`, which does not fit into `{dtype}`");
        assert!(message.contains(&expected), "{text}: {message}");
    }
}

#[test]
fn negative_integer_power_fails_at_run_time() {
    let message = value("pow(x, y)", &[Array::from(2_i32), Array::from(-1_i32)]).unwrap_err();
    assert!(message.contains("negative integer powers"), "{message}");
}

#[test]
fn complex_parts_come_from_text() {
    let z = || Array::from(precast_graph::Complex::new(-3.0_f64, 4.0));
    gives! {
        "real(x)" of precast_graph::Complex::new(-3.0_f64, 4.0) => -3.0_f64;
        "imag(x)" of 2.5_f32 => 0.0_f32;
        "conj(x)" of 2_i8 => 2_i8;
        "complex(x, y)" of 1.0_f32, 2.0_f32 => precast_graph::Complex::new(1.0_f32, 2.0);
        "angle(x)" of -1.0_f64 => std::f64::consts::PI;
        "x == conj(conj(x))" of precast_graph::Complex::new(-3.0_f64, 4.0) => true;
    }
    assert_eq!(value("abs(x)", &[z()]), Ok(Array::from(5.0_f64)));
    assert_eq!(value("angle(x)", &[z()]), value("atan2(4.0, x)", &[Array::from(-3.0_f64)]));
}

/// An expression in Rust.
type Expression = fn(&Var, &Var) -> Var;

#[test]
fn methods_and_operators_match_the_text() {
    let rows: [(&str, &str, Expression); 14] = [
        ("f32", "clip(x, y, 2)", |x, y| x.clip(y, 2)),
        ("f32", "hypot(sin(x), cos(y))", |x, y| x.sin().hypot(y.cos())),
        ("f32", "softplus(expm1(x)) // y", |x, y| x.expm1().softplus().floor_div(y)),
        ("f64", "x % y", |x, y| x % y),
        ("f64", "atan2(x, 1.5)", |x, _| x.atan2(1.5)),
        ("i32", "(x & y) | ~x ^ 3", |x, y| (x & y) | (!x ^ 3)),
        ("i32", "x << 2 >> y", |x, y| (x << 2) >> y),
        ("i8", "pow(x, y)", |x, y| x.pow(y)),
        ("u8", "i16(x)", |x, _| x.cast(DType::I16)),
        ("c64", "real(x) * imag(conj(y))", |x, y| x.real() * y.conj().imag()),
        ("f64", "complex(x, y)", |x, y| x.complex(y)),
        ("bool", "logical_xor(x, y)", |x, y| x.logical_xor(y)),
        ("f16", "round(x) + trunc(y)", |x, y| x.round() + y.trunc()),
        ("bf16", "where(isnan(x), y, 0)", |x, y| x.isnan().switch(y, 0)),
    ];
    for (dtype, text, expression) in rows {
        let g = Graph::new();
        let ty = format!("{dtype}[?]");
        let (x, y) = (g.input("x", &ty), g.input("y", &ty));
        g.output("out", &expression(&x, &y));
        let types = ["x", "y"].map(|name| (name.to_owned(), ty.parse::<Type>().unwrap()));
        let parsed = text::parse(&[text], &types, &Ops::standard()).unwrap();
        assert_eq!(encode::canonical(&g.finish().unwrap()), encode::canonical(&parsed), "{text}");
    }
}

#[test]
fn every_scalar_op_can_be_declared() {
    let ops = Ops::standard();
    let mut count = 0;
    for name in scalar::names() {
        let op = scalar::find(name).unwrap();
        let has = |dtype: &DType| {
            let mut inputs = vec![*dtype; op.arity()];
            if name == "switch" {
                inputs[0] = DType::Bool;
            }
            op.output(&inputs).is_some()
        };
        let dtypes: Vec<DType> = DType::ALL.into_iter().filter(has).collect();
        let found = combinations(name, &dtypes, &[1], &ops).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(found.len() >= dtypes.len().min(1), "{name}");
        count += found.len();
    }
    assert!(count > 500, "{count}");
}

#[test]
fn builder_passes_optional_arguments_by_name() {
    let graph = Graph::new();
    let [x, w] = ["x", "w"].map(|name| graph.input(name, "f64[?]"));
    let method = Prop::Str("inverted_cdf".to_owned());
    let props = Props::from([("method".to_owned(), method)]);
    let found =
        graph.apply_named("quantile", &[(&x).into(), 0.5.into()], &[("weights", (&w).into())], &props);
    graph.output("y", &found);
    let inputs =
        [vec![3.0, 1.0, 2.0], vec![1.0, 5.0, 1.0]].map(|numbers| Array::from(ndarray::Array1::from(numbers)));
    assert_eq!(interpret(&graph.finish().unwrap(), &inputs).unwrap(), [Array::from(1.0)]);
}

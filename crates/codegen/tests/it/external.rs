//! Tests external ops, native and with compat headers, in C and C++, with every request refused in turn. No memory
//! leaks, each failure names its Apply and its cause, and the instance remains usable.

use crate::run::{Outcome, opwise, whole};
use precast_codegen::external::{Declaration, ExternalCOp, ExternalError};
use precast_codegen::{Library, LinkError};
use precast_graph::{Array, FunctionGraph, Op, Prop};
use precast_store::key::Language;
use std::sync::Arc;

/// Creates the op `x * alpha + w[0]` with params, struct members and scratch memory.
fn native(alpha: f64, language: Language) -> Arc<dyn Op> {
    let mut d = Declaration::new("affine").file("steps.c", include_str!("../c/external/steps.c"));
    d = d.input("{T}[?]").output("{T}[?]");
    d.params.insert("alpha".to_owned(), Prop::Float(alpha));
    d.params.insert("w".to_owned(), Prop::Array(ndarray::array![1.0].into()));
    d.language = Some(language);
    Arc::new(ExternalCOp::new(d).unwrap())
}

/// Creates the op `2 * x`, written as for CPython and NumPy.
fn compat(language: Language) -> Arc<dyn Op> {
    let d = Declaration::new("twice").file("compat.c", include_str!("../c/external/compat.c"));
    let d = d.func("APPLY_SPECIFIC(twice)").input("{T}[?]").output("{T}[?]");
    Arc::new(ExternalCOp::new(Declaration { language: Some(language), ..d }).unwrap())
}

#[test]
fn halves_are_rejected_where_c_expects_integers() {
    let c = "#section code\nnpy_half *x = (npy_half *)PyArray_DATA(INPUT_0);\n(void)x;\n";
    let native = "#section code\n(void)INPUT_0;\n";
    let link = |text: &str, output: &str, f16_ok| {
        let d = Declaration::new("half").file("half.c", text).input("f16[?]").output(output);
        let mut graph = FunctionGraph::new();
        let x = graph.input("x", "f16[?]".parse().unwrap()).unwrap();
        let op = Arc::new(ExternalCOp::new(Declaration { f16_ok, ..d }).unwrap());
        let y = graph.apply(op, &[x]).unwrap()[0];
        graph.output(y, None).unwrap();
        precast_codegen::link(&graph, &library())
    };
    for output in ["f16[?]", "f32[?]"] {
        let error = link(c, output, false).unwrap_err();
        assert!(matches!(error, LinkError::Half { .. }), "{error}");
        assert!(error.to_string().contains(&format!("`half(f16[?]) -> {output}`")), "{error}");
        assert!(
            error.to_string().contains("hint: ") && error.to_string().contains("`f16_ok = true`"),
            "{error}"
        );
        link(c, output, true).unwrap();
        // A `pc_f16` is a struct, so it cannot be used in arithmetic by mistake.
        link(native, output, false).unwrap();
    }
}

#[test]
fn params_cannot_be_named_like_compiler_macros() {
    let text = "#section code\nOUTPUT_0 = INPUT_0;\n";
    let named = |param: &str| {
        let mut d = Declaration::new("same").file("same.c", text).input("f64").output("f64");
        d.params.insert(param.to_owned(), Prop::Float(1.0));
        ExternalCOp::new(d)
    };
    for param in [
        "linux",
        "unix",
        "NULL",
        "_Complex",
        "typeof",
        "asm",
        "errno",
        "FAIL",
        "PARAMS",
        "PARAMS_TYPE",
        "INPUT_0",
        "OUTPUT_12",
        "DTYPE_INPUT_0",
        "APPLY_SPECIFIC",
        "DTYPE_PARAM_x",
        "__x",
        "_X",
        "int",
        "class",
        "a b",
        "a\n",
        "ä",
        "",
        "1",
    ] {
        assert!(matches!(named(param), Err(ExternalError::Param { .. })), "{param}");
    }
    for param in ["alpha", "x", "input_0", "_x", "Fail"] {
        assert!(named(param).is_ok(), "{param}");
    }
}

#[test]
fn header_and_file_names_must_be_one_line() {
    let text = "#section code\nOUTPUT_0 = INPUT_0;\n";
    let plain = || Declaration::new("same").file("same.c", text).input("f64").output("f64");
    for header in ["math.h\n#define x", "<math.h>\nint x;", "", "<>", "a\0.h", "\u{202e}.h", "\"a.h"] {
        let made = ExternalCOp::new(plain().header(header));
        assert!(matches!(made, Err(ExternalError::Setting { key: "headers", .. })), "{header:?}");
    }
    for file in ["a\n.c", "a\r.c", "a\x1b.c", "a\".c", "../a.c", ""] {
        let made = ExternalCOp::new(plain().file(file, text));
        assert!(matches!(made, Err(ExternalError::FileName { .. })), "{file:?}");
    }
}

fn chain(n: usize, op: impl Fn(usize) -> Arc<dyn Op>) -> FunctionGraph {
    let mut graph = FunctionGraph::new();
    let mut last = graph.input("x", "f64[?]".parse().unwrap()).unwrap();
    for i in 0..n {
        last = graph.apply(op(i), &[last]).unwrap()[0];
    }
    graph.output(last, None).unwrap();
    graph
}

fn library() -> Library {
    Library::new().with_c::<ExternalCOp>()
}

fn input() -> [Array; 1] {
    [ndarray::array![1.0, -2.0].into()]
}

/// Checks that each Apply failed `times` times, in order, with the expected message.
fn in_order(outcome: &Outcome, n: usize, times: usize) {
    let refused = |apply: usize| (apply as i64, "refused".to_owned());
    let expected: Vec<_> = (0..n).flat_map(|apply| vec![refused(apply); times]).collect();
    assert_eq!(outcome.refused, expected);
}

fn check_native(outcome: &Outcome, n: usize) {
    // The alphas alternate: 1, 2, 1, 2, …
    let value = |x: f64| (0..n).fold(x, |x, i| x * (i % 2 + 1) as f64 + 1.0);
    assert_eq!(outcome.f64s(), [value(1.0), value(-2.0)]);
    assert_eq!(outcome.failures[0], format!("refused extract 0 code {} sync 0 struct {n}", 2 * n));
    // The input, and both params of each Apply, are extracted.
    assert_eq!(outcome.failures[1], format!("wrong accepted 0 extract 1 code 0 sync 0 struct {}", 2 * n));
    let mut code = Outcome { refused: outcome.refused[n..].to_vec(), ..outcome.clone() };
    in_order(&code, n, 2);
    code.refused = outcome.refused[..n].to_vec();
    in_order(&code, n, 1);
}

fn check_compat(outcome: &Outcome, n: usize) {
    let value = |x: f64| x * f64::from(2_u32.pow(n as u32));
    assert_eq!(outcome.f64s(), [value(1.0), value(-2.0)]);
    assert_eq!(outcome.failures[0], format!("refused extract 0 code {n} sync 0 struct 0"));
    assert_eq!(outcome.failures[1], "wrong accepted 0 extract 1 code 0 sync 0 struct 0");
    in_order(outcome, n, 1);
}

#[test]
fn external_op_steps_may_fail() {
    let op = |language| move |i: usize| native((i % 2 + 1) as f64, language);
    for (n, language) in [(1, Language::C), (3, Language::Cxx), (20, Language::C)] {
        check_native(&whole(&chain(n, op(language)), &library(), &input()), n);
    }
    let outcome = opwise(&chain(3, op(Language::C)), &library(), &input());
    assert_eq!(outcome.failures[0], "refused extract 0 code 6 sync 0 struct 3");
}

#[test]
fn compat_op_steps_may_fail() {
    for (n, language) in [(1, Language::Cxx), (3, Language::C), (20, Language::C)] {
        check_compat(&whole(&chain(n, |_| compat(language)), &library(), &input()), n);
    }
    check_compat(&opwise(&chain(3, |_| compat(Language::C)), &library(), &input()), 3);
}

#[test]
fn op_error_keeps_its_message_without_leaks() {
    let long: [Array; 1] = [ndarray::Array1::<f64>::zeros(65).into_dyn().into()];
    for (op, words) in
        [(native(2.0, Language::C), "affine: too long"), (compat(Language::C), "twice: too long")]
    {
        let outcome = whole(&chain(3, |_| op.clone()), &library(), &long);
        assert_eq!(outcome.outputs, Err(words.to_owned()));
    }
}

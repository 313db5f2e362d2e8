//! Tests of the text form: the meaning of expressions, and the rejection of wrong ones.

use super::graph;
use precast_core::event::split_hints;
use precast_graph::encode::canonical;
use precast_graph::text::{OPERATORS, ParseTextError, parse, parse_input, parse_used};
use precast_graph::{Array, OpLibrary, Prop, Props, interpret};
use precast_testkit::toy::ToyLibrary;
use proptest::prelude::*;
use std::error::Error;

fn same(a: &str, b: &str) {
    let read =
        |text: &str| canonical(&graph(&["x: f64[?]", "y: f64[?]", "i: i64[?]", "p: bool[?]"], &[text]));
    assert_eq!(read(a), read(b), "`{a}` is not `{b}`");
}

#[test]
fn operator_precedence_matches_python() {
    for (short, full) in [
        ("-x**2", "-(x**2)"),
        ("-x**-y", "-(x**(-y))"),
        ("x**y**2", "x**(y**2)"),
        ("-x*y", "(-x)*y"),
        ("x - y - x", "(x - y) - x"),
        ("x / y * x", "(x / y) * x"),
        ("x + y * x", "x + (y * x)"),
        ("x * y // x % y", "((x * y) // x) % y"),
        ("x + y < x * y", "(x + y) < (x * y)"),
        ("i & i | i ^ i", "(i & i) | (i ^ i)"),
        ("i ^ i & i", "i ^ (i & i)"),
        ("i & i == i", "(i & i) == i"),
        ("i + i & i", "(i + i) & i"),
        ("i << i + i", "i << (i + i)"),
        ("i << i >> i", "(i << i) >> i"),
        ("i & i << i", "i & (i << i)"),
        ("i << i < i", "(i << i) < i"),
        ("~i ** 2", "~(i ** 2)"),
        ("-~-i", "-(~(-i))"),
        ("~p & p", "(~p) & p"),
        ("+x", "x"),
        ("((x))", "x"),
    ] {
        same(short, full);
    }
}

#[test]
fn operators_are_calls_of_functions() {
    for (sign, function) in OPERATORS.into_iter().filter(|(sign, _)| *sign != "@") {
        same(&format!("i {sign} i"), &format!("{function}(i, i)"));
    }
    same("-x", "neg(x)");
    same("~i", "invert(i)");
    same("where(p, x, y)", "switch(p, x, y)");
    let inputs = ["a: f64[?,?]", "b: f64[?]"];
    assert_eq!(canonical(&graph(&inputs, &["a @ b"])), canonical(&graph(&inputs, &["dot(a, b)"])));
}

#[test]
fn values_match_python() {
    // The inputs are x = 3.0, y = 0.5, i = 7.
    for (text, expected) in [
        ("-x**2", -9.0),
        ("2**-1 * x", 1.5),
        ("x - y - 1", 1.5),
        ("x - (y - 1)", 3.5),
        ("2 * x + 1e-3", 6.001),
        ("x / y / 2", 3.0),
        ("x // 2 + x % 2", 2.0),
        ("2 ** 3 ** 2 + y", 512.5),
        (".5e1 * x", 15.0),
        ("where(x > y, x, y)", 3.0),
        ("where((x > y) & (x < 1), x, y)", 0.5),
        ("-9223372036854775808 * 1.0 + x", -9_223_372_036_854_775_808.0 + 3.0),
        ("i / 2", 3.5),
        ("np.exp(0 * x) + numpy.exp(0 * y)", 2.0),
        ("x * np.pi", 3.0 * std::f64::consts::PI),
        ("x * inf", f64::INFINITY),
        ("-inf + y", f64::NEG_INFINITY),
        ("e = 2; x * e", 6.0),
        ("(1, 2, 3)[1] * x", 6.0),
        ("[1, 2, 3][::-1][0] * x", 9.0),
        ("((1,) + (2,) * 2)[-1] * x", 6.0),
        ("a, b = (x, y); a - b", 2.5),
        ("a, b = (1, 2); x - b", 1.0),
        ("(a, b), c = ((x, y), 1); a - b - c", 1.5),
        ("(a, (b, c)) = (x, (y, 1)); a - b - c", 1.5),
        ("exp(0 * x,)", 1.0),
        ("(x\n + y) # both", 3.5),
        ("x * (2**100 / 2**99)", 6.0),
        ("x * 10**20", 3e20),
        ("x * 10**-20", 3.0 * 1e-20),
        ("x * True", 3.0),
    ] {
        let g = graph(&["x: f64[]", "y: f64[]", "i: i64[]"], &[text]);
        let outputs = interpret(&g, &[3.0.into(), 0.5.into(), 7_i64.into()]).unwrap();
        assert_eq!(outputs, [Array::from(expected)], "{text}");
    }
}

#[test]
fn literals_keep_their_kind() {
    for (text, ty) in [
        ("x + 1", "f32[?]"),
        ("x * 2.5", "f32[?]"),
        ("t = 2.5; x * t", "f32[?]"),
        ("x * (1/3)", "f32[?]"),
        ("-(2 - 0.5) * x", "f32[?]"),
        ("3", "i64[]"),
        ("3.0", "f64[]"),
        ("True", "bool[]"),
        ("-1", "i64[]"),
        ("2**63", "u64[]"),
        ("x / 2**64 ", "f32[?]"),
        ("x * (7 // 2 % 2)", "f32[?]"),
        ("-0.0", "f64[]"),
    ] {
        let g = graph(&["x: f32[?]"], &[text]);
        assert_eq!(g.ty(g.outputs()[0]).to_string(), ty, "{text}");
    }
    let g = graph(&[], &["-0.0"]);
    let value = interpret(&g, &[]).unwrap();
    assert_eq!(value, [Array::from(-0.0)], "a negative zero is a literal");
}

#[test]
fn named_arguments_are_props() {
    let ints = |axes: &[i64]| Prop::List(axes.iter().copied().map(Prop::Int).collect());
    let props = |axis: Option<Prop>, keepdims| {
        let axis = axis.map(|axis| ("axis".to_owned(), axis));
        axis.into_iter().chain([("keepdims".to_owned(), Prop::Bool(keepdims))]).collect::<Props>()
    };
    for (text, expected) in [
        ("sum(x)", props(None, false)),
        ("sum(x,)", props(None, false)),
        ("sum(x, axis=None)", props(None, false)),
        ("sum(x, axis=0)", props(Some(ints(&[0])), false)),
        ("sum(x, axis=-1, keepdims=True)", props(Some(ints(&[-1])), true)),
        ("sum(x, axis=(0, 1))", props(Some(ints(&[0, 1])), false)),
        ("sum(x, axis=(1,))", props(Some(ints(&[1])), false)),
        ("sum(x, axis=(1))", props(Some(ints(&[1])), false)),
        ("sum(x, axis=[0, -1,],)", props(Some(ints(&[0, -1])), false)),
        ("sum(x, axis=())", props(Some(ints(&[])), false)),
    ] {
        let g = graph(&["x: f64[?,?]"], &[text]);
        assert_eq!(g.applies()[0].op.props(), expected, "{text}");
    }
    let g = graph(&["x: f64[?]"], &["cast(x, dtype=i64)"]);
    assert_eq!(g.ty(g.outputs()[0]).to_string(), "i64[?]");
}

#[test]
fn statements_bind_names_and_the_last_is_output() {
    let g = graph(&["x: f64[?]"], &["t = x*x  # a note\n\n; u = t + 1;\nout = (t +\n u);\n"]);
    assert_eq!(canonical(&g), canonical(&graph(&["x: f64[?]"], &["t = x*x; t + (t + 1)"])));
    assert_eq!(g.declared_output_name(0), Some("out"));
    let named = |name: &str| g.variables().iter().any(|v| v.name.as_deref() == Some(name));
    assert!(named("t") && named("u") && named("out"));
}

#[test]
fn later_outputs_can_use_earlier_names() {
    let g = graph(&["x: f64[?]"], &["t = exp(x); a = t + 1", "b = a * t", "x", "c = a"]);
    let names: Vec<_> = (0..4).map(|i| g.declared_output_name(i)).collect();
    assert_eq!(names, [Some("a"), Some("b"), None, Some("c")]);
    assert_eq!(g.outputs()[3], g.outputs()[0]);
    assert_eq!(g.outputs()[2], g.inputs()[0]);
    assert_eq!(graph(&["x: f64[?]"], &["x + 1"]).declared_output_name(0), Some("out"));
}

fn refuse(outputs: &[&str]) -> ParseTextError {
    let inputs: Vec<_> =
        ["x: f64[?]", "alpha: f64[?]", "p: bool[?]"].map(|text| parse_input(text).unwrap()).into();
    parse(outputs, &inputs, &ToyLibrary).expect_err(&outputs.join(" | "))
}

#[test]
fn errors_show_place_found_and_expected() {
    #[rustfmt::skip]
    let rows = [
        ("", 1, 1, "expected a number, a name or `(`, found the end"),
        ("x +", 1, 4, "expected a number, a name or `(`, found the end"),
        ("x + * x", 1, 5, "expected a number, a name or `(`, found `*`"),
        ("(x", 1, 3, "expected an operator, `,` or `)`, found the end"),
        ("x)", 1, 2, "expected an operator, `;` or the end, found `)`"),
        ("x x", 1, 3, "expected an operator, `;` or the end, found `x`"),
        ("x[0]", 1, 2, "unknown function `subtensor`"),
        ("x[]", 1, 3, "expected an index, a slice, `None` or `...`, found `]`"),
        ("x[1:2:3:4]", 1, 8, "expected an operator, `:`, `,` or `]`, found `:`"),
        ("x[0", 1, 4, "expected an operator, `:`, `,` or `]`, found the end"),
        ("x and p", 1, 3, "expected an operator, `;` or the end, found `and`"),
        ("t = ", 1, 5, "expected a number, a name or `(`, found the end"),
        ("t = x\nu = t +\nu", 2, 8, "expected a number, a name or `(`, found the end of the line"),
        ("alpah + 1", 1, 1, "unknown name `alpah`; nearest `alpha`"),
        ("out = exq(x)", 1, 7, "unknown function `exq`; nearest `exp`"),
        ("frobnicate(x)", 1, 1, "unknown function `frobnicate`\n"),
        ("x.sum()", 1, 3, "arrays have no method or attribute `sum`; write `sum(…)`\n"),
        ("x.frob", 1, 3, "arrays have no method or attribute `frob`\n"),
        ("x.1", 1, 2, "expected an operator, `;` or the end, found `0.1`"),
        ("x.(p)", 1, 3, "expected the name of a method, found `(`"),
        ("np.frob", 1, 4, "unknown function `frob`"),
        ("np.exq(x)", 1, 4, "unknown function `exq`; nearest `exp`"),
        ("np.ma.dot(x)", 1, 4, "unknown function `ma.dot`"),
        ("np.random.normal + x", 1, 4, "unknown function `random.normal`"),
        ("np.", 1, 4, "expected a name, found the end"),
        ("exp + x", 1, 1, "`exp` is a function; call it: `exp(…)`"),
        ("nann", 1, 1, "unknown name `nann`; nearest `nan`"),
        ("x = y = 1", 1, 1, "duplicate name `x`"),
        ("a, a = (1, 2); x", 1, 4, "duplicate name `a`"),
        ("a, b = 1; a", 1, 8, "expected a tuple of 2, one for each name"),
        ("a, b = (1, 2, 3); a", 1, 8, "expected a tuple of 2, one for each name"),
        ("(a, b), c = (1, 2); a", 1, 13, "expected a tuple of 2, one for each name"),
        ("(a, a), b = x; a", 1, 5, "duplicate name `a`"),
        ("(a, for), b = x; a", 1, 5, "expected a name"),
        ("(x, p)", 1, 1, "expected one output, found a tuple"),
        ("x[0:1] = p", 1, 2, "unknown function `subtensor`"),
        ("t = (1, 2)[0] = p", 1, 15, "expected an operator, `;` or the end, found `=`"),
        ("(1, 2)[2] + x", 1, 7, "cannot apply `index`"),
        ("(1, 2)[x] + x", 1, 7, "cannot apply `index`"),
        ("(1, 2)[::0]", 1, 7, "cannot apply `index`"),
        ("'a'", 1, 1, "cannot apply `constant`"),
        ("exp(None)", 1, 1, "cannot apply `exp`"),
        ("x ! x", 1, 3, "unexpected character `!`"),
        ("x + 0x1g", 1, 5, "`0x1g` is not a number"),
        ("1 + 1 / 0", 1, 7, "cannot apply `div`"),
        ("2**64", 1, 1, "cannot apply `constant`"),
        ("x + 1\n+ 2", 1, 1, "unused statement"),
        ("t = x + 1\n+ 2", 1, 1, "unused statement"),
        ("t = x; u = t + 1; v = u; x", 1, 19, "unused statement"),
        ("x < x < x", 1, 7, "comparisons cannot be chained; write `(a < b) & (b < c)`"),
        ("x == (x < x) == x", 1, 14, "comparisons cannot be chained"),
        ("x = 2", 1, 1, "duplicate name `x`"),
        ("t = 1; t = 2; t", 1, 8, "duplicate name `t`"),
        ("True = x", 1, 1, "expected a name, found `True`"),
        ("sum(x, axis=0, axis=1)", 1, 16, "duplicate name `axis`"),
        ("sum(axis=0, x)", 1, 13, "expected `name=`, because a named argument precedes it, found `x`"),
        ("sum(x, axis=y)", 1, 13, "unknown name `y`"),
                ("sum(x, axis=(0", 1, 15, "expected an operator, `,` or `)`, found the end"),
        ("sum(x, axis='a", 1, 13, "`'a` is not a terminated string"),
        ("sum(x", 1, 6, "expected an operator, `,` or `)`, found the end"),
        ("invert(x)", 1, 1, "cannot apply `invert`"),
        ("1 + ~x", 1, 5, "cannot apply `invert`"),
        ("p + (x @ x)", 1, 8, "cannot apply `matmul`"),
    ];
    for (text, line, column, fragment) in rows {
        let error = refuse(&[text]);
        let message = error.to_string();
        assert!(message.contains(fragment), "`{text}`: {message}");
        let place = error.place().unwrap();
        assert_eq!((place.output, place.line, place.column), (None, line, column), "`{text}`: {message}");
        let caret = message.lines().find(|line| line.trim() == "^").unwrap();
        assert_eq!(caret.chars().count(), 4 + column, "`{text}`: {message}");
    }
}

#[test]
fn error_in_one_output_names_it() {
    let error = refuse(&["a = x", "b = a + ~x"]);
    assert_eq!(
        error.to_string(),
        "outputs[1], line 1, column 9: cannot apply `invert`\n    b = a + ~x\n            ^"
    );
    let source = error.source().unwrap().to_string();
    assert_eq!(source, "`invert` does not support dtype `f64` of input 0; it supports bool, i64");
    assert!(matches!(refuse(&["a = x", "a = x + 1"]), ParseTextError::Duplicate { name, .. } if name == "a"));
    assert_eq!(refuse(&[]), ParseTextError::NoOutputs);
}

#[test]
fn python_keywords_get_a_hint() {
    for (text, hint) in [
        ("p and p", "`&`"),
        ("p or p", "`|`"),
        ("p && p", "one `&`"),
        ("not p", "`~`"),
        ("!p", "`~x`"),
        ("x if p else x", "`where("),
        ("2 in x", "any(array == value)"),
        ("x is x", "`==`"),
        ("[exp(a) for a in x]", "whole arrays"),
        ("import numpy", "need no import"),
        ("return x", "def f(x)"),
        ("x += 1", "bind a new name"),
        ("x = x + 1", "write `y = x + 1`"),
        ("x, p", "one text for each output"),
        ("(x, p)", "one text for each output"),
        ("exp(*x)", "write out the arguments"),
        ("{x}", "dicts"),
        ("x + \\\n p", "in brackets"),
        ("x: p", "put a slice in brackets"),
        ("(1, 2)[0] = p", "set_subtensor"),
    ] {
        let error = refuse(&[text]);
        let (_, hints) = split_hints(&error.to_string());
        assert!(hints.iter().any(|given| given.contains(hint)), "{text}: {error}");
    }
    assert!(!refuse(&["x +"]).to_string().contains("hint"));
}

#[test]
fn unusable_input_names_are_rejected() {
    let f64 = || "f64".parse::<precast_graph::Type>().unwrap();
    for name in ["", "1x", "x y", "True", "lambda"] {
        let error = parse(&["1"], &[(name.to_owned(), f64())], &ToyLibrary).unwrap_err();
        assert!(matches!(&error, ParseTextError::Input { name: found, .. } if found == name), "{error}");
    }
    let twice = [("x".to_owned(), f64()), ("x".to_owned(), f64())];
    assert_eq!(parse(&["x"], &twice, &ToyLibrary).unwrap_err().to_string(), "input `x` is declared twice");
}

#[test]
fn unused_inputs_of_a_text_are_reported() {
    let inputs: Vec<_> = ["x: f64[?]", "alpah: f64[?]"].map(|text| parse_input(text).unwrap()).into();
    let error = parse_used(&["alpha = exp(x); alpha + x"], &inputs, &ToyLibrary).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unused input `alpah`; nearest `alpha`\nhint: remove it, or use it in an expression"
    );
    assert!(parse_used(&["x", "exp(alpah)"], &inputs, &ToyLibrary).is_ok());
    assert!(parse(&["x"], &inputs, &ToyLibrary).is_ok());
}

#[test]
fn nesting_is_limited_and_length_is_not() {
    let inputs = [parse_input("x: f64[]").unwrap()];
    // The limit must also hold on a thread with a small stack.
    let small = std::thread::Builder::new().stack_size(1 << 20);
    let checked = small.spawn(move || {
        let read = |text: &str| parse(&[text], &inputs, &ToyLibrary);
        let nested = |open: &str, n: usize, close: &str| format!("{}x{}", open.repeat(n), close.repeat(n));
        for n in [1000, 20_000] {
            for text in [
                nested("(", n, ")"),
                nested("exp(", n, ")"),
                nested("- ", n, ""),
                nested("~", n, ""),
                nested("x**", n, ""),
                nested("x + (", n, ")"),
                format!("sum(x, axis={})", nested("(", n, ")")),
                format!("sum(x, axis={})", nested("[", n, "]")),
                "(".repeat(n),
            ] {
                assert!(matches!(read(&text), Err(ParseTextError::Depth { .. })), "{}", &text[..20]);
            }
        }
        for text in
            [nested("(", 80, ")"), nested("exp(", 80, ")"), nested("- ", 80, ""), nested("x**", 80, "")]
        {
            assert!(read(&text).is_ok(), "{text}");
        }
        assert_eq!(read(&nested("x + ", 40_000, "")).unwrap().applies().len(), 40_000);
        let names = (0..10_000).map(|i| format!("t{} = t{i}; ", i + 1)).collect::<String>();
        assert_eq!(read(&format!("t0 = x; {names}t10000")).unwrap().applies().len(), 0);
    });
    checked.unwrap().join().unwrap();
}

proptest! {
    #[test]
    fn reading_a_text_never_panics(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "x", "y", "p", "1", "2.5", "1e", "-", "+", "~", "*", "**", "//", "<", "==", "=", "(", ")", "[", "]", ",",
                ";", "\n", "exp", "sum", "switch", "axis", "True", "None", "f32", "'a'", "\"", "#", "é", "\u{0}", "&", "@",
            ]),
            0..30,
        ),
        gap in proptest::sample::select(vec!["", " "]),
    ) {
        let inputs = [parse_input("x: f64[?]").unwrap(), parse_input("p: bool[?]").unwrap()];
        match parse(&[&words.join(gap)], &inputs, &ToyLibrary) {
            Ok(graph) => prop_assert_eq!(graph.outputs().len(), 1),
            Err(error) => prop_assert!(error.place().is_some()),
        }
    }
}

#[test]
fn library_lists_every_function() {
    // `nearest` can only suggest listed names.
    for name in ToyLibrary.names() {
        assert!(ToyLibrary.op(&name, &Props::new()).is_some(), "{name}");
    }
}

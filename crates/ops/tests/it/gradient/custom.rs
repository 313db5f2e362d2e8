//! `custom_gradient`.

use super::{check, graph, input, numbers, values};
use precast_graph::{InterpretError, PerformError, Type, encode, interpret, json, text::parse};
use precast_ops::{Ops, rewrite::lower};

fn inputs() -> [super::Input; 3] {
    [input("p0", numbers(&[], 1)), input("p1", numbers(&[4], 2)), input("p2", numbers(&[4], 3))]
}

#[test]
fn correct_rules_match_differences() {
    for text in [
        "custom_gradient(sin(p1), lambda g, x: g * cos(x), p1)",
        "y = exp(p1); custom_gradient(y, lambda g, x: g * y, p1)",
        "custom_gradient(p0 * p1, lambda g, a, b: (sum(g * b), g * a), p0, p1)",
        "custom_gradient(p1 * p2, lambda g, a, b: (g * b, g * a), p1, p2)",
        "custom_gradient(p1 * 1.0, lambda g, n, x: (None, g), 3, p1) * p0",
        "custom_gradient(p0 * 2.0, lambda g, x: scan(lambda c, row: (c + g, None), 0.0, zeros(2))[0], p0)",
        "def square(x): return custom_gradient(x * x, lambda g, x: 2.0 * g * x, x); square(square(p1))",
        "scan(lambda c, x: (custom_gradient(c * x, lambda g, c, x: (g * x, g * c), c, x) + sin(c), c), p0, p1)[1]",
        "cond(p0 > 0.1, lambda: custom_gradient(p1 * p1, lambda g, x: 2.0 * g * x, p1), lambda: p1)",
    ] {
        check(text, &inputs());
    }
}

#[test]
fn second_derivatives_of_rules_match_differences() {
    for text in [
        "grad(sum(custom_gradient(sin(p1), lambda g, x: g * cos(x), p1) * p2), p1)",
        "y = exp(p1); grad(sum(custom_gradient(y, lambda g, x: g * y, p1) ** 2.0), p1)",
        "f = lambda x: custom_gradient(sin(x), lambda g, x: g * custom_gradient(cos(x), lambda h, x: -h * sin(x), x), x); \
         grad(sum(f(p1)), p1)",
        "hvp(sum(custom_gradient(sin(p1), lambda g, x: g * cos(x), p1)), p1, p2)",
    ] {
        check(text, &inputs());
    }
}

#[test]
fn a_rule_replaces_the_derivative() {
    let found = |text: &str| values(&graph(text, &inputs()), &inputs()).remove(0);
    let p1 = &inputs()[1].2;
    for (text, factor) in [
        ("grad(sum(custom_gradient(round(p1), lambda g, x: g * 3.0, p1)), p1)", 3.0),
        ("grad(sum(custom_gradient(exp(p1), lambda g, x: g * 5.0, p1) + p1), p1)", 6.0),
        // The value itself has no gradient.
        ("grad(sum(custom_gradient(exp(p1), lambda g, x: g, p2) + p1), p1)", 1.0),
        ("grad(sum(custom_gradient(p1, lambda g, a, b: (g, None), p1, p2)), p1)", 1.0),
    ] {
        assert!(found(text).iter().all(|slope| *slope == factor), "{text}");
    }
    assert_eq!(found("custom_gradient(exp(p1), lambda g, x: g, p1)"), found("exp(p1)"));
    assert_eq!(found("custom_gradient(p1, lambda g, x: g, p2)"), *p1);
}

#[test]
fn an_unused_rule_has_no_cost() {
    let inputs = inputs();
    let plain = lower(&graph("sin(p1) * p0", &inputs)).unwrap();
    let mut documents = Vec::new();
    for rule in ["g * cos(x)", "g * 2.0"] {
        let text = format!("custom_gradient(sin(p1), lambda g, x: {rule}, p1) * p0");
        let declared = graph(&text, &inputs);
        assert_eq!(lower(&declared).unwrap(), plain, "{text}");
        let document = json::render(&declared);
        let again = json::parse(&document, &Ops::standard()).unwrap();
        assert_eq!(encode::canonical(&again), encode::canonical(&declared));
        documents.push(document);
        let slope = graph(&format!("grad(sum({text}), p1)"), &inputs);
        documents.push(json::render(&lower(&slope).unwrap()));
    }
    assert_ne!(documents[0], documents[2]);
    assert_ne!(documents[1], documents[3]);
}

#[test]
fn scalars_stay_scalars() {
    let scalar = [("x", "f64".to_owned(), numbers(&[], 1))];
    let declared = graph("custom_gradient(sin(x), lambda g, x: g * cos(x), x) * x", &scalar);
    assert_eq!(lower(&declared).unwrap(), lower(&graph("sin(x) * x", &scalar)).unwrap());
    let slope = graph("grad(custom_gradient(sin(x), lambda g, x: g * 2.0, x), x)", &scalar);
    assert_eq!(values(&slope, &scalar)[0].iter().copied().collect::<Vec<_>>(), [2.0]);
}

#[test]
fn wrong_rules_are_refused_by_name() {
    let inputs: Vec<(String, Type)> = [("x", "f64[?]"), ("m", "f64[2,3]"), ("k", "i64[?]"), ("f", "f32[?]")]
        .map(|(name, ty)| (name.to_owned(), ty.parse().unwrap()))
        .into();
    for (text, expected) in [
        ("custom_gradient(x, lambda g, x: sum(g), x)", "by input 0 has type `f64[]`, expected `f64[?]`"),
        (
            "custom_gradient(x, lambda g, x, f: (g, g), x, f)",
            "by input 1 has type `f64[?]`, expected `f32[?]`",
        ),
        ("custom_gradient(m, lambda g, m: g.T, m)", "by input 0 has type `f64[3,2]`, expected `f64[2,3]`"),
        ("custom_gradient(x, lambda g, k: g, k)", "input 0 has type `i64[?]`, which has no gradient"),
        ("custom_gradient(x, lambda g, x: (g, g), x)", "returns 2 results for 1 inputs"),
        ("custom_gradient(x, lambda g, x: None, x)", "returns no gradient"),
        ("custom_gradient(x, lambda g: g)", "returns 1 results for 0 inputs"),
        ("custom_gradient(x, x, x)", "a function, such as"),
        ("custom_gradient(x, lambda g: g, x)", "expected: \"1\", found: 2"),
    ] {
        let error = parse(&[text], &inputs, &Ops::standard()).expect_err(text);
        let chain = format!("{error:?}");
        assert!(chain.contains("custom_gradient") && chain.contains(expected), "{text}: {chain}");
    }
}

#[test]
fn a_gradient_of_another_shape_fails_at_run_time() {
    let inputs = inputs();
    let text = "grad(sum(custom_gradient(sin(p1), lambda g, x: concatenate([g, g]), p1)), p1)";
    let arrays: Vec<precast_graph::Array> =
        inputs.iter().map(|(.., value)| precast_graph::Array::F64(value.clone())).collect();
    let error = interpret(&graph(text, &inputs), &arrays).unwrap_err();
    let InterpretError::Perform { source: PerformError::Value { problem, .. }, .. } = &error else {
        panic!("{error:?}")
    };
    assert!(problem.contains("the gradient by input 0 has another shape"), "{problem}");
}

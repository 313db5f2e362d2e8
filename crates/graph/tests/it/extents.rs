//! Tests of named extents and declared outputs in graphs, in JSON and in canonical bytes.

use crate::{ToyLibrary, graph};

use precast_graph::text::{ParseTextError, parse, parse_input};
use precast_graph::{BuildError, DeclaredType, FunctionGraph, Type, encode, json};

fn ty(text: &str) -> DeclaredType {
    text.parse().unwrap()
}

/// Returns the interface in one line.
fn interface(graph: &FunctionGraph) -> String {
    let (inputs, outputs) = graph.interface();
    let ports = inputs.iter().chain(&outputs).map(ToString::to_string);
    ports.collect::<Vec<_>>().join(", ")
}

#[test]
fn variables_have_types_without_names() {
    let graph = graph(&["x: f64[n]"], &["out: f64[n] = exp(x)"]);
    assert_eq!(interface(&graph), "x: f64[n], out: f64[n]");
    let types: Vec<Type> = graph.variables().iter().map(|variable| variable.ty.clone()).collect();
    assert_eq!(types, vec![Type::tensor(precast_graph::DType::F64, 1); 2]);
}

#[test]
fn json_has_names_and_declared_outputs() {
    let named = graph(&["x: f64[n]"], &["out: f64[n] = exp(x)"]);
    let text = json::render(&named);
    assert!(text.contains(r#""inputs":[{"name":"x","type":"f64[n]"}]"#), "{text}");
    assert!(text.contains(r#"{"name":"out","value":"v0","type":"f64[n]"}"#), "{text}");
    assert_eq!(json::parse(&text, &ToyLibrary).unwrap(), named);
    // A declaration that states no more than the graph is not written.
    let plain = graph(&["x: f64[?]"], &["out: f64[?] = exp(x)"]);
    assert_eq!(json::render(&plain), json::render(&graph(&["x: f64[?]"], &["out = exp(x)"])));
    for (from, to, expected) in [
        (r#""value":"v0","type":"f64[n]""#, r#""value":"v0","type":"f32[n]""#, "declared as `f32[n]`"),
        (r#""value":"v0","type":"f64[n]""#, r#""value":"v0","type":"f64[x]""#, "both an input and an extent"),
        (r#""x","type":"f64[n]""#, r#""x","type":"f64[x]""#, "both an input and an extent"),
        (r#""x","type":"f64[n]""#, r#""x","type":"f64[2n]""#, "invalid extent `2n`"),
    ] {
        let broken = text.replace(from, to);
        assert_ne!(broken, text);
        let error = precast_core::event::chain(&json::parse(&broken, &ToyLibrary).unwrap_err());
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn canonical_bytes_ignore_names_of_extents() {
    let named = graph(&["x: f64[n]"], &["out: f64[n] = exp(x)"]);
    let plain = graph(&["x: f64[?]"], &["out = exp(x)"]);
    assert_eq!(encode::canonical(&named), encode::canonical(&plain));
    assert_eq!(encode::normalise(&named), encode::normalise(&plain));
    assert_eq!(interface(&encode::order(&named)), interface(&named));
}

#[test]
fn extents_do_not_share_names_with_inputs() {
    let mut graph = FunctionGraph::new();
    let x = graph.declare_input("x", ty("f64[n]")).unwrap();
    let refused = |result: Result<_, BuildError>| matches!(result, Err(BuildError::ExtentName { .. }));
    assert!(refused(graph.declare_input("n", ty("i64[]")).map(drop)));
    assert!(refused(graph.input("n", Type::Scalar(precast_graph::DType::I64)).map(drop)));
    assert!(refused(graph.declare_input("y", ty("f64[x]")).map(drop)));
    graph.output(x, Some("n")).unwrap();
    assert!(refused(graph.declare_output(0, ty("f64[x]"))));
    graph.declare_output(0, ty("f64[n]")).unwrap();
}

#[test]
fn declared_output_must_meet_its_variable() {
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", ty("f64[?,3]").into_type()).unwrap();
    graph.output(x, None).unwrap();
    for wrong in ["f32[?,3]", "f64[3]", "f64[n,4]", "f64", "double<f64[?,3]>"] {
        let error = graph.declare_output(0, ty(wrong)).unwrap_err();
        assert_eq!(
            error,
            BuildError::Declared { name: "out0".into(), found: "f64[?,3]".into(), declared: wrong.into() }
        );
    }
    for right in ["f64[n,3]", "f64[2,k]", "f64[?,?]", "f64[n,n]"] {
        graph.declare_output(0, ty(right)).unwrap();
        assert_eq!(graph.declared_output_type(0).to_string(), right);
    }
}

#[test]
fn misdeclared_statements_are_reported_with_both_types() {
    let inputs = [parse_input("x: f64[n]").unwrap(), parse_input("v: f64[3]").unwrap()];
    let error = |text: &str| parse(&[text], &inputs, &ToyLibrary).unwrap_err();
    let wrong = error("y = exp(x)\nout: f32[n] = y");
    let place = wrong.place().unwrap();
    assert_eq!((place.line, place.column), (2, 6));
    assert!(matches!(&wrong, ParseTextError::Declared { name, found, declared, .. }
        if name == "out" && found == "f64[?]" && declared == "f32[n]"));
    assert!(wrong.to_string().ends_with("hint: convert the value: `(…).astype(f32)`"), "{wrong}");
    for text in ["out: f64[] = exp(x)", "out: f64[4] = exp(v)", "out: f64 = exp(x)", "y: f32[3] = exp(v); y"]
    {
        assert!(matches!(error(text), ParseTextError::Declared { .. }), "{text}");
    }
    for text in ["out: f65[n] = x", "out: f64[2,n = x", "out: f64[?,n!] = x", "out: g[n] = x"] {
        let error = error(text);
        assert!(
            matches!(
                error,
                ParseTextError::Type { .. }
                    | ParseTextError::Unexpected { .. }
                    | ParseTextError::Character { .. }
            ),
            "{text}: {error}"
        );
    }
    for text in ["out: f64[lambda] = x", "out: f64[a.b] = x"] {
        assert!(matches!(error(text), ParseTextError::Literal { .. }), "{text}: {}", error(text));
    }
    assert!(matches!(error("out: f64[2n] = x"), ParseTextError::Literal { .. }));
    for text in [
        "out: f64[n]",
        "out: = x",
        "out f64[n] = x",
        "lambda: f64 = x",
        "a, b: f64[n] = x",
        "x: f64[n] = exp(x)",
    ] {
        assert!(!matches!(error(text), ParseTextError::Type { .. }), "{text}");
    }
    assert!(matches!(error("out: f64[x] = x"), ParseTextError::Call { .. }));
    let long = "n".repeat(1 << 20);
    assert!(error(&format!("out: f64[{long}] = x")).to_string().len() < 1000);
    let two = [parse_input("x: f64[n]").unwrap(), parse_input("n: f64[]").unwrap()];
    for inputs in [two.clone(), [two[1].clone(), two[0].clone()]] {
        let error = parse(&["x + n"], &inputs, &ToyLibrary).unwrap_err();
        assert!(matches!(error, ParseTextError::Input { .. }), "{error}");
    }
}

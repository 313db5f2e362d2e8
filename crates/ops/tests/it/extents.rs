//! Tests of declared types of statements: known extents are compared when the text is parsed, others by `assert`.

use ndarray::{ArrayD, IxDyn};
use precast_core::event::chain;
use precast_graph::text::{parse, parse_input};
use precast_graph::{Array, FunctionGraph, interpret};
use precast_ops::Ops;

fn graph(texts: &[&str], inputs: &[&str]) -> Result<FunctionGraph, String> {
    let inputs: Vec<_> = inputs.iter().map(|input| parse_input(input).unwrap()).collect();
    parse(texts, &inputs, &Ops::standard()).map_err(|error| chain(&error))
}

/// Returns the number of `assert`s in the graph.
fn asserts(texts: &[&str], inputs: &[&str]) -> usize {
    graph(texts, inputs).unwrap().applies().iter().filter(|apply| apply.op.name() == "assert").count()
}

fn error(text: &str, inputs: &[&str]) -> String {
    graph(&[text], inputs).unwrap_err()
}

#[test]
fn only_undecided_extents_are_asserted() {
    let inputs = ["x: f64[n, 3]", "y: f64[?, 3]"];
    for (texts, expected) in [
        // Outputs are checked by calls.
        (&["out: f64[n, 3] = exp(x)"][..], 0),
        (&["out: f64[2, 3] = exp(x)"], 0),
        (&["a: f64[m, 3] = exp(y)", "b: f64[m, 3] = log(y)"], 0),
        // Known when the text is parsed.
        (&["h: f64[?, 3] = exp(x); h + 1"], 0),
        (&["h: f64[n, 3] = x; h + 1"], 0),
        (&["h: f64[m, k] = exp(y); h + 1"], 0),
        (&["h: f64[m, k] = exp(y); g: f64[?, k] = exp(h); g"], 0),
        // Known by calls only.
        (&["h: f64[n, 3] = exp(y); h + 1"], 1),
        (&["h: f64[2, 3] = exp(y); h + 1"], 1),
        (&["h: f64[m, 3] = exp(y); out: f64[m, 3] = x + h"], 1),
        (&["h: f64[n, n] = y @ x.T; h + 1"], 2),
        (&["def f(t): r: f64[n, 3] = t * 2; return r\nf(y) + f(x)"], 2),
    ] {
        assert_eq!(asserts(texts, &inputs), expected, "{texts:?}");
    }
}

#[test]
fn assertions_name_the_extents() {
    let filled = |shape: &[usize]| Array::from(ArrayD::<f64>::ones(IxDyn(shape)));
    let inputs = ["x: f64[n, 3]", "y: f64[?, 3]"];
    for (text, message) in [
        ("h: f64[n, 3] = exp(y); sum(h) + sum(x)", "axis 0 of `h` differs from `n` (axis 0 of `x`)"),
        ("h: f64[2, 3] = exp(y); sum(h) + sum(x)", "axis 0 of `h` does not have the declared extent 2"),
        (
            "h: f64[m, 3] = exp(x); g: f64[m, 3] = y; sum(g) + sum(h)",
            "axis 0 of `g` differs from `m` (axis 0 of `h`)",
        ),
    ] {
        let graph = graph(&[text], &inputs).unwrap();
        assert!(interpret(&graph, &[filled(&[2, 3]), filled(&[2, 3])]).is_ok(), "{text}");
        let error = chain(&interpret(&graph, &[filled(&[2, 3]), filled(&[1, 3])]).unwrap_err());
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn declared_values_are_arrays_of_the_type() {
    let inputs = ["x: f32[n]"];
    // A declared number is no longer weak.
    let found = graph(&["h: f64[] = 2.0; x * h"], &inputs).unwrap();
    assert_eq!(found.declared_output_type(0).to_string(), "f64[?]");
    assert!(error("h: f32[] = 2.0; x * h", &inputs).contains("`h` is `f64[]`, declared as `f32[]`"));
    assert!(graph(&["h: f32[] = float32(2.0); x * h"], &inputs).is_ok());
    assert!(error("h: i32[] = x.shape[0]; x * h", &inputs).contains("`h` is `i64[]`"));
    assert!(graph(&["h: i64[1] = x.shape; h"], &inputs).is_ok());
    for text in [
        "h: f64[] = \"text\"; x",
        "h: f64[] = None; x",
        "h: f64[] = lambda a: a; h(x)",
        "h: f32[n] = (x, x); h",
    ] {
        assert!(graph(&[text], &inputs).is_err(), "{text}");
    }
    let message = error("out: f32[n] = x / 3.0 + float64(1)", &inputs);
    assert!(message.contains("line 1, column 6: `out` is `f64[?]`, declared as `f32[n]`"), "{message}");
    assert!(message.contains("hint: convert the value: `(…).astype(f32)`"), "{message}");
    assert!(graph(&["out: f32[n] = (x / 3.0 + float64(1)).astype(f32)"], &inputs).is_ok());
}

#[test]
fn known_extents_of_one_name_are_compared_when_parsed() {
    let inputs = ["x: f64[2]", "y: f64[3]"];
    assert!(graph(&["a: f64[m] = x * 2; b: f64[k] = y * 2; sum(a) + sum(b)"], &inputs).is_ok());
    let message = error("a: f64[m] = x * 2; b: f64[m] = y * 2; sum(a) + sum(b)", &inputs);
    assert!(message.contains("`b` is `f64[3]`, declared as `f64[m]`"), "{message}");
}

#[test]
fn builder_declares_extents_and_outputs() {
    use precast_ops::build::{Graph, GraphError};
    let built = |input: &str, output: &str| {
        let g = Graph::new();
        let x = g.input("x", input);
        g.output_as("out", output, &(&x * 2.0));
        g.finish()
    };
    let graph = built("f32[n, k]", "f32[n, 3]").unwrap();
    assert_eq!(graph.declared_input_type(0).to_string(), "f32[n,k]");
    assert_eq!(graph.declared_output_type(0).to_string(), "f32[n,3]");
    assert!(matches!(built("f32[n]", "f64[n]"), Err(GraphError::Declared { .. })));
    assert!(matches!(built("f32[n]", "f32[x]"), Err(GraphError::Declared { .. })));
    assert!(matches!(built("f32[n]", "f32[2n]"), Err(GraphError::Type { .. })));
    assert!(matches!(built("f32[x]", "f32[n]"), Err(GraphError::Name { .. })));
}

//! Params are passed at run time: graphs that differ only in their values share an artifact in every layer.

use super::{call, graph, op};
use precast::{Array, FunctionGraph, Policy, Runtime};
use precast_codegen::external::{Declaration, ExternalCOp};
use precast_codegen::{EnumType, ParamType, link};
use precast_graph::{DType, Prop, json};
use precast_ops::Ops;
use std::path::Path;

const TEXT: &str = include_str!("../c/params/affine.c");

/// Returns the graph of `x * alpha + 10 * side + w[0]`, rounded according to `mode`.
fn affine(alpha: f64, side: &str, mode: &str, w: f64) -> FunctionGraph {
    graph(&op(declaration(alpha, side, mode, w)), &["f64"])
}

fn declaration(alpha: f64, side: &str, mode: &str, w: f64) -> Declaration {
    let mut d = Declaration::new("affine").file("affine.c", TEXT).input("f64").output("f64");
    let w = Array::from(ndarray::array![w].into_dyn());
    for (name, value) in [
        ("alpha", Prop::Float(alpha)),
        ("side", Prop::Str(side.to_owned())),
        ("mode", Prop::Str(mode.to_owned())),
        ("w", Prop::Array(w)),
    ] {
        d.params.insert(name.to_owned(), value);
    }
    let side = EnumType::list(&["LEFT", "RIGHT"]).alias("RIGHT", "right");
    d.param_types.insert("side".to_owned(), ParamType::Enum(side));
    let mode = EnumType::from_c("int", &["MODE_DOWN", "MODE_UP"]).header("\"affine/mode.h\"");
    d.param_types.insert("mode".to_owned(), ParamType::Enum(mode));
    d.param_types.insert("alpha".to_owned(), ParamType::Scalar(DType::F64));
    d.source("mode.h", include_str!("../c/params/mode.h"))
}

/// Returns the value at 3, and the number of hits.
fn value(graph: &FunctionGraph, store: &Path, policy: Policy) -> (f64, u64) {
    let runtime = Runtime::builder().writable(store).policy(policy).build().unwrap();
    let outputs = call(&runtime.function(graph).unwrap(), &[Array::from(3.0)]).unwrap();
    (outputs[0].numbers()[0].parts().0, runtime.stats().hits)
}

#[test]
fn different_params_share_one_artifact() {
    let store = tempfile::tempdir().unwrap();
    assert_eq!(value(&affine(2.0, "LEFT", "MODE_DOWN", 0.5), store.path(), Policy::Jit), (6.0, 0));
    for (alpha, side, mode, w, expected) in [
        (0.5, "right", "MODE_DOWN", 0.0, 11.0),
        (0.5, "RIGHT", "MODE_UP", 0.0, 12.0),
        (-1.0, "LEFT", "MODE_UP", 0.25, -2.0),
    ] {
        let graph = affine(alpha, side, mode, w);
        assert_eq!(value(&graph, store.path(), Policy::Strict), (expected, 1), "{alpha} {side} {mode} {w}");
        // The graph parsed from its JSON is served too.
        let again = json::parse(&json::render(&graph), &Ops::standard()).unwrap();
        assert_eq!(again, graph);
        assert_eq!(value(&again, store.path(), Policy::Strict), (expected, 1));
    }
}

#[test]
fn several_applies_each_have_their_own_values() {
    let store = tempfile::tempdir().unwrap();
    let both = |first: f64, second: f64| {
        let mut graph = FunctionGraph::new();
        let mut x = graph.input("x", "f64".parse().unwrap()).unwrap();
        for alpha in [first, second] {
            let alone = affine(alpha, "RIGHT", "MODE_DOWN", 0.0);
            x = graph.apply(alone.applies()[0].op.clone(), &[x]).unwrap()[0];
        }
        graph.output(x, None).unwrap();
        graph
    };
    // (3 * first + 10) * second + 10
    assert_eq!(value(&both(2.0, 1.0), store.path(), Policy::Jit), (26.0, 0));
    assert_eq!(value(&both(1.0, 2.0), store.path(), Policy::Strict), (36.0, 1));
}

#[test]
fn invalid_param_value_is_rejected_early() {
    let refused = |side: &str, w: Prop| {
        let mut declaration = declaration(1.0, side, "MODE_UP", 0.0);
        declaration.params.insert("w".to_owned(), w);
        declaration.param_types.insert("w".to_owned(), ParamType::Tensor(DType::I8));
        ExternalCOp::new(declaration).unwrap_err().to_string()
    };
    let list = |items: &[i64]| Prop::List(items.iter().copied().map(Prop::Int).collect());
    assert_eq!(refused("MIDDLE", list(&[1])), "param `side`: \"MIDDLE\" is not one of LEFT, RIGHT");
    for value in [Prop::Float(0.5), list(&[300]), Prop::Str("x".to_owned())] {
        assert!(refused("LEFT", value).starts_with("param `w`: "), "a value that is no i8");
    }
}

#[test]
fn values_are_validated_only_on_request() {
    let body = |check_input: bool| {
        let mut graph = FunctionGraph::new();
        let x = graph.input("x", "f64[?]".parse().unwrap()).unwrap();
        let text = "#section code\n(void)INPUT_0;\nOUTPUT_0 = OUTPUT_0;\n";
        let d = Declaration::new("op").file("f.c", text).input("f64[?]").output("f64[?]");
        let y = graph.apply(op(Declaration { check_input, ..d }), &[x]).unwrap()[0];
        graph.output(y, None).unwrap();
        link(&graph, Ops::standard().c()).unwrap().body
    };
    let checked = |body: &str| body.matches("pc_extract_check(ctx, \"V0\"").count();
    assert_eq!(checked(&body(true)), 1);
    assert_eq!(checked(&body(false)), 0);
    // The macros for dtypes are missing too, because dtypes are not checked.
    assert!(body(true).contains("#define DTYPE_INPUT_0") && !body(false).contains("DTYPE_INPUT_0"));
}

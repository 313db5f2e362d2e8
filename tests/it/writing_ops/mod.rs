//! Tests of "Writing an Op in C": compiles and calls the page's ops and type in Rust, and checks that its table is
//! complete. `tests/cli/pages.rs` runs the page's commands.

mod degrees;
mod limit;
mod table;

use crate::external::{call, chain, vector};
use degrees::{Degrees, Turn};
use limit::Limit;
use precast::{Array, ArrayRef, FunctionGraph, Policy, Runtime};
use precast_codegen::external::{Declaration, ExternalCOp};
use precast_graph::{Op, text};
use precast_ops::Ops;
use std::sync::Arc;

/// Returns the function of a graph with one input and a chain of ops.
fn function(ops: &[Arc<dyn Op>]) -> precast::Function {
    let mut graph = FunctionGraph::new();
    let mut last = graph.input("x", "f64[?]".parse().unwrap()).unwrap();
    for op in ops {
        last = graph.apply(Arc::clone(op), &[last]).unwrap()[0];
    }
    graph.output(last, None).unwrap();
    let ops = Ops::standard().with("limit", Limit::from_props).unwrap();
    Runtime::builder().ops(ops).policy(Policy::Jit).build().unwrap().function(&graph).unwrap()
}

#[test]
fn rust_op_clamps_wraps_and_rejects() {
    let limit =
        |low, high, mode: &str| -> Arc<dyn Op> { Arc::new(Limit { low, high, mode: mode.to_owned() }) };
    let x = [vector(&[-0.25, 0.5, 2.25])];
    assert_eq!(call(&function(&[limit(0.0, 1.0, "CLAMP")]), &x).unwrap(), [vector(&[0.0, 0.5, 1.0])]);
    let twice = [limit(0.0, 1.0, "modulo"), limit(0.5, 0.75, "CLAMP")];
    assert_eq!(call(&function(&twice), &x).unwrap(), [vector(&[0.75, 0.5, 0.5])]);
    let error = call(&function(&[limit(2.0, 1.0, "CLAMP")]), &x).unwrap_err();
    assert!(chain(&error).contains("limit: 2 is above 1"), "{}", chain(&error));
}

#[test]
fn in_place_op_overwrites_only_temporaries() {
    let negate = Declaration {
        destroy_map: vec![(0, 0)],
        ..Declaration::new("negate").file("negate.c", include_str!("c/negate.c"))
    };
    let negate: Arc<dyn Op> = Arc::new(ExternalCOp::new(negate.input("f64[?]").output("f64[?]")).unwrap());
    let limit: Arc<dyn Op> = Arc::new(Limit { low: 0.0, high: 1.0, mode: "CLAMP".to_owned() });
    let x = [vector(&[-1.0, 0.5])];
    assert_eq!(call(&function(&[limit, Arc::clone(&negate)]), &x).unwrap(), [vector(&[-0.0, -0.5])]);
    assert_eq!(x, [vector(&[-1.0, 0.5])]);
    let mut graph = FunctionGraph::new();
    let input = graph.input("x", "f64[?]".parse().unwrap()).unwrap();
    let output = graph.apply(negate, &[input]).unwrap()[0];
    graph.output(output, None).unwrap();
    let function = crate::external::compiled(&graph);
    let first = call(&function, &x).unwrap();
    assert_eq!(call(&function, &[vector(&[7.0])]).unwrap(), [vector(&[-7.0])]);
    assert_eq!((x, first), ([vector(&[-1.0, 0.5])], vec![vector(&[1.0, -0.5])]), "a copy is overwritten");
}

/// Returns the library with the type and the op of the page.
fn angles() -> Ops {
    Ops::standard().with("turn", |_| Ok(Turn)).unwrap().with_type("degrees", Arc::new(Degrees))
}

/// Returns a graph that turns `a` by `b` twice.
fn turned() -> FunctionGraph {
    let angle = |name: &str| (name.to_owned(), "degrees<f64[]>".parse::<precast_graph::Type>().unwrap());
    text::parse(&["turn(turn(a, b), b)"], &["a", "b"].map(angle), &angles()).unwrap()
}

#[test]
fn angle_type_rejects_other_numbers() {
    let runtime = Runtime::builder().ops(angles()).policy(Policy::Jit).build().unwrap();
    let function = runtime.function(&turned()).unwrap();
    let angle = |x: f64| Array::from(x);
    assert_eq!(call(&function, &[angle(300.0), angle(90.0)]).unwrap(), [angle(120.0)]);
    let error = call(&function, &[angle(300.0), angle(400.0)]).unwrap_err();
    assert!(chain(&error).contains("400 is no angle"), "{}", chain(&error));
}

#[test]
fn type_filter_casts_unless_strict() {
    let runtime = || Runtime::builder().ops(angles()).policy(Policy::Jit);
    let whole = [Array::from(300_i64), Array::from(90.5_f32)];
    for debug in [false, true] {
        let function = runtime().debug(debug).build().unwrap().function(&turned()).unwrap();
        assert_eq!(call(&function, &whole).unwrap(), [Array::from(121.0)]);
        let mut outputs = [Array::from(0.0)];
        function.call_into(&whole.each_ref().map(ArrayRef::from), &mut outputs).unwrap();
        assert_eq!(outputs, [Array::from(121.0)]);
        let strict = runtime().debug(debug).filter(true, None).build().unwrap().function(&turned()).unwrap();
        let error = chain(&call(&strict, &whole).unwrap_err());
        assert!(
            error.contains("input `a` was rejected by its type: `degrees<f64[]>`: expected an f64"),
            "{error}"
        );
        assert_eq!(call(&strict, &[Array::from(300.0), Array::from(90.0)]).unwrap(), [Array::from(120.0)]);
        // Values that pass the filter are still checked.
        let vector = call(&function, &[vector(&[1.0, 2.0]), Array::from(1.0)]).unwrap_err();
        assert!(vector.to_string().contains("input `a` is `f64[2]`, expected `degrees<f64[]>`"), "{vector}");
        assert!(
            call(&function, &whole[..1]).unwrap_err().to_string().contains("expected 2 input(s), found 1")
        );
    }
}

#[test]
fn debug_mode_uses_the_type_comparison() {
    let runtime = Runtime::builder().ops(angles()).policy(Policy::Jit).debug(true).build().unwrap();
    let function = runtime.function(&turned()).unwrap();
    // The C code returns 359.999…, `perform` a number just above 0.
    let below = 360.0 - 5e-13;
    let found = call(&function, &[Array::from(below - 20.0), Array::from(10.0)]).unwrap();
    assert!(found[0].numbers()[0].parts().0 > 359.0, "{found:?}");
    let findings = precast_runtime::debug_findings(&function).unwrap();
    assert!(findings.applies.iter().all(|apply| apply.has_reference), "{findings:?}");
}

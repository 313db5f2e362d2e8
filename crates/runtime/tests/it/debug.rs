//! Debug mode on ops that keep their contract.

use super::call::graph;
use precast_graph::DType;
use precast_ops::combinations;
use precast_runtime::{Array, ArrayRef, Ops, Policy, Runtime, debug};

#[test]
fn built_in_ops_keep_their_contract() {
    let runtime = Runtime::builder().policy(Policy::Jit).build().unwrap();
    let ops = Ops::standard();
    for (op, dtype) in [("add", DType::F64), ("exp", DType::F32), ("sum", DType::F64), ("dot", DType::F64)] {
        for combination in combinations(op, &[dtype], &[0, 1, 2], &ops).unwrap() {
            let report = debug::check(&runtime, &combination.graph, &debug::Options::default()).unwrap();
            for checked in report.into_result().unwrap_or_else(|violation| panic!("{violation}")).applies {
                println!("{checked:?}");
                assert!(checked.has_reference && checked.accepted > 0, "{}", checked.signature);
            }
        }
    }
}

#[test]
fn a_graph_in_debug_mode_checks_every_apply_and_gives_the_same_result() {
    let graph = graph("out = sum(exp(-x*x)*y + z)", &["x=f64[?]", "y=f64[?]", "z=f64[?]"]);
    let inputs = [0.5, 1.5, 2.5].map(|v| Array::from(ndarray::Array1::linspace(-v, v, 33).into_dyn()));
    let borrowed: Vec<ArrayRef<'_>> = inputs.iter().map(ArrayRef::from).collect();
    let call = |debug: bool| {
        let runtime = Runtime::builder().policy(Policy::Jit).debug(debug).build().unwrap();
        let function = runtime.function(&graph).unwrap();
        (function.call(&borrowed).unwrap(), function.debug_report())
    };
    let (plain, none) = call(false);
    let (checked, report) = call(true);
    assert_eq!(plain[0].bits(), checked[0].bits());
    assert!(none.is_none());
    let signatures: Vec<String> = report.unwrap().applies.into_iter().map(|a| a.signature).collect();
    assert!(signatures.iter().any(|s| s.starts_with("exp(")), "{signatures:?}");
    assert!(signatures.len() >= 6, "{signatures:?}");
}

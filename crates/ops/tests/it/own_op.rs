//! Tests of a custom scalar op with its own C code and failure, in an elementwise loop, a chain and a reduction.

use crate::compiler;
use crate::machine::{Call, run_with};
use precast_graph::{Array, DType, FunctionGraph, Op, Type, interpret};
use precast_ops::scalar::{ScalarOp, find};
use precast_ops::{Composite, Elemwise, Ops, Reduce, ReduceKind};
use precast_testkit::layout::Layout;
use precast_testkit::scalar_op;
use std::sync::Arc;

/// Returns an op that computes 1/x, with an error for zero.
fn reciprocal() -> Arc<dyn ScalarOp> {
    let perform = |x| if x == 0.0 { Err("zero has none") } else { Ok(1.0 / x) };
    let refuse =
        "if (@X@ == 0) { pc_error_set(ctx, PC_ERROR_VALUE, \"zero has none\"); @FAIL@ }\n@Y@ = 1 / @X@;";
    scalar_op("reciprocal", perform, refuse)
}

fn graph(op: Arc<dyn Op>, input: Type) -> Arc<FunctionGraph> {
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", input).unwrap();
    let y = graph.apply(op, &[x]).unwrap();
    graph.output(y[0], None).unwrap();
    Arc::new(graph)
}

#[test]
fn own_op_runs_and_fails_in_every_loop() {
    let own = reciprocal();
    let chain = vec![(Arc::clone(&own), vec![0]), (find("exp").unwrap(), vec![1])];
    let chain: Arc<dyn ScalarOp> = Arc::new(Composite::new(1, chain, vec![2]));
    let sum = Reduce::new(ReduceKind::Sum, None);
    let ops: [Arc<dyn Op>; 3] = [
        Arc::new(Elemwise::new(own)),
        Arc::new(Elemwise::new(Arc::clone(&chain))),
        Arc::new(sum.fused(chain)),
    ];
    let mut calls = Vec::new();
    for op in ops {
        let graph = graph(op, Type::tensor(DType::F64, 1));
        for last in [4.0, 0.0] {
            let x = (0..600).map(|i| if i == 599 { last } else { 1.0 + f64::from(i) });
            let x = Array::from(x.collect::<ndarray::Array1<f64>>().into_dyn());
            for layout in [Layout::C, Layout::Strided] {
                let inputs = vec![(x.clone(), layout)];
                calls.push(Call { graph: Arc::clone(&graph), inputs, output: None, stretched: false });
            }
        }
    }
    let outcomes = run_with(&Ops::standard(), compiler::levels()[0], "gnu11", &calls);
    for (call, outcome) in calls.iter().zip(outcomes) {
        let inputs: Vec<Array> = call.inputs.iter().map(|(array, _)| array.clone()).collect();
        match (interpret(&call.graph, &inputs), outcome) {
            (Ok(expected), Ok((found, _))) => assert_eq!(found, expected, "{}", call.graph),
            (Err(_), Err(message)) => assert_eq!(message, "zero has none", "{}", call.graph),
            (expected, found) => panic!("{}: expected {expected:?}, found {found:?}", call.graph),
        }
    }
}

#[test]
fn own_op_has_no_fast_path_to_keys() {
    let own = reciprocal();
    let graph = graph(Arc::new(Elemwise::new(own)), Type::tensor(DType::F64, 1));
    assert_eq!(precast_ops::fingerprint(&graph, &Ops::standard()), None);
}

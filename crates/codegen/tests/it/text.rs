//! Tests of the text of modules.

use crate::toy;
use precast_codegen::{LinkError, link, single};
use precast_graph::{DType, FunctionGraph, Type};
use std::sync::Arc;

#[test]
fn the_blocks_nest_as_documented() {
    let module = link(&toy::seed_graph(), &toy::library()).unwrap();
    let run =
        module.body.split("_run(void *pc_self").nth(1).unwrap().split("static const pc_task").next().unwrap();
    insta::assert_snapshot!(run);
}

#[test]
fn graph_is_one_module_or_one_per_apply() {
    let graph = toy::seed_graph();
    let whole = link(&graph, &toy::library()).unwrap();
    assert_eq!(whole.ops, ["add(f64, f64) -> f64", "mul(f64, f64) -> f64"]);
    let alone = |position| single(&graph, position, &toy::library()).unwrap();
    let signatures = [0, 1].map(|position| link(&alone(position), &toy::library()).unwrap().signature);
    assert_eq!(signatures, ["add(f64, f64) -> f64", "mul(f64, f64) -> f64"]);
}

#[test]
fn constants_and_extents_do_not_enter_the_key() {
    let key = |value: f64, ty: &str| {
        let mut graph = FunctionGraph::new();
        let x = graph.input("x", ty.parse().unwrap()).unwrap();
        let bits = [value.to_bits(); 3];
        let c = precast_graph::Array::from_bits(DType::F64, &[3], &bits).unwrap();
        let c = graph.constant_of(c, Type::tensor(DType::F64, 1));
        let y = graph.apply(Arc::new(toy::TensorAdd { tag: 1, cxx: false }), &[x, c]).unwrap()[0];
        graph.output(y, None).unwrap();
        link(&graph, &toy::library()).unwrap().key()
    };
    assert_eq!(key(1.0, "f64[?]"), key(-0.0, "f64[7]"));
}

#[test]
fn removed_flags_enter_the_key() {
    let module = link(&toy::seed_graph(), &toy::library()).unwrap();
    let key = |added: &[&str], removed: &[&str]| {
        let lists =
            [added, removed].map(|list| list.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>());
        let [flags, removed_flags] = lists;
        precast_codegen::Module { flags, removed_flags, ..module.clone() }.key()
    };
    let keys =
        [key(&[], &[]), key(&["-g"], &[]), key(&[], &["-g"]), key(&["-g"], &["-O3"]), key(&["-O3"], &["-g"])];
    assert_eq!(std::collections::BTreeSet::from(keys).len(), keys.len());
}

#[test]
fn edges_and_props_enter_the_key() {
    let key = |swap: bool, tag: i64| {
        let mut graph = FunctionGraph::new();
        let [x, y] = ["x", "y"].map(|n| graph.input(n, Type::tensor(DType::F64, 1)).unwrap());
        let inputs = if swap { [y, x] } else { [x, y] };
        let z = graph.apply(Arc::new(toy::TensorAdd { tag, cxx: false }), &inputs).unwrap()[0];
        graph.output(z, None).unwrap();
        link(&graph, &toy::library()).unwrap().key()
    };
    assert_ne!(key(false, 1), key(true, 1));
    assert_ne!(key(false, 1), key(false, 2));
    assert_eq!(key(false, 1), key(false, 1));
}

#[test]
fn output_aliasing_an_input_is_rejected() {
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", Type::tensor(DType::F64, 1)).unwrap();
    graph.output(x, None).unwrap();
    assert!(matches!(link(&graph, &toy::library()), Err(LinkError::AliasedOutput { output: 0, .. })));
}

#[test]
fn an_op_without_c_is_named() {
    let error = link(&toy::seed_graph(), &precast_codegen::Library::new()).unwrap_err();
    assert_eq!(error.to_string(), "apply 0: no C code for op `add`: not in the library of C ops");
}

//! Tests of support code that Applies share, and of bodies in parts.

use crate::run::{opwise, whole};
use crate::toy::{self, Plain};
use precast_codegen::link;
use precast_graph::{Array, DType, FunctionGraph, Type};
use std::sync::Arc;

/// Returns how many functions named `_scale` a module defines.
fn helpers(body: &str) -> usize {
    body.matches("_scale(double x) {").count()
}

#[test]
fn equal_support_code_is_emitted_once() {
    let module = link(&toy::plain_chain(5), &toy::library()).unwrap();
    assert_eq!(helpers(&module.body), 2, "{}", module.body);
    assert!(!module.body.contains("@M@_n2_scale") && module.body.contains("@M@_n1_scale(((double *)V"));
}

#[test]
fn member_and_author_code_is_not_shared() {
    let with_members = link(&toy::chain(4, false), &toy::library()).unwrap();
    assert_eq!(helpers(&with_members.body), 4);
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", Type::tensor(DType::F64, 1)).unwrap();
    let y = graph.apply(Arc::new(Plain { tag: 1, own: true }), &[x, x]).unwrap()[0];
    graph.output(y, None).unwrap();
    let module = link(&graph, &toy::library()).unwrap();
    assert_eq!(helpers(&module.body), 1);
}

#[test]
fn body_in_parts_computes_and_fails_like_ops() {
    let graph = toy::plain_chain(40);
    let text = link(&graph, &toy::library()).unwrap().body;
    assert!(text.contains("@M@_part2(") && !text.contains("@M@_part3("), "{text}");
    let x = Array::from_bits(DType::F64, &[3], &[0.5_f64.to_bits(); 3]).unwrap();
    let inputs = std::slice::from_ref(&x);
    let (outcome, alone) = (whole(&graph, &toy::library(), inputs), opwise(&graph, &toy::library(), inputs));
    assert_eq!(outcome.outputs, alone.outputs);
    let last = outcome.outputs.as_ref().unwrap()[39].1.clone();
    let expected = (0..40).fold(0.5, |sum, at| sum * (at % 2 + 1) as f64 + 0.5);
    assert_eq!(last, [expected; 3].map(f64::to_le_bytes).concat());
    // Each Apply requests its output once; a refused request fails in that Apply, also in a later part.
    let applies: Vec<i64> = outcome.refused.iter().map(|(apply, _)| *apply).collect();
    assert_eq!(applies, (0..40).collect::<Vec<i64>>());
}

#[test]
fn small_body_is_one_function() {
    assert!(!link(&toy::plain_chain(8), &toy::library()).unwrap().body.contains("_part"));
}

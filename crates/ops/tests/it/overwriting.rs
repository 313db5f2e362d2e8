//! Tests of the `inplace` pass, and of ops that already overwrite an input.

use crate::rewrite_rules::{after, ndarray};
use precast_graph::{
    Array, FunctionGraph, MakeNodeError, Op, PerformError, Prop, Props, Type, contracts::Inputs, interpret,
};
use precast_ops::rewrite::{Form, Passes};
use precast_ops::{Elemwise, rewrite};
use precast_testkit::ulp::same_bits as same;
use std::sync::Arc;

/// Sets the first element of a vector: a copy, or in place.
#[derive(Debug)]
struct SetFirst {
    overwrites: bool,
}

impl Op for SetFirst {
    fn name(&self) -> &str {
        "set_first"
    }
    fn props(&self) -> Props {
        Props::from([("inplace".to_owned(), Prop::Bool(self.overwrites))])
    }
    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs("set_first", 2, inputs)?;
        Ok(vec![inputs[0].clone()])
    }
    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let mut bits = inputs[0].bits();
        if let (Some(first), Some(value)) = (bits.first_mut(), inputs[1].bits().first()) {
            *first = *value;
        }
        Ok(vec![Array::from_bits(inputs[0].dtype(), inputs[0].shape(), &bits).unwrap()])
    }
    fn destroy_map(&self) -> Vec<(usize, usize)> {
        if self.overwrites { vec![(0, 0)] } else { Vec::new() }
    }
    fn inplace(&self) -> Option<Arc<dyn Op>> {
        (!self.overwrites).then(|| Arc::new(Self { overwrites: true }) as Arc<dyn Op>)
    }
}

/// Builds a graph over `x` and `y` by hand; `how` returns the outputs.
fn by_hand(how: impl FnOnce(&mut dyn FnMut(&str, &[usize]) -> usize) -> Vec<usize>) -> FunctionGraph {
    let mut graph = FunctionGraph::new();
    let mut known: Vec<_> =
        ["x", "y"].iter().map(|name| graph.input(name, "f64[?]".parse().unwrap()).unwrap()).collect();
    known.push(graph.constant(Array::from(ndarray(&[1.0, 2.0]))));
    let outputs = {
        let mut add = |op: &str, inputs: &[usize]| {
            let scalar = || Arc::new(Elemwise::new(precast_ops::scalar::find(op).unwrap()));
            let op: Arc<dyn Op> = match op {
                "set" => Arc::new(SetFirst { overwrites: false }),
                "overwrite" => Arc::new(SetFirst { overwrites: true }),
                "view" => Arc::new(precast_ops::DimShuffle::new(vec![Some(0)])),
                _ => scalar(),
            };
            let inputs: Vec<_> = inputs.iter().map(|n| known[*n]).collect();
            known.extend(graph.apply(op, &inputs).unwrap());
            known.len() - 1
        };
        how(&mut add)
    };
    outputs.iter().for_each(|n| graph.output(known[*n], None).unwrap());
    graph
}

/// Returns descriptions, graphs, and the number of Applies that may overwrite without a copy. 0 and 1 are inputs, 2
/// is a constant.
fn settings(overwrites: bool) -> [(&'static str, FunctionGraph, usize); 8] {
    let set = if overwrites { "overwrite" } else { "set" };
    [
        (
            "an intermediate",
            by_hand(|g| {
                let t = g("exp", &[0]);
                let s = g(set, &[t, 1]);
                vec![g("exp", &[s])]
            }),
            1,
        ),
        (
            "two in a row",
            by_hand(|g| {
                let t = g("exp", &[0]);
                let s = g(set, &[t, 1]);
                let s = g(set, &[s, 0]);
                vec![g("exp", &[s])]
            }),
            2,
        ),
        (
            "an input",
            by_hand(|g| {
                let s = g(set, &[0, 1]);
                vec![g("exp", &[s])]
            }),
            0,
        ),
        (
            "a view of an input",
            by_hand(|g| {
                let v = g("view", &[0]);
                let s = g(set, &[v, 1]);
                vec![g("exp", &[s])]
            }),
            0,
        ),
        (
            "a constant",
            by_hand(|g| {
                let s = g(set, &[2, 1]);
                vec![g("exp", &[s])]
            }),
            0,
        ),
        (
            "read later",
            by_hand(|g| {
                let t = g("exp", &[0]);
                let s = g(set, &[t, 1]);
                let e = g("exp", &[s]);
                vec![g("mul", &[e, t])]
            }),
            0,
        ),
        (
            "an output",
            by_hand(|g| {
                let t = g("exp", &[0]);
                let s = g(set, &[t, 1]);
                vec![g("exp", &[s]), t]
            }),
            0,
        ),
        (
            "read twice",
            by_hand(|g| {
                let t = g("exp", &[0]);
                let s = g(set, &[t, t]);
                vec![g("exp", &[s])]
            }),
            0,
        ),
    ]
}

#[test]
fn inplace_overwrites_only_unused_values() {
    for (what, graph, overwritten) in settings(false) {
        let lowered = after("order,inplace", &graph);
        let found = lowered.applies().iter().filter(|apply| !apply.op.destroy_map().is_empty()).count();
        assert_eq!(found, overwritten, "{what}: {lowered}");
        let inputs = [&[1.0, 2.0], &[3.0, 4.0]].map(|values| Array::from(ndarray(values)));
        let [found, want] = [&lowered, &graph].map(|graph| interpret(graph, &inputs).unwrap());
        assert!(found.iter().zip(&want).all(|(found, want)| same(found, want)), "{what}");
    }
}

#[test]
fn overwritten_values_in_use_are_copied() {
    let inputs = [&[1.0, 2.0], &[3.0, 4.0]].map(|values| Array::from(ndarray(values)));
    for (what, graph, free) in settings(true) {
        graph.validate().unwrap();
        let want = interpret(&graph, &inputs).unwrap();
        let sets = graph.applies().iter().filter(|apply| !apply.op.destroy_map().is_empty()).count();
        for passes in ["all", "none", "order,fuse"] {
            let lowered = Form::Lowered.of(&graph, &passes.parse().unwrap()).unwrap();
            lowered
                .validate_memory(Inputs::Preserved)
                .unwrap_or_else(|error| panic!("{what}: {error}: {lowered}"));
            let copies = lowered.applies().iter().filter(|apply| apply.op.label() == "deep_copy").count();
            assert_eq!(copies, sets - free, "{what}, {passes}: {lowered}");
            let found = interpret(&lowered, &inputs).unwrap();
            assert!(found.iter().zip(&want).all(|(found, want)| same(found, want)), "{what}, {passes}");
        }
        for form in Form::ALL {
            let lowered = form.of(&graph, &Passes::default()).unwrap();
            lowered
                .validate_memory(Inputs::Preserved)
                .unwrap_or_else(|error| panic!("{what}: {error}: {lowered}"));
        }
    }
}

#[test]
fn overwriting_graph_keeps_its_order() {
    let graph = by_hand(|g| {
        let t = g("exp", &[0]);
        let late = g("exp", &[t]);
        let s = g("overwrite", &[t, 1]);
        let e = g("exp", &[s]);
        // Equal to the first Apply, whose result is overwritten.
        let again = g("exp", &[0]);
        vec![e, late, again]
    });
    for (pass, graph) in rewrite::trace(&graph).unwrap().into_iter().skip(4) {
        graph
            .validate_memory(Inputs::Preserved)
            .unwrap_or_else(|error| panic!("{}: {error}: {graph}", pass.name));
    }
    let inputs = [&[1.0, 2.0], &[3.0, 4.0]].map(|values| Array::from(ndarray(values)));
    let [found, want] = [&rewrite::lower(&graph).unwrap(), &graph].map(|g| interpret(g, &inputs).unwrap());
    assert!(found.iter().zip(&want).all(|(found, want)| same(found, want)));
}

//! Tests of the parts that the canonical bytes include and leave out.

use super::{config, graph};
use precast_graph::encode::{canonical, normalise};
use precast_graph::{Array, FunctionGraph, Keywords, OpLibrary, Origin, Props, Type, VarId, interpret};
use precast_testkit::Choices;
use precast_testkit::graphs::{Config, Function, cases, draw};
use precast_testkit::toy::{Composite, ToyLibrary};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const XYZ: [&str; 3] = ["x: f64[?]", "y: f64[?]", "z: f64[?]"];

fn bytes(outputs: &[&str]) -> Vec<u8> {
    canonical(&graph(&XYZ, outputs))
}

#[test]
fn equal_ops_on_other_edges_encode_differently() {
    // Each group has equal ops. The first group is the pair that shares a module in PyTensor ≥ 2.35.1.
    let groups: [&[&[&str]]; 8] = [
        &[&["t = exp(x); t*y - t"], &["t = exp(x); t - t*y"]],
        &[&["exp(x)*y - exp(x)"], &["exp(x) - exp(x)*y"], &["exp(x)*y - exp(y)"], &["exp(y)*y - exp(x)"]],
        &[&["x - y"], &["y - x"], &["x - x"], &["y - y"], &["x - z"]],
        &[&["x + y + z"], &["x + (y + z)"], &["(x + z) + y"], &["z + (x + y)"]],
        &[&["exp(x)", "exp(y)"], &["exp(y)", "exp(x)"], &["exp(x)", "exp(x)"]],
        &[&["a = exp(x)", "b = neg(x)"], &["b = neg(x)", "a = exp(x)"], &["b = neg(x)", "a = exp(b)"]],
        &[&["x + 1.0 + 2.0"], &["1.0 + x + 2.0"], &["x + (1.0 + 2.0)"]],
        &[&["switch(x < y, x, y)"], &["switch(x < y, y, x)"], &["switch(y < x, x, y)"]],
    ];
    for group in groups {
        let distinct: BTreeSet<Vec<u8>> = group.iter().map(|outputs| bytes(outputs)).collect();
        assert_eq!(distinct.len(), group.len(), "{group:?}");
    }
}

#[test]
fn shared_and_repeated_variables_count() {
    let outputs: [&[&str]; 5] =
        [&["a = exp(x)", "b = exp(x)"], &["a = exp(x)", "b = a"], &["exp(x)"], &["x", "x"], &["x"]];
    let distinct: BTreeSet<Vec<u8>> = outputs.iter().map(|outputs| bytes(outputs)).collect();
    assert_eq!(distinct.len(), outputs.len());
    assert_ne!(bytes(&["exp(x) + exp(x)"]), bytes(&["t = exp(x); t + t"]));
    let constants = |twice: bool| {
        let mut g = FunctionGraph::new();
        let one = g.constant(Array::from(1.0));
        let other = if twice { g.constant(Array::from(1.0)) } else { one };
        let sum = g.apply(ToyLibrary.op("add", &Props::new()).unwrap().unwrap(), &[one, other]).unwrap();
        g.output(sum[0], None).unwrap();
        canonical(&g)
    };
    assert_ne!(constants(true), constants(false));
}

#[test]
fn encoded_parts_distinguish_graphs() {
    let with = |inputs: &[&str], output: &str| canonical(&graph(inputs, &[output]));
    let base = with(&["x: f64[?]", "y: f64[?]"], "x + y");
    let others = [
        with(&["x: f32[?]", "y: f64[?]"], "x + y"),
        with(&["x: f64[?,?]", "y: f64[?]"], "x + y"),
        with(&["x: f64[]", "y: f64[?]"], "x + y"),
        with(&["x: f64", "y: f64[?]"], "x + y"),
        with(&["x: f64[?]", "y: f64[?]", "unused: a<f64[?]>"], "x + y"),
        with(&["x: f64[?]", "y: f64[?]", "unused: b<f64[?]>"], "x + y"),
        with(&["x: f64[?]", "y: f64[?]", "unused: b<f32[?]>"], "x + y"),
        with(&["x: f64[?]", "y: f64[?]", "unused: b<f32[]>"], "x + y"),
        with(&["x: f64[?]", "y: f64[?]", "unused: b<opaque>"], "x + y"),
        with(&["x: f64[?]", "y: f64[?]", "unused: f64[?]"], "x + y"),
        with(&["unused: f64[?]", "x: f64[?]", "y: f64[?]"], "x + y"),
        with(&["x: f64[?]", "y: f64[?]"], "x - y"),
        with(&["x: f64[?]", "y: f64[?]"], "x + 1.0"),
        with(&["x: f64[?]", "y: f64[?]"], "sum(x + y)"),
        with(&["x: f64[?]", "y: f64[?]"], "sum(x + y, keepdims=True)"),
        with(&["x: f64[?]", "y: f64[?]"], "sum(x + y, axis=0)"),
    ];
    let distinct: BTreeSet<Vec<u8>> = others.into_iter().chain([base]).collect();
    assert_eq!(distinct.len(), 17);
}

/// Returns `exp(x)*y + 2.5` with an additional Apply that no output needs.
fn with_dead_code() -> FunctionGraph {
    let mut graph = graph(&["x: f64[?]", "y: f64[?]"], &["t = exp(x); u = t*y; u + 2.5"]);
    let y = graph.inputs()[1];
    ToyLibrary.call(&mut graph, "exp", &[y.into()], &Keywords::new()).unwrap().unwrap();
    graph
}

#[test]
fn omitted_parts_do_not_change_the_encoding() {
    let base = canonical(&graph(&["x: f64[?]", "y: f64[?]"], &["out = exp(x)*y + 2.5"]));
    let others = [
        graph(&["a: f64[?]", "b: f64[?]"], &["exp(a)*b + 2.5"]),
        graph(&["x: f64[3]", "y: f64[1]"], &["exp(x)*y + 2.5"]),
        graph(&["x: f64[?]", "y: f64[?]"], &["exp(x)*y + -7e300"]),
        with_dead_code(),
    ];
    for other in others {
        assert_eq!(canonical(&other), base, "{other}");
    }
    // A graph of C scalars is a plain C function with literals.
    let function = |c: f64, input: &str| {
        let mut g = FunctionGraph::new();
        let x = g.input("x", input.parse().unwrap()).unwrap();
        let c = g.constant_of(Array::from(c), "f64".parse().unwrap());
        g.output(x, None).unwrap();
        g.output(c, None).unwrap();
        canonical(&g)
    };
    assert_eq!(function(2.0, "f64"), function(2.0, "f64"));
    assert_eq!(BTreeSet::from([2.0, 3.0, 0.0, -0.0].map(|c| function(c, "f64"))).len(), 4);
    assert_eq!(function(2.0, "f64[]"), function(3.0, "f64[]"));
    // A constant of another rank is another slot; a constant of another extent is not.
    let slot = |shape: &[usize]| {
        let mut g = FunctionGraph::new();
        let c = g.constant(Array::zeros(precast_graph::DType::F64, shape));
        g.output(c, None).unwrap();
        canonical(&g)
    };
    assert_eq!(slot(&[1]), slot(&[7]));
    assert_ne!(slot(&[1]), slot(&[1, 1]));
}

#[test]
fn bytes_are_laid_out_as_documented() {
    // The bytes are frozen: a change here requires a new `encode::FORMAT`.
    let u64 = |n: u64| [&[3][..], &n.to_le_bytes()].concat();
    let list = |items: &[Vec<u8>]| [&[5][..], &(items.len() as u64).to_le_bytes(), &items.concat()].concat();
    let str = |s: &str| [&[1][..], &(s.len() as u64).to_le_bytes(), s.as_bytes()].concat();
    let tensor = |rank| list(&[vec![4, 1], str("f64"), u64(rank)]);
    let edge = |numbers: &[u64]| list(&numbers.iter().map(|n| u64(*n)).collect::<Vec<_>>());
    let apply = |name: &str, edges: &[Vec<u8>]| {
        list(&[list(&[str(name), list(&[])]), list(edges), list(&[tensor(1)])])
    };
    let expected = list(&[
        u64(2),
        list(&[tensor(1)]),
        list(&[tensor(0)]),
        list(&[apply("exp", &[edge(&[0, 0])]), apply("mul", &[edge(&[2, 0, 0]), edge(&[1, 0])])]),
        list(&[edge(&[2, 1, 0]), edge(&[0, 0])]),
    ]);
    assert_eq!(canonical(&graph(&["x: f64[?]"], &["exp(x) * 2", "x"])), expected);
}

/// Returns whether two graphs are equal up to numbering, names, constants and extents. Works without numbering: it
/// walks both graphs at once and pairs their variables one to one.
fn alike(a: &FunctionGraph, b: &FunctionGraph) -> bool {
    struct Pairs<'g>(&'g FunctionGraph, &'g FunctionGraph, BTreeMap<VarId, VarId>, BTreeMap<VarId, VarId>);

    impl Pairs<'_> {
        fn pair(&mut self, v: VarId, w: VarId) -> bool {
            match (self.2.get(&v), self.3.get(&w)) {
                (None, None) => {}
                (known, back) => return known == Some(&w) && back == Some(&v),
            }
            self.2.insert(v, w);
            self.3.insert(w, v);
            let (x, y) = (self.0.variable(v), self.1.variable(w));
            x.ty.without_extents() == y.ty.without_extents()
                && match (&x.origin, &y.origin) {
                    (Origin::Input(i), Origin::Input(j)) => i == j,
                    (Origin::Constant(c), Origin::Constant(d)) => {
                        !self.0.is_of_numbers() || c.bits() == d.bits()
                    }
                    (Origin::Output { apply: p, index: i }, Origin::Output { apply: q, index: j }) => {
                        let (p, q) = (&self.0.applies()[p.index()], &self.1.applies()[q.index()]);
                        let outputs = p.outputs.iter().zip(&q.outputs).collect::<Vec<_>>();
                        i == j
                            && *p.op == *q.op
                            && p.inputs.len() == q.inputs.len()
                            && p.inputs.iter().zip(&q.inputs).all(|(v, w)| self.pair(*v, *w))
                            && outputs.into_iter().all(|(v, w)| self.pair(*v, *w))
                    }
                    _ => false,
                }
        }
    }

    let inputs =
        |g: &FunctionGraph| g.inputs().iter().map(|v| g.ty(*v).without_extents()).collect::<Vec<_>>();
    let mut pairs = Pairs(a, b, BTreeMap::new(), BTreeMap::new());
    inputs(a) == inputs(b)
        && a.outputs().len() == b.outputs().len()
        && a.outputs().iter().zip(b.outputs()).all(|(v, w)| pairs.pair(*v, *w))
}

/// Rebuilds a graph in another order and under other names; constants get their values from `values`.
fn shuffled(g: &FunctionGraph, choices: &mut Choices) -> FunctionGraph {
    let mut result = FunctionGraph::new();
    let mut new: BTreeMap<VarId, VarId> = BTreeMap::new();
    for (i, v) in g.inputs().iter().enumerate() {
        new.insert(*v, result.input(&format!("other{i}"), g.ty(*v).clone()).unwrap());
    }
    let mut constants: Vec<_> = g.constants().collect();
    let mut applies: Vec<_> = g.applies().iter().collect();
    while !(constants.is_empty() && applies.is_empty()) {
        if !constants.is_empty() && choices.one_in(2) {
            let (v, value) = constants.swap_remove(choices.below(constants.len()));
            let zeros = Array::zeros(value.dtype(), value.shape());
            new.insert(v, result.constant_of(zeros, g.ty(v).clone()));
        }
        let ready: Vec<usize> =
            (0..applies.len()).filter(|i| applies[*i].inputs.iter().all(|v| new.contains_key(v))).collect();
        if let Some(chosen) = choices.pick(&ready) {
            let apply = applies.swap_remove(*chosen);
            let inputs: Vec<VarId> = apply.inputs.iter().map(|v| new[v]).collect();
            let outputs = result.apply(apply.op.clone(), &inputs).unwrap();
            new.extend(apply.outputs.iter().copied().zip(outputs));
        }
    }
    for v in g.outputs() {
        result.output(new[v], None).unwrap();
    }
    result
}

/// Creates a very small graph over few ops, so that different seeds often give equal graphs.
fn small(seed: u64) -> FunctionGraph {
    let functions = vec![Function::new("exp", 1), Function::new("sub", 2), Function::new("minmax", 1)];
    let config = Config {
        dtypes: vec![precast_graph::DType::F64],
        applies: 1..=3,
        inputs: 1..=2,
        max_ndim: 1,
        ..Config::new(functions)
    };
    draw(&mut Choices::seeded(seed), &config, &ToyLibrary).graph
}

#[test]
fn bytes_are_equal_exactly_when_graphs_are_alike() {
    let graphs: Vec<FunctionGraph> = (0..250).map(small).collect();
    let bytes: Vec<Vec<u8>> = graphs.iter().map(canonical).collect();
    let (mut equal, mut different) = (0, 0);
    for (i, a) in graphs.iter().enumerate() {
        for (j, b) in graphs.iter().enumerate().skip(i + 1) {
            let same = bytes[i] == bytes[j];
            assert_eq!(same, alike(a, b), "{a} | {b}");
            if same { equal += 1 } else { different += 1 }
        }
    }
    assert!(equal > 100 && different > 1000, "the claim needs both: {equal} equal, {different} different");
}

proptest! {
    #[test]
    fn build_order_does_not_change_the_bytes(case in cases(config(), ToyLibrary), seed: u64) {
        let other = shuffled(&case.graph, &mut Choices::seeded(seed));
        prop_assert!(alike(&case.graph, &other));
        prop_assert_eq!(canonical(&case.graph), canonical(&other));
        let (a, b) = (normalise(&case.graph), normalise(&other));
        prop_assert_eq!(a.applies(), b.applies());
        let types = |g: &FunctionGraph| g.variables().iter().map(|v| v.ty.clone()).collect::<Vec<_>>();
        prop_assert_eq!(types(&a), types(&b));
    }

    #[test]
    fn normalising_keeps_values_bytes_and_names(case in cases(config(), ToyLibrary)) {
        let normal = normalise(&case.graph);
        prop_assert_eq!(canonical(&normal), canonical(&case.graph));
        prop_assert_eq!(&normalise(&normal), &normal);
        prop_assert_eq!(interpret(&normal, &case.inputs).unwrap(), case.outputs);
        for i in 0..normal.inputs().len() {
            prop_assert_eq!(normal.input_name(i), case.graph.input_name(i));
        }
        for i in 0..normal.outputs().len() {
            prop_assert_eq!(normal.declared_output_name(i), case.graph.declared_output_name(i));
        }
    }
}

#[test]
fn slots_are_numbered_by_first_use() {
    let mut g = FunctionGraph::new();
    let (late, _unused, early) = (g.constant(1.0.into()), g.constant(2.0.into()), g.constant(3.0.into()));
    let sub = ToyLibrary.op("sub", &Props::new()).unwrap().unwrap();
    let v = g.apply(sub, &[early, late]).unwrap();
    g.output(v[0], None).unwrap();
    let normal = normalise(&g);
    let slots: Vec<&Array> = normal.constants().map(|(_, value)| value).collect();
    assert_eq!(slots, [&Array::from(3.0), &Array::from(1.0)]);
}

#[test]
fn deep_graphs_need_no_stack() {
    let mut g = FunctionGraph::new();
    let mut v = g.input("x", Type::tensor(precast_graph::DType::F64, 0)).unwrap();
    let exp = ToyLibrary.op("exp", &Props::new()).unwrap().unwrap();
    for _ in 0..200_000 {
        v = g.apply(exp.clone(), &[v]).unwrap()[0];
    }
    g.output(v, None).unwrap();
    assert_eq!(normalise(&g).applies().len(), 200_000);
    assert_eq!(canonical(&g), canonical(&normalise(&g)));
}

#[test]
fn a_composite_is_keyed_by_its_graph() {
    let with = |inner: &str| {
        let inner = Arc::new(graph(&["a: f64[?]", "b: f64[?]"], &[inner]));
        let mut g = graph(&XYZ, &["x"]);
        let (x, y) = (g.inputs()[0], g.inputs()[1]);
        let v = g.apply(Arc::new(Composite(inner)), &[x, y]).unwrap();
        g.output(v[0], None).unwrap();
        canonical(&g)
    };
    assert_ne!(with("exp(a)*b - exp(a)"), with("exp(a) - exp(a)*b"));
    assert_eq!(with("t = exp(a); t - b"), with("u = exp(a); u - b"));
}

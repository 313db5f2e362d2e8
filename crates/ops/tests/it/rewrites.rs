//! Properties of the passes on random graphs: alone and together they keep every bit, and they are idempotent.

use precast_graph::{
    Array, DType, Extent, FunctionGraph, Prop, Props, TensorType, Type, VarId, encode, interpret,
};
use precast_ops::rewrite::{Form, Passes};
use precast_ops::{Ops, rewrite};
use precast_testkit::Choices;
use precast_testkit::graphs::{Case, Config, Function, draw};
use precast_testkit::ulp::same_bits as same;

/// The number of random graphs; each is run through every pass and interpreted.
const GRAPHS: u64 = 300;

fn config() -> Config {
    let unary =
        ["exp", "tanh", "neg", "abs", "logical_not", "sqrt", "identity"].map(|name| Function::new(name, 1));
    let binary = ["add", "sub", "mul", "div", "maximum", "lt", "dot"].map(|name| Function::new(name, 2));
    let list = |items: &[i64]| Prop::List(items.iter().map(|n| Prop::Int(*n)).collect());
    let prop = |name: &str, value: Prop| Props::from([(name.to_owned(), value)]);
    let kept = |axis| {
        let axis = prop("axis", Prop::Int(axis));
        axis.into_iter().chain(prop("keepdims", Prop::Bool(true))).collect::<Props>()
    };
    let reductions = ["sum", "max", "mean"].map(|name| {
        Function::new(name, 1)
            .with(Props::new())
            .with(kept(-1))
            .with(kept(0))
            .with(prop("axis", Prop::Int(0)))
    });
    let orders: [&[i64]; 6] = [&[-1, 0], &[0, -1], &[1, 0], &[0, 1], &[2, 0, 1], &[0]];
    let shuffle =
        orders.iter().fold(Function::new("dimshuffle", 1), |f, order| f.with(prop("order", list(order))));
    let dtypes = DType::ALL.map(|d| prop("dtype", Prop::Str(d.name().to_owned())));
    let cast = || dtypes.iter().fold(Function::new("cast", 1), |f, props| f.with(props.clone()));
    let functions = unary.into_iter().chain(binary).chain(reductions);
    let functions = functions.chain([shuffle.clone(), shuffle, cast(), cast(), Function::new("switch", 3)]);
    let dtypes = vec![DType::Bool, DType::I64, DType::F32, DType::F64];
    Config { dtypes, ..Config::new(functions.collect()) }
}

/// Returns graphs of at most 25 applies. Their outputs are the drawn ones and one of every three other applies.
fn drawn(count: u64) -> impl Iterator<Item = (u64, Case)> {
    let config = Config { applies: 1..=25, ..config() };
    (0..count).map(move |seed| {
        let mut choices = Choices::seeded(seed);
        let mut case = draw(&mut choices, &config, &Ops::standard());
        let made: Vec<VarId> = case.graph.applies().iter().flat_map(|apply| apply.outputs.clone()).collect();
        for (n, variable) in made.into_iter().filter(|_| choices.one_in(3)).enumerate() {
            case.graph.output(variable, Some(&format!("more{n}"))).unwrap();
        }
        case.outputs = interpret(&case.graph, &case.inputs).unwrap();
        (seed, case)
    })
}

fn assert_same(graph: &FunctionGraph, case: &Case, what: &str) {
    let found = interpret(graph, &case.inputs).unwrap_or_else(|error| panic!("{what}: {error}: {graph}"));
    assert_eq!(found.len(), case.outputs.len(), "{what}");
    for (position, (found, want)) in found.iter().zip(&case.outputs).enumerate() {
        assert!(
            same(found, want),
            "{what}: output {position} is {found:?}, not {want:?}\n  {}\n  {graph}",
            case.graph
        );
    }
}

#[test]
fn every_pass_keeps_every_bit() {
    let (mut changed, mut several) = (vec![0; rewrite::PASSES.len()], 0);
    for (seed, case) in drawn(GRAPHS) {
        for (pass, changed) in rewrite::PASSES.iter().zip(&mut changed) {
            let alone = (pass.run)(&case.graph).unwrap();
            *changed += usize::from(alone != case.graph);
            assert_same(&alone, &case, &format!("seed {seed}, {}", pass.name));
        }
        for (pass, graph) in rewrite::trace(&case.graph).unwrap() {
            assert_same(&graph, &case, &format!("seed {seed}, up to {}", pass.name));
            graph.validate().unwrap();
        }
        let lowered = rewrite::lower(&case.graph).unwrap();
        several += usize::from(lowered.applies().iter().any(|apply| apply.outputs.len() > 1));
        for form in Form::ALL {
            let graph = form.of(&case.graph, &Passes::default()).unwrap();
            assert_same(&graph, &case, &format!("seed {seed}, {form:?}"));
        }
    }
    // `inplace` needs an op with an in-place form, which only `overwriting.rs` has.
    let idle: Vec<_> =
        rewrite::PASSES.iter().zip(&changed).filter(|(_, n)| **n < 10).map(|(p, _)| p.name).collect();
    assert_eq!(idle, ["copy_overwritten", "inplace"], "{changed:?}");
    assert!(several > 20, "groups with several outputs: {several}");
}

/// Returns the graph with unknown extents in all inputs, because the first run already forgets extents of 1.
fn forgotten(graph: &FunctionGraph) -> FunctionGraph {
    let mut new = FunctionGraph::new();
    let mut known = vec![None; graph.variables().len()];
    for (position, v) in graph.inputs().iter().enumerate() {
        let ty = graph.ty(*v).without_extents();
        known[v.index()] = Some(new.input(graph.input_name(position), ty).unwrap());
    }
    for (v, value) in graph.constants() {
        known[v.index()] = Some(new.constant_of(value.clone(), graph.ty(v).without_extents()));
    }
    for apply in graph.applies() {
        let inputs: Vec<VarId> = apply.inputs.iter().map(|v| known[v.index()].unwrap()).collect();
        let Ok(outputs) = new.apply(apply.op.clone(), &inputs) else { continue };
        apply.outputs.iter().zip(outputs).for_each(|(old, fresh)| known[old.index()] = Some(fresh));
    }
    for v in graph.outputs() {
        new.output(known[v.index()].unwrap(), None).unwrap();
    }
    new
}

#[test]
fn rewriting_is_idempotent() {
    for (seed, case) in drawn(GRAPHS) {
        let graph = forgotten(&case.graph);
        for form in Form::ALL {
            let once = form.of(&graph, &Passes::default()).unwrap();
            let twice = form.of(&once, &Passes::default()).unwrap();
            let canonical = |graph: &FunctionGraph| encode::canonical(graph);
            assert!(canonical(&twice) == canonical(&once), "seed {seed}: {graph}\n  {once}\n  {twice}");
        }
    }
}

/// Reorders the applies of a graph randomly, within the limits of their edges.
fn shuffled(graph: &FunctionGraph, choices: &mut Choices) -> FunctionGraph {
    let mut new = FunctionGraph::new();
    let mut known: Vec<Option<VarId>> = vec![None; graph.variables().len()];
    for (position, v) in graph.inputs().iter().enumerate() {
        known[v.index()] = Some(new.input(graph.input_name(position), graph.ty(*v).clone()).unwrap());
    }
    let constants: Vec<_> = graph.constants().collect();
    for (v, value) in constants.into_iter().rev() {
        known[v.index()] = Some(new.constant_of(value.clone(), graph.ty(v).clone()));
    }
    let mut left: Vec<_> = graph.applies().iter().collect();
    while !left.is_empty() {
        let ready: Vec<usize> =
            (0..left.len()).filter(|k| left[*k].inputs.iter().all(|v| known[v.index()].is_some())).collect();
        let apply = left.remove(*choices.pick(&ready).unwrap());
        let inputs: Vec<VarId> = apply.inputs.iter().map(|v| known[v.index()].unwrap()).collect();
        let outputs = new.apply(apply.op.clone(), &inputs).unwrap();
        apply.outputs.iter().zip(outputs).for_each(|(old, fresh)| known[old.index()] = Some(fresh));
    }
    for (position, v) in graph.outputs().iter().enumerate() {
        new.output(known[v.index()].unwrap(), graph.declared_output_name(position)).unwrap();
    }
    new
}

#[test]
fn lowering_ignores_build_order() {
    for (seed, case) in drawn(GRAPHS) {
        let other = shuffled(&case.graph, &mut Choices::seeded(seed ^ 7));
        let [a, b] = [&case.graph, &other].map(|graph| encode::canonical(&rewrite::lower(graph).unwrap()));
        assert!(a == b, "seed {seed}: {}\n  {other}", case.graph);
    }
}

#[test]
fn cast_chains_keep_bits_of_every_dtype() {
    let mut choices = Choices::seeded(1);
    let (mut tried, mut shorter) = (0, 0);
    for first in DType::ALL {
        let mut values = precast_testkit::arrays::specials(first).bits();
        values.extend(precast_testkit::arrays::draw(&mut choices, first, &[64]).bits());
        let len = values.len() / first.words();
        let input = Array::from_bits(first, &[len], &values).unwrap();
        for (middle, last) in DType::ALL.into_iter().flat_map(|m| DType::ALL.map(|l| (m, l))) {
            let mut graph = FunctionGraph::new();
            let ty = Type::Tensor(TensorType { dtype: first, shape: vec![Extent::Unknown] });
            let x = graph.input("x", ty).unwrap();
            let cast = |to| {
                std::sync::Arc::new(precast_ops::Elemwise::new(std::sync::Arc::new(
                    precast_ops::scalar::Cast { to },
                )))
            };
            let Ok(y) = graph.apply(cast(middle), &[x]) else { continue };
            let Ok(z) = graph.apply(cast(last), &y) else { continue };
            graph.output(z[0], None).unwrap();
            let simplified = rewrite::run(&graph, &Passes::named(&["simplify", "order"]).unwrap()).unwrap();
            tried += 1;
            shorter += usize::from(simplified.applies().len() < 2);
            let [found, want] =
                [&simplified, &graph].map(|graph| interpret(graph, std::slice::from_ref(&input)));
            let (Ok(found), Ok(want)) = (found, want) else { continue };
            assert!(same(&found[0], &want[0]), "{first} to {middle} to {last}: {found:?}, not {want:?}");
        }
    }
    assert!(shorter * 4 > tried, "{shorter} of {tried} became shorter");
}

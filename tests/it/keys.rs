//! Keys: a BuildKey covers the module's text and sources, and graphs that compute different things never share one.

use crate::graphs::{graph, random, vectors};
use crate::process;
use precast_codegen::{Module, SourceSet, link};
use precast_graph::text::{parse, parse_input};
use precast_graph::{Array, Extent, FunctionGraph, Origin, TensorType, Type, VarId, encode, interpret};
use precast_ops::rewrite::{Form, Passes};
use precast_ops::{Ops, fingerprint, rewrite};
use precast_store::{BuildKey, Fingerprint};
use precast_testkit::{Choices, arrays};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The number of random graphs that a property is tested on.
const GRAPHS: u64 = 250;

fn module(graph: &FunctionGraph) -> Module {
    link(&rewrite::lower(graph).unwrap(), Ops::standard().c()).unwrap()
}

fn key(graph: &FunctionGraph) -> BuildKey {
    module(graph).key()
}

/// Returns the key of the form for all extents.
fn general_key(graph: &FunctionGraph) -> BuildKey {
    let lowered = Form::General.of(graph, &Passes::default()).unwrap();
    link(&lowered, Ops::standard().c()).unwrap().key()
}

/// The changes to a graph while it is rebuilt.
#[derive(Default)]
struct Change<'a> {
    /// Changes names, and makes every extent of inputs unknown, with a name.
    anonymous: bool,
    /// Changes the values of constants.
    constants: Option<&'a mut Choices>,
    /// Replaces this input of this Apply by another variable of the same type.
    rewire: Option<(usize, usize, &'a mut Choices)>,
}

/// Rebuilds a graph; returns `None` if an op rejects the change.
fn rebuild(old: &FunctionGraph, mut change: Change<'_>) -> Option<FunctionGraph> {
    let mut new = FunctionGraph::new();
    let mut renamed: Vec<Option<VarId>> = vec![None; old.variables().len()];
    for (position, input) in old.inputs().iter().enumerate() {
        let name =
            if change.anonymous { format!("other{position}") } else { old.input_name(position).to_owned() };
        let ty = if change.anonymous {
            unknown(old.ty(*input)).to_string().replace('?', "n").parse().ok()?
        } else {
            old.declared_input_type(position)
        };
        renamed[input.index()] = Some(new.declare_input(&name, ty).ok()?);
    }
    for (variable, value) in old.constants() {
        let value = match &mut change.constants {
            Some(choices) => arrays::draw(choices, value.dtype(), value.shape()),
            None => value.clone(),
        };
        renamed[variable.index()] = Some(new.constant_of(value, old.ty(variable).clone()));
    }
    for (position, apply) in old.applies().iter().enumerate() {
        let mut inputs: Vec<VarId> = apply.inputs.iter().filter_map(|v| renamed[v.index()]).collect();
        if let Some((at, input, choices)) = &mut change.rewire
            && *at == position
        {
            let input = *input % inputs.len();
            let ty = new.ty(inputs[input]).without_extents();
            let fits = |v: &VarId| *v != inputs[input] && new.ty(*v).without_extents() == ty;
            let others: Vec<VarId> = renamed.iter().flatten().copied().filter(fits).collect();
            inputs[input] = *choices.pick(&others)?;
        }
        let outputs = new.apply(apply.op.clone(), &inputs).ok()?;
        for (from, to) in apply.outputs.iter().zip(outputs) {
            renamed[from.index()] = Some(to);
        }
    }
    for (position, output) in old.outputs().iter().enumerate() {
        let name = if change.anonymous { format!("result{position}") } else { old.output_name(position) };
        new.output(renamed[output.index()]?, Some(&name)).ok()?;
    }
    Some(new)
}

/// Rebuilds the graph in another order: constants and independent Applies in any possible order.
fn shuffled(old: &FunctionGraph, choices: &mut Choices) -> FunctionGraph {
    let (mut new, mut renamed) = (FunctionGraph::new(), BTreeMap::new());
    for (position, input) in old.inputs().iter().enumerate() {
        renamed.insert(*input, new.input(old.input_name(position), old.ty(*input).clone()).unwrap());
    }
    let mut constants: Vec<_> = old.constants().collect();
    let mut applies: Vec<_> = old.applies().iter().collect();
    while !(constants.is_empty() && applies.is_empty()) {
        if !constants.is_empty() && choices.one_in(2) {
            let (variable, value) = constants.swap_remove(choices.below(constants.len()));
            renamed.insert(variable, new.constant_of(value.clone(), old.ty(variable).clone()));
        }
        let is_ready = |at: &usize| applies[*at].inputs.iter().all(|input| renamed.contains_key(input));
        let ready: Vec<usize> = (0..applies.len()).filter(is_ready).collect();
        let Some(chosen) = choices.pick(&ready) else { continue };
        let apply = applies.swap_remove(*chosen);
        let inputs: Vec<VarId> = apply.inputs.iter().map(|input| renamed[input]).collect();
        renamed.extend(apply.outputs.iter().copied().zip(new.apply(apply.op.clone(), &inputs).unwrap()));
    }
    for (position, output) in old.outputs().iter().enumerate() {
        new.output(renamed[output], Some(&old.output_name(position))).unwrap();
    }
    new
}

/// Returns the type without extents, except for ones, which decide on broadcasting.
fn unknown(ty: &Type) -> Type {
    match ty {
        Type::Tensor(tensor) => {
            let forget = |e: &Extent| if *e == Extent::Fixed(1) { *e } else { Extent::Unknown };
            Type::Tensor(TensorType { dtype: tensor.dtype, shape: tensor.shape.iter().map(forget).collect() })
        }
        other => other.clone(),
    }
}

/// Returns every random graph, and one random rewiring of each.
fn population() -> Vec<FunctionGraph> {
    let mut all = Vec::new();
    for seed in 0..GRAPHS {
        let case = random(seed, 12);
        let mut choices = Choices::seeded(seed);
        let at = choices.below(case.graph.applies().len());
        let change = Change { rewire: Some((at, choices.below(3), &mut choices)), ..Change::default() };
        all.extend(rebuild(&case.graph, change));
        all.push(case.graph);
    }
    all
}

#[test]
fn key_covers_text_and_sources() {
    let mut by_key: BTreeMap<BuildKey, (String, SourceSet)> = BTreeMap::new();
    let mut by_text: BTreeMap<(String, SourceSet), BuildKey> = BTreeMap::new();
    for graph in population() {
        let module = module(&graph);
        let (key, text) = (module.key(), (module.text(), module.sources.clone()));
        assert_eq!(*by_key.entry(key).or_insert_with(|| text.clone()), text, "one key, two texts: {graph}");
        assert_eq!(*by_text.entry(text).or_insert(key), key, "one text, two keys: {graph}");
    }
    assert!(by_key.len() as u64 > GRAPHS, "too few different modules to say anything: {}", by_key.len());
}

#[test]
fn a_key_changes_with_every_own_file() {
    let module = module(&vectors("exp(x) + y", "xy"));
    for name in module.sources.keys() {
        let mut changed = module.clone();
        changed.sources.insert(name.clone(), format!("{}\n", module.sources[name]).into());
        assert_ne!(changed.key(), module.key(), "{name}");
    }
}

#[test]
fn equal_fingerprints_mean_equal_keys() {
    let mut keys: BTreeMap<Fingerprint, (BuildKey, String)> = BTreeMap::new();
    for graph in population() {
        let lowered = rewrite::lower(&graph).unwrap();
        let found = fingerprint(&lowered, &Ops::standard()).expect("standard ops have a content id");
        let here = (key(&graph), graph.to_string());
        let known = keys.entry(found).or_insert_with(|| here.clone());
        assert_eq!(known.0, here.0, "one fingerprint, two keys: {} and {}", known.1, here.1);
    }
}

/// Returns the number of constants that differ in value or type.
fn distinct_constants(graph: &FunctionGraph) -> usize {
    let constants = graph.constants().map(|(id, value)| format!("{} {value:?}", graph.ty(id)));
    constants.collect::<BTreeSet<_>>().len()
}

#[test]
fn names_extents_and_constants_never_matter() {
    for seed in 0..GRAPHS {
        let case = random(seed, 12);
        let anonymous = rebuild(&case.graph, Change { anonymous: true, ..Change::default() });
        if let Some(anonymous) = anonymous {
            let keys = [&anonymous, &case.graph].map(general_key);
            assert_eq!(keys[0], keys[1], "seed {seed}: names or extents: {}", case.graph);
        }
        let mut choices = Choices::seeded(seed ^ 1);
        let other = Change { constants: Some(&mut choices), ..Change::default() };
        let other = rebuild(&case.graph, other).expect("the same types");
        // Equal constants are merged, also those that folding computes, and then the modules have different numbers of them.
        let constants =
            |graph: &FunctionGraph| distinct_constants(&Form::General.of(graph, &Passes::default()).unwrap());
        if constants(&other) == constants(&case.graph) {
            let keys = [&other, &case.graph].map(general_key);
            assert_eq!(keys[0], keys[1], "seed {seed}: constants: {}", case.graph);
        }
    }
    let extents = ["x=f64[?]", "x=f64[1]", "x=f64[3]"].map(|x| key(&graph("exp(x) * 2", &[x])));
    assert_eq!(extents, [extents[0]; 3]);
    assert_eq!(key(&vectors("x*2 + 1", "x")), key(&vectors("out = y*7.5 + 1e300", "y")));
}

#[test]
fn build_order_of_independent_applies_is_irrelevant() {
    let texts = |texts: &[&str]| {
        let inputs = ["x=f64[?]", "y=f64[?]"].map(|input| parse_input(input).unwrap());
        parse(texts, &inputs, &Ops::standard()).unwrap()
    };
    let one = texts(&["a = exp(x); b = sin(y); a + b"]);
    let other = texts(&["b = sin(y); a = exp(x); a + b"]);
    assert_ne!(one, other);
    assert_eq!(key(&one), key(&other));
    let mut moved = 0;
    for seed in 0..GRAPHS {
        let graph = random(seed, 16).graph;
        let other = shuffled(&graph, &mut Choices::seeded(seed));
        moved += usize::from(other != graph);
        let lowered = [&graph, &other].map(|graph| rewrite::lower(graph).unwrap());
        let fingerprints = lowered.each_ref().map(|lowered| fingerprint(lowered, &Ops::standard()));
        assert_eq!(key(&graph), key(&other), "seed {seed}: {graph}\n{other}");
        assert_eq!(fingerprints[0], fingerprints[1], "seed {seed}: {graph}\n{other}");
        // The modules are the same, so the programs make the same calls.
        let parts = lowered.map(|lowered| {
            (0..lowered.applies().len())
                .map(|at| {
                    link(
                        &precast_codegen::single(&lowered, at, Ops::standard().c()).unwrap(),
                        Ops::standard().c(),
                    )
                    .unwrap()
                    .key()
                })
                .collect::<Vec<_>>()
        });
        assert_eq!(parts[0], parts[1], "seed {seed}: {graph}\n{other}");
    }
    assert!(moved > GRAPHS as usize / 2, "{moved}");
}

#[test]
fn equal_ops_on_other_edges_have_other_keys() {
    let families: [&[&str]; 8] = [
        &[
            "exp(x)*y - exp(x)",
            "exp(x) - exp(x)*y",
            "exp(y)*x - exp(y)",
            "exp(x)*y - exp(y)",
            "exp(y) - exp(x)*y",
        ],
        &["(x + y)*z", "x + y*z", "(x*y) + z", "(x + z)*y", "z*(x + y)", "(y + x)*z"],
        &["x - y", "y - x", "x - x", "y - y"],
        &["x/y/z", "x/(y/z)", "z/y/x", "(x/z)/y"],
        &["sum(x)*y", "sum(x*y)", "x*sum(y)", "sum(x)*sum(y)"],
        &["maximum(x, y) - minimum(x, y)", "maximum(x, y) - minimum(y, x)", "minimum(x, y) - maximum(x, y)"],
        &["where(x < y, x, y)", "where(x < y, y, x)", "where(y < x, x, y)", "where(x < x, x, y)"],
        &["exp(x) + exp(y)", "exp(x) + exp(x)", "exp(x + y) + exp(x)", "exp(exp(x)) + y", "exp(exp(x) + y)"],
    ];
    for family in families {
        let keys: BTreeSet<BuildKey> = family.iter().map(|text| key(&vectors(text, "xyz"))).collect();
        assert_eq!(keys.len(), family.len(), "{family:?}");
    }
    let outputs: [&[&str]; 5] =
        [&["x + y", "x - y"], &["x - y", "x + y"], &["x + y", "x + y"], &["x + y", "x"], &["x + y"]];
    let keys: BTreeSet<BuildKey> = outputs.iter().map(|texts| key(&several(texts))).collect();
    assert_eq!(keys.len(), outputs.len());
    let shuffled = ["transpose(x) @ y", "x @ transpose(y)", "x @ y", "y @ x", "transpose(x @ y)"];
    let keys: BTreeSet<BuildKey> =
        shuffled.iter().map(|text| key(&graph(text, &["x=f64[?,?]", "y=f64[?,?]"]))).collect();
    assert_eq!(keys.len(), shuffled.len());
}

#[test]
fn rewired_graphs_share_a_key_only_if_equal() {
    let (mut rewired, mut shared) = (0, 0);
    for seed in 0..3 * GRAPHS {
        let case = random(seed, 8);
        let mut choices = Choices::seeded(seed);
        let at = choices.below(case.graph.applies().len());
        let change = Change { rewire: Some((at, choices.below(3), &mut choices)), ..Change::default() };
        let Some(other) = rebuild(&case.graph, change) else { continue };
        // Extents that become known when constants are folded may not fit each other.
        let Ok(lowered) = rewrite::lower(&other) else { continue };
        if encode::canonical(&lowered) == encode::canonical(&rewrite::lower(&case.graph).unwrap()) {
            assert_eq!(key(&other), key(&case.graph), "seed {seed}: {other}");
            continue;
        }
        rewired += 1;
        if key(&other) == key(&case.graph) && constants(&other) == constants(&case.graph) {
            shared += 1;
            let bits = |graph| {
                interpret(graph, &case.inputs).ok().map(|all| all.iter().map(Array::bits).collect::<Vec<_>>())
            };
            assert_eq!(bits(&other), bits(&case.graph), "seed {seed}: {} and {other}", case.graph);
        }
    }
    assert!(rewired > GRAPHS as usize / 2, "too few rewirings to say anything: {rewired}");
    assert!(shared * 10 < rewired, "{shared} of {rewired} share a key");
}

/// Returns a graph of several outputs over two vectors.
fn several(texts: &[&str]) -> FunctionGraph {
    let inputs = ["x=f64[?]", "y=f64[?]"].map(|input| parse_input(input).unwrap());
    parse(texts, &inputs, &Ops::standard()).unwrap()
}

/// Returns the bits of the constants that are passed to the modules of a graph.
fn constants(graph: &FunctionGraph) -> Vec<Vec<u64>> {
    let lowered = rewrite::lower(graph).unwrap();
    lowered
        .variables()
        .iter()
        .filter_map(|v| if let Origin::Constant(a) = &v.origin { Some(a.bits()) } else { None })
        .collect()
}

/// Returns the keys of a fixed list, one per line.
pub(crate) fn role(_place: &Path) -> String {
    let texts = ["(x + y)*z", "sum(exp(-x*x)*y + z)", "mean(x)*max(y)", "where(x < y, x, z)", "tanh(x) @ y"];
    let graphs =
        texts.map(|text| vectors(text, "xyz")).into_iter().chain((0..40).map(|seed| random(seed, 12).graph));
    let line = |graph: FunctionGraph| {
        let lowered = rewrite::lower(&graph).unwrap();
        format!("{} {:?}\n", key(&graph), fingerprint(&lowered, &Ops::standard()))
    };
    graphs.map(line).collect()
}

#[test]
fn keys_are_equal_in_every_process() {
    let place = tempfile::tempdir().unwrap();
    let here = role(place.path());
    assert_eq!(process::answer(process::bare(process::role("keys", place.path())), place.path()), here);
    let mut strange = process::role("keys", place.path());
    strange
        .env("LC_ALL", "tr_TR.UTF-8")
        .env("TZ", "Asia/Kathmandu")
        .env("HOME", "/nonexistent")
        .current_dir("/");
    assert_eq!(process::answer(strange, place.path()), here);
    let distinct: BTreeSet<&str> = here.lines().collect();
    assert!(distinct.len() >= 44, "{here}");
    let dtypes: BTreeSet<BuildKey> = precast_testkit::toy::DTYPES
        .iter()
        .map(|d| key(&graph("maximum(x, x)", &[&format!("x={d}[?]")])))
        .collect();
    assert_eq!(dtypes.len(), precast_testkit::toy::DTYPES.len());
}

//! Tests that a plan is a function of the declared set.

use super::{Plan, plan};
use crate::declared::{Declared, matrix};
use crate::manifest::Manifest;
use crate::place::SourceLocation;
use precast_codegen::external::{Declaration, ExternalCOp};
use precast_graph::{FunctionGraph, Keywords, OpLibrary as _, Operand};
use precast_ops::Ops;
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// Returns the parts of a plan that affect a bundle: texts of the units with their keys, entries, fingerprints.
fn essence(plan: &Plan) -> impl PartialEq + std::fmt::Debug + use<> {
    let units: Vec<_> = plan
        .units
        .iter()
        .map(|unit| (unit.members().iter().map(|(key, _)| *key).collect::<Vec<_>>(), unit.text()))
        .collect();
    (units, plan.entries.clone(), plan.fingerprints.clone(), plan.combinations)
}

type Item = (&'static str, &'static str, usize);

/// Small matrices with one combination each, and small graphs.
const ITEMS: &[Item] = &[
    ("add", "f64", 1),
    ("add", "f32", 1),
    ("add", "f64", 2),
    ("mul", "f64", 1),
    ("mul", "f32", 2),
    ("sub", "f32", 1),
    ("first = x + y", "", 0),
    ("second = x * y", "", 0),
    ("third = (x + y) * x", "", 0),
];

fn declare(items: impl IntoIterator<Item = Item>) -> Declared {
    let mut declared = Declared::default();
    for (name, dtype, rank) in items {
        let place = SourceLocation::in_build("test", name);
        match name.split_once(' ') {
            None => {
                let lists = ([(dtype, place.clone())], [(rank, place.clone())]);
                declared.op(matrix(name, &lists.0, &lists.1, place).0);
            }
            Some((entry, _)) => {
                let inputs = ["x", "y"]
                    .map(|input| (input.to_owned(), "f64[?]".parse::<precast_graph::Type>().unwrap()));
                let graph = precast_graph::text::parse(&[name], &inputs, &Ops::standard()).unwrap();
                declared.graph(entry, graph, place).unwrap();
            }
        }
    }
    declared
}

fn manifest(text: &str) -> Result<Plan, String> {
    let mut declared = Declared::default();
    let manifest = Manifest::parse(Path::new("precast.toml"), text.to_owned()).unwrap();
    manifest.declare(&mut declared).unwrap();
    plan(&declared).map_err(|error| error.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn plan_ignores_order_and_repetition(
        subset in proptest::sample::subsequence(ITEMS.to_vec(), 1..=ITEMS.len()),
        again in proptest::collection::vec(any::<proptest::sample::Index>(), 0..4),
        order in any::<u64>(),
    ) {
        let mut shuffled = subset.clone();
        shuffled.extend(again.iter().map(|index| *index.get(&subset)));
        let mut state = order;
        for at in (1..shuffled.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            shuffled.swap(at, (state >> 33) as usize % (at + 1));
        }
        let (one, other) = (plan(&declare(subset)).unwrap(), plan(&declare(shuffled)).unwrap());
        prop_assert_eq!(essence(&one), essence(&other));
    }
}

#[test]
fn one_matrix_equals_many_small_ones() {
    let one = "[[op]]\nname = \"add\"\ndtypes = [\"f32\", \"f64\"]\nndim = [1, 2]\n";
    let many: String = ["f64", "f32"]
        .iter()
        .flat_map(|dtype| [2, 1].map(|rank| (dtype, rank)))
        .map(|(dtype, rank)| format!("[[op]]\nname = \"add\"\ndtypes = [\"{dtype}\"]\nndim = [{rank}]\n"))
        .collect();
    assert_eq!(essence(&manifest(one).unwrap()), essence(&manifest(&many).unwrap()));
}

#[test]
fn combinations_and_modules_are_counted_separately() {
    let plan = manifest("[[op]]\nname = \"add\"\ndtypes = [\"f32\", \"f64\"]\nndim = [1, 2, 2]\n").unwrap();
    assert_eq!(plan.combinations, 4);
    assert!((1..=4).contains(&plan.modules()), "{}", plan.modules());
}

#[test]
fn two_names_of_one_graph_share_its_module() {
    let graph = |name: &str| {
        format!(
            "[[graph]]\nname = \"{name}\"\ninputs = [\"x: f64[?]\", \"y: f64[?]\"]\noutputs = [\"(x + y) * x\"]\n"
        )
    };
    let plan = manifest(&(graph("b") + &graph("a"))).unwrap();
    assert_eq!(plan.modules(), 1);
    let names: Vec<&str> = plan.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(plan.entries[0].program, plan.entries[1].program);
}

#[test]
fn every_unsupported_combination_is_reported() {
    let op =
        |name: &str, dtypes: &str| format!("[[op]]\nname = \"{name}\"\ndtypes = [{dtypes}]\nndim = [1, 2]\n");
    let some = op("bitwise_and", "\"bool\", \"i8\", \"c64\", \"f32\"");
    let message = manifest(&(op("ad", "\"f64\"") + &some + &op("add", "\"f64\""))).unwrap_err();
    assert!(message.contains("precast.toml:2: [[op]] 1 (`ad`): unknown op `ad`; nearest `add`"), "{message}");
    assert!(message.contains("precast.toml:6: [[op]] 2 (`bitwise_and`)"), "{message}");
    for pair in ["c64, rank 1, 2: ", "f32, rank 1, 2: "] {
        assert!(message.contains(pair), "`{pair}` in {message}");
    }
    for fine in ["bool, rank", "i8, rank", "(`add`)"] {
        assert!(!message.contains(fine), "{message}");
    }
}

#[test]
fn graph_is_served_as_requested() {
    let graph = |serve: &str| {
        let head = "[[graph]]\nname = \"g\"\ninputs = [\"x: f64[?,?]\", \"y: f64[?]\"]\n";
        let text = format!("{head}outputs = [\"out = sum(exp(x)*2, axis=1) @ y\"]\n{serve}");
        manifest(&text).unwrap()
    };
    let whole = graph("");
    assert_eq!((whole.modules(), whole.entries[0].program.steps.len()), (1, 1));
    let groups = graph("serve = [\"groups\"]");
    assert_eq!(
        (groups.modules(), groups.entries[0].program.steps.len()),
        (2, 2),
        "the fused sum and the product"
    );
    let ops = graph("serve = [\"ops\"]");
    assert_eq!((ops.modules(), ops.entries[0].program.steps.len()), (4, 4), "exp, mul, sum, dot");
    let all = graph("serve = [\"ops\", \"whole\", \"groups\"]");
    assert_eq!(all.modules(), 6, "the product of both cuts is one module");
    assert_eq!(all.entries[0].program, whole.entries[0].program);
}

#[test]
fn whole_graph_has_a_module_per_segment() {
    let text = "#section code\nOUTPUT_0 = INPUT_0;\n";
    let own =
        ExternalCOp::new(Declaration::new("own").file("own.c", text).input("f64").output("f64")).unwrap();
    let ops = Ops::standard();
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", "f64".parse().unwrap()).unwrap();
    let double = |graph: &mut FunctionGraph, v| {
        let operands = [Operand::Var(v), Operand::Var(v)];
        let sum = ops.call(graph, "add", &operands, &Keywords::new()).unwrap().unwrap();
        sum.variable(graph).unwrap()
    };
    let before = double(&mut graph, x);
    let between = graph.apply(Arc::new(own), &[before]).unwrap()[0];
    let after = double(&mut graph, between);
    graph.output(after, None).unwrap();
    let mut declared = Declared::default();
    declared.graph("mixed", graph, SourceLocation::in_build("test", "mixed")).unwrap();
    let plan = plan(&declared).unwrap();
    let program = &plan.entries[0].program;
    assert_eq!(
        (program.steps.len(), program.steps[0].key),
        (3, program.steps[2].key),
        "what is before and behind it is one module, called twice"
    );
    assert_eq!((plan.units.len(), plan.modules()), (2, 2));
}

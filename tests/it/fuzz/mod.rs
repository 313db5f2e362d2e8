//! Random graphs: compiled as a whole, in the groups that fusion makes and op by op, and interpreted by `perform`.
//!
//! ```text
//! seed ─▶ graph of 1–40 Applies over every function and dtype, inputs ─▶ three bundles for a batch of graphs ─▶ strict
//!                                                                              │
//! presentations of the inputs: C, Fortran, gaps, reversed, stride 0 ─▶ call ◀──┘ ─▶ the bits of `perform`, or shrink
//! ```
//! # Tolerances
//! | what | ulp | reason |
//! |---|---|---|
//! | every op, alone and together | 0 | `perform` and C run the same operations in the same order; nothing is contracted |
//! | `dot`, `batched_dot` | 0 | at these sizes both add products in the order of their index |
//! | which NaN a NaN is | any | its bits differ between CPUs |
//!
//! So the sum of the bounds of any graph is 0, and whole, groups and op by op agree with each other because each agrees with
//! `perform`. `PRECAST_FUZZ_COUNT` and `PRECAST_FUZZ_SEED` give the number of graphs and the first seed
//! (`cargo xtask fuzz-graphs`); a graph depends on its own seed only.

mod functions;
mod hostile;
mod shrink;

use crate::compiled::{Cut, try_bundle};
use ndarray::{Axis, IxDyn};
use precast::{Array, ArrayRef, FunctionGraph, Policy, Runtime};
use precast_compile::Isa;
use precast_graph::{interpret, json, with_array};
use precast_ops::Ops;
use precast_store::key::Profile;
use precast_testkit::Choices;
use precast_testkit::graphs::{Case, Plan, draw};
use precast_testkit::layout::{Layout, lay_out_any};
use precast_testkit::ulp::same_bits;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Graphs that share compilers' runs.
const BATCH: u64 = 250;
/// One batch of so many is compiled as it is deployed. The others are compiled without optimisation, which changes no bit, takes
/// a sixth of the time, and tries the debug profile too.
const RELEASE: u64 = 8;
/// Failures after which no more are looked for.
const ENOUGH: usize = 3;
const CUTS: [Cut; 3] = [Cut::Whole, Cut::Groups, Cut::OpByOp];

static PLAN: LazyLock<Plan> = LazyLock::new(|| functions::plan(40));

/// The graph of a seed. Small ones are more frequent: an Apply's neighbours matter more than their number.
fn drawn(seed: u64) -> Case {
    let mut choices = Choices::seeded(seed);
    let most = if choices.one_in(8) { 40 } else { 1 + choices.below(12) };
    let plan = Plan { applies: 1..=most, ..PLAN.clone() };
    draw(&mut choices, &plan, &Ops::standard())
}

/// Inputs in memory, and what `perform` makes of their values.
struct Presented {
    /// Each with the shape that it is broadcast to.
    inputs: Vec<(Array, Vec<usize>)>,
    expected: Vec<Array>,
}

impl Presented {
    fn new(graph: &FunctionGraph, inputs: Vec<(Array, Vec<usize>)>) -> Option<Self> {
        let wide = |(array, shape): &(Array, Vec<usize>)| with_array!(array, a => Array::from(a.broadcast(IxDyn(shape)).unwrap().to_owned()));
        let values: Vec<Array> = inputs.iter().map(wide).collect();
        Some(Self { expected: interpret(graph, &values).ok()?, inputs })
    }
}

/// The inputs as drawn, in some layout, and with an axis of stride 0 where that does not change what `perform` accepts.
fn presentations(case: &Case, choices: &mut Choices) -> Vec<Presented> {
    let full = |array: Array| {
        let shape = array.shape().to_vec();
        (array, shape)
    };
    let mut layout = || *choices.pick(&Layout::ALL).unwrap();
    let plain = case.inputs.iter().cloned().map(full).collect();
    let laid_out = case.inputs.iter().map(|array| full(lay_out_any(array, layout()))).collect();
    let thin = case.inputs.iter().map(|array| {
        let axes: Vec<usize> = (0..array.shape().len()).filter(|axis| array.shape()[*axis] > 1).collect();
        let Some(axis) = choices.pick(&axes).copied() else { return full(array.clone()) };
        let first = with_array!(array, a => Array::from(a.slice_axis(Axis(axis), (0..1).into()).to_owned()));
        (first, array.shape().to_vec())
    });
    [plain, laid_out, thin.collect()]
        .into_iter()
        .filter_map(|inputs| Presented::new(&case.graph, inputs))
        .collect()
}

/// What a runtime over the artifacts of one cut gets wrong of a case.
fn disagreement(runtime: &Runtime, case: &Case, presented: &[Presented]) -> Option<String> {
    let function = match runtime.function(&case.graph) {
        Ok(function) => function,
        Err(error) => return Some(error.to_string()),
    };
    for Presented { inputs, expected } in presented {
        let refs: Vec<ArrayRef<'_>> = inputs
            .iter()
            .map(|(array, shape)| with_array!(array, a => a.broadcast(IxDyn(shape)).unwrap().into()))
            .collect();
        let found = match function.call(&refs) {
            Ok(found) => found,
            Err(error) => {
                return Some(format!("{error}, but `perform` gives {expected:?}; inputs {inputs:?}"));
            }
        };
        for (position, (found, want)) in found.iter().zip(expected).enumerate() {
            if !same_bits(found, want) {
                return Some(format!("output {position} is {found:?}, expected {want:?}; inputs {inputs:?}"));
            }
        }
    }
    None
}

/// The first thing that is wrong with each case, served by one cut.
fn check(cases: &[(u64, Case)], cut: Cut) -> Vec<(u64, Case, String)> {
    let Some(profile) = cases.first().map(|(seed, _)| profile(*seed)) else { return Vec::new() };
    let graphs: Vec<FunctionGraph> = cases.iter().map(|(_, case)| case.graph.clone()).collect();
    let bytes = match try_bundle(&graphs, cut, Isa::native().unwrap(), profile) {
        Ok(bytes) => bytes,
        // Some graph of several cannot be compiled: halves are looked at, down to the one.
        Err(error) => match cases {
            [(seed, case)] => return vec![(*seed, case.clone(), error)],
            _ => {
                let (left, right) = cases.split_at(cases.len() / 2);
                return [check(left, cut), check(right, cut)].concat();
            }
        },
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fuzz.bundle");
    fs_err::write(&path, bytes).unwrap();
    let runtime = Runtime::builder()
        .bundle_file(&path)
        .policy(Policy::Strict)
        .ops(Ops::standard().with_profile(profile))
        .build()
        .unwrap();
    let wrong = |(seed, case): &(u64, Case)| {
        let presented = presentations(case, &mut Choices::seeded(*seed));
        disagreement(&runtime, case, &presented).map(|what| (*seed, case.clone(), what))
    };
    cases.iter().filter_map(wrong).collect()
}

/// A failure as somebody who mends it wants it.
fn report(seed: u64, case: &Case, cut: Cut) -> String {
    let fails = |case: &Case| check(&[(seed, case.clone())], cut).pop().map(|(_, _, what)| what);
    let (small, what) = shrink::shrink(case, &fails);
    let graph = &small.graph;
    format!(
        "{cut:?}, PRECAST_FUZZ_SEED={seed} PRECAST_FUZZ_COUNT=1: {} of {} applies are left\n  {graph}\n  {what}\n  {}",
        graph.applies().len(),
        case.graph.applies().len(),
        json::render(graph),
    )
}

/// The profile that the graph of a seed is compiled in.
fn profile(seed: u64) -> Profile {
    if (seed / BATCH).is_multiple_of(RELEASE) { Profile::Release } else { Profile::Debug }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn random_graphs_have_the_bits_of_perform_whole_in_groups_and_op_by_op() {
    let (first, count) = (number("PRECAST_FUZZ_SEED", 0), number("PRECAST_FUZZ_COUNT", 2000));
    let (mut failures, mut applies) = (Vec::new(), 0);
    let mut start = first;
    while start < first + count {
        // Batches end where the profile may change.
        let seeds = start..(start / BATCH * BATCH + BATCH).min(first + count);
        let end = seeds.end;
        let cases: Vec<(u64, Case)> = seeds.map(|seed| (seed, drawn(seed))).collect();
        applies += cases.iter().map(|(_, case)| case.graph.applies().len()).sum::<usize>();
        for cut in CUTS {
            let wrong = check(&cases, cut);
            failures.extend(wrong.into_iter().map(|(seed, case, _)| (seed, case, cut)));
        }
        println!(
            "{} of {count} graphs, {applies} applies, {} failures; next PRECAST_FUZZ_SEED={}",
            end - first,
            failures.len(),
            end,
        );
        start = end;
        if failures.len() >= ENOUGH {
            break;
        }
    }
    let reports: Vec<String> =
        failures.iter().take(ENOUGH).map(|(seed, case, cut)| report(*seed, case, *cut)).collect();
    let seeds: Vec<u64> = failures.iter().map(|(seed, ..)| *seed).collect();
    assert!(failures.is_empty(), "graphs of seeds {seeds:?} fail\n{}", reports.join("\n"));
}

#[test]
fn graphs_reach_every_dtype_rank_and_most_functions() {
    let mut seen = BTreeSet::new();
    let mut largest = 0;
    for case in (0..400).map(drawn) {
        largest = largest.max(case.graph.applies().len());
        for apply in case.graph.applies() {
            seen.extend(
                case.graph
                    .input_types(apply)
                    .iter()
                    .map(|ty| format!("{} of {}", apply.op.name(), ty.dtype())),
            );
            seen.insert(apply.op.label().split(['{', '(']).next().unwrap_or_default().to_owned());
        }
        seen.extend(case.inputs.iter().map(|a| format!("{} input of rank {}", a.dtype(), a.shape().len())));
        seen.extend(case.inputs.iter().filter(|a| a.shape().contains(&0)).map(|_| "empty".to_owned()));
    }
    assert!(largest > 30 && seen.contains("empty"), "{largest}");
    for dtype in precast_graph::DType::ALL {
        for rank in 0..=3 {
            assert!(seen.contains(&format!("{dtype} input of rank {rank}")), "{dtype}, rank {rank}");
        }
        let readers = seen.iter().filter(|seen| seen.ends_with(&format!(" of {dtype}"))).count();
        assert!(readers > 1, "{dtype} is read by {readers} ops");
    }
    // Functions that are no op of their own come as the ops that they are made of.
    let ops = Ops::standard().c().names();
    let is_op = |name: &String| precast_ops::scalar::find(name).is_some() || ops.contains(name);
    let names = PLAN.functions.iter().map(|function| &function.name).filter(|name| is_op(name));
    let rare: BTreeSet<&String> = names.filter(|name| !seen.contains(*name)).collect();
    assert!(rare.len() < 4, "these hardly ever come: {rare:?}");
    assert!(seen.contains("advanced_subtensor1"), "positions never fit");
}

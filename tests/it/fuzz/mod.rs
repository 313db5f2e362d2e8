//! Random graphs: compiled as a whole, in fused groups, op by op and in mixed parts, at every level, and interpreted
//! by `perform`.
//!
//! ```text
//! seed ─▶ graph of 1–40 Applies over every function and dtype, inputs ─▶ a bundle for each form of a batch ─▶ strict
//!                                                                              │
//! presentations of the inputs: C, Fortran, gaps, reversed, stride 0 ─▶ call ◀──┘ ─▶ the bits of `perform`, or shrink
//! ```
//! `PRECAST_FUZZ_COUNT` and `PRECAST_FUZZ_SEED` set the number of graphs and the first seed; each graph depends only
//! on its own seed. `PRECAST_TEST_SECONDS` ends a run early. The default count suits a test run; `cargo xtask
//! fuzz-graphs` is the long form.

#![allow(clippy::print_stdout, reason = "long runs say how far they are")]

pub(crate) mod agreement;
mod boundaries;
mod draws;
mod functions;
mod hostile;
mod loops;
mod shrink;

use crate::compiled::{Granularity, levels};
use agreement::{Form, Subject, calls, wrong};
use precast_compile::Isa;
use precast_graph::{FunctionGraph, Keywords, OpLibrary as _, Operand, VarId, interpret, json};
use precast_ops::Ops;
use precast_store::key::Profile;
use precast_testkit::graphs::{Case, Config, draw};
use precast_testkit::{Budget, Choices};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The default number of graphs; [`hostile`] and the levels use a part of it.
const COUNT: u64 = 50;
/// The number of graphs that are compiled together.
const BATCH: u64 = 25;
/// One batch in this many is compiled as for deployment. The rest are compiled without optimisation. That changes no
/// bit, takes a sixth of the time, and also tests the debug profile.
const RELEASE: u64 = 5;
/// One graph in this many is tested at the levels below this CPU's own.
const BELOW: u64 = 10;
/// One graph in this many has gradients.
const GRADIENTS: usize = 4;
/// One graph in this many has random numbers.
const DRAWS: usize = 8;
/// One graph in this many is the body of a loop or a branch.
const LOOPS: usize = 4;
/// The number of failures after which the search ends.
const ENOUGH: usize = 3;

static CONFIG: LazyLock<Config> = LazyLock::new(|| functions::config(40));

/// Returns the graph of a seed. Small graphs are more frequent, since an Apply's neighbours matter more than their
/// number. One graph in four uses only common dtypes, so that more of its Applies are fused.
fn drawn(seed: u64) -> Case {
    let mut choices = Choices::seeded(seed);
    let most = if choices.one_in(8) { 40 } else { 1 + choices.below(12) };
    let mut config = Config { applies: 1..=most, ..CONFIG.clone() };
    if choices.one_in(4) {
        config.dtypes = precast_testkit::toy::DTYPES.to_vec();
    }
    let case = draw(&mut choices, &config, &Ops::standard());
    let has_draws = choices.one_in(DRAWS);
    let case = if has_draws { draws::with_draws(&case, &mut choices).unwrap_or(case) } else { case };
    let is_body = choices.one_in(LOOPS);
    let case = if is_body { loops::wrapped(&case, &mut choices).unwrap_or(case) } else { case };
    if choices.one_in(GRADIENTS) { with_gradients(&case).unwrap_or(case) } else { case }
}

/// Returns a case with a cost, the sum of all results that are floats, and its gradients by all inputs that are floats.
/// `None` if there is no such gradient.
fn with_gradients(case: &Case) -> Option<Case> {
    let (mut graph, ops) = (case.graph.clone(), Ops::standard());
    let is_float = |graph: &FunctionGraph, v: &VarId| graph.ty(*v).dtype().is_float();
    let call = |graph: &mut FunctionGraph, name: &str, args: &[Operand]| match ops
        .call(graph, name, args, &Keywords::new())?
        .ok()?
    {
        Operand::List(results) => Some(results),
        one => Some(vec![one]),
    };
    let mut cost = None;
    for output in case.graph.outputs().iter().filter(|output| is_float(&case.graph, output)) {
        let sum = call(&mut graph, "sum", &[(*output).into()])?.remove(0);
        cost = Some(match cost {
            Some(cost) => call(&mut graph, "add", &[cost, sum])?.remove(0),
            None => sum,
        });
    }
    let cost = cost?;
    let inputs: Vec<VarId> =
        case.graph.inputs().iter().copied().filter(|input| is_float(&graph, input)).collect();
    let mut found = false;
    for input in inputs {
        let mut tried = graph.clone();
        if let Some(gradient) = call(&mut tried, "grad", &[cost.clone(), input.into()]) {
            let gradient = gradient[0].variable(&mut tried).ok()?;
            tried.output(gradient, None).ok()?;
            (graph, found) = (tried, true);
        }
    }
    let outputs = found.then(|| interpret(&graph, &case.inputs).ok())??;
    Some(Case { graph, inputs: case.inputs.clone(), outputs })
}

fn subject(seed: u64, case: &Case) -> Subject {
    let calls = calls(&case.graph, &case.inputs, &mut Choices::seeded(seed));
    Subject { graph: case.graph.clone(), calls }
}

/// Describes a failure for debugging.
fn report(seed: u64, case: &Case, form: Form) -> String {
    let fails = |case: &Case| wrong(&[subject(seed, case)], form).pop().map(|(_, what)| what);
    let (small, what) = shrink::shrink(case, &fails);
    let graph = &small.graph;
    format!(
        "{form:?}, PRECAST_FUZZ_SEED={seed} PRECAST_FUZZ_COUNT=1: {} of {} applies are left\n  {graph}\n  {what}\n  {}",
        graph.applies().len(),
        case.graph.applies().len(),
        json::render(graph),
    )
}

/// Returns the profile for the graph of a seed.
fn profile(seed: u64) -> Profile {
    if (seed / BATCH).is_multiple_of(RELEASE) { Profile::Release } else { Profile::Debug }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

/// Returns the first seed and the number of graphs.
fn asked() -> (u64, u64) {
    (number("PRECAST_FUZZ_SEED", 0), number("PRECAST_FUZZ_COUNT", COUNT))
}

/// Tests the graphs of `count` seeds in the forms that `forms` returns for a batch's first seed.
fn try_graphs(first: u64, count: u64, forms: &dyn Fn(u64) -> Vec<Form>) {
    let (mut failures, mut applies) = (Vec::new(), 0);
    let (mut start, budget) = (first, Budget::start());
    while start < first + count && failures.len() < ENOUGH && !budget.is_spent() {
        // Batches end where the profile may change.
        let end = (start / BATCH * BATCH + BATCH).min(first + count);
        let cases: Vec<(u64, Case)> = (start..end).map(|seed| (seed, drawn(seed))).collect();
        applies += cases.iter().map(|(_, case)| case.graph.applies().len()).sum::<usize>();
        let subjects: Vec<Subject> = cases.iter().map(|(seed, case)| subject(*seed, case)).collect();
        for form in forms(start) {
            failures.extend(wrong(&subjects, form).into_iter().map(|(at, _)| (cases[at].clone(), form)));
        }
        let (tried, failed) = (end - first, failures.len());
        println!(
            "{tried} of {count} graphs, {applies} applies, {failed} failures; next PRECAST_FUZZ_SEED={end}"
        );
        start = end;
    }
    let reports: Vec<String> =
        failures.iter().take(ENOUGH).map(|((seed, case), form)| report(*seed, case, *form)).collect();
    let seeds: Vec<u64> = failures.iter().map(|((seed, _), _)| *seed).collect();
    assert!(failures.is_empty(), "graphs of seeds {seeds:?} fail\n{}", reports.join("\n"));
}

#[test]
fn random_graphs_match_perform_under_every_cut() {
    let (first, count) = asked();
    let granularities =
        |seed| [Granularity::Whole, Granularity::Groups, Granularity::OpByOp, Granularity::Mixed(seed)];
    try_graphs(first, count, &|seed| {
        granularities(seed)
            .map(|granularity| Form { profile: profile(seed), ..Form::release(granularity) })
            .into()
    });
}

#[test]
fn random_graphs_match_perform_at_every_level() {
    let (first, count) = asked();
    let native = Isa::native().unwrap();
    let below: Vec<Isa> = levels().into_iter().filter(|isa| *isa != native).collect();
    if below.is_empty() {
        println!("skipped: other ISA levels, `{native}` is the only one of this CPU");
    }
    try_graphs(first, count.div_ceil(BELOW), &|_| {
        below.iter().map(|isa| Form { isa: *isa, ..Form::release(Granularity::Whole) }).collect()
    });
    if native < Isa::X86_64V4 && native.arch() == "x86_64" {
        println!("skipped: levels above `{native}`, which this CPU lacks");
    }
}

#[test]
fn graphs_reach_every_dtype_rank_and_most_functions() {
    let mut seen = BTreeSet::new();
    let mut largest = 0;
    for case in (0..1300).map(drawn) {
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
    // Functions without an op of their own appear as the ops that they consist of.
    let ops = Ops::standard().c().names();
    let is_op = |name: &String| precast_ops::scalar::find(name).is_some() || ops.contains(name);
    let names = CONFIG.functions.iter().map(|function| &function.name).filter(|name| is_op(name));
    let rare: BTreeSet<&String> = names.filter(|name| !seen.contains(*name)).collect();
    assert!(rare.len() < 4, "these hardly ever come: {rare:?}");
    assert!(seen.contains("advanced_subtensor1"), "positions never fit");
}

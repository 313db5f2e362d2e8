//! Debug mode: every Apply in C against its contract.
//!
//! ```text
//! graph ─▶ alone: each Apply with a module of its own ─▶ cases: inputs, and what `perform` says ─▶ trial: layouts × rooms
//!                                                                                                      │ twice each
//!        Violation ◀─ judge: which rules are broken ◀─ what was seen ◀─ series: watched runs in a child ◀──┘
//! ```
//! [`check`] draws inputs by itself, [`check_on`] takes yours, Apply by Apply, and holds what is served against the result.
//! A [`Runtime`] built with [`Builder::debug`](crate::Builder::debug), or under `PRECAST_DEBUG=1`, does the latter in every
//! call. What is checked and how to read it: `crates/cli/DEBUGGING.md`.

mod alone;
mod cases;
mod graph;
mod judge;
mod series;
mod shrink;
mod trial;
mod value;
mod violation;

pub(crate) use graph::{Checks, against_served};
pub use violation::{Checked, Findings, Violation, ViolationKind};

use crate::error::FunctionError;
use crate::runtime::Runtime;
use alone::Alone;
use cases::Case;
use precast_core::native::DefaultFloats;
use precast_core::native::watch::end_children;
use precast_graph::{Apply, Array, FunctionGraph, encode};
use precast_ops::Ops;
use precast_ops::rewrite::Form;
use precast_ops::shape::DeepCopy;
use series::Limits;
use std::any::Any;
use std::collections::BTreeSet;
use std::time::Duration;
use trial::Trial;

/// How a check is made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Where the random inputs begin.
    pub seed: u64,
    /// Lets results differ from `perform` by rounding. Without this their bits must be equal, but for matrix products.
    pub approximate: bool,
    /// How long one call of an op may take, in whole seconds. An op that takes longer hangs.
    pub time: Duration,
}

impl Default for Options {
    fn default() -> Self {
        // Not a measure of anything: a loop without end has to end.
        Self { seed: 0, approximate: false, time: Duration::from_secs(120) }
    }
}

/// Why a check could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// No module could be had.
    #[error("cannot make the modules of a check")]
    Function(#[from] FunctionError),
    /// No child process, or no file to hear from it.
    #[error("cannot run a check in a child process")]
    Child(#[from] std::io::Error),
    /// The number of inputs, or one of them, is not the graph's.
    #[error("the inputs are none of the graph's: {problem}")]
    Inputs {
        /// What is wrong.
        problem: String,
    },
}

/// Most bytes of one tensor in a check on random inputs.
const RANDOM_LIMIT_BYTES: usize = 256 << 20;

/// Checks every Apply of a graph, as it was declared and as it is served (fused, in place), on random inputs and edge cases.
///
/// # Examples
/// ```no_run
/// use precast_runtime::{Policy, Runtime, debug};
/// # fn graph_of_my_op() -> precast_runtime::FunctionGraph { precast_runtime::FunctionGraph::new() }
///
/// let runtime = Runtime::builder().policy(Policy::Jit).build()?;
/// debug::check(&runtime, &graph_of_my_op(), &debug::Options::default())?.into_result()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// No compiler, code that does not compile, no child process. What an op does wrong is in the findings.
pub fn check(runtime: &Runtime, graph: &FunctionGraph, options: &Options) -> Result<Findings, CheckError> {
    let _floats = DefaultFloats::set();
    let mut findings = Findings::default();
    let mut known = BTreeSet::new();
    for graph in forms(graph, runtime.ops())? {
        for position in (0..graph.applies().len()).filter(|position| !is_overwritten_copy(&graph, *position))
        {
            match alone::take(runtime, &graph, position)? {
                Err(skipped) => findings.applies.push(skipped.into()),
                Ok(alone) if known.insert(encode::canonical(&alone.graph)) => {
                    let cases = cases::cases(&alone, options.seed);
                    findings.applies.push(one(alone, &cases, options, RANDOM_LIMIT_BYTES)?);
                }
                Ok(_) => {}
            }
        }
    }
    Ok(findings)
}

/// Checks every Apply of a graph on the values that these inputs give it, then the graph as it is served.
///
/// # Errors
/// As [`check`]; inputs that the graph does not admit.
pub fn check_on(
    runtime: &Runtime,
    graph: &FunctionGraph,
    inputs: &[Array],
    options: &Options,
) -> Result<Findings, CheckError> {
    let _floats = DefaultFloats::set();
    Checks::new(runtime, graph)?.run(inputs, options).map(|(findings, _)| findings)
}

/// Ends every check that is going on, with all processes that ops have started: for a program that is told to end, which
/// nothing else tells to these processes.
pub fn cancel() {
    end_children();
}

/// A graph as it was declared, and as it is served.
fn forms(graph: &FunctionGraph, ops: &Ops) -> Result<[FunctionGraph; 2], FunctionError> {
    Ok([ops.lower(graph, Form::Declared)?, ops.lower(graph, Form::Lowered)?])
}

/// Whether an Apply is a copy made to be overwritten: none of the ops that were asked about.
fn is_overwritten_copy(graph: &FunctionGraph, position: usize) -> bool {
    let copy = &graph.applies()[position];
    let op: &dyn Any = &*copy.op;
    let overwrites = |apply: &Apply| {
        let mut overwritten =
            apply.op.destroy_map().into_iter().filter_map(|(_, input)| apply.inputs.get(input));
        overwritten.any(|variable| copy.outputs.contains(variable))
    };
    op.is::<DeepCopy>() && graph.applies().iter().any(overwrites)
}

/// Checks one Apply on some inputs.
fn one(mut alone: Alone, cases: &[Case], options: &Options, bytes: usize) -> Result<Checked, CheckError> {
    let limits = Limits { bytes, time: options.time };
    alone.contract.approximate = options.approximate;
    let trials = Trial::all();
    let told = series::series(&alone, cases, &trials, limits)?;
    let mut checked = Checked {
        signature: alone.signature.clone(),
        apply: alone.apply,
        has_reference: cases.iter().all(|case| !matches!(case.expected, cases::Expected::Unknown)),
        accepted: told.accepted,
        refused: told.refused,
        skipped: None,
        violations: Vec::new(),
    };
    for found in told.found {
        let (found, inputs) = shrink::shrink(&alone, found, cases, limits)?;
        let (kind, detail) = found.finding;
        checked.violations.push(Violation {
            kind,
            op: alone.op.clone(),
            signature: alone.signature.clone(),
            apply: alone.apply,
            detail,
            trial: found.trial.to_string(),
            graph: alone.graph.clone(),
            inputs,
        });
    }
    if checked.accepted == 0 && checked.violations.is_empty() {
        checked.skipped = Some("no inputs were found that the op accepts; give it some".to_owned());
    }
    Ok(checked)
}

impl From<alone::Skipped> for Checked {
    fn from(skipped: alone::Skipped) -> Self {
        Self {
            signature: skipped.signature,
            apply: skipped.apply,
            has_reference: false,
            accepted: 0,
            refused: 0,
            skipped: Some(skipped.reason),
            violations: Vec::new(),
        }
    }
}

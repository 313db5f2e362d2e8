//! Debug mode: checks the C of every Apply against its contract.
//!
//! ```text
//! graph ─▶ alone: each Apply with a module of its own ─▶ cases: inputs, results of `perform` ───▶ trial: layouts × rooms
//!                                                                                                      │ twice each
//!        Violation ◀─ judge: violated rules ◀─ observations ◀─ series: watched runs in a child ◀───────┘
//! ```
//! [`check`] generates inputs; [`check_on`] uses the caller's inputs, Apply by Apply, and compares the served graph
//! with the result. A [`Runtime`] built with [`Builder::debug`](crate::Builder::debug), or with `PRECAST_DEBUG=1`,
//! does the latter in every call. For the rules and how to read the results, see `crates/cli/DEBUGGING.md`.

mod alone;
mod cases;
mod contract;
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
use alone::{Alone, Skipped};
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

/// The settings of a check.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The seed of the random inputs.
    pub seed: u64,
    /// Whether results may differ from `perform` by rounding. Otherwise their bits must be equal, except for matrix
    /// products.
    pub approximate: bool,
    /// The time limit for one call of an op, in whole seconds. An op that exceeds it is reported as hanging.
    pub time: Duration,
}

impl Default for Options {
    fn default() -> Self {
        // A generous limit that only has to stop infinite loops.
        Self { seed: 0, approximate: false, time: Duration::from_secs(120) }
    }
}

/// The reason why a check was not possible.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// A module could not be loaded or compiled.
    #[error("cannot build the modules of a check")]
    Function(#[from] FunctionError),
    /// The child process, or the file for its results, could not be created.
    #[error("cannot run a check in a child process")]
    Child(#[from] std::io::Error),
    /// The inputs do not match those of the graph.
    #[error("invalid inputs of the graph: {problem}")]
    Inputs {
        /// The reason.
        problem: String,
    },
}

/// The most bytes of one tensor in a check on random inputs.
const RANDOM_LIMIT_BYTES: usize = 256 << 20;

/// Checks every Apply of a graph, in declared and lowered (fused, in-place) form, on random inputs and edge cases.
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
/// Fails without a compiler or a child process, or if code does not compile. Violations of an op are in the findings.
pub fn check(runtime: &Runtime, graph: &FunctionGraph, options: &Options) -> Result<Findings, CheckError> {
    let _floats = DefaultFloats::set();
    let mut findings = Findings::default();
    let mut known = BTreeSet::new();
    for graph in forms(graph, runtime.ops())? {
        for position in (0..graph.applies().len()).filter(|position| !is_overwritten_copy(&graph, *position))
        {
            match alone::take(runtime, &graph, position)? {
                Err(skipped) => findings.applies.push(skipped.into()),
                // Generated inputs could let a loop run for ever.
                Ok(alone) if alone.op == "scan" => {
                    let reason = "the inputs of a loop decide how long it runs; provide some".to_owned();
                    let (apply, signature) = (alone.apply, alone.signature);
                    findings.applies.push(Skipped { apply, signature, reason }.into());
                }
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

/// Checks every Apply of a graph on the values that result from these inputs, then the served graph.
///
/// # Errors
/// As [`check`]; also fails for inputs that the graph does not accept.
pub fn check_on(
    runtime: &Runtime,
    graph: &FunctionGraph,
    inputs: &[Array],
    options: &Options,
) -> Result<Findings, CheckError> {
    let _floats = DefaultFloats::set();
    Checks::new(runtime, graph)?.run(inputs, options).map(|(findings, _)| findings)
}

/// Ends every running check, with all processes that ops have started. For programs that handle termination signals,
/// since these processes do not receive them.
pub fn cancel() {
    end_children();
}

/// Returns the declared and the lowered form of a graph.
fn forms(graph: &FunctionGraph, ops: &Ops) -> Result<[FunctionGraph; 2], FunctionError> {
    Ok([ops.lower(graph, Form::Declared)?, ops.lower(graph, Form::Lowered)?])
}

/// Returns whether an Apply is a copy made to be overwritten, and thus not an op of the user.
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
        checked.skipped = Some("the op accepts none of the generated inputs; provide some".to_owned());
    }
    Ok(checked)
}

impl From<Skipped> for Checked {
    fn from(skipped: Skipped) -> Self {
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

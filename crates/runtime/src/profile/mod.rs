//! Profiles: the time of each kernel of a function, compared with the limits of the machine.
//!
//! ```text
//! graph ─▶ lowered, as served ─▶ cut: each Apply with the views that it reads through, as a separate graph
//!                                       │ its module: from a layer, or compiled if the policy allows it
//!                  Kernel ◀─ cost ◀─ clock: calls on the values of this run, reusing outputs
//!                     │  bytes, operations        ▲ machine: a triad and multiply-adds of the same size and threads
//!                     └──▶ advice, if it is far from the limit
//! ```
//! Deployed programs and their modules contain no profiling code. Each kernel is measured separately with a module of
//! its own, in addition to the served function. An Apply that overwrites an operand in the function writes to a new
//! output here.

mod advice;
mod clock;
mod cost;
mod cut;
mod machine;

pub use cost::Bound;
pub use precast_core::native::LoopPlan;

use crate::error::FunctionError;
use crate::runtime::Runtime;
use cost::Work;
use cut::Cut;
use machine::Machine;
use precast_core::event::chain;
use precast_core::native::DefaultFloats;
use precast_core::{ArrayRef, CallError, CodeOrigin, Function, cpu, threads};
use precast_graph::{Array, BuildError, FunctionGraph, Origin, VarId};
use precast_ops::rewrite::Form;
use std::time::Duration;

/// The settings of a profile.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The time spent on each kernel, and on the whole function; at least one call is measured.
    pub time: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { time: Duration::from_millis(200) }
    }
}

/// The reason why a function could not be profiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The function, or the function of a kernel, could not be resolved.
    #[error("cannot build the kernels to profile")]
    Function(#[from] FunctionError),
    /// The graph could not be split into kernels.
    #[error("cannot extract the kernels of the graph")]
    Cut(#[from] BuildError),
    /// The function does not accept these inputs.
    #[error("cannot run the kernels")]
    Call(#[from] CallError),
}

/// The time of a function's call, by kernels.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Profile {
    /// The median time of a call of the served function, in seconds.
    pub seconds: f64,
    /// The ISA level of each part of the served function; `None` for the interpreter.
    pub served: Vec<Option<String>>,
    /// The kernels, in the order of execution.
    pub kernels: Vec<Kernel>,
    /// The number of threads that may share the work of a call.
    pub threads: usize,
    /// The highest ISA level allowed on this host.
    pub level: Option<&'static str>,
    /// The most `f64` operations per second of all these threads.
    pub operations_per_second: f64,
    /// The most bytes per second that these threads move, in a working set of 256 MiB.
    pub bytes_per_second: f64,
}

impl Profile {
    /// Returns the sum of the kernels' times, in seconds.
    #[must_use]
    pub fn kernels_seconds(&self) -> f64 {
        self.kernels.iter().filter_map(|kernel| Some(kernel.measured.as_ref().ok()?.seconds)).sum()
    }
}

/// A kernel: an Apply of the lowered graph, with the views that it reads through.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Kernel {
    /// The position of the Apply in the lowered graph.
    pub apply: usize,
    /// The labels of the ops in the kernel.
    pub ops: Vec<String>,
    /// The shapes of its results.
    pub shapes: Vec<Vec<usize>>,
    /// The measurement, or the reason why it failed.
    pub measured: Result<Measured, String>,
}

/// The measurement of a kernel.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Measured {
    /// The median time of a call, in seconds.
    pub seconds: f64,
    /// The bytes of operands and results, each counted once.
    pub bytes: u64,
    /// How the loop goes through the operands; `None` if no driver ran it: the kernel was called directly on contiguous
    /// elements, or has a loop of its own, as products of matrices have.
    pub plan: Option<LoopPlan>,
    /// The number of arithmetic operations: one for each op of an element, twenty for a slow op such as a division or
    /// `exp`.
    pub operations: f64,
    /// The ISA level of its module; `None` for the interpreter.
    pub isa: Option<String>,
    /// The number of threads that may share the work.
    pub threads: usize,
    /// Whether threads would share the work if several were available.
    pub is_shared: bool,
    /// The limiting resource on this machine.
    pub bound: Bound,
    /// The least time that this limit allows, in seconds.
    pub limit_seconds: f64,
    /// Advice, if the kernel is far from the limit.
    pub advice: Vec<String>,
}

impl Measured {
    /// Returns the bytes per second.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.seconds
    }

    /// Returns the operations per second.
    #[must_use]
    pub fn operations_per_second(&self) -> f64 {
        self.operations / self.seconds
    }

    /// Returns the share of the machine's limit: 1 at the limit.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.limit_seconds / self.seconds
    }
}

/// Measures a function and its kernels on some inputs.
///
/// # Errors
/// Fails on a miss, as [`Runtime::function`] does, and if the graph or an op does not accept the inputs. A kernel
/// that cannot be measured by itself is not an error: its [`Kernel::measured`] contains the reason.
pub fn profile(
    runtime: &Runtime,
    graph: &FunctionGraph,
    inputs: &[Array],
    options: &Options,
) -> Result<Profile, ProfileError> {
    let _floats = DefaultFloats::set();
    let whole = runtime.function(graph)?;
    let seconds = clock::seconds(&whole, inputs, options.time)?.0;
    let mut machine = Machine::default();
    let lowered = runtime.ops().lower(graph, Form::Preserving).map_err(FunctionError::from)?;
    let mut values = Values::new(&lowered, inputs);
    let mut kernels = Vec::new();
    for position in 0..lowered.applies().len() {
        if cut::is_view(&lowered, position) {
            values.perform(position);
            continue;
        }
        kernels.push(kernel(runtime, &mut values, position, &mut machine, options)?);
    }
    let threads = threads::count();
    let mut profile = Profile {
        seconds,
        served: whole.provenance().iter().map(|part| isa(&part.served)).collect(),
        kernels,
        threads,
        level: cpu::level().map(|level| level.name),
        operations_per_second: machine.operations(threads),
        bytes_per_second: machine.bytes(usize::MAX, threads),
    };
    advice::add(&mut profile);
    Ok(profile)
}

/// Measures one kernel, and passes its results to later kernels.
fn kernel(
    runtime: &Runtime,
    values: &mut Values<'_>,
    position: usize,
    machine: &mut Machine,
    options: &Options,
) -> Result<Kernel, ProfileError> {
    let apply = &values.graph.applies()[position];
    let Cut { graph, reads, ops } = cut::cut(values.graph, position)?;
    let run = match values.of(&reads) {
        _ if !apply.op.is_pure() => Err("the op is not deterministic".to_owned()),
        _ if cut::is_opaque(&graph) => Err("an opaque value cannot cross a graph boundary".to_owned()),
        None => Err("an earlier Apply has no result".to_owned()),
        // A failure of one kernel must not discard the measurements of the other kernels.
        Some(inputs) => match runtime.function(&graph) {
            Ok(function) => match clock::seconds(&function, &inputs, options.time) {
                Ok(told) => Ok((function, told)),
                Err(error) => Err(format!("cannot call it separately: {}", chain(&error))),
            },
            Err(FunctionError::Miss { .. }) => {
                Err("no layer has a separate module for it, and this policy does not compile".to_owned())
            }
            Err(error) => Err(format!("cannot build a separate function for it: {}", chain(&error))),
        },
    };
    let measured = match run {
        Err(reason) => {
            values.perform(position);
            Err(reason)
        }
        Ok((function, (seconds, outputs, plan))) => {
            values.set(&apply.outputs, outputs);
            let work = Work::of(values.graph, position, &|variable| values.get(variable));
            Ok(held(seconds, plan, &work, &function, machine))
        }
    };
    let shapes = apply.outputs.iter().filter_map(|output| Some(values.get(*output)?.shape().to_vec()));
    Ok(Kernel { apply: position, ops, shapes: shapes.collect(), measured })
}

/// Compares a time with the limits of the machine.
fn held(
    seconds: f64,
    plan: Option<LoopPlan>,
    work: &Work,
    function: &Function,
    machine: &mut Machine,
) -> Measured {
    let threads = if work.is_shared { threads::count() } else { 1 };
    let (bound, limit_seconds) = work.limit(machine, threads);
    Measured {
        seconds,
        bytes: work.bytes,
        plan,
        operations: work.operations,
        isa: function.provenance().first().and_then(|part| isa(&part.served)),
        threads,
        is_shared: work.is_shared,
        bound,
        limit_seconds,
        advice: Vec::new(),
    }
}

fn isa(served: &CodeOrigin) -> Option<String> {
    match served {
        CodeOrigin::Artifact { isa, .. } | CodeOrigin::Jit { isa, .. } => Some(isa.clone()),
        _ => None,
    }
}

/// The known values of a run.
struct Values<'g> {
    graph: &'g FunctionGraph,
    known: Vec<Option<Array>>,
}

impl<'g> Values<'g> {
    fn new(graph: &'g FunctionGraph, inputs: &[Array]) -> Self {
        let known = graph.variables().iter().map(|variable| match &variable.origin {
            Origin::Input(position) => inputs.get(*position).cloned(),
            Origin::Constant(value) => Some(value.clone()),
            Origin::Output { .. } => None,
        });
        Self { graph, known: known.collect() }
    }

    fn get(&self, variable: VarId) -> Option<&Array> {
        self.known[variable.index()].as_ref()
    }

    fn of(&self, variables: &[VarId]) -> Option<Vec<Array>> {
        variables.iter().map(|variable| self.get(*variable).cloned()).collect()
    }

    fn set(&mut self, variables: &[VarId], values: Vec<Array>) {
        for (variable, value) in variables.iter().zip(values) {
            self.known[variable.index()] = Some(value);
        }
    }

    /// Computes the outputs of an Apply without its C, if possible.
    fn perform(&mut self, position: usize) {
        let apply = &self.graph.applies()[position];
        let Some(inputs) = self.of(&apply.inputs) else { return };
        if let Ok(outputs) = apply.op.perform(&inputs.iter().collect::<Vec<_>>()) {
            self.set(&apply.outputs, outputs);
        }
    }
}

fn borrowed(inputs: &[Array]) -> Vec<ArrayRef<'_>> {
    inputs.iter().map(ArrayRef::from).collect()
}

//! Profiles: how long each kernel of a function takes, and how near that is to what the machine can do.
//!
//! ```text
//! graph ─▶ lowered, as it is served ─▶ cut: each Apply with the views that it reads through, a graph of its own
//!                                       │ its module: of a layer, else compiled where the policy compiles
//!                  Kernel ◀─ cost ◀─ clock: calls on the values of this run, results reused
//!                     │  bytes, operations        ▲ machine: a triad and multiply-adds, as large and on as many threads
//!                     └──▶ advice, where it is far from the limit
//! ```
//! Nothing of this is in a deployed program, nor in the modules that it loads: the kernels are measured one by one, by modules of
//! their own, beside the function as it is served. What overwrites an operand in the function writes elsewhere here.

mod advice;
mod clock;
mod cost;
mod cut;
mod machine;

pub use cost::Bound;

use crate::error::FunctionError;
use crate::runtime::Runtime;
use cost::Work;
use cut::Cut;
use machine::Machine;
use precast_core::event::chain;
use precast_core::native::DefaultFloats;
use precast_core::{ArrayRef, CallError, Function, Served, cpu, threads};
use precast_graph::{Array, BuildError, FunctionGraph, Origin, VarId};
use precast_ops::rewrite::Form;
use std::time::Duration;

/// How a profile is made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// How long each kernel is measured, and the whole function; one call at least.
    pub time: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { time: Duration::from_millis(200) }
    }
}

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// A function, or that of a kernel, cannot be had.
    #[error("cannot make what is to be measured")]
    Function(#[from] FunctionError),
    /// The graph cannot be cut into its kernels.
    #[error("cannot take the kernels out of the graph")]
    Cut(#[from] BuildError),
    /// The function does not take these inputs.
    #[error("cannot run what is to be measured")]
    Call(#[from] CallError),
}

/// What a call of a function is made of.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Profile {
    /// Seconds of a call of the function as it is served: the median.
    pub seconds: f64,
    /// What serves it: the ISA level of each of its parts, `None` for the interpreter.
    pub served: Vec<Option<String>>,
    /// Its kernels, in the order in which they run.
    pub kernels: Vec<Kernel>,
    /// Threads that may share the work of a call.
    pub threads: usize,
    /// The highest ISA level that may be loaded here.
    pub level: Option<&'static str>,
    /// Operations of `f64` a second that all these threads do at most.
    pub operations_per_second: f64,
    /// Bytes a second that they move at most, in a working set of 256 MiB.
    pub bytes_per_second: f64,
}

impl Profile {
    /// Seconds of all kernels together.
    #[must_use]
    pub fn kernels_seconds(&self) -> f64 {
        self.kernels.iter().filter_map(|kernel| Some(kernel.measured.as_ref().ok()?.seconds)).sum()
    }
}

/// One kernel: an Apply of the graph as it is served, with the views that it reads through.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Kernel {
    /// Position of the Apply in the graph as it is served.
    pub apply: usize,
    /// The Applies that it holds, by their ops' labels.
    pub ops: Vec<String>,
    /// Extents of its results.
    pub shapes: Vec<Vec<usize>>,
    /// What was measured; or why nothing was.
    pub measured: Result<Measured, String>,
}

/// What a kernel takes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Measured {
    /// Seconds of a call: the median.
    pub seconds: f64,
    /// Bytes of its operands and results, each once.
    pub bytes: u64,
    /// Arithmetic operations, by count: one for each op of an element, twenty for each that takes long: a division, `exp`.
    pub operations: f64,
    /// The ISA level of its module; `None` for the interpreter.
    pub isa: Option<String>,
    /// Threads that may share it.
    pub threads: usize,
    /// Whether threads would share it, if there were some.
    pub is_shared: bool,
    /// What limits it on this machine.
    pub bound: Bound,
    /// The least seconds that this limit allows.
    pub limit_seconds: f64,
    /// What would help, where it is far from the limit.
    pub advice: Vec<String>,
}

impl Measured {
    /// Bytes a second.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.seconds
    }

    /// Operations a second.
    #[must_use]
    pub fn operations_per_second(&self) -> f64 {
        self.operations / self.seconds
    }

    /// The share of what this machine can do: 1 at the limit.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.limit_seconds / self.seconds
    }
}

/// Measures a function and its kernels on some inputs.
///
/// # Errors
/// A miss, as of [`Runtime::function`]; inputs that the graph does not admit, or that an op refuses. A kernel that cannot be
/// measured by itself is none: its [`Kernel::measured`] says why.
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

/// Measures one kernel, and gives its results to those after it.
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
        _ if !apply.op.is_pure() => {
            Err("its op says that equal inputs need not give equal outputs".to_owned())
        }
        _ if cut::is_opaque(&graph) => Err("an opaque value lives inside a graph only".to_owned()),
        None => Err("an Apply before it has no result".to_owned()),
        // What one of them lacks by itself keeps nobody from what was measured of the others.
        Some(inputs) => match runtime.function(&graph) {
            Ok(function) => match clock::seconds(&function, &inputs, options.time) {
                Ok(told) => Ok((function, told)),
                Err(error) => Err(format!("it cannot be called by itself: {}", chain(&error))),
            },
            Err(FunctionError::Miss { .. }) => {
                Err("no layer has a module of its own for it, and none is compiled under this policy"
                    .to_owned())
            }
            Err(error) => Err(format!("there is no function of it alone: {}", chain(&error))),
        },
    };
    let measured = match run {
        Err(reason) => {
            values.perform(position);
            Err(reason)
        }
        Ok((function, (seconds, outputs))) => {
            values.set(&apply.outputs, outputs);
            let work = Work::of(values.graph, position, &|variable| values.get(variable));
            Ok(held(seconds, &work, &function, machine))
        }
    };
    let shapes = apply.outputs.iter().filter_map(|output| Some(values.get(*output)?.shape().to_vec()));
    Ok(Kernel { apply: position, ops, shapes: shapes.collect(), measured })
}

/// Holds a time against what the machine can do.
fn held(seconds: f64, work: &Work, function: &Function, machine: &mut Machine) -> Measured {
    let threads = if work.is_shared { threads::count() } else { 1 };
    let (bound, limit_seconds) = work.limit(machine, threads);
    Measured {
        seconds,
        bytes: work.bytes,
        operations: work.operations,
        isa: function.provenance().first().and_then(|part| isa(&part.served)),
        threads,
        is_shared: work.is_shared,
        bound,
        limit_seconds,
        advice: Vec::new(),
    }
}

fn isa(served: &Served) -> Option<String> {
    match served {
        Served::Artifact { isa, .. } | Served::Jit { isa, .. } => Some(isa.clone()),
        _ => None,
    }
}

/// The values of a run, as far as they are known.
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

    /// Computes what an Apply gives without its C, where that is possible.
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

//! From a graph and what serves its parts to a program.
//!
//! ```text
//! cut graph ─▶ registers ─▶ steps: one call for each Apply; the parts of one group become a chain where they can
//!                   └─▶ liveness: a step says which temporaries die with it; the base of a view lives as long as the view
//! ```

use crate::FunctionError;
use crate::cover::{Cut, Found, Search};
use precast_core::native::{Chain, Link, LoadedEntry, Program, Register, Step, Temp, Value, Work, capture};
use crate::resolve::Provenance;
use precast_codegen::params::apply_slots;
use precast_codegen::slots;
use precast_graph::{Apply, DType, FunctionGraph, Origin, Type, VarId};
use precast_ops::{Elemwise, Ops, rewrite};
use std::any::Any;

/// What serves a graph.
pub(crate) struct Plan {
    pub(crate) program: Program,
    pub(crate) provenance: Vec<Provenance>,
}

/// The program of one module that serves all of a lowered graph.
pub(crate) fn whole(
    lowered: &FunctionGraph,
    entry: LoadedEntry,
    provenance: Provenance,
    ops: &Ops,
) -> Result<Plan, FunctionError> {
    let inputs = (0..lowered.inputs().len()).map(Register::Input);
    let outputs = (0..lowered.outputs().len()).map(Register::Output);
    let signatures: Vec<String> = lowered.applies().iter().map(|apply| lowered.signature(apply)).collect();
    let step = Step {
        work: Work::Call { entry, slots: slots(lowered, ops.c())? },
        args: inputs.chain(outputs).collect(),
        n_inputs: lowered.inputs().len(),
        dies: Vec::new(),
        lends: Vec::new(),
        signatures: signatures.clone(),
    };
    let program = Program {
        steps: vec![step],
        n_inputs: lowered.inputs().len(),
        constants: Vec::new(),
        temps: Vec::new(),
        n_outputs: lowered.outputs().len(),
    };
    Ok(Plan { program, provenance: vec![Provenance { ops: signatures, ..provenance }] })
}

/// The program of a graph that several modules serve; `None` if one of them was not loaded.
pub(crate) fn parts(
    lowered: &FunctionGraph,
    ops: &Ops,
    cuts: &[Cut],
    search: &Search<'_>,
) -> Result<Option<Plan>, FunctionError> {
    let taken: Vec<Option<rewrite::Parts>> = cuts.iter().map(Cut::members).collect();
    let (graph, group) = rewrite::cut(lowered, &taken)?;
    let mut served = Vec::new();
    for key in cuts.iter().flat_map(Cut::keys) {
        let Some(Found::Loaded(entry, provenance)) = search.found(&key) else { return Ok(None) };
        served.push((entry.clone(), provenance.clone()));
    }
    if served.len() != graph.applies().len() {
        return Ok(None);
    }
    let registers = registers(&graph);
    let mut planned =
        Planned { graph: &graph, ops, registers: &registers, served: &served, steps: Vec::new() };
    let mut first = 0;
    while first < served.len() {
        let after = (first..served.len()).find(|at| group[*at] != group[first]).unwrap_or(served.len());
        if !planned.chain(first, after) {
            for position in first..after {
                planned.call(position)?;
            }
        }
        first = after;
    }
    let mut steps = planned.steps;
    let temps = temps(&graph);
    lives(&graph, &registers, &temps, &mut steps);
    let provenance = graph.applies().iter().zip(&served);
    let provenance = provenance
        .map(|(apply, (_, from))| Provenance { ops: vec![graph.signature(apply)], ..from.clone() })
        .collect();
    let program = Program {
        steps: steps.into_iter().map(|(step, _)| step).collect(),
        n_inputs: graph.inputs().len(),
        constants: graph.constants().map(|(_, value)| value.clone()).collect(),
        temps,
        n_outputs: graph.outputs().len(),
    };
    Ok(Some(Plan { program, provenance }))
}

/// Steps in the making; each with the Applies that it computes.
struct Planned<'a> {
    graph: &'a FunctionGraph,
    ops: &'a Ops,
    registers: &'a [Register],
    served: &'a [(LoadedEntry, Provenance)],
    steps: Vec<(Step, std::ops::Range<usize>)>,
}

impl Planned<'_> {
    fn call(&mut self, position: usize) -> Result<(), FunctionError> {
        let apply = &self.graph.applies()[position];
        let args = apply.inputs.iter().chain(&apply.outputs).map(|v| self.registers[v.index()]).collect();
        let entry = self.served[position].0.clone();
        let step = Step {
            work: Work::Call { entry, slots: apply_slots(self.graph, position, self.ops.c())? },
            args,
            n_inputs: apply.inputs.len(),
            dies: Vec::new(),
            lends: Vec::new(),
            signatures: vec![self.graph.signature(apply)],
        };
        self.steps.push((step, position..position + 1));
        Ok(())
    }

    /// Makes the Applies `first..after`, the parts of one group, one step; `false` if they have to be called one by one.
    fn chain(&mut self, first: usize, after: usize) -> bool {
        let applies = &self.graph.applies()[first..after];
        let Some(output) = self.only_output(applies) else { return false };
        let mut inputs: Vec<VarId> = Vec::new();
        let mut made: Vec<VarId> = Vec::new();
        let mut links = Vec::new();
        for (apply, (entry, _)) in applies.iter().zip(&self.served[first..after]) {
            let operands = apply.inputs.iter().map(|variable| {
                if let Some(link) = made.iter().position(|known| known == variable) {
                    return Value::Link(link);
                }
                let known = inputs.iter().position(|known| known == variable);
                Value::Input(known.unwrap_or_else(|| {
                    inputs.push(*variable);
                    inputs.len() - 1
                }))
            });
            let operands = operands.collect();
            let types: Vec<&Type> = apply.inputs.iter().map(|v| self.graph.ty(*v)).collect();
            let tensors: Vec<(DType, usize)> = types.iter().map(|ty| (ty.dtype(), ty.ndim())).collect();
            if types.iter().any(|ty| !is_tensor(ty)) {
                return false;
            }
            let Some(captured) = capture(entry, &tensors) else { return false };
            let item_bytes = self.graph.ty(apply.outputs[0]).dtype().itemsize_bytes();
            links.push(Link { entry: entry.clone(), captured, operands, item_bytes });
            made.push(apply.outputs[0]);
        }
        let operand = |v: &VarId| (self.graph.ty(*v).dtype().itemsize_bytes(), self.graph.ty(*v).ndim() == 0);
        let Some(chain) = Chain::new(&links, &inputs.iter().map(operand).collect::<Vec<_>>()) else {
            return false;
        };
        let args = inputs.iter().chain([&output]).map(|v| self.registers[v.index()]).collect();
        let step = Step {
            work: Work::Chain(Box::new(chain)),
            args,
            n_inputs: inputs.len(),
            dies: Vec::new(),
            lends: Vec::new(),
            signatures: applies.iter().map(|apply| self.graph.signature(apply)).collect(),
        };
        self.steps.push((step, first..after));
        true
    }

    /// The last output of some Applies, each with one output, if none but that is used elsewhere.
    fn only_output(&self, applies: &[Apply]) -> Option<VarId> {
        let [rest @ .., last] = applies else { return None };
        if rest.is_empty() || applies.iter().any(|apply| apply.outputs.len() != 1) {
            return None;
        }
        let inside = |apply: &Apply| applies.iter().any(|other| std::ptr::eq(other, apply));
        let used_elsewhere = |variable: &VarId| {
            let readers = self.graph.applies().iter().filter(|apply| apply.inputs.contains(variable));
            self.graph.outputs().contains(variable) || !readers.clone().all(inside)
        };
        rest.iter().all(|apply| !used_elsewhere(&apply.outputs[0])).then(|| last.outputs[0])
    }
}

fn is_tensor(ty: &Type) -> bool {
    matches!(ty, Type::Tensor(_))
}

/// The register of each variable.
fn registers(graph: &FunctionGraph) -> Vec<Register> {
    let (mut temps, mut constants) = (0.., 0..);
    let next = |counter: &mut std::ops::RangeFrom<usize>| counter.next().unwrap_or(usize::MAX);
    let variables = graph.variables().iter().enumerate();
    variables
        .map(|(position, variable)| match &variable.origin {
            Origin::Input(i) => Register::Input(*i),
            Origin::Constant(_) => Register::Constant(next(&mut constants)),
            Origin::Output { .. } => match output(graph, position) {
                Some(i) => Register::Output(i),
                None => Register::Temp(next(&mut temps)),
            },
        })
        .collect()
}

/// The temporaries, in order.
fn temps(graph: &FunctionGraph) -> Vec<Temp> {
    let variables = graph.variables().iter().enumerate();
    variables
        .filter_map(|(position, variable)| match &variable.origin {
            Origin::Output { apply, index } if output(graph, position).is_none() => {
                let op = &graph.applies()[apply.index()].op;
                let view = op.view_map().iter().chain(&op.destroy_map()).any(|(out, _)| out == index);
                Some(Temp { dtype: variable.ty.dtype(), ndim: variable.ty.ndim(), view })
            }
            _ => None,
        })
        .collect()
}

fn output(graph: &FunctionGraph, position: usize) -> Option<usize> {
    graph.outputs().iter().position(|v: &VarId| v.index() == position)
}

/// Says of each step which temporaries die with it, and which of those may lend their memory to its output.
fn lives(
    graph: &FunctionGraph,
    registers: &[Register],
    temps: &[Temp],
    steps: &mut [(Step, std::ops::Range<usize>)],
) {
    let mut last: Vec<Option<usize>> = vec![None; temps.len()];
    for (position, (step, _)) in steps.iter().enumerate() {
        for register in &step.args {
            if let Register::Temp(temp) = register {
                last[*temp] = Some(position);
            }
        }
    }
    // Later Applies first: the view of a view has its last use before the view is looked at.
    for apply in graph.applies().iter().rev() {
        for (output, input) in apply.op.view_map() {
            let (Some(view), Some(base)) = (apply.outputs.get(output), apply.inputs.get(input)) else {
                continue;
            };
            if let (Register::Temp(view), Register::Temp(base)) =
                (registers[view.index()], registers[base.index()])
            {
                last[base] = last[base].max(last[view]);
            }
        }
    }
    for (position, (step, applies)) in steps.iter_mut().enumerate() {
        step.dies = (0..temps.len()).filter(|temp| last[*temp] == Some(position)).collect();
        // Views first: what they look at is then used by nobody, and is kept for the next call.
        step.dies.sort_by_key(|temp| !temps[*temp].view);
        let elementwise = graph.applies()[applies.clone()].iter().all(is_elementwise);
        let Some(Register::Temp(to)) = step.args.get(step.n_inputs).copied().filter(|_| elementwise) else {
            continue;
        };
        let may_lend = |temp: &usize| {
            let reads = step.args[..step.n_inputs].contains(&Register::Temp(*temp));
            reads && !temps[*temp].view && temps[*temp].dtype == temps[to].dtype
        };
        step.lends = step.dies.iter().copied().filter(may_lend).collect();
    }
}

/// Whether an Apply computes one output element by element.
fn is_elementwise(apply: &Apply) -> bool {
    let op: &dyn Any = &*apply.op;
    op.is::<Elemwise>() && apply.outputs.len() == 1
}

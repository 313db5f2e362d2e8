//! From a graph and what serves its parts to a program.
//!
//! ```text
//! cover ─▶ cut graph ─▶ drafts: a call for each module; the parts of one group become a chain where they can
//!                          └─▶ steps on registers: which temporaries die with a step; the base of a view lives as long as the view
//! ```

use crate::FunctionError;
use crate::cover::{By, Cover, Cut, Search, Segment};
use crate::native::{Chain, Link, LoadedEntry, Program, Register, Step, Temp, Value, Work, capture};
use crate::resolve::Provenance;
use precast_codegen::params::apply_slots;
use precast_codegen::{segments, slots};
use precast_graph::{Apply, DType, FunctionGraph, Origin, Type, VarId, Variable};
use precast_ops::{Elemwise, Ops, rewrite};
use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// What serves a graph.
pub(crate) struct Plan {
    pub(crate) program: Program,
    pub(crate) provenance: Vec<Provenance>,
}

/// The program of a graph that a search found a complete cover of; `None` if something was not loaded.
pub(crate) fn program(cover: &Cover, ops: &Ops, search: &Search<'_>) -> Result<Option<Plan>, FunctionError> {
    let (graph, of) = cut(cover)?;
    let mut planned = Planned { graph: &graph, ops, steps: Vec::new(), provenance: Vec::new() };
    // Each Apply was cut into parts that are of its segment, so the segments are the same.
    for (segment, covered) in segments(&graph, ops.c())?.into_iter().zip(&cover.segments) {
        let is_planned = match &covered.by {
            By::Own(key) => planned.own(&segment, search.loaded(key))?,
            By::Applies(cuts) => {
                let keys = cuts.iter().flatten().flat_map(Cut::keys);
                let served: Option<Vec<_>> = keys.map(|key| search.loaded(&key)).collect();
                served.map_or(Ok(false), |served| planned.parts(segment.applies, &of, &served))?
            }
        };
        if !is_planned {
            return Ok(None);
        }
    }
    let Planned { steps, provenance, .. } = planned;
    let program = program_of(&graph, steps);
    Ok(Some(Plan { program, provenance }))
}

/// The graph with fused Applies cut into the parts that serve them, and for each of its Applies the one that it is part of.
pub(crate) fn cut(cover: &Cover) -> Result<(Cow<'_, FunctionGraph>, Vec<usize>), FunctionError> {
    let members = |segment: &Segment| match &segment.by {
        By::Own(_) => vec![None; segment.applies.len()],
        By::Applies(cuts) => cuts.iter().map(|cut| cut.as_ref().and_then(Cut::members)).collect(),
    };
    let taken: Vec<Option<rewrite::Parts>> = cover.segments.iter().flat_map(members).collect();
    if taken.iter().all(Option::is_none) {
        return Ok((Cow::Borrowed(&cover.lowered), (0..taken.len()).collect()));
    }
    let (graph, of) = rewrite::cut(&cover.lowered, &taken)?;
    Ok((Cow::Owned(graph), of))
}

/// A step in the making.
struct Draft {
    work: Work,
    /// What it is called with: inputs, then outputs.
    args: Vec<VarId>,
    n_inputs: usize,
    /// The Applies that it computes.
    applies: Range<usize>,
    /// Whether each element of its output is computed from those of the inputs at its place, and nothing is read behind that.
    is_elementwise: bool,
}

/// A program in the making.
struct Planned<'a> {
    graph: &'a FunctionGraph,
    ops: &'a Ops,
    steps: Vec<Draft>,
    provenance: Vec<Provenance>,
}

type Loaded = (LoadedEntry, Provenance);

impl Planned<'_> {
    /// Calls the module of a segment.
    fn own(
        &mut self,
        segment: &precast_codegen::Segment<'_>,
        loaded: Option<Loaded>,
    ) -> Result<bool, FunctionError> {
        let Some((entry, provenance)) = loaded else { return Ok(false) };
        let applies = &self.graph.applies()[segment.applies.clone()];
        let ops = applies.iter().map(|apply| self.graph.signature(apply)).collect();
        self.provenance.push(Provenance { ops, ..provenance });
        self.steps.push(Draft {
            work: Work::Call { entry, slots: slots(&segment.graph, self.ops.c())? },
            args: segment.reads.iter().chain(&segment.writes).copied().collect(),
            n_inputs: segment.reads.len(),
            applies: segment.applies.clone(),
            is_elementwise: matches!(applies, [one] if is_elementwise(one)),
        });
        Ok(true)
    }

    /// Calls the modules of a segment's parts, of one Apply each; those of one group in a chain where they can.
    fn parts(
        &mut self,
        applies: Range<usize>,
        of: &[usize],
        served: &[Loaded],
    ) -> Result<bool, FunctionError> {
        if served.len() != applies.len() {
            return Ok(false);
        }
        for (position, (_, from)) in applies.clone().zip(served) {
            let ops = vec![self.graph.signature(&self.graph.applies()[position])];
            self.provenance.push(Provenance { ops, ..from.clone() });
        }
        let mut first = applies.start;
        while first < applies.end {
            let after = (first..applies.end).find(|at| of[*at] != of[first]).unwrap_or(applies.end);
            let group = &served[first - applies.start..after - applies.start];
            if !self.chain(first..after, group) {
                for (position, (entry, _)) in (first..after).zip(group) {
                    self.call(position, entry)?;
                }
            }
            first = after;
        }
        Ok(true)
    }

    fn call(&mut self, position: usize, entry: &LoadedEntry) -> Result<(), FunctionError> {
        let apply = &self.graph.applies()[position];
        self.steps.push(Draft {
            work: Work::Call {
                entry: entry.clone(),
                slots: apply_slots(self.graph, position, self.ops.c())?,
            },
            args: apply.inputs.iter().chain(&apply.outputs).copied().collect(),
            n_inputs: apply.inputs.len(),
            applies: position..position + 1,
            is_elementwise: is_elementwise(apply),
        });
        Ok(())
    }

    /// Makes some Applies, the parts of one group, one step; `false` if they have to be called one by one.
    fn chain(&mut self, range: Range<usize>, served: &[Loaded]) -> bool {
        let applies = &self.graph.applies()[range.clone()];
        let Some(output) = self.only_output(applies) else { return false };
        let mut inputs: Vec<VarId> = Vec::new();
        let mut made: Vec<VarId> = Vec::new();
        let mut links = Vec::new();
        for (apply, (entry, _)) in applies.iter().zip(served) {
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
        let args = inputs.iter().chain([&output]).copied().collect();
        let (work, n_inputs) = (Work::Chain(Box::new(chain)), inputs.len());
        let is_elementwise = applies.iter().all(is_elementwise);
        self.steps.push(Draft { work, args, n_inputs, applies: range, is_elementwise });
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

/// The steps on registers. Variables that no step is called with, as those inside of a module, have none.
fn program_of(graph: &FunctionGraph, drafts: Vec<Draft>) -> Program {
    let last = last(graph, &drafts);
    let mut program = Program {
        steps: Vec::new(),
        n_inputs: graph.inputs().len(),
        constants: Vec::new(),
        temps: Vec::new(),
        n_outputs: graph.outputs().len(),
    };
    let mut registers: BTreeMap<VarId, Register> = BTreeMap::new();
    let mut temps: Vec<VarId> = Vec::new();
    for variable in drafts.iter().flat_map(|draft| &draft.args) {
        registers.entry(*variable).or_insert_with(|| match &graph.variable(*variable).origin {
            Origin::Input(i) => Register::Input(*i),
            Origin::Constant(value) => {
                program.constants.push(value.clone());
                Register::Constant(program.constants.len() - 1)
            }
            Origin::Output { .. } => match graph.outputs().iter().position(|v| v == variable) {
                Some(i) => Register::Output(i),
                None => {
                    temps.push(*variable);
                    program.temps.push(temp(graph, *variable));
                    Register::Temp(temps.len() - 1)
                }
            },
        });
    }
    for (position, draft) in drafts.into_iter().enumerate() {
        let dies = (0..temps.len()).filter(|t| last[temps[*t].index()] == Some(position));
        let mut step = Step {
            args: draft.args.iter().map(|v| registers[v]).collect(),
            work: draft.work,
            n_inputs: draft.n_inputs,
            dies: dies.collect(),
            lends: Vec::new(),
            signatures: graph.applies()[draft.applies].iter().map(|apply| graph.signature(apply)).collect(),
        };
        // Views first: what they look at is then used by nobody, and is kept for the next call.
        step.dies.sort_by_key(|temp| !program.temps[*temp].view);
        if draft.is_elementwise {
            step.lends = lends(&step, &program.temps);
        }
        program.steps.push(step);
    }
    program
}

/// An intermediate value.
fn temp(graph: &FunctionGraph, variable: VarId) -> Temp {
    let Variable { ty, origin, .. } = graph.variable(variable);
    let view = match origin {
        Origin::Output { apply, index } => {
            let op = &graph.applies()[apply.index()].op;
            op.view_map().iter().chain(&op.destroy_map()).any(|(output, _)| output == index)
        }
        _ => false,
    };
    Temp { dtype: ty.dtype(), ndim: ty.ndim(), view }
}

/// The last step that needs each variable: what a view looks at is needed as long as the view.
fn last(graph: &FunctionGraph, drafts: &[Draft]) -> Vec<Option<usize>> {
    let mut last: Vec<Option<usize>> = vec![None; graph.variables().len()];
    for (position, draft) in drafts.iter().enumerate() {
        for variable in &draft.args {
            last[variable.index()] = Some(position);
        }
    }
    // Later Applies first: the view of a view has its last use before the view is looked at.
    for apply in graph.applies().iter().rev() {
        for (output, input) in apply.op.view_map() {
            if let (Some(view), Some(base)) = (apply.outputs.get(output), apply.inputs.get(input)) {
                last[base.index()] = last[base.index()].max(last[view.index()]);
            }
        }
    }
    last
}

/// The temporaries whose memory may become the output's of an elementwise step: they die with it and have its dtype.
fn lends(step: &Step, temps: &[Temp]) -> Vec<usize> {
    let Some(Register::Temp(to)) = step.args.get(step.n_inputs).copied() else { return Vec::new() };
    let may_lend = |temp: &usize| {
        let reads = step.args[..step.n_inputs].contains(&Register::Temp(*temp));
        reads && !temps[*temp].view && temps[*temp].dtype == temps[to].dtype
    };
    step.dies.iter().copied().filter(may_lend).collect()
}

/// Whether an Apply computes one output element by element.
fn is_elementwise(apply: &Apply) -> bool {
    let op: &dyn Any = &*apply.op;
    op.is::<Elemwise>() && apply.outputs.len() == 1
}

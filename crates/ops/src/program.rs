//! Converts a graph and the modules for its parts to a program: the graph's variables become registers.
//!
//! ```text
//! graph ─▶ pieces: some Applies, the module that computes them, its inputs and outputs ─▶ one step for each piece
//! ```
//! The builder of an entry and a runtime that resolves a graph derive the same program from the same pieces.

use crate::{Elemwise, Ops, Reduce};
use precast_codegen::params::apply_slots;
use precast_codegen::{COp, LinkError, Segment, slots};
use precast_core::program::{Computes, Constant, Program, Register, Step, Temp};
use precast_core::{Array, BuildKey};
use precast_graph::{Apply, FunctionGraph, Origin, VarId};
use std::any::Any;
use std::ops::Range;

/// A range of a graph's Applies that one module computes.
#[derive(Debug, Clone)]
pub struct Piece {
    /// The positions of the Applies.
    pub applies: Range<usize>,
    /// The module.
    pub key: BuildKey,
    /// The variables passed to the module.
    pub reads: Vec<VarId>,
    /// The variables that the module computes.
    pub writes: Vec<VarId>,
    /// The constants of the module's instance.
    pub slots: Vec<Array>,
    /// The group of the piece. Adjacent pieces of one group may run together.
    pub group: usize,
}

impl Piece {
    /// Creates the piece of a graph segment.
    ///
    /// # Errors
    /// As [`slots`].
    pub fn segment(segment: &Segment<'_>, key: BuildKey, group: usize, ops: &Ops) -> Result<Self, LinkError> {
        Ok(Self {
            applies: segment.applies.clone(),
            key,
            reads: segment.reads.clone(),
            writes: segment.writes.clone(),
            slots: slots(&segment.graph, ops.c())?,
            group,
        })
    }

    /// Creates the piece of a single Apply.
    ///
    /// # Errors
    /// As [`apply_slots`].
    pub fn apply(
        graph: &FunctionGraph,
        position: usize,
        key: BuildKey,
        group: usize,
        ops: &Ops,
    ) -> Result<Self, LinkError> {
        let apply = &graph.applies()[position];
        Ok(Self {
            applies: position..position + 1,
            key,
            reads: apply.inputs.clone(),
            writes: apply.outputs.clone(),
            slots: apply_slots(graph, position, ops.c())?,
            group,
        })
    }
}

/// Returns the program of a graph that `pieces` compute, in order. The names of inputs and outputs come from
/// `declared`, the graph from which `graph` was lowered.
#[must_use]
pub fn program(declared: &FunctionGraph, graph: &FunctionGraph, pieces: &[Piece]) -> Program {
    let registers = Registers::of(graph, pieces);
    let register = |variable: &VarId| registers.0[variable.index()].unwrap_or(Register::Temp(usize::MAX));
    let steps = pieces.iter().map(|piece| {
        let applies = &graph.applies()[piece.applies.clone()];
        Step {
            key: piece.key,
            signatures: applies.iter().map(|apply| graph.signature(apply)).collect(),
            args: piece.reads.iter().chain(&piece.writes).map(register).collect(),
            n_inputs: piece.reads.len(),
            slots: piece.slots.clone(),
            group: u32::try_from(piece.group).unwrap_or(u32::MAX),
            computes: computes(applies),
            views: views(graph, piece),
        }
    });
    let steps = steps.collect();
    let held = |kind: fn(Register) -> bool| {
        let variables = graph.variables().iter().zip(&registers.0);
        variables.filter(move |(_, register)| register.is_some_and(kind)).map(|(variable, _)| variable)
    };
    let constants = held(|register| matches!(register, Register::Constant(_)));
    let temps = held(|register| matches!(register, Register::Temp(_)));
    let (inputs, outputs) = declared.interface();
    Program {
        inputs,
        outputs,
        constants: constants
            .filter_map(|variable| {
                let Origin::Constant(value) = &variable.origin else { return None };
                Some(Constant { ty: variable.ty.clone(), value: value.clone() })
            })
            .collect(),
        temps: temps
            .map(|variable| Temp { ty: variable.ty.clone(), view: is_view(graph, &variable.origin) })
            .collect(),
        steps,
    }
}

/// The register of each variable that some piece reads or writes.
struct Registers(Vec<Option<Register>>);

impl Registers {
    fn of(graph: &FunctionGraph, pieces: &[Piece]) -> Self {
        let mut used = vec![false; graph.variables().len()];
        for variable in pieces.iter().flat_map(|piece| piece.reads.iter().chain(&piece.writes)) {
            used[variable.index()] = true;
        }
        let (mut temps, mut constants) = (0, 0);
        let next = |counter: &mut usize| {
            *counter += 1;
            *counter - 1
        };
        let variables = graph.variables().iter().enumerate();
        let register = variables.map(|(position, variable)| {
            used[position].then(|| match &variable.origin {
                Origin::Input(i) => Register::Input(*i),
                Origin::Constant(_) => Register::Constant(next(&mut constants)),
                Origin::Output { .. } => {
                    match graph.outputs().iter().position(|output| output.index() == position) {
                        Some(i) => Register::Output(i),
                        None => Register::Temp(next(&mut temps)),
                    }
                }
            })
        });
        Self(register.collect())
    }
}

/// Returns whether a variable lies in the memory of an input of its Apply, as a view or because the op overwrites it.
fn is_view(graph: &FunctionGraph, origin: &Origin) -> bool {
    let Origin::Output { apply, index } = origin else { return false };
    let op = &graph.applies()[apply.index()].op;
    op.view_map().iter().chain(&op.destroy_map()).any(|(output, _)| output == index)
}

/// Returns the outputs of a piece that are views of its inputs: (position of the output, position of the input).
fn views(graph: &FunctionGraph, piece: &Piece) -> Vec<(usize, usize)> {
    let seen = |variable: VarId| match &graph.variable(variable).origin {
        Origin::Output { apply, index } if piece.applies.contains(&apply.index()) => {
            let apply = &graph.applies()[apply.index()];
            let map = apply.op.view_map().into_iter().find(|(output, _)| output == index);
            map.and_then(|(_, input)| apply.inputs.get(input)).copied()
        }
        _ => None,
    };
    let mut views = Vec::new();
    for (output, variable) in piece.writes.iter().enumerate() {
        let bases = std::iter::successors(Some(*variable), |variable| seen(*variable)).skip(1);
        let read = bases.filter_map(|base| piece.reads.iter().position(|read| *read == base));
        views.extend(read.map(|input| (output, input)));
    }
    views
}

/// Returns the kind of computation of a module with these Applies. The code of custom ops is unknown, so their
/// modules restore the state of the thread after each call.
fn computes(applies: &[Apply]) -> Computes {
    let is_known = |op: &dyn COp| op.content_id().is_some();
    let elementwise = |apply: &Apply| {
        let op: &dyn Any = &*apply.op;
        op.downcast_ref::<Elemwise>().is_some_and(|op| is_known(op))
    };
    let reduction = |apply: &Apply| {
        let op: &dyn Any = &*apply.op;
        op.downcast_ref::<Reduce>().is_some_and(|op| is_known(op))
    };
    match applies {
        [apply] if elementwise(apply) && apply.outputs.len() == 1 => Computes::Elementwise,
        _ if applies.iter().all(|apply| elementwise(apply) || reduction(apply)) => Computes::Driven,
        _ => Computes::Anything,
    }
}

//! `row_programs`: merges reductions over the same axes, and maps of rows that use their results, into one op.
//!
//! ```text
//! m = max(x, axis=1)  e = exp(x - m)  s = sum(e, axis=1)  e / s    ──▶  row_program(x)
//! ```
//! | an Apply joins a group | if the group provides one of its inputs, and it is |
//! |---|---|---|
//! | reduction | over the same axes, which include the last axis but not all axes |
//! | elementwise | of the common shape, as far as extents are known; or only of single elements per row |
//! | dimshuffle | of single elements, and restores or drops the reduced dimensions |
//!
//! A reduction also joins a group that reads the same operand, so that the operand is read once. The pass runs after
//! `fuse`, whose loops become the steps.
//!
//! The pass is exact, because the steps compute the same functions on the same elements in the same order
//! ([`RowProgram`]).

mod group;

use super::rebuild::Rebuild;
use super::unfuse::Uses;
use crate::{DimShuffle, RowProgram};
use group::Unit;
pub(super) use group::producer;
use precast_graph::{Apply, BuildError, FunctionGraph, Op, VarId, contracts};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn row_programs(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    // Ordering constraints from memory are not supported here, so graphs with such constraints are left unchanged.
    let units = if contracts::orders(graph).is_empty() { group::units(graph) } else { Vec::new() };
    if units.iter().all(|unit| matches!(unit, Unit::Alone(_))) {
        return Ok(graph.clone());
    }
    let (mut rebuild, uses) = (Rebuild::new(graph)?, Uses::of(graph));
    for unit in units {
        let members = match unit {
            Unit::Alone(position) => vec![position],
            Unit::Group(members) => match Program::of(graph, &uses, &members) {
                Some(Program { op, reads, writes, shuffles }) => {
                    rebuild.apply(op, &reads, &writes)?;
                    shuffles
                }
                None => members,
            },
        };
        for apply in members.iter().map(|member| &graph.applies()[*member]) {
            rebuild.apply(Arc::clone(&apply.op), &apply.inputs, &apply.outputs)?;
        }
    }
    rebuild.finish()
}

/// The row program of a group.
struct Program {
    op: Arc<dyn Op>,
    reads: Vec<VarId>,
    writes: Vec<VarId>,
    /// Dimshuffles whose results are used outside: they stay views, of results of the program.
    shuffles: Vec<usize>,
}

impl Program {
    /// Creates the program of some Applies; `None` if they exceed the limits.
    fn of(graph: &FunctionGraph, uses: &Uses, members: &[usize]) -> Option<Self> {
        let apply = |member: &usize| &graph.applies()[*member];
        let made: Vec<VarId> = members.iter().flat_map(|member| apply(member).outputs.clone()).collect();
        let mut wanted = uses.outside(graph, members, &made);
        let mut shuffles = Vec::new();
        for member in members.iter().rev().filter(|member| is_shuffle(apply(member))) {
            if wanted.contains(&apply(member).outputs[0]) {
                wanted.retain(|variable| *variable != apply(member).outputs[0]);
                wanted.push(apply(member).inputs[0]);
                shuffles.insert(0, *member);
            }
        }
        // A dimshuffle that no other member reads is not a step.
        let read = |variable: &VarId| members.iter().any(|member| apply(member).inputs.contains(variable));
        let is_step = |member: &&usize| !is_shuffle(apply(member)) || read(&apply(member).outputs[0]);
        let steps: Vec<usize> = members.iter().filter(is_step).copied().collect();
        let made: Vec<VarId> = steps.iter().flat_map(|member| apply(member).outputs.clone()).collect();
        let mut reads: Vec<VarId> = Vec::new();
        for variable in steps.iter().flat_map(|member| &apply(member).inputs) {
            if !made.contains(variable) && !reads.contains(variable) {
                reads.push(*variable);
            }
        }
        let values: BTreeMap<VarId, usize> = reads.iter().chain(&made).copied().zip(0..).collect();
        let numbers = |variables: &[VarId]| {
            variables.iter().map(|variable| values.get(variable).copied()).collect::<Option<Vec<_>>>()
        };
        let steps =
            steps.iter().map(|member| Some((Arc::clone(&apply(member).op), numbers(&apply(member).inputs)?)));
        let steps = steps.collect::<Option<Vec<_>>>()?;
        let writes: Vec<VarId> = made.into_iter().filter(|variable| wanted.contains(variable)).collect();
        let op = RowProgram::new(reads.len(), steps, numbers(&writes)?).ok()?;
        let types: Vec<_> = reads.iter().map(|variable| graph.ty(*variable).clone()).collect();
        op.make_node(&types).ok()?;
        Some(Self { op: Arc::new(op), reads, writes, shuffles })
    }
}

fn is_shuffle(apply: &Apply) -> bool {
    let op: &dyn Any = &*apply.op;
    op.is::<DimShuffle>()
}

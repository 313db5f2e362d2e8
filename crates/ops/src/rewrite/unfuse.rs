//! `unfuse`: expands a fused Apply to its parts, and joins parts again.
//!
//! ```text
//! sum{of=composite{…}}(x, y) ──unfuse──▶ mul(x, y) ; exp(…) ; sum(…) ──join(members)──▶ sum{of=composite{…}}(x, y)
//! ```
//! This is not a pass. [`lower`](super::lower) fuses, also with [`join`]. A runtime without an artifact for a group
//! looks up artifacts of its parts. A part joined from some members is therefore exactly the Apply that fusion would
//! have made of them, with the same key.

use super::fuse::{elementwise, reduction};
use super::rebuild::Rebuild;
use crate::composite::Composite;
use crate::scalar::ScalarOp;
use crate::{Elemwise, Reduce, RowProgram, SmallGraph};
use precast_graph::{BuildError, FunctionGraph, Op, VarId};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Returns the graph of the Applies that were fused into the one at `position`; `None` if it was not fused.
///
/// Its inputs and outputs are those of the Apply, in order. Except in row programs, only the last Apply can be a
/// reduction.
///
/// # Errors
/// None in practice, because the ops already accepted the same types.
pub fn unfuse(graph: &FunctionGraph, position: usize) -> Result<Option<FunctionGraph>, BuildError> {
    let apply = &graph.applies()[position];
    let op: &dyn Any = &*apply.op;
    if let Some(small) = op.downcast_ref::<SmallGraph>() {
        return Ok(Some(small.graph().clone()));
    }
    let program = op.downcast_ref::<RowProgram>();
    if program.is_none() && composite(&*apply.op).is_none() {
        return Ok(None);
    }
    let mut result = FunctionGraph::new();
    let mut values = Vec::new();
    for (k, ty) in graph.input_types(apply).into_iter().enumerate() {
        values.push(result.input(&format!("x{k}"), ty)?);
    }
    let outputs = match program {
        None => expand(&mut result, &apply.op, &values)?,
        Some(program) => {
            for (op, reads) in program.steps() {
                let reads: Vec<VarId> = reads.iter().map(|value| values[*value]).collect();
                values.extend(expand(&mut result, op, &reads)?);
            }
            program.output_values().iter().map(|value| values[*value]).collect()
        }
    };
    for output in outputs {
        result.output(output, None)?;
    }
    Ok(Some(result))
}

/// Returns whether an op was fused.
pub(super) fn is_fused(op: &dyn Op) -> bool {
    let any: &dyn Any = op;
    any.is::<SmallGraph>() || any.is::<RowProgram>() || composite(op).is_some()
}

/// Applies an op, or its parts if it is fused.
fn expand(graph: &mut FunctionGraph, op: &Arc<dyn Op>, inputs: &[VarId]) -> Result<Vec<VarId>, BuildError> {
    let Some((composite, reduce)) = composite(&**op) else { return graph.apply(Arc::clone(op), inputs) };
    let mut values = inputs.to_vec();
    for (step, arguments) in composite.steps() {
        let inputs: Vec<VarId> = arguments.iter().map(|value| values[*value]).collect();
        values.extend(graph.apply(Arc::new(Elemwise::new(Arc::clone(step))), &inputs)?);
    }
    let outputs: Vec<VarId> = composite.output_values().iter().map(|value| values[*value]).collect();
    match reduce {
        None => Ok(outputs),
        Some(reduce) => graph.apply(Arc::new(Reduce { map: None, ..reduce.clone() }), &outputs),
    }
}

/// Returns the composite of an elementwise Apply or of a reduction's map, and the reduction.
fn composite(op: &dyn Op) -> Option<(&Composite, Option<&Reduce>)> {
    let op: &dyn Any = op;
    let (scalar, reduce) = match op.downcast_ref::<Elemwise>() {
        Some(elemwise) => (&elemwise.scalar, None),
        None => {
            let reduce = op.downcast_ref::<Reduce>()?;
            (reduce.map.as_ref()?, Some(reduce))
        }
    };
    let scalar: &dyn Any = &**scalar;
    Some((scalar.downcast_ref()?, reduce))
}

/// The result of joining some Applies.
pub struct Joined {
    /// The op.
    pub op: Arc<dyn Op>,
    /// The input variables, in order.
    pub reads: Vec<VarId>,
    /// The output variables, in order: those that are used outside the Applies.
    pub writes: Vec<VarId>,
}

/// Returns the op that computes some Applies of a graph, given in order.
///
/// All Applies except the last must be elementwise. The last one may be a reduction; then only its output may be used
/// outside. Several results must have the same shape. Returns `None` if the Applies cannot be fused.
#[must_use]
pub fn join(graph: &FunctionGraph, members: &[usize]) -> Option<Joined> {
    join_with(graph, &Uses::of(graph), members)
}

/// The number of reads and returns of each variable of a graph, counted once for all joins.
pub(super) struct Uses(Vec<usize>);

impl Uses {
    pub(super) fn of(graph: &FunctionGraph) -> Self {
        let mut uses = Self(vec![0; graph.variables().len()]);
        let read = graph.applies().iter().flat_map(|apply| &apply.inputs);
        read.chain(graph.outputs()).for_each(|variable| uses.0[variable.index()] += 1);
        uses
    }

    /// Returns the variables produced by some Applies that are read outside or returned by the graph; if there
    /// are no such variables, returns the last one.
    pub(super) fn outside(&self, graph: &FunctionGraph, members: &[usize], made: &[VarId]) -> Vec<VarId> {
        let mut inside: BTreeMap<VarId, usize> = BTreeMap::new();
        for variable in members.iter().flat_map(|member| &graph.applies()[*member].inputs) {
            *inside.entry(*variable).or_default() += 1;
        }
        let is_used = |v: &VarId| self.0[v.index()] > inside.get(v).copied().unwrap_or(0);
        let used: Vec<VarId> = made.iter().copied().filter(is_used).collect();
        if used.is_empty() { made.last().copied().into_iter().collect() } else { used }
    }
}

/// Joins Applies like [`join`], in a graph whose uses are already counted.
pub(super) fn join_with(graph: &FunctionGraph, uses: &Uses, members: &[usize]) -> Option<Joined> {
    let (last, rest) = members.split_last()?;
    let root = &graph.applies()[*last];
    if rest.is_empty() {
        let (op, reads) = (Arc::clone(&root.op), root.inputs.clone());
        return Some(Joined { op, reads, writes: root.outputs.clone() });
    }
    let reduce = reduction(root);
    let applies = || members.iter().map(|member| &graph.applies()[*member]);
    let steps = applies().take(if reduce.is_some() { rest.len() } else { members.len() });
    let made: BTreeSet<VarId> = steps.clone().flat_map(|apply| &apply.outputs).copied().collect();
    let mut values: BTreeMap<VarId, usize> = BTreeMap::new();
    for variable in steps.clone().flat_map(|apply| &apply.inputs).filter(|v| !made.contains(v)) {
        let next = values.len();
        values.entry(*variable).or_insert(next);
    }
    let mut reads: Vec<VarId> = values.keys().copied().collect();
    reads.sort_by_key(|variable| values[variable]);
    let mut list = Vec::new();
    for apply in steps {
        let scalar = elementwise(graph, apply)?;
        let arguments = apply.inputs.iter().map(|v| values.get(v).copied());
        list.push((Arc::clone(scalar), arguments.collect::<Option<Vec<_>>>()?));
        values.insert(apply.outputs[0], values.len());
    }
    let writes = match reduce {
        Some(_) => root.outputs.clone(),
        None => {
            let made: Vec<VarId> = made.into_iter().collect();
            uses.outside(graph, members, &made)
        }
    };
    let results = if reduce.is_some() { &root.inputs } else { &writes };
    let results = results.iter().map(|v| values.get(v).copied()).collect::<Option<Vec<_>>>()?;
    let composite: Arc<dyn ScalarOp> = Arc::new(Composite::new(reads.len(), list, results));
    let op: Arc<dyn Op> = match reduce {
        Some(reduce) => Arc::new(reduce.fused(composite)),
        None => Arc::new(Elemwise::new(composite)),
    };
    Some(Joined { op, reads, writes })
}

/// Returns the graph with every fused Apply expanded to its parts, for op-by-op execution. Also returns, for each new
/// Apply, the position of the Apply it was part of.
///
/// # Errors
/// None in practice, because the ops already accepted the same types.
pub fn unfused(lowered: &FunctionGraph) -> Result<(FunctionGraph, Vec<usize>), BuildError> {
    let mut cuts = Vec::new();
    for position in 0..lowered.applies().len() {
        let group = unfuse(lowered, position)?;
        cuts.push(group.map(|group| (0..group.applies().len()).map(|member| vec![member]).collect()));
    }
    cut(lowered, &cuts)
}

/// The parts of an Apply: for each part, the ordered positions in the graph returned by [`unfuse`].
pub type Parts = Vec<Vec<usize>>;

/// Returns the graph with some fused Applies replaced by [joined](join) parts. Also returns, for each new Apply, the
/// position of the Apply it was part of.
///
/// # Errors
/// None in practice, if the parts cover the fused Apply.
pub fn cut(
    lowered: &FunctionGraph,
    cuts: &[Option<Parts>],
) -> Result<(FunctionGraph, Vec<usize>), BuildError> {
    let mut rebuild = Rebuild::new(lowered)?;
    let mut of = Vec::new();
    for (position, apply) in lowered.applies().iter().enumerate() {
        let parts = cuts.get(position).and_then(Option::as_ref);
        match unfuse(lowered, position)?.zip(parts) {
            None => rebuild.apply(apply.op.clone(), &apply.inputs, &apply.outputs)?,
            Some((group, parts)) => put(&mut rebuild, &apply.inputs, &apply.outputs, &group, parts)?,
        }
        of.resize(rebuild.new.applies().len(), position);
    }
    Ok((rebuild.finish()?, of))
}

/// Applies the parts of a group in place of the Apply with these inputs and outputs.
fn put(
    rebuild: &mut Rebuild<'_>,
    inputs: &[VarId],
    outputs: &[VarId],
    group: &FunctionGraph,
    parts: &Parts,
) -> Result<(), BuildError> {
    let mut values: Vec<Option<VarId>> = vec![None; group.variables().len()];
    let foreign = |variable: &VarId| BuildError::ForeignVariable { index: variable.index() };
    for (inner, outer) in group.inputs().iter().zip(inputs) {
        values[inner.index()] = Some(rebuild.get(*outer)?);
    }
    for joined in parts.iter().filter_map(|members| join(group, members)) {
        let reads = joined.reads.iter().map(|v| values[v.index()].ok_or_else(|| foreign(v)));
        let made = rebuild.new.apply(joined.op, &reads.collect::<Result<Vec<_>, _>>()?)?;
        for (inner, fresh) in joined.writes.iter().zip(made) {
            values[inner.index()] = Some(fresh);
        }
    }
    for (inner, outer) in group.outputs().iter().zip(outputs) {
        rebuild.stands_for(values[inner.index()].ok_or_else(|| foreign(inner))?, *outer);
    }
    Ok(())
}

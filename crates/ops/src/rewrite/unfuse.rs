//! `unfuse`: what a fused Apply is made of, and how its parts are put together again.
//!
//! ```text
//! sum{of=composite{…}}(x, y) ──unfuse──▶ mul(x, y) ; exp(…) ; sum(…) ──join(members)──▶ sum{of=composite{…}}(x, y)
//! ```
//! Not a pass: [`lower`](super::lower) fuses, and whoever has no artifact for a group looks for artifacts of its parts. A part
//! that is joined out of some members is the Apply that fusion itself would have made of them, so it has the same key.

use super::rebuild::Rebuild;
use crate::composite::Composite;
use crate::scalar::ScalarOp;
use crate::{Elemwise, Reduce};
use precast_graph::{BuildError, FunctionGraph, Op, VarId, encode};
use std::any::Any;
use std::sync::Arc;

/// The graph of the Applies that the one at `position` was fused of; `None` if it was not fused.
///
/// Its inputs and outputs are those of the Apply, in order. Only the last Apply can be a reduction.
///
/// # Errors
/// None in practice: the ops accepted the same types before.
pub fn unfuse(graph: &FunctionGraph, position: usize) -> Result<Option<FunctionGraph>, BuildError> {
    let apply = &graph.applies()[position];
    let Some((scalar, reduce)) = parts(&*apply.op) else { return Ok(None) };
    let scalar: &dyn Any = &**scalar;
    let Some(composite) = scalar.downcast_ref::<Composite>() else { return Ok(None) };
    let mut result = FunctionGraph::new();
    let mut values = Vec::new();
    for (k, ty) in graph.input_types(apply).into_iter().enumerate() {
        values.push(result.input(&format!("x{k}"), ty)?);
    }
    for (step, arguments) in composite.steps() {
        let inputs: Vec<VarId> = arguments.iter().map(|value| values[*value]).collect();
        values.extend(result.apply(Arc::new(Elemwise::new(Arc::clone(step))), &inputs)?);
    }
    let mut outputs: Vec<VarId> = composite.output_values().iter().map(|value| values[*value]).collect();
    if let Some(reduce) = reduce {
        outputs = result.apply(Arc::new(Reduce { map: None, ..reduce.clone() }), &outputs)?;
    }
    for output in outputs {
        result.output(output, None)?;
    }
    Ok(Some(result))
}

/// The scalar op of an elementwise Apply or of a reduction's map, and the reduction.
fn parts(op: &dyn Op) -> Option<(&Arc<dyn ScalarOp>, Option<&Reduce>)> {
    let op: &dyn Any = op;
    if let Some(elemwise) = op.downcast_ref::<Elemwise>() {
        return Some((&elemwise.scalar, None));
    }
    let reduce = op.downcast_ref::<Reduce>()?;
    Some((reduce.map.as_ref()?, Some(reduce)))
}

/// The op that fusion makes of some Applies of a graph, and the variables it reads, in its order.
///
/// `members` are in order, elementwise but for the last, which may be a reduction, and only the last one's output is used
/// elsewhere; `None` if they are nothing that can be fused.
#[must_use]
pub fn join(graph: &FunctionGraph, members: &[usize]) -> Option<(Arc<dyn Op>, Vec<VarId>)> {
    let (last, rest) = members.split_last()?;
    let root = &graph.applies()[*last];
    if rest.is_empty() {
        return Some((Arc::clone(&root.op), root.inputs.clone()));
    }
    let op: &dyn Any = &*root.op;
    let reduce = op.downcast_ref::<Reduce>().filter(|reduce| reduce.map.is_none());
    let steps = if reduce.is_some() { rest } else { members };
    let made: Vec<VarId> = steps.iter().flat_map(|m| graph.applies()[*m].outputs.clone()).collect();
    let mut read: Vec<VarId> = Vec::new();
    for variable in steps.iter().flat_map(|m| &graph.applies()[*m].inputs) {
        if !made.contains(variable) && !read.contains(variable) {
            read.push(*variable);
        }
    }
    let mut values = read.clone();
    let mut list = Vec::new();
    for apply in steps.iter().map(|member| &graph.applies()[*member]) {
        let op: &dyn Any = &*apply.op;
        let scalar = &op.downcast_ref::<Elemwise>().filter(|_| apply.outputs.len() == 1)?.scalar;
        let argument = |variable: &VarId| values.iter().position(|known| known == variable);
        list.push((Arc::clone(scalar), apply.inputs.iter().map(argument).collect::<Option<Vec<_>>>()?));
        values.push(apply.outputs[0]);
    }
    let result = if reduce.is_some() { root.inputs.first()? } else { root.outputs.first()? };
    let output = values.iter().position(|known| known == result)?;
    let composite: Arc<dyn ScalarOp> = Arc::new(Composite::new(read.len(), list, vec![output]));
    let op: Arc<dyn Op> = match reduce {
        Some(reduce) => Arc::new(reduce.fused(composite)),
        None => Arc::new(Elemwise::new(composite)),
    };
    Some((op, read))
}

/// The graph with every fused Apply replaced by what it was fused of: what is served op by op.
///
/// # Errors
/// None in practice: the ops accepted the same types before.
pub fn unfused(lowered: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    let mut cuts = Vec::new();
    for position in 0..lowered.applies().len() {
        let group = unfuse(lowered, position)?;
        cuts.push(group.map(|group| (0..group.applies().len()).map(|member| vec![member]).collect()));
    }
    Ok(encode::normalise(&cut(lowered, &cuts)?.0))
}

/// The parts that an Apply is cut into: for each part, positions in the graph that [`unfuse`] gives, in order.
pub type Parts = Vec<Vec<usize>>;

/// The graph with some fused Applies replaced by [joined](join) parts, and for each of its Applies the position of the one
/// that it was part of.
///
/// # Errors
/// None in practice, for parts that cover a fused Apply.
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
    Ok((rebuild.finish(|_, _, variable| Ok(variable))?, of))
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
    for members in parts {
        let Some(((op, read), root)) = join(group, members).zip(members.last()) else { continue };
        let read = read.iter().map(|v| values[v.index()].ok_or_else(|| foreign(v)));
        let made = rebuild.new.apply(op, &read.collect::<Result<Vec<_>, _>>()?)?;
        for (inner, fresh) in group.applies()[*root].outputs.iter().zip(made) {
            values[inner.index()] = Some(fresh);
        }
    }
    for (inner, outer) in group.outputs().iter().zip(outputs) {
        rebuild.stands_for(*outer, values[inner.index()].ok_or_else(|| foreign(inner))?);
    }
    Ok(())
}

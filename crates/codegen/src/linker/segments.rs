//! Segments: the parts of a graph that get their own modules when the graph is compiled as a whole.
//!
//! Author-written text never shares a translation unit with other ops. Macros, `#pragma pack`, compiler flags, asm
//! labels and names at file scope could change the code after them, so there must be no such code. An Apply is
//! *foreign* if its C code is not determined by the generator's sources (an external op, a user's [`COp`]). It is also
//! foreign if it uses a value of a user type, whose C code comes from the type's author.
//!
//! ```text
//! applies in order    exp  mul  clip*  add  sum  clip*      * foreign
//! segments           [exp  mul][clip*][add  sum][clip*]
//! ```
//! A foreign Apply is linked in the same way as when the graph runs op by op ([`single`]), so both use the same module.
//! A graph without foreign Applies is a single segment with its inputs, constants and outputs. Values are passed
//! between segments as objects.

use super::variables;
use crate::error::LinkError;
use crate::library::Library;
use precast_graph::{Extent, FunctionGraph, TensorType, Type, VarId};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// A part of a graph with one module.
#[derive(Debug, Clone)]
pub struct Segment<'g> {
    /// The positions of its Applies in the graph.
    pub applies: Range<usize>,
    /// The graph that the module is generated from.
    pub graph: Cow<'g, FunctionGraph>,
    /// The variables of the whole graph that the module reads, one for each of its inputs.
    pub reads: Vec<VarId>,
    /// The variables of the whole graph that the module computes, one for each of its outputs.
    pub writes: Vec<VarId>,
}

/// Returns the position of a foreign Apply in a graph with several Applies.
pub(super) fn crowded(graph: &FunctionGraph, library: &Library) -> Result<Option<usize>, LinkError> {
    if graph.applies().len() < 2 {
        return Ok(None);
    }
    for position in 0..graph.applies().len() {
        if is_foreign_apply(graph, position, library)? {
            return Ok(Some(position));
        }
    }
    Ok(None)
}

/// Returns the segments of a graph, in order.
///
/// # Errors
/// Fails if an op has no C code, or if outputs alias inputs, constants or each other.
pub fn segments<'g>(graph: &'g FunctionGraph, library: &Library) -> Result<Vec<Segment<'g>>, LinkError> {
    variables::check_outputs(graph)?;
    let mut foreign = Vec::new();
    for position in 0..graph.applies().len() {
        foreign.push(is_foreign_apply(graph, position, library)?);
    }
    if !foreign.contains(&true) {
        let (reads, writes) = (graph.inputs().to_vec(), graph.outputs().to_vec());
        let applies = 0..foreign.len();
        return Ok(vec![Segment { applies, graph: Cow::Borrowed(graph), reads, writes }]);
    }
    let mut segments = Vec::new();
    let mut first = 0;
    for run in foreign.chunk_by(|a, b| !a && !b) {
        let applies = first..first + run.len();
        first = applies.end;
        segments.push(if run[0] { alone(graph, applies.start, library)? } else { cut_out(graph, applies)? });
    }
    Ok(segments)
}

fn is_foreign_apply(graph: &FunctionGraph, position: usize, library: &Library) -> Result<bool, LinkError> {
    let apply = &graph.applies()[position];
    let no_c = || LinkError::NoC { apply: position, op: apply.op.label() };
    let op = library.c_op(&*apply.op).ok_or_else(no_c)?;
    Ok(variables::is_foreign(op, apply.inputs.iter().chain(&apply.outputs).map(|v| graph.ty(*v))))
}

/// Creates the segment of one Apply.
fn alone<'g>(graph: &'g FunctionGraph, position: usize, library: &Library) -> Result<Segment<'g>, LinkError> {
    let apply = &graph.applies()[position];
    let (reads, writes) = (apply.inputs.clone(), apply.outputs.clone());
    let graph = Cow::Owned(single(graph, position, library)?);
    Ok(Segment { applies: position..position + 1, graph, reads, writes })
}

/// Creates the segment of several Applies. Values from outside the segment, including constants, become inputs. Values
/// used outside the segment become outputs.
fn cut_out(graph: &FunctionGraph, applies: Range<usize>) -> Result<Segment<'_>, LinkError> {
    let mut part = FunctionGraph::new();
    let mut known: BTreeMap<VarId, VarId> = BTreeMap::new();
    let inside = &graph.applies()[applies.clone()];
    let made: Vec<VarId> = inside.iter().flat_map(|apply| apply.outputs.clone()).collect();
    let mut reads = Vec::new();
    for variable in inside.iter().flat_map(|apply| &apply.inputs).filter(|v| !made.contains(v)) {
        if !known.contains_key(variable) {
            known.insert(*variable, part.input(&format!("x{}", reads.len()), graph.ty(*variable).clone())?);
            reads.push(*variable);
        }
    }
    for apply in inside {
        // Every value that is read is an input of the part or was computed in it.
        let inputs: Vec<VarId> = apply.inputs.iter().filter_map(|v| known.get(v)).copied().collect();
        known.extend(apply.outputs.iter().copied().zip(part.apply(apply.op.clone(), &inputs)?));
    }
    let outside = graph.applies()[..applies.start].iter().chain(&graph.applies()[applies.end..]);
    let used: Vec<VarId> = outside.flat_map(|apply| &apply.inputs).chain(graph.outputs()).copied().collect();
    let mut writes = made.clone();
    if made.iter().any(|v| used.contains(v)) {
        writes.retain(|v| used.contains(v));
    }
    for variable in &writes {
        part.output(known[variable], None)?;
    }
    Ok(Segment { applies, graph: Cow::Owned(part), reads, writes })
}

/// Returns the graph of a single Apply, from which [`link`](super::link) creates the Apply's own module
/// (OpWiseCLinker). Each input becomes a separate input, even if the Apply uses a variable twice or an input is a
/// constant. So all uses of an op on the same types share a module. If the op broadcasts at run time, inputs without
/// dimensions get the shape `[1]` when other inputs have dimensions.
///
/// # Errors
/// Does not fail in practice, since the op accepted such types before.
pub fn single(graph: &FunctionGraph, position: usize, library: &Library) -> Result<FunctionGraph, LinkError> {
    let apply = &graph.applies()[position];
    let types = graph.input_types(apply);
    let broadcasts = library.c_op(&*apply.op).is_some_and(crate::cop::COp::broadcasts);
    let widen = broadcasts && types.iter().any(|ty| ty.ndim() > 0);
    let mut alone = FunctionGraph::new();
    let mut inputs = Vec::new();
    for (i, ty) in types.into_iter().enumerate() {
        let ty = match ty {
            Type::Tensor(t) if widen && t.shape.is_empty() => {
                Type::Tensor(TensorType { dtype: t.dtype, shape: vec![Extent::Fixed(1)] })
            }
            other => other,
        };
        inputs.push(alone.input(&format!("x{i}"), ty)?);
    }
    for output in alone.apply(apply.op.clone(), &inputs)? {
        alone.output(output, None)?;
    }
    Ok(alone)
}

//! Extracts kernels: an Apply with the views that it reads through, as a separate graph.
//!
//! A view moves no data and is not a kernel. It determines how its readers access memory, so it is part of each
//! reader.

use precast_graph::{BuildError, FunctionGraph, Origin, UserType, VarId};
use precast_ops::rewrite;
use std::collections::BTreeMap;

/// A kernel.
#[derive(Debug)]
pub(super) struct Cut {
    /// The kernel's graph.
    pub(super) graph: FunctionGraph,
    /// The variables of the whole graph that are the kernel's inputs, in order.
    pub(super) reads: Vec<VarId>,
    /// The labels of all ops in the kernel, views first.
    pub(super) ops: Vec<String>,
}

/// Returns whether an Apply only produces views.
pub(super) fn is_view(graph: &FunctionGraph, position: usize) -> bool {
    let op = &graph.applies()[position].op;
    !op.view_map().is_empty() && op.destroy_map().is_empty() && op.is_pure()
}

/// Returns whether an input or output has an opaque type, whose values exist only inside of a graph.
pub(super) fn is_opaque(graph: &FunctionGraph) -> bool {
    let mut ends = graph.inputs().iter().chain(graph.outputs());
    ends.any(|variable| graph.ty(*variable).as_user().is_some_and(UserType::is_opaque))
}

/// Extracts the kernel of an Apply.
pub(super) fn cut(graph: &FunctionGraph, position: usize) -> Result<Cut, BuildError> {
    let mut cutting = Cutting {
        whole: graph,
        known: BTreeMap::new(),
        cut: Cut { graph: FunctionGraph::new(), reads: Vec::new(), ops: Vec::new() },
    };
    let outputs = cutting.apply(position)?;
    for output in outputs {
        cutting.cut.graph.output(output, None)?;
    }
    Ok(cutting.cut)
}

struct Cutting<'g> {
    whole: &'g FunctionGraph,
    /// Maps variables of the whole graph to variables of the kernel.
    known: BTreeMap<VarId, VarId>,
    cut: Cut,
}

impl Cutting<'_> {
    fn apply(&mut self, position: usize) -> Result<Vec<VarId>, BuildError> {
        let apply = &self.whole.applies()[position];
        let inputs = apply.inputs.iter().map(|input| self.value(*input)).collect::<Result<Vec<_>, _>>()?;
        match rewrite::unfuse(self.whole, position)? {
            Some(parts) => self.cut.ops.extend(parts.applies().iter().map(|part| part.op.label())),
            None => self.cut.ops.push(apply.op.label()),
        }
        self.cut.graph.apply(apply.op.clone(), &inputs)
    }

    fn value(&mut self, variable: VarId) -> Result<VarId, BuildError> {
        if let Some(known) = self.known.get(&variable) {
            return Ok(*known);
        }
        let ty = self.whole.ty(variable).clone();
        let value = match &self.whole.variable(variable).origin {
            Origin::Constant(value) => self.cut.graph.constant_of(value.clone(), ty),
            Origin::Output { apply, index } if is_view(self.whole, apply.index()) => {
                self.apply(apply.index())?[*index]
            }
            _ => {
                let name = format!("x{}", self.cut.reads.len());
                self.cut.reads.push(variable);
                self.cut.graph.input(&name, ty)?
            }
        };
        self.known.insert(variable, value);
        Ok(value)
    }
}

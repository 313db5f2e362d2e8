//! Builds a rewritten graph from an old one.

use crate::shape::DeepCopy;
use crate::{Elemwise, scalar};
use precast_graph::{BuildError, FunctionGraph, Op, Origin, Type, VarId};
use std::sync::Arc;

/// A new graph, and the mapping from old to new variables.
pub(super) struct Rebuild<'a> {
    old: &'a FunctionGraph,
    pub(super) new: FunctionGraph,
    known: Vec<Option<VarId>>,
}

impl<'a> Rebuild<'a> {
    /// Creates a graph with the inputs and constants of `old`.
    pub(super) fn new(old: &'a FunctionGraph) -> Result<Self, BuildError> {
        let mut rebuild = Self { old, new: FunctionGraph::new(), known: vec![None; old.variables().len()] };
        for (position, variable) in old.inputs().iter().enumerate() {
            let fresh = rebuild.new.input(old.input_name(position), old.ty(*variable).clone())?;
            rebuild.known[variable.index()] = Some(fresh);
        }
        for (variable, value) in old.constants() {
            let fresh = rebuild.new.constant_of(value.clone(), old.ty(variable).clone());
            rebuild.stands_for(fresh, variable);
        }
        Ok(rebuild)
    }

    /// Returns the new variable for an old one.
    pub(super) fn get(&self, old: VarId) -> Result<VarId, BuildError> {
        self.known[old.index()].ok_or(BuildError::ForeignVariable { index: old.index() })
    }

    /// Returns the new variables for old ones.
    pub(super) fn get_all(&self, old: &[VarId]) -> Result<Vec<VarId>, BuildError> {
        old.iter().map(|v| self.get(*v)).collect()
    }

    /// Maps an old variable to a new one. The new variable takes the old name if it has none.
    pub(super) fn stands_for(&mut self, fresh: VarId, old: VarId) {
        self.known[old.index()] = Some(fresh);
        if let Some(name) = &self.old.variable(old).name {
            // The old graph has only valid names.
            let _ = self.new.name(fresh, name);
        }
    }

    /// Applies an op to the new variables of old inputs, and maps old outputs to its results.
    pub(super) fn apply(
        &mut self,
        op: Arc<dyn Op>,
        inputs: &[VarId],
        outputs: &[VarId],
    ) -> Result<(), BuildError> {
        let inputs = self.get_all(inputs)?;
        self.apply_new(op, &inputs, outputs)
    }

    /// Applies an op to new variables, and maps old outputs to its results.
    pub(super) fn apply_new(
        &mut self,
        op: Arc<dyn Op>,
        inputs: &[VarId],
        outputs: &[VarId],
    ) -> Result<(), BuildError> {
        let fresh = self.new.apply(op, inputs)?;
        for (old, fresh) in outputs.iter().zip(fresh) {
            self.stands_for(fresh, *old);
        }
        Ok(())
    }

    /// Adds the outputs of the old graph and returns the new graph.
    pub(super) fn finish(self) -> Result<FunctionGraph, BuildError> {
        self.finish_each(|_, _, variable| Ok(variable))
    }

    /// Adds the outputs of the old graph, each transformed by `each`, and returns the new graph.
    pub(super) fn finish_each(
        mut self,
        mut each: impl FnMut(&mut FunctionGraph, usize, VarId) -> Result<VarId, BuildError>,
    ) -> Result<FunctionGraph, BuildError> {
        for (position, variable) in self.old.outputs().iter().enumerate() {
            let fresh = self.get(*variable)?;
            let fresh = each(&mut self.new, position, fresh)?;
            self.new.output(fresh, self.old.declared_output_name(position))?;
        }
        self.new.declare_as(self.old);
        Ok(self.new)
    }
}

/// Copies a variable into its own memory.
pub(super) fn copy(graph: &mut FunctionGraph, variable: VarId) -> Result<VarId, BuildError> {
    let copy: Arc<dyn Op> = match graph.ty(variable) {
        Type::Scalar(_) => Arc::new(Elemwise::new(Arc::new(scalar::Identity))),
        _ => Arc::new(DeepCopy),
    };
    Ok(graph.apply(copy, &[variable])?[0])
}

/// Returns whether an output of a graph must be copied because it shares memory.
pub(super) fn aliases(graph: &FunctionGraph, position: usize) -> bool {
    let variable = graph.outputs()[position];
    let repeated = graph.outputs()[..position].contains(&variable);
    repeated
        || match &graph.variable(variable).origin {
            Origin::Input(_) | Origin::Constant(_) => true,
            Origin::Output { apply, index } => {
                let views = graph.applies()[apply.index()].op.view_map();
                views.iter().any(|(output, _)| output == index)
            }
        }
}

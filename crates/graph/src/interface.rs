//! The interface of a graph as seen by callers: names and declared types.
//!
//! Declared types can name extents, and outputs can have narrower types than their ops state. Both are checked by calls and
//! belong to the interface alone: variables have types without names, and passes and modules never see them.

use crate::build_error::BuildError;
use crate::{FunctionGraph, VarId};
use precast_core::DeclaredType;
use precast_core::program::Port;
use std::collections::BTreeMap;

/// The declared types that differ from those of the variables, by position.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Declared {
    pub(crate) inputs: BTreeMap<usize, DeclaredType>,
    pub(crate) outputs: BTreeMap<usize, DeclaredType>,
}

impl Declared {
    /// Returns whether an extent has this name.
    pub(crate) fn has_extent(&self, name: &str) -> bool {
        let mut types = self.inputs.values().chain(self.outputs.values());
        types.any(|ty| ty.names().any(|(_, known)| known == name))
    }
}

impl FunctionGraph {
    /// Returns the names and declared types of the inputs and of the outputs, each in order.
    #[must_use]
    pub fn interface(&self) -> (Vec<Port>, Vec<Port>) {
        let input = |i| Port { name: self.input_name(i).to_owned(), ty: self.declared_input_type(i) };
        let output = |i| Port { name: self.output_name(i), ty: self.declared_output_type(i) };
        ((0..self.inputs().len()).map(input).collect(), (0..self.outputs().len()).map(output).collect())
    }

    /// Adds an input whose type can name extents.
    ///
    /// # Errors
    /// As [`FunctionGraph::input`].
    pub fn declare_input(&mut self, name: &str, ty: DeclaredType) -> Result<VarId, BuildError> {
        let input = self.input(name, ty.clone().into_type())?;
        self.check_extents(&ty)?;
        if ty.has_names() {
            self.declared.inputs.insert(self.inputs().len() - 1, ty);
        }
        Ok(input)
    }

    /// Declares the type of the output at a position. Calls check extents that the graph does not know.
    ///
    /// # Errors
    /// [`BuildError::Declared`] if no value has both the declared type and the type of the variable,
    /// [`BuildError::ExtentName`] if an extent has the name of an input.
    ///
    /// # Panics
    /// The graph has no output at this position.
    pub fn declare_output(&mut self, position: usize, ty: DeclaredType) -> Result<(), BuildError> {
        let (name, found) = (self.output_name(position), self.ty(self.outputs()[position]));
        if !found.meets(&ty) {
            return Err(BuildError::Declared { name, found: found.to_string(), declared: ty.to_string() });
        }
        let is_known = ty == *found;
        self.check_extents(&ty)?;
        if is_known {
            self.declared.outputs.remove(&position);
        } else {
            self.declared.outputs.insert(position, ty);
        }
        Ok(())
    }

    /// Returns the declared type of the input at a position.
    #[must_use]
    pub fn declared_input_type(&self, position: usize) -> DeclaredType {
        let declared = self.declared.inputs.get(&position).cloned();
        declared.unwrap_or_else(|| self.ty(self.inputs()[position]).into())
    }

    /// Returns the declared type of the output at a position; without a declaration, that of its variable.
    #[must_use]
    pub fn declared_output_type(&self, position: usize) -> DeclaredType {
        let declared = self.declared.outputs.get(&position).cloned();
        declared.unwrap_or_else(|| self.ty(self.outputs()[position]).into())
    }

    /// Declares inputs and outputs as another graph does, which has the same inputs and outputs.
    pub fn declare_as(&mut self, other: &Self) {
        self.declared = other.declared.clone();
    }

    /// Returns the first input whose extent has a name, with its axis.
    #[must_use]
    pub fn find_extent(&self, name: &str) -> Option<(VarId, usize)> {
        let axis = |(position, ty): (&usize, &DeclaredType)| {
            let axis = ty.names().find(|(_, known)| *known == name)?.0;
            Some((self.inputs()[*position], axis))
        };
        self.declared.inputs.iter().find_map(axis)
    }

    /// Checks that no extent of a type has the name of an input.
    fn check_extents(&self, ty: &DeclaredType) -> Result<(), BuildError> {
        match ty.names().find(|(_, name)| self.find_input(name).is_some()) {
            Some((_, name)) => Err(BuildError::ExtentName { name: name.to_owned() }),
            None => Ok(()),
        }
    }
}

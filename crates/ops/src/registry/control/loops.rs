//! Loops under construction: their carries, whose types are found by tracing a step until they fit, and the op.

use super::form::Form;
use crate::control::Scan;
use crate::control::body::meet;
use crate::control::scan::row_type;
use crate::control::trace::{Independent, Traced, trace};
use crate::registry::operand::Operands;
use precast_graph::{BuildError, DType, FunctionGraph, OpLibrary, Operand, Type, VarId};
use std::sync::Arc;

/// The carries of a loop: their first values and their types, which admit those of all steps.
pub(crate) struct Carries {
    pub(super) form: Form,
    leaves: Vec<Operand>,
    /// Whether numbers as first values may still take another dtype: in the first trace they promote like numbers.
    is_open: bool,
    pub(crate) first: Vec<VarId>,
    pub(super) types: Vec<Type>,
}

impl Carries {
    pub(crate) fn of(operands: &mut Operands<'_>, init: &Operand) -> Result<Self, BuildError> {
        let mut leaves = Vec::new();
        let form = Form::of(init, &mut leaves);
        let first = operands.tensors(&leaves)?;
        let types = first.iter().map(|v| operands.graph.ty(*v).clone()).collect();
        let is_open = leaves.iter().any(|leaf| matches!(leaf, Operand::Literal(_)));
        Ok(Self { form, leaves, is_open, first, types })
    }

    /// Returns the carries as arguments of a step.
    fn arguments(&self, carries: &[VarId]) -> Vec<Operand> {
        let is_number = |leaf: &Operand| self.is_open && matches!(leaf, Operand::Literal(_));
        let argument = |(leaf, carry): (&Operand, &VarId)| match is_number(leaf) {
            true => Operand::Weak(*carry),
            false => Operand::Var(*carry),
        };
        self.leaves.iter().zip(carries).map(argument).collect()
    }

    /// Widens the types so that they admit the results of a step. Returns whether a type has changed.
    fn widen(&mut self, operands: &mut Operands<'_>, found: &[Type]) -> Result<bool, BuildError> {
        let was_open = std::mem::take(&mut self.is_open);
        let mut has_changed = was_open;
        for (carry, found) in found.iter().enumerate() {
            let ty = &self.types[carry];
            let met = meet(ty, found);
            if met.as_ref() == Some(ty) {
                continue;
            }
            has_changed = true;
            // A number takes the dtype of the step, but a float does not become an integer.
            let (own, other) = (ty.dtype(), found.dtype());
            let is_like = own.is_integer() || !other.is_integer();
            if let (Operand::Literal(literal), true) = (&self.leaves[carry], own != other)
                && let Some(value) = literal.value(other)
                && (other == own.upcast(other) || was_open && is_like && other != DType::Bool)
            {
                self.first[carry] = operands.graph.constant(value);
                self.types[carry] = operands.graph.ty(self.first[carry]).clone();
                continue;
            }
            self.types[carry] = met.ok_or_else(|| {
                operands.error(format!(
                    "the function returns `{found}` for carry {carry}, which begins as `{ty}`\nhint: cast or reshape \
                     one of them"
                ))
            })?;
        }
        Ok(has_changed)
    }
}

/// Names the parameters of a body.
fn parameters<'a>(prefix: &str, types: impl IntoIterator<Item = &'a Type>) -> Vec<(String, Type)> {
    types.into_iter().enumerate().map(|(i, ty)| (format!("{prefix}{i}"), ty.clone())).collect()
}

/// A step of a loop: maps the carries and the rows of sequences to the next carries, the rows of results and `stop`.
pub(crate) type Step<'a> =
    dyn FnMut(&mut FunctionGraph, &dyn OpLibrary, &[Operand], &[VarId]) -> Result<Stepped, BuildError> + 'a;

/// The results of a step.
pub(crate) struct Stepped {
    pub(crate) carries: Vec<VarId>,
    pub(crate) rows: Vec<VarId>,
    pub(crate) stop: Option<VarId>,
}

/// A loop under construction.
pub(crate) struct Loop<'a> {
    pub(crate) steps: VarId,
    pub(crate) sequences: &'a [VarId],
    pub(crate) reverse: bool,
}

impl Loop<'_> {
    /// Builds the loop, and returns its results.
    pub(crate) fn build(
        &self,
        operands: &mut Operands<'_>,
        carries: &mut Carries,
        step: &mut Step<'_>,
    ) -> Result<Vec<VarId>, BuildError> {
        let mut rows = Vec::new();
        for sequence in self.sequences {
            let ty = operands.graph.ty(*sequence);
            let missing =
                || operands.error(format!("a sequence has type `{ty}`, expected at least one dimension"));
            rows.push(row_type(ty).ok_or_else(missing)?);
        }
        let (library, count) = (operands.library, carries.types.len());
        loop {
            let mut named = parameters("carry", &carries.types);
            named.extend(parameters("row", &rows));
            let mut until = false;
            let traced = trace(operands.graph, &named, Independent::Hoisted, |graph, arguments| {
                let (own, rows) = arguments.split_at(count);
                let Stepped { carries, rows, stop } = step(graph, library, &carries.arguments(own), rows)?;
                until = stop.is_some();
                Ok([carries, rows, stop.into_iter().collect()].concat())
            });
            // A step that fails with a number may work with an array.
            if traced.is_err() && std::mem::take(&mut carries.is_open) {
                continue;
            }
            let Traced { body, captured } = traced?;
            if carries.widen(operands, &body.outputs()[..count])? {
                continue;
            }
            let (sequences, reverse) = (self.sequences.len(), self.reverse);
            let inputs = [&[self.steps], carries.first.as_slice(), self.sequences, &captured].concat();
            let scan = Scan::new(body, count, sequences, reverse, until).placed(operands.graph, &inputs, &[]);
            return operands.results(Arc::new(scan), &inputs);
        }
    }
}

//! Values with a gradient of their own: `custom_gradient`.

use super::super::operand::Operands;
use crate::control::CustomGradient;
use crate::control::trace::{Independent, trace};
use crate::rows::Row;
use crate::shape::ScalarFromTensor;
use precast_graph::{BuildError, FunctionGraph, OpLibrary, Operand, Props, Type, VarId};
use std::sync::Arc;

/// A rule: maps the gradient by the value, and the inputs, to the gradients by the inputs.
pub(crate) type Rule<'a> =
    dyn FnMut(&mut FunctionGraph, &dyn OpLibrary, &[VarId]) -> Result<Vec<Operand>, BuildError> + 'a;

/// Builds `custom_gradient(value, gradient, *inputs)`.
pub(in crate::registry) fn custom_gradient(
    operands: &mut Operands<'_>,
    _: &Row,
    _: &Props,
) -> Result<Operand, BuildError> {
    operands.expect_between(2, usize::MAX)?;
    let function = operands.function(1)?;
    let value = operands.variable(0)?;
    let inputs = (2..operands.args.len()).map(|position| operands.variable(position));
    let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    let attached = attach(operands, value, &inputs, &mut |graph, library, arguments| {
        let arguments: Vec<Operand> = arguments.iter().copied().map(Operand::Var).collect();
        Ok(match function.call(graph, library, &arguments)? {
            Operand::List(gradients) => gradients,
            one => vec![one],
        })
    })?;
    Ok(attached.into())
}

/// Returns a value with a rule that computes its gradients by inputs. The rule returns `None` for an input without one.
pub(crate) fn attach(
    operands: &mut Operands<'_>,
    value: VarId,
    inputs: &[VarId],
    rule: &mut Rule<'_>,
) -> Result<VarId, BuildError> {
    let is_number = matches!(operands.graph.ty(value), Type::Scalar(_));
    let value = operands.tensor(&value.into())?;
    let (library, name) = (operands.library, operands.function.to_owned());
    let types = [&[value], inputs].concat().into_iter().map(|v| operands.graph.ty(v).clone());
    let parameters: Vec<(String, Type)> = types.enumerate().map(|(i, ty)| (format!("in{i}"), ty)).collect();
    let mut by = Vec::new();
    let traced = trace(operands.graph, &parameters, Independent::Kept, |graph, arguments| {
        let gradients = rule(graph, library, arguments)?;
        let mut own = Operands::none(graph, library, &name);
        let (found, expected) = (gradients.len(), inputs.len());
        if found != expected {
            let problem = format!("the gradient function returns {found} results for {expected} inputs");
            return Err(own.error(format!("{problem}\nhint: return one for each input, or `None`")));
        }
        let given: Vec<usize> = (0..found).filter(|i| gradients[*i] != Operand::None).collect();
        if given.is_empty() {
            let problem = "the gradient function returns no gradient\nhint: use `stop_gradient`";
            return Err(own.error(problem.to_owned()));
        }
        by = given.iter().map(|i| 1 + i).collect();
        given.into_iter().map(|i| own.tensor(&gradients[i])).collect()
    })?;
    let op = CustomGradient { rule: traced.body, by };
    op.check()?;
    let whole = [&[value], inputs, &traced.captured].concat();
    let made = operands.results(Arc::new(op), &whole)?[0];
    if is_number { operands.apply(ScalarFromTensor, &[made]) } else { Ok(made) }
}

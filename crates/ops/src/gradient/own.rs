//! The derivatives of external ops: those that the author declares, or those of the reference.

use super::{Missing, pull};
use crate::registry::library_of_reference;
use precast_codegen::external::{Declaration, ExternalCOp};
use precast_graph::{BuildError, Gradients, Operand, Pullback, VarId};

/// Builds the gradients by the inputs of an external op; `None` if neither a derivative nor a reference is declared.
pub(super) fn external(op: &ExternalCOp, at: &mut Pullback<'_>) -> Option<Result<Gradients, BuildError>> {
    let declaration = op.declaration();
    if !declaration.gradient.is_empty() {
        return Some(declared(op, at));
    }
    (!declaration.reference.is_empty()).then(|| by_reference(op, at))
}

/// Returns the names of inputs and params in expressions.
fn names(declaration: &Declaration, inputs: &[VarId]) -> Vec<(String, Operand)> {
    let inputs = inputs.iter().enumerate().map(|(i, input)| (format!("x{i}"), Operand::Var(*input)));
    let params = declaration.params.iter().map(|(name, value)| (name.clone(), Operand::from(value.clone())));
    inputs.chain(params).collect()
}

fn evaluate(
    op: &ExternalCOp,
    at: &mut Pullback<'_>,
    text: &str,
    names: &[(String, Operand)],
) -> Result<VarId, BuildError> {
    let name = &op.declaration().name;
    let names: Vec<(&str, Operand)> =
        names.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    at.evaluate(text, &names).map_err(|error| Pullback::error(format!("the derivative of `{name}`: {error}")))
}

/// Evaluates the declared expressions: one for each input, in which `g` is the gradient by the result `out`, or `g0`, `g1`,
/// … are those by the results `out0`, `out1`, ….
fn declared(op: &ExternalCOp, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let declaration = op.declaration();
    let mut names = names(declaration, at.inputs);
    for (i, (output, gradient)) in at.outputs.iter().zip(at.gradients).enumerate() {
        let zeros = |at: &mut Pullback<'_>| at.call("zeros_like", &[(*output).into()]);
        let gradient = gradient.map_or_else(|| zeros(at), Ok)?;
        let suffix = if at.outputs.len() == 1 { String::new() } else { i.to_string() };
        names.push((format!("out{suffix}"), (*output).into()));
        names.push((format!("g{suffix}"), gradient.into()));
    }
    let mut gradients = Vec::new();
    for (position, wanted) in at.wanted.iter().copied().enumerate() {
        let text = declaration.gradient.get(position).map_or("", String::as_str);
        gradients.push(match text.trim() {
            _ if !wanted => None,
            "0" => None,
            "" => {
                let name = &declaration.name;
                return Err(Pullback::error(format!(
                    "`{name}` has no derivative by its input `x{position}`"
                )));
            }
            text => Some(evaluate(op, at, text, &names)?),
        });
    }
    Ok(gradients)
}

/// Differentiates the expressions that the op's C code is tested against.
fn by_reference(op: &ExternalCOp, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let library = library_of_reference(op).map_err(Pullback::error)?;
    let names = names(op.declaration(), at.inputs);
    let by: Vec<VarId> =
        at.inputs.iter().zip(at.wanted).filter(|(_, wanted)| **wanted).map(|(v, _)| *v).collect();
    let mut sums: Vec<Option<VarId>> = vec![None; by.len()];
    for (text, gradient) in op.declaration().reference.iter().zip(at.gradients) {
        let Some(gradient) = gradient else { continue };
        let (graph, inputs, outputs) = (&mut *at.graph, at.inputs, at.outputs);
        let mut own = Pullback { graph, library: &library, inputs, outputs, gradients: &[], wanted: &[] };
        let result = evaluate(op, &mut own, text, &names)?;
        let pulled = pull(at.graph, &library, result, *gradient, &by, Missing::Zero)?;
        for (sum, part) in sums.iter_mut().zip(pulled) {
            *sum = Some(match sum {
                Some(sum) => at.call("add", &[(*sum).into(), part.into()])?,
                None => part,
            });
        }
    }
    let mut sums = sums.into_iter();
    Ok(at.wanted.iter().map(|wanted| if *wanted { sums.next().flatten() } else { None }).collect())
}

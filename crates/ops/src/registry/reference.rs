//! The reference of an external op: an expression in the language of graphs, evaluated by `perform` of the library's ops.
//!
//! ```text
//! reference = "where(x0 < low, low, x0)"        x0, x1, … are the inputs, other names the params
//! ```
//! Inputs and params are arrays of their dtypes; results are taken in the dtypes that the op declares.

use super::Ops;
use precast_codegen::external::ExternalCOp;
use precast_core::event::chain;
use precast_graph::{Array, FunctionGraph, Op as _, PerformError, Type, interpret, text};

/// The graph of an op's reference for inputs of these types; the params are its last inputs.
///
/// # Errors
/// What is wrong with the expressions, in words.
pub fn reference(op: &ExternalCOp, inputs: &[Type]) -> Result<FunctionGraph, String> {
    let texts: Vec<&str> = op.declaration().reference.iter().map(String::as_str).collect();
    let open = |ty: &Type| Type::tensor(ty.dtype(), ty.ndim());
    let mut named: Vec<(String, Type)> =
        inputs.iter().enumerate().map(|(i, ty)| (format!("x{i}"), open(ty))).collect();
    named.extend(op.param_values().into_iter().map(|(name, value)| (name, open(&value.ty()))));
    let graph = text::parse(&texts, &named, &Ops::standard()).map_err(|error| chain(&error))?;
    let outputs = op.make_node(inputs).map_err(|error| error.to_string())?;
    if outputs.len() != graph.outputs().len() {
        let (found, expected) = (graph.outputs().len(), outputs.len());
        return Err(format!("there are {found} expression(s) for {expected} output(s)"));
    }
    for (position, (declared, given)) in outputs.iter().zip(graph.outputs()).enumerate() {
        let given = graph.ty(*given);
        if given.ndim() != declared.ndim() {
            return Err(format!("expression {position} gives `{given}`, output {position} is `{declared}`"));
        }
    }
    Ok(graph)
}

/// Evaluates the reference of an op.
pub(super) fn evaluate(op: &ExternalCOp, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
    let name = &op.declaration().name;
    let types: Vec<Type> =
        inputs.iter().map(|array| Type::tensor(array.dtype(), array.shape().len())).collect();
    let scalars: Vec<Type> =
        types.iter().map(|ty| if ty.ndim() == 0 { Type::Scalar(ty.dtype()) } else { ty.clone() }).collect();
    // Arrays do not say whether the op takes them as C scalars.
    let graph = reference(op, &types).or_else(|_| reference(op, &scalars));
    let graph = graph.map_err(|_| PerformError::NoReference { op: name.clone() })?;
    let outputs = op.make_node(&types).or_else(|_| op.make_node(&scalars));
    let outputs = outputs.map_err(|error| PerformError::value(name, error.to_string()))?;
    let mut values: Vec<Array> = inputs.iter().map(|array| (*array).clone()).collect();
    values.extend(op.param_values().into_iter().map(|(_, value)| value));
    let refused = |error: &dyn std::error::Error| {
        let source = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        PerformError::value(name, format!("its reference: {source}"))
    };
    let results = interpret(&graph, &values).map_err(|error| refused(&error))?;
    Ok(results.into_iter().zip(outputs).map(|(result, ty)| result.cast(ty.dtype())).collect())
}

//! The reference of an external op: an expression in the graph language, evaluated by `perform` of the library's ops.
//!
//! ```text
//! reference = "where(x0 < low, low, x0)"        x0, x1, … are the inputs, other names are params
//! ```
//! Inputs and params are arrays of their dtypes; results are converted to the dtypes that the op declares. An
//! external op called in the expression is evaluated by its own reference. Without a reference it is only C code,
//! which this module does not run: see [`perform`].

use super::Ops;
use precast_codegen::external::ExternalCOp;
use precast_core::event::chain;
use precast_graph::{
    Array, BuildError, FunctionGraph, InterpretError, Op, PerformError, Type, interpret_with, text,
};
use std::any::Any;
use std::sync::Arc;

/// A function that runs the C code of an external op called by a reference.
pub type RunC<'a> = dyn Fn(&ExternalCOp, &[&Array]) -> Result<Vec<Array>, PerformError> + 'a;

/// Returns the graph of an op's reference for inputs of these types; the params are its last inputs.
///
/// # Errors
/// A description of an error in the expressions.
pub fn reference(op: &ExternalCOp, inputs: &[Type]) -> Result<FunctionGraph, String> {
    let texts: Vec<&str> = op.declaration().reference.iter().map(String::as_str).collect();
    let open = |ty: &Type| Type::tensor(ty.dtype(), ty.ndim());
    let mut named: Vec<(String, Type)> =
        inputs.iter().enumerate().map(|(i, ty)| (format!("x{i}"), open(ty))).collect();
    named.extend(op.param_values().into_iter().map(|(name, value)| (name, open(&value.ty()))));
    let graph = text::parse(&texts, &named, &library(op)?).map_err(|error| chain(&error))?;
    let outputs = op.make_node(inputs).map_err(|error| error.to_string())?;
    if outputs.len() != graph.outputs().len() {
        let (found, expected) = (graph.outputs().len(), outputs.len());
        return Err(format!("has {found} expression(s) for {expected} output(s)"));
    }
    for (position, (declared, given)) in outputs.iter().zip(graph.outputs()).enumerate() {
        let given = graph.ty(*given);
        if given.ndim() != declared.ndim() {
            return Err(format!(
                "expression {position} has type `{given}`, output {position} is declared as \
                                `{declared}`"
            ));
        }
    }
    Ok(graph)
}

/// Returns the library with the external ops that a reference may call.
pub(crate) fn library(op: &ExternalCOp) -> Result<Ops, String> {
    let mut ops = Ops::standard();
    for declaration in &op.declaration().reference_ops {
        let called = ExternalCOp::new(declaration.clone()).map_err(|error| error.to_string())?;
        ops = ops.with_external(called).map_err(|error| error.to_string())?;
    }
    let names = op.declaration().reference_ops.iter().map(|called| called.name.clone());
    Ok(ops.preferring(names))
}

/// Evaluates an op: an external op by its reference, any other op by `perform`. External ops without a reference that
/// the reference calls are run by `run`.
///
/// # Errors
/// An error of the op or of `run`, or an external op without a reference.
pub fn perform(op: &dyn Op, inputs: &[&Array], run: &RunC<'_>) -> Result<Vec<Array>, PerformError> {
    let any: &dyn Any = op;
    match any.downcast_ref::<ExternalCOp>() {
        Some(op) if !op.declaration().reference.is_empty() => evaluate_with(op, inputs, run),
        _ => op.perform(inputs),
    }
}

/// Evaluates the reference of an op, if it calls no C code.
pub(super) fn evaluate(op: &ExternalCOp, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
    evaluate_with(op, inputs, &|called, _| {
        Err(PerformError::NoReference { op: called.declaration().name.clone() })
    })
}

fn evaluate_with(op: &ExternalCOp, inputs: &[&Array], run: &RunC<'_>) -> Result<Vec<Array>, PerformError> {
    let name = &op.declaration().name;
    let types: Vec<Type> =
        inputs.iter().map(|array| Type::tensor(array.dtype(), array.shape().len())).collect();
    let scalars: Vec<Type> =
        types.iter().map(|ty| if ty.ndim() == 0 { Type::Scalar(ty.dtype()) } else { ty.clone() }).collect();
    // Arrays do not record whether the op takes them as C scalars.
    let graph = reference(op, &types).or_else(|_| reference(op, &scalars));
    let graph = graph.map_err(|_| PerformError::NoReference { op: name.clone() })?;
    let outputs = op.make_node(&types).or_else(|_| op.make_node(&scalars));
    let outputs = outputs.map_err(|error| PerformError::value(name, error.to_string()))?;
    let mut values: Vec<Array> = inputs.iter().map(|array| (*array).clone()).collect();
    values.extend(op.param_values().into_iter().map(|(_, value)| value));
    let results =
        interpret_with(&graph, &values, &|called, arguments| called_by_reference(called, arguments, run));
    let results = results.map_err(|error| match error {
        InterpretError::Perform { source: source @ PerformError::NoReference { .. }, .. } => source,
        error => {
            let source =
                std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            PerformError::value(name, format!("reference: {source}"))
        }
    })?;
    Ok(results.into_iter().zip(outputs).map(|(result, ty)| result.cast(ty.dtype())).collect())
}

/// Evaluates an op called by a reference: `run` runs an external op without a reference of its own.
fn called_by_reference(op: &dyn Op, inputs: &[&Array], run: &RunC<'_>) -> Result<Vec<Array>, PerformError> {
    let any: &dyn Any = op;
    match any.downcast_ref::<ExternalCOp>() {
        Some(op) if op.declaration().reference.is_empty() => run(op, inputs),
        _ => perform(op, inputs, run),
    }
}

/// Returns a graph of one Apply for each external op that the reference of `op` would run on inputs of these types.
///
/// # Errors
/// As [`reference()`].
pub fn run_by_reference(op: &ExternalCOp, inputs: &[Type]) -> Result<Vec<FunctionGraph>, String> {
    let graph = reference(op, inputs)?;
    let mut found = Vec::new();
    for apply in graph.applies() {
        let any: &dyn Any = &*apply.op;
        let Some(called) = any.downcast_ref::<ExternalCOp>() else { continue };
        let types = graph.input_types(apply);
        if called.declaration().reference.is_empty() {
            found.push(of_one(apply.op.clone(), &types).map_err(|error| error.to_string())?);
        } else {
            found.extend(run_by_reference(called, &types)?);
        }
    }
    Ok(found)
}

/// Builds the graph of one Apply.
fn of_one(op: Arc<dyn Op>, types: &[Type]) -> Result<FunctionGraph, BuildError> {
    let mut graph = FunctionGraph::new();
    let mut inputs = Vec::new();
    for (position, ty) in types.iter().enumerate() {
        inputs.push(graph.input(&format!("x{position}"), ty.clone())?);
    }
    for output in graph.apply(op, &inputs)? {
        graph.output(output, None)?;
    }
    Ok(graph)
}

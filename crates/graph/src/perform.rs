//! Slow evaluation of a graph with the reference `perform` of its ops.

use crate::Array;
use crate::graph::{Apply, FunctionGraph, Origin, VarId};
use crate::op::{Op, PerformError};
use precast_core::blame::{brief, shape};
use precast_core::native::DefaultFloats;

/// Why a graph could not be interpreted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InterpretError {
    /// Wrong number of inputs.
    #[error("expected {expected} input(s), found {found}")]
    Arity {
        /// The number of inputs of the graph.
        expected: usize,
        /// The number of inputs found.
        found: usize,
    },
    /// An input that its declared type does not admit.
    #[error("input {input} has dtype `{dtype}` and shape {shape:?}, expected `{expected}`")]
    Input {
        /// The position of the input.
        input: usize,
        /// Its dtype.
        dtype: String,
        /// Its extents.
        shape: Vec<usize>,
        /// The declared type.
        expected: String,
    },
    /// An op rejected its values.
    #[error("apply {apply}, `{signature}`{inputs}")]
    Perform {
        /// The position of the Apply.
        apply: usize,
        /// Its abbreviated signature.
        signature: String,
        /// The graph inputs that the Apply depends on, in words: ``, where `x`: (5), `y`: (3)``; or nothing.
        inputs: String,
        /// The error of the op.
        source: PerformError,
    },
}

/// A function that evaluates one op on values.
pub type Perform<'a> = dyn Fn(&dyn Op, &[&Array]) -> Result<Vec<Array>, PerformError> + 'a;

/// Evaluates `graph` with the reference `perform` of each op: the oracle of all compiled forms.
///
/// # Errors
/// An input that does not fit its declared type, or a value that an op rejects.
pub fn interpret(graph: &FunctionGraph, inputs: &[Array]) -> Result<Vec<Array>, InterpretError> {
    interpret_with(graph, inputs, &|op, arguments| op.perform(arguments))
}

/// Evaluates `graph`, using `perform` for each op.
///
/// # Errors
/// As [`interpret`].
pub fn interpret_with(
    graph: &FunctionGraph,
    inputs: &[Array],
    perform: &Perform<'_>,
) -> Result<Vec<Array>, InterpretError> {
    check_inputs(graph, inputs)?;
    let _floats = DefaultFloats::set();
    let mut values: Vec<Option<Array>> = graph
        .variables()
        .iter()
        .map(|variable| match &variable.origin {
            Origin::Input(i) => Some(inputs[*i].clone()),
            Origin::Constant(value) => Some(value.clone()),
            Origin::Output { .. } => None,
        })
        .collect();
    for (position, apply) in graph.applies().iter().enumerate() {
        // Applies are in topological order, so every input has a value here.
        let arguments: Vec<&Array> = apply.inputs.iter().filter_map(|v| values[v.index()].as_ref()).collect();
        let results = results(apply, &arguments, perform).map_err(|source| InterpretError::Perform {
            apply: position,
            signature: brief(&graph.signature(apply)),
            inputs: inputs_of(graph, position, inputs),
            source,
        })?;
        for (variable, result) in apply.outputs.iter().zip(results) {
            values[variable.index()] = Some(result);
        }
    }
    Ok(graph.outputs().iter().filter_map(|v| values[v.index()].clone()).collect())
}

/// Describes the graph inputs that an Apply depends on, directly or indirectly, with their shapes.
fn inputs_of(graph: &FunctionGraph, apply: usize, inputs: &[Array]) -> String {
    let mut wanted = vec![false; graph.variables().len()];
    for (position, apply_there) in graph.applies()[..=apply].iter().enumerate().rev() {
        if position == apply || apply_there.outputs.iter().any(|output| wanted[output.index()]) {
            apply_there.inputs.iter().for_each(|input| wanted[input.index()] = true);
        }
    }
    let pairs = graph.inputs().iter().zip(inputs).filter(|(input, _)| wanted[input.index()]);
    let said = |(input, value): (&VarId, &Array)| {
        graph.variable(*input).name.as_ref().map(|name| format!("`{name}`: {}", shape(value.shape())))
    };
    let said: Vec<String> = pairs.filter_map(said).collect();
    if said.is_empty() { String::new() } else { format!(", where {}", said.join(", ")) }
}

fn results(apply: &Apply, arguments: &[&Array], perform: &Perform<'_>) -> Result<Vec<Array>, PerformError> {
    let results = perform(&*apply.op, arguments)?;
    let (found, expected) = (results.len(), apply.outputs.len());
    if found == expected {
        return Ok(results);
    }
    Err(PerformError::value(
        apply.op.name(),
        format!("perform returned {found} result(s), make_node declares {expected}"),
    ))
}

fn check_inputs(graph: &FunctionGraph, inputs: &[Array]) -> Result<(), InterpretError> {
    let expected = graph.inputs().len();
    if inputs.len() != expected {
        return Err(InterpretError::Arity { expected, found: inputs.len() });
    }
    for (position, (variable, value)) in graph.inputs().iter().zip(inputs).enumerate() {
        let ty = graph.ty(*variable);
        if !ty.admits(value.dtype(), value.shape()) {
            return Err(InterpretError::Input {
                input: position,
                dtype: value.dtype().to_string(),
                shape: value.shape().to_vec(),
                expected: ty.to_string(),
            });
        }
    }
    Ok(())
}

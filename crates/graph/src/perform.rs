//! The slow road: a graph evaluated by the reference `perform` of its ops.

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
    #[error("the graph takes {expected} input(s), found {found}")]
    Arity {
        /// Inputs of the graph.
        expected: usize,
        /// Inputs given.
        found: usize,
    },
    /// An input that its declared type does not admit.
    #[error("input {input} has dtype `{dtype}` and shape {shape:?}, expected `{expected}`")]
    Input {
        /// Position of the input.
        input: usize,
        /// Its dtype.
        dtype: String,
        /// Its extents.
        shape: Vec<usize>,
        /// The declared type.
        expected: String,
    },
    /// An op refused its values.
    #[error("apply {apply}, `{signature}`{inputs}")]
    Perform {
        /// Position of the Apply.
        apply: usize,
        /// Its signature, in short.
        signature: String,
        /// The inputs of the graph that went into it, in words: ``, where `x`: (5), `y`: (3)``; or nothing.
        inputs: String,
        /// What it refused.
        source: PerformError,
    },
}

/// How one op is evaluated on values.
pub type Perform<'a> = dyn Fn(&dyn Op, &[&Array]) -> Result<Vec<Array>, PerformError> + 'a;

/// Evaluates `graph` with the reference `perform` of each op: the oracle of all compiled forms.
///
/// # Errors
/// Inputs that do not fit the declared types; values that an op refuses.
pub fn interpret(graph: &FunctionGraph, inputs: &[Array]) -> Result<Vec<Array>, InterpretError> {
    interpret_with(graph, inputs, &|op, arguments| op.perform(arguments))
}

/// Evaluates `graph`, each op by `perform`.
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
        // Applies are in topological order, so every input has its value by now.
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

/// The inputs that went into an Apply, directly or through others, with their shapes.
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
    Err(PerformError::value(apply.op.name(), format!("perform gave {found} result(s), make_node {expected}")))
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

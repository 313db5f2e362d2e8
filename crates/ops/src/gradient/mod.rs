//! Reverse mode: gradients as more Applies of the same graph.
//!
//! ```text
//! walk     from a result back to the variables of interest, Apply by Apply in reverse
//! extents  which dimensions are equal at run time, so that few gradients have to be summed or broadcast
//! rules    the derivatives of elementwise ops, from the column `d` of `rows/elementwise.rs`
//! control  the derivatives of loops and branches
//! index, linalg, reduce, shape    those of other ops, by the folder of the op; own: those of external ops
//! ```
//! An op names its derivative in [`Op::pullback`](precast_graph::Op::pullback). Composed functions need none.
//! Conventions at kinks are those of JAX: a maximum of equal numbers gives each a half, the extremes of an array share
//! their gradient, and `abs` has the derivative 1 at 0.
//!
//! A gradient stays unfinished while elementwise ops use it. It may be *narrow*, with an extent of 1 where all elements
//! are equal, and *wide*, with the shape to which the variable was broadcast; the sum over the copies comes last. So
//! that chains of elementwise ops stay one kernel, although extents are unknown until run time.

pub(crate) mod control;
mod extents;
pub(crate) mod factors;
pub(crate) mod index;
pub(crate) mod linalg;
mod own;
pub(crate) mod reduce;
pub(crate) mod rules;
pub(crate) mod shape;
mod walk;

use crate::registry::Ops;
use precast_graph::{
    Array, BuildError, DeclaredType, FunctionGraph, MakeNodeError, Number, OpLibrary, Pullback, VarId,
};
use walk::Walk;

/// The gradient by a variable that the result does not depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// An error that names the variable, which is probably a mistake.
    Error,
    Zero,
}

/// Appends the gradients by variables: of a result `y`, weighted by `seed`, which has the type of `y`.
///
/// # Errors
/// A variable that is not a float or that `y` does not depend on, or an op without a derivative between them.
pub(crate) fn pull(
    graph: &mut FunctionGraph,
    library: &dyn OpLibrary,
    y: VarId,
    seed: VarId,
    variables: &[VarId],
    missing: Missing,
) -> Result<Vec<VarId>, BuildError> {
    pull_all(graph, library, &[(y, seed)], variables, missing)
}

/// Appends the gradients by variables of several results, each weighted by a seed.
///
/// # Errors
/// As [`pull`].
pub(crate) fn pull_all(
    graph: &mut FunctionGraph,
    library: &dyn OpLibrary,
    seeds: &[(VarId, VarId)],
    variables: &[VarId],
    missing: Missing,
) -> Result<Vec<VarId>, BuildError> {
    let results: Vec<VarId> = seeds.iter().map(|(y, _)| *y).collect();
    for (position, variable) in results.iter().chain(variables).enumerate() {
        let ty = graph.ty(*variable);
        if !ty.dtype().is_float() {
            let (op, found) = ("grad".to_owned(), ty.dtype());
            let input = usize::from(position >= results.len());
            return Err(MakeNodeError::DType { op, input, found, expected: "floats".to_owned() }.into());
        }
    }
    let on_path = on_path(graph, &results, variables);
    let unused = variables.iter().position(|variable| !on_path[variable.index()]);
    if let Some(position) = unused.filter(|_| missing == Missing::Error) {
        let name = graph.variable(variables[position]).name.clone();
        let name = name.map_or_else(|| format!("variable {position}"), |name| format!("`{name}`"));
        return Err(Pullback::error(format!("the result does not depend on {name}")));
    }
    let applies = graph.applies().len();
    let mut walk = Walk::from(graph, library, seeds, variables);
    // Gradients by variables of interest are complete once all later Applies are done.
    for position in (0..applies).rev() {
        walk.apply(position, &on_path)?;
    }
    variables.iter().map(|variable| walk.finished(*variable)).collect()
}

/// Returns a graph with the cost of another graph and its gradients by some inputs: the outputs are the cost, and
/// `grad_<input>` for each of them.
///
/// # Errors
/// A graph with several outputs or one with dimensions, an unknown input, or a gradient that does not exist.
pub fn value_and_grad(graph: &FunctionGraph, inputs: &[&str]) -> Result<FunctionGraph, BuildError> {
    let [cost] = graph.outputs() else {
        let found = graph.outputs().len();
        return Err(Pullback::error(format!("the graph has {found} outputs; a cost is its only output")));
    };
    let (mut graph, cost) = (graph.clone(), *cost);
    let ty = graph.ty(cost);
    if ty.ndim() > 0 {
        return Err(Pullback::error(format!("the cost has type `{ty}`, expected a number, such as a sum")));
    }
    let find = |name: &&str| {
        graph.find_input(name).ok_or_else(|| {
            let inputs = graph.inputs().iter().enumerate().map(|(position, _)| graph.input_name(position));
            let nearest = precast_graph::nearest(name, inputs);
            let hint =
                nearest.map(|nearest| format!("\nhint: did you mean `{nearest}`?")).unwrap_or_default();
            Pullback::error(format!("the graph has no input `{name}`{hint}"))
        })
    };
    let variables = inputs.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    let one = graph.constant(Array::of(Number::Float(1.0), graph.ty(cost).dtype()));
    let gradients = pull(&mut graph, &Ops::standard(), cost, one, &variables, Missing::Error)?;
    for ((name, gradient), variable) in inputs.iter().zip(gradients).zip(&variables) {
        graph.output(gradient, Some(&format!("grad_{name}")))?;
        // A gradient has the extents of its input.
        let ty =
            graph.inputs().iter().position(|input| input == variable).map(|at| graph.declared_input_type(at));
        if let Some(ty) = ty.filter(DeclaredType::has_names) {
            graph.declare_output(graph.outputs().len() - 1, ty)?;
        }
    }
    Ok(graph)
}

/// Marks the variables between results and the variables of interest; integers and truth values have no gradient.
fn on_path(graph: &FunctionGraph, results: &[VarId], variables: &[VarId]) -> Vec<bool> {
    let count = graph.variables().len();
    let mut after = vec![false; count];
    for variable in variables {
        after[variable.index()] = true;
    }
    let is_number = |v: &VarId| graph.ty(*v).dtype().is_float() || graph.ty(*v).dtype().is_complex();
    for apply in graph.applies() {
        if apply.inputs.iter().any(|input| after[input.index()]) {
            for output in apply.outputs.iter().filter(|output| is_number(output)) {
                after[output.index()] = true;
            }
        }
    }
    let mut before = vec![false; count];
    results.iter().for_each(|y| before[y.index()] = true);
    for apply in graph.applies().iter().rev() {
        if apply.outputs.iter().any(|output| before[output.index()]) {
            for input in &apply.inputs {
                before[input.index()] = true;
            }
        }
    }
    after.iter().zip(before).map(|(after, before)| *after && before).collect()
}

//! Traces a function of operands to a graph that an op can call.
//!
//! The function appends its Applies to the outer graph, after fresh inputs that stand for its arguments. The Applies
//! that depend on these inputs then move into a body. The body reads other variables of the outer graph, and constants,
//! as further inputs. The outer graph is restored.

use super::body::Body;
use crate::shape::{Alloc, ScalarFromTensor};
use precast_graph::{BuildError, FunctionGraph, Origin, Type, VarId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A function as a body.
pub(crate) struct Traced {
    pub(crate) body: Body,
    /// The variables of the outer graph that the inputs of the body after the parameters stand for.
    pub(crate) captured: Vec<VarId>,
}

/// The Applies of a function that do not depend on its arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Independent {
    /// Are computed once, before the op.
    Hoisted,
    /// Are part of the body, so that they are computed only if it is called.
    Kept,
}

/// Traces a function. `parameters` are the names and types of its arguments; `call` returns its results.
///
/// # Errors
/// Those of `call`; the outer graph is unchanged.
pub(crate) fn trace(
    graph: &mut FunctionGraph,
    parameters: &[(String, Type)],
    independent: Independent,
    call: impl FnOnce(&mut FunctionGraph, &[VarId]) -> Result<Vec<VarId>, BuildError>,
) -> Result<Traced, BuildError> {
    let saved = graph.clone();
    let traced = append(graph, parameters, call);
    let whole = std::mem::replace(graph, saved);
    let (arguments, results) = traced?;
    cut(graph, &whole, parameters, &arguments, &results, independent)
}

/// Calls the function on fresh inputs, which it returns with the results.
fn append(
    graph: &mut FunctionGraph,
    parameters: &[(String, Type)],
    call: impl FnOnce(&mut FunctionGraph, &[VarId]) -> Result<Vec<VarId>, BuildError>,
) -> Result<(Vec<VarId>, Vec<VarId>), BuildError> {
    let depth = graph.inputs().len();
    let mut arguments = Vec::new();
    for (position, (_, ty)) in parameters.iter().enumerate() {
        let mut name = format!("argument{depth}_{position}");
        while graph.find_input(&name).is_some() {
            name.push('_');
        }
        arguments.push(graph.input(&name, ty.clone())?);
    }
    let results = call(graph, &arguments)?;
    Ok((arguments, results))
}

/// Moves the Applies of `whole` that are not in `graph` into a body, or to `graph`.
fn cut(
    graph: &mut FunctionGraph,
    whole: &FunctionGraph,
    parameters: &[(String, Type)],
    arguments: &[VarId],
    results: &[VarId],
    independent: Independent,
) -> Result<Traced, BuildError> {
    let (variables, applies) = (graph.variables().len(), &whole.applies()[graph.applies().len()..]);
    let count = whole.variables().len();
    let (mut depends, mut needed) = (vec![false; count], vec![false; count]);
    arguments.iter().for_each(|v| depends[v.index()] = true);
    for apply in applies {
        if apply.inputs.iter().any(|v| depends[v.index()]) {
            apply.outputs.iter().for_each(|v| depends[v.index()] = true);
        }
    }
    results.iter().for_each(|v| needed[v.index()] = true);
    for apply in applies.iter().rev() {
        if apply.outputs.iter().any(|v| needed[v.index()]) {
            apply.inputs.iter().for_each(|v| needed[v.index()] = true);
        }
    }
    let mut cut = Cut { whole, body: FunctionGraph::new(), inside: BTreeMap::new(), captured: Vec::new() };
    for (argument, (name, ty)) in arguments.iter().zip(parameters) {
        let input = cut.body.input(name, ty.clone())?;
        cut.inside.insert(*argument, input);
    }
    let mut outside: BTreeMap<VarId, VarId> = BTreeMap::new();
    for apply in applies.iter().filter(|apply| apply.outputs.iter().any(|v| needed[v.index()])) {
        let is_inside = independent == Independent::Kept || apply.inputs.iter().any(|v| depends[v.index()]);
        let made = if is_inside {
            let read = |v: &VarId| cut.read(*v, graph, &mut outside, variables);
            let inputs = apply.inputs.iter().map(read).collect::<Result<Vec<_>, _>>()?;
            cut.body.apply(apply.op.clone(), &inputs)?
        } else {
            let read = |v: &VarId| outer(*v, whole, graph, &mut outside, variables);
            let inputs: Vec<VarId> = apply.inputs.iter().map(read).collect();
            graph.apply(apply.op.clone(), &inputs)?
        };
        let known = if is_inside { &mut cut.inside } else { &mut outside };
        known.extend(apply.outputs.iter().copied().zip(made));
    }
    for result in results {
        let result = cut.read(*result, graph, &mut outside, variables)?;
        cut.body.output(result, None)?;
    }
    Ok(Traced { body: Body::new(&cut.body)?, captured: cut.captured })
}

/// A body under construction.
struct Cut<'a> {
    whole: &'a FunctionGraph,
    body: FunctionGraph,
    /// The variables of the body, by those of the whole graph.
    inside: BTreeMap<VarId, VarId>,
    captured: Vec<VarId>,
}

impl Cut<'_> {
    /// Returns the variable of the body for one of the whole graph; an outer one becomes an input.
    fn read(
        &mut self,
        variable: VarId,
        graph: &mut FunctionGraph,
        outside: &mut BTreeMap<VarId, VarId>,
        variables: usize,
    ) -> Result<VarId, BuildError> {
        if let Some(known) = self.inside.get(&variable) {
            return Ok(*known);
        }
        let mut captured = outer(variable, self.whole, graph, outside, variables);
        let (name, ty) = (format!("outer{}", self.captured.len()), self.whole.ty(variable));
        let input = match ty {
            // The inputs of ops with bodies are tensors.
            Type::Scalar(dtype) => {
                captured = graph.apply(Arc::new(Alloc), &[captured])?[0];
                let input = self.body.input(&name, Type::tensor(*dtype, 0))?;
                self.body.apply(Arc::new(ScalarFromTensor), &[input])?[0]
            }
            ty => self.body.input(&name, ty.clone())?,
        };
        self.captured.push(captured);
        self.inside.insert(variable, input);
        Ok(input)
    }
}

/// Returns the variable of the outer graph for one of the whole graph; a constant of a function is added to it.
fn outer(
    variable: VarId,
    whole: &FunctionGraph,
    graph: &mut FunctionGraph,
    outside: &mut BTreeMap<VarId, VarId>,
    variables: usize,
) -> VarId {
    if variable.index() < variables {
        return variable;
    }
    let constant = || match &whole.variable(variable).origin {
        Origin::Constant(value) => graph.constant_of(value.clone(), whole.ty(variable).clone()),
        // The Applies that compute other variables are already part of the outer graph.
        _ => variable,
    };
    *outside.entry(variable).or_insert_with(constant)
}

//! Checks a whole graph on the inputs of a call: Apply by Apply, then the served function.

use super::alone::{self, Alone, Skipped};
use super::cases::{Case, Expected};
use super::series::{self, Limits};
use super::trial::Trial;
use super::value::Value;
use super::violation::{Findings, Violation, ViolationKind};
use super::{CheckError, Options, forms, one};
use crate::error::FunctionError;
use crate::runtime::Runtime;
use precast_codegen::UserTypes;
use precast_graph::{Array, FunctionGraph, Origin, encode};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The checks of a function in debug mode, run in each call.
#[derive(Debug)]
pub(crate) struct Checks {
    /// The declared and the lowered graph, each with its extracted Applies.
    forms: Vec<(FunctionGraph, Vec<Result<Alone, Skipped>>)>,
    types: UserTypes,
    last: Mutex<Option<Findings>>,
}

impl Checks {
    /// Extracts all Applies of a graph.
    pub(crate) fn new(runtime: &Runtime, graph: &FunctionGraph) -> Result<Self, FunctionError> {
        let mut all = Vec::new();
        for form in forms(graph, runtime.ops())? {
            let alone = (0..form.applies().len()).map(|position| alone::take(runtime, &form, position));
            let alone = alone.collect::<Result<Vec<_>, _>>()?;
            all.push((form, alone));
        }
        Ok(Self { forms: all, types: runtime.ops().c().types().clone(), last: Mutex::new(None) })
    }

    /// Returns the user types, whose rules define equal values.
    pub(crate) fn types(&self) -> &UserTypes {
        &self.types
    }

    /// Returns the findings of the last call.
    pub(crate) fn last(&self) -> Option<Findings> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Checks all Applies on the values that result from these inputs. Also returns the graph's results if every
    /// Apply could be run.
    pub(crate) fn run(
        &self,
        inputs: &[Array],
        options: &Options,
    ) -> Result<(Findings, Option<Vec<Array>>), CheckError> {
        let (mut findings, mut known, mut results) = (Findings::default(), BTreeSet::new(), None);
        for (graph, applies) in &self.forms {
            let values = walk(graph, applies, inputs, options, &mut known, &mut findings)?;
            results = results.or(values);
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(findings.clone());
        Ok((findings, results))
    }
}

/// Runs the Applies of one form in order. Applies that were checked in another form on the same values are only run.
fn walk(
    graph: &FunctionGraph,
    applies: &[Result<Alone, Skipped>],
    inputs: &[Array],
    options: &Options,
    known: &mut BTreeSet<(Vec<u8>, Vec<u64>)>,
    findings: &mut Findings,
) -> Result<Option<Vec<Array>>, CheckError> {
    if graph.inputs().len() != inputs.len() && !graph.applies().is_empty() {
        let problem = format!("expected {} input(s), found {}", graph.inputs().len(), inputs.len());
        return Err(CheckError::Inputs { problem });
    }
    let origin = |variable: &precast_graph::Variable| match &variable.origin {
        Origin::Input(i) => inputs.get(*i).cloned(),
        Origin::Constant(value) => Some(value.clone()),
        Origin::Output { .. } => None,
    };
    let mut values: Vec<Option<Array>> = graph.variables().iter().map(origin).collect();
    let limits = Limits { bytes: usize::MAX, time: options.time };
    for (apply, alone) in graph.applies().iter().zip(applies) {
        let given: Option<Vec<Array>> = apply.inputs.iter().map(|v| values[v.index()].clone()).collect();
        let (alone, given) = match (alone, given) {
            (Ok(alone), Some(given)) => (alone, given),
            (Err(skipped), given) => {
                findings.applies.push(skipped.clone().into());
                // The result of `perform` replaces the skipped Apply.
                let results =
                    given.and_then(|given| apply.op.perform(&given.iter().collect::<Vec<_>>()).ok());
                store(&mut values, &apply.outputs, results);
                continue;
            }
            (Ok(alone), None) => {
                let reason = "an earlier Apply has no result".to_owned();
                findings
                    .applies
                    .push(Skipped { apply: alone.apply, signature: alone.signature.clone(), reason }.into());
                continue;
            }
        };
        let types = alone.graph.inputs().iter().map(|input| alone.graph.ty(*input));
        let given = given.into_iter().zip(types).map(|(array, ty)| alone::widened(array, ty)).collect();
        let case = Case::new(&alone.graph, &alone.reference, given);
        let bits = case.inputs.iter().flat_map(Array::bits).collect();
        if known.insert((encode::canonical(&alone.graph), bits)) {
            findings.applies.push(one(alone.clone(), std::slice::from_ref(&case), options, usize::MAX)?);
        }
        let told = series::series(alone, std::slice::from_ref(&case), &[Trial::FIRST], limits)?;
        let results = told.results.into_iter().next().or(match case.expected {
            Expected::Outputs(outputs) => Some(outputs),
            _ => None,
        });
        store(&mut values, &apply.outputs, results);
    }
    Ok(graph.outputs().iter().map(|v| values[v.index()].clone()).collect())
}

fn store(values: &mut [Option<Array>], outputs: &[precast_graph::VarId], results: Option<Vec<Array>>) {
    for (variable, result) in outputs.iter().zip(results.into_iter().flatten()) {
        values[variable.index()] = Some(result);
    }
}

/// Compares the results of a function with those of its Applies.
pub(crate) fn against_served(
    graph: &FunctionGraph,
    inputs: &[Array],
    served: &[Array],
    expected: &[Array],
    types: &UserTypes,
) -> Option<Violation> {
    for (position, (served, expected)) in served.iter().zip(expected).enumerate() {
        let (found, known) = (Value::of(served), Value::of(expected));
        if graph.outputs().get(position).is_some_and(|v| found.is_alike(&known, graph.ty(*v), types)) {
            continue;
        }
        let detail = if (found.dtype, &found.shape) != (known.dtype, &known.shape) {
            format!("output {position} has extents {:?}, its Applies return {:?}", found.shape, known.shape)
        } else if let Some(at) = found.first_difference(&known) {
            let (index, is, was) = (found.index(at), found.element(at), known.element(at));
            format!("element {index} of output {position} is {is}, its Applies return {was}")
        } else {
            continue;
        };
        let last = graph.applies().len().saturating_sub(1);
        return Some(Violation {
            kind: ViolationKind::DiffersFromServed,
            op: "graph".to_owned(),
            signature: graph.to_string(),
            apply: last,
            detail,
            trial: "as served".to_owned(),
            graph: graph.clone(),
            inputs: inputs.to_vec(),
        });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{ViolationKind, against_served};
    use precast_codegen::UserTypes;
    use precast_graph::{Array, FunctionGraph};

    #[test]
    fn wrong_served_graph_names_its_first_element() {
        let of = |values: [f64; 3]| Array::from(ndarray::arr1(&values).into_dyn());
        let told = |served: Array| {
            against_served(
                &FunctionGraph::new(),
                &[],
                &[served],
                &[of([1.0, f64::NAN, 0.0])],
                &UserTypes::default(),
            )
        };
        assert!(told(of([1.0, -f64::NAN, 0.0])).is_none());
        let violation = told(of([1.0, f64::NAN, -0.0])).unwrap();
        assert_eq!(violation.kind, ViolationKind::DiffersFromServed);
        assert_eq!(violation.detail, "element [2] of output 0 is -0.0, its Applies return 0.0");
        assert!(told(Array::from(ndarray::arr1(&[1.0]).into_dyn())).unwrap().detail.contains("extents"));
    }
}

//! Function bodies other than compiled modules: the reference implementation, and debug mode around modules.

use crate::debug::{self, Checks, Findings, Options};
use crate::filter::Filtered;
use crate::reference::Reference;
use precast_core::function::{Body, Delegate, misfit_error};
use precast_core::native::Targets;
use precast_core::{Array, ArrayRef, CallError, CodeOrigin, Function, Provenance};
use precast_graph::{FunctionGraph, Op, interpret_with};
use std::error::Error;
use std::sync::Arc;

/// Returns the function of a graph that is computed by the reference implementation of its ops.
pub(crate) fn interpreted(graph: FunctionGraph, reference: Reference) -> Function {
    let ops = graph.applies().iter().map(|apply| graph.signature(apply)).collect();
    let (inputs, outputs) = graph.interface();
    let provenance = vec![Provenance { ops, served: CodeOrigin::Interpreted }];
    Function::from_body(inputs, outputs, provenance, Box::new(Interpreted { graph, reference }))
}

/// Returns a function that checks its Applies in each call.
pub(crate) fn checked(function: Function, graph: FunctionGraph, checks: Checks) -> Function {
    let (inputs, outputs) = (function.inputs().to_vec(), function.outputs().to_vec());
    Function::from_body(inputs, outputs, Vec::new(), Box::new(Checked { graph, function, checks }))
}

/// Returns the findings of the last call of a checked function; `None` outside of debug mode.
#[must_use]
pub fn debug_findings(function: &Function) -> Option<Findings> {
    checked_body(function)?.checks.last()
}

/// Returns whether debug mode checks the calls of a function.
#[must_use]
pub fn is_checked(function: &Function) -> bool {
    checked_body(function).is_some()
}

fn checked_body(function: &Function) -> Option<&Checked> {
    let function = function.body::<Filtered>().map_or(function, |filtered| &filtered.function);
    function.body::<Checked>()
}

fn other(what: &'static str, source: impl Error + Send + Sync + 'static) -> CallError {
    CallError::Other { what, source: Arc::new(source) }
}

#[derive(Debug)]
struct Interpreted {
    graph: FunctionGraph,
    reference: Reference,
}

impl Body for Interpreted {
    fn run(&self, inputs: &[ArrayRef<'_>], targets: &mut Targets<'_, '_>) -> Result<(), CallError> {
        let inputs: Vec<Array> = inputs.iter().map(ArrayRef::to_array).collect();
        let perform = |op: &dyn Op, inputs: &[&Array]| self.reference.perform(op, inputs);
        let results = interpret_with(&self.graph, &inputs, &perform);
        let results = results.map_err(|error| other("cannot interpret the graph", error))?;
        match targets {
            Targets::New(arrays) => arrays.extend(results),
            Targets::Reuse(arrays) => {
                arrays.iter_mut().zip(results).for_each(|(array, result)| *array = result);
            }
            Targets::Into(arrays) => {
                let misfit =
                    arrays.iter_mut().zip(&results).position(|(array, result)| !array.assign(result));
                if let Some(position) = misfit {
                    let ports = self.graph.interface().1;
                    return Err(misfit_error(&ports, position, results[position].shape(), targets));
                }
            }
        }
        Ok(())
    }
}

/// Debug mode: runs every Apply by itself, then the served function into temporary arrays.
#[derive(Debug)]
struct Checked {
    graph: FunctionGraph,
    function: Function,
    checks: Checks,
}

impl Body for Checked {
    fn run(&self, inputs: &[ArrayRef<'_>], targets: &mut Targets<'_, '_>) -> Result<(), CallError> {
        const WHAT: &str = "debug mode";
        let given: Vec<Array> = inputs.iter().map(ArrayRef::to_array).collect();
        let checked = self.checks.run(&given, &Options::default());
        let (findings, expected) = checked.map_err(|error| other(WHAT, error))?;
        findings.into_result().map_err(|violation| other(WHAT, *violation))?;
        if let Some(expected) = expected {
            let mut served = Vec::new();
            self.function.run(inputs, &mut Targets::New(&mut served))?;
            let violation =
                debug::against_served(&self.graph, &given, &served, &expected, self.checks.types());
            violation.map_or(Ok(()), |violation| Err(other(WHAT, violation)))?;
        }
        self.function.run(inputs, targets)
    }

    fn delegate(&self) -> Delegate<'_> {
        Delegate::Checks { function: &self.function, admits_numbers: false }
    }
}

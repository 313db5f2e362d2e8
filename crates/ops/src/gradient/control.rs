//! Derivatives of loops and branches.
//!
//! The gradient of a loop is a loop in the reverse order over the carries that the forward loop had before each step,
//! which a copy of the forward loop stores as rows. A step computes the body again, and the gradients by its inputs:
//!
//! ```text
//! forward    carry ─▶ body ─▶ carry          the copy stores each carry before its step
//! backward   gradient by the next carry, sums of gradients by other inputs ─▶ the same before the step
//! ```
//! The rewrite `merge` joins the forward loop and its copy. The gradient of a branch is a branch over the gradients.

use super::{Missing, pull_all};
use crate::control::scan::row_type;
use crate::control::trace::{Independent, trace};
use crate::control::{Body, Branch, Scan};
use precast_graph::{BuildError, FunctionGraph, Gradients, Operand, Prop, Pullback, Type, VarId};
use std::sync::Arc;

/// Appends the Applies of a body to a graph, and returns its outputs.
fn inline(graph: &mut FunctionGraph, body: &Body, inputs: &[VarId]) -> Result<Vec<VarId>, BuildError> {
    let source = body.graph();
    let mut known: Vec<Option<VarId>> = vec![None; source.variables().len()];
    for (input, variable) in source.inputs().iter().zip(inputs) {
        known[input.index()] = Some(*variable);
    }
    for apply in source.applies() {
        // Applies are in topological order.
        let inputs: Vec<VarId> = apply.inputs.iter().filter_map(|v| known[v.index()]).collect();
        for (output, variable) in apply.outputs.iter().zip(graph.apply(apply.op.clone(), &inputs)?) {
            known[output.index()] = Some(variable);
        }
    }
    Ok(source.outputs().iter().filter_map(|v| known[v.index()]).collect())
}

/// Returns whether a gradient by an input is needed and exists.
fn is_wanted(at: &Pullback<'_>, input: usize) -> bool {
    at.wanted[input] && at.graph.ty(at.inputs[input]).dtype().is_float()
}

pub(crate) fn scan(scan: &Scan, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let (carries, sequences) = (scan.carries, scan.sequences);
    let (first_sequence, first_other) = (1 + carries, 1 + carries + sequences);
    let types = scan.body.inputs();
    let floats: Vec<usize> = (0..carries).filter(|i| types[*i].dtype().is_float()).collect();
    let rows: Vec<usize> = (carries..at.outputs.len()).filter(|j| at.gradients[*j].is_some()).collect();
    let wanted = |at: &Pullback<'_>, inputs: std::ops::Range<usize>| -> Vec<usize> {
        inputs.filter(|input| is_wanted(at, *input)).collect()
    };
    let (by_rows, by_others) =
        (wanted(at, first_sequence..first_other), wanted(at, first_other..at.inputs.len()));

    // The forward loop, with the carries before each step.
    let stored = with_carries(scan)?;
    let stored = at.graph.apply(Arc::new(stored), at.inputs)?[at.outputs.len()..].to_vec();
    let (mut steps, mut given) = (at.inputs[0], at.inputs[first_sequence..first_other].to_vec());
    if scan.until {
        let end = Operand::Weak(at.apply(crate::shape::ShapeI { axis: 0 }, &stored[..1])?);
        steps = end.variable(at.graph)?;
        for sequence in &mut given {
            let index = Prop::List(vec![Prop::Str("e".to_owned())]);
            *sequence =
                at.call_with("subtensor", &[(*sequence).into(), end.clone()], &[("index", index.into())])?;
        }
    }

    // The first gradients: of the last carries, and zeros for the sums.
    let mut first = Vec::new();
    for i in &floats {
        first.push(match at.gradients[*i] {
            Some(gradient) => gradient,
            None => at.call("zeros_like", &[at.outputs[*i].into()])?,
        });
    }
    for input in &by_others {
        first.push(at.call("zeros_like", &[at.inputs[*input].into()])?);
    }
    let sums = |types: &mut dyn Iterator<Item = Type>| -> Vec<(String, Type)> {
        types.enumerate().map(|(i, ty)| (format!("carry{i}"), ty.without_extents())).collect()
    };
    let mut parameters = sums(&mut first.iter().map(|v| at.graph.ty(*v).clone()));
    let gradients: Vec<VarId> = rows.iter().filter_map(|j| at.gradients[*j]).collect();
    let of_rows = gradients.iter().filter_map(|gradient| row_type(at.graph.ty(*gradient)));
    let of_rows = of_rows.chain(types[..carries + sequences].iter().cloned());
    parameters.extend(of_rows.enumerate().map(|(i, ty)| (format!("row{i}"), ty)));
    let others = by_others.iter().map(|input| types[input - 1].clone());
    parameters.extend(others.enumerate().map(|(i, ty)| (format!("other{i}"), ty)));

    let (library, inputs) = (at.library, at.inputs);
    let traced = trace(at.graph, &parameters, Independent::Hoisted, |graph, arguments| {
        let (sums, arguments) = arguments.split_at(floats.len() + by_others.len());
        let (seeds, arguments) = arguments.split_at(rows.len());
        let (values, others) = arguments.split_at(carries + sequences);
        let mut whole = [values, &inputs[first_other..]].concat();
        for (input, other) in by_others.iter().zip(others) {
            whole[input - 1] = *other;
        }
        let results = inline(graph, &scan.body, &whole)?;
        let seeds: Vec<(VarId, VarId)> = floats
            .iter()
            .map(|i| results[*i])
            .zip(sums.iter().copied())
            .chain(rows.iter().map(|j| results[*j]).zip(seeds.iter().copied()))
            .collect();
        let by = floats.iter().copied().chain(by_rows.iter().map(|input| input - 1)).map(|i| values[i]);
        let by: Vec<VarId> = by.chain(others.iter().copied()).collect();
        let mut found = pull_all(graph, library, &seeds, &by, Missing::Zero)?;
        let mut at = Pullback { graph, library, inputs: &[], outputs: &[], gradients: &[], wanted: &[] };
        let of_others = found.split_off(floats.len() + by_rows.len());
        let of_rows = found.split_off(floats.len());
        for (sum, gradient) in sums[floats.len()..].iter().zip(of_others) {
            found.push(at.call("add", &[(*sum).into(), gradient.into()])?);
        }
        Ok([found, of_rows].concat())
    })?;
    let backward = Scan {
        body: traced.body,
        carries: first.len(),
        sequences: rows.len() + carries + sequences,
        reverse: !scan.reverse,
        until: false,
    };
    let others: Vec<VarId> = by_others.iter().map(|input| at.inputs[*input]).collect();
    let whole = [vec![steps], first, gradients, stored, given, others, traced.captured].concat();
    let made = at.graph.apply(Arc::new(backward), &whole)?;

    let mut results: Gradients = vec![None; at.inputs.len()];
    let of_carries = floats.iter().map(|i| 1 + i);
    for (input, gradient) in of_carries.chain(by_others).chain(by_rows).zip(made) {
        results[input] = Some(gradient);
    }
    Ok(results)
}

/// Returns the loop with the carries before each step as further results.
fn with_carries(scan: &Scan) -> Result<Scan, BuildError> {
    let mut graph = scan.body.graph().with_outputs(0..scan.carries + scan.rows());
    for input in &scan.body.graph().inputs()[..scan.carries] {
        graph.output(*input, None)?;
    }
    if let Some(stop) = scan.body.graph().outputs().last().filter(|_| scan.until) {
        graph.output(*stop, None)?;
    }
    Ok(Scan { body: Body::new(&graph)?, ..scan.clone() })
}

pub(crate) fn branch(op: &Branch, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let offsets = op.offsets();
    let wanted: Vec<usize> = (1..at.inputs.len()).filter(|input| is_wanted(at, *input)).collect();
    let (library, inputs, gradients) = (at.library, at.inputs, at.gradients);
    let (mut branches, mut whole) = (Vec::new(), vec![inputs[0]]);
    for (branch, body) in op.branches.iter().enumerate() {
        let own = 1 + offsets[branch]..1 + offsets[branch + 1];
        let by: Vec<usize> = wanted.iter().copied().filter(|input| own.contains(input)).collect();
        let types = body.inputs();
        let parameters = by.iter().enumerate();
        let parameters: Vec<(String, Type)> =
            parameters.map(|(i, input)| (format!("input{i}"), types[input - own.start].clone())).collect();
        let traced = trace(at.graph, &parameters, Independent::Kept, |graph, arguments| {
            let mut values = inputs[own.clone()].to_vec();
            for (input, argument) in by.iter().zip(arguments) {
                values[input - own.start] = *argument;
            }
            let results = inline(graph, body, &values)?;
            let seeds: Vec<(VarId, VarId)> =
                results.iter().zip(gradients).filter_map(|(y, seed)| Some((*y, (*seed)?))).collect();
            let mut found = pull_all(graph, library, &seeds, arguments, Missing::Zero)?.into_iter();
            let mut at = Pullback { graph, library, inputs: &[], outputs: &[], gradients: &[], wanted: &[] };
            let of = |input: &usize| match by.contains(input) {
                true => found.next().ok_or_else(|| Pullback::error("a branch has no gradient")),
                false => at.call("zeros_like", &[inputs[*input].into()]),
            };
            wanted.iter().map(of).collect()
        })?;
        branches.push(traced.body);
        whole.extend(by.iter().map(|input| inputs[*input]));
        whole.extend(traced.captured);
    }
    let made = at.graph.apply(Arc::new(Branch { branches }), &whole)?;
    let mut results: Gradients = vec![None; at.inputs.len()];
    for (input, gradient) in wanted.into_iter().zip(made) {
        results[input] = Some(gradient);
    }
    Ok(results)
}

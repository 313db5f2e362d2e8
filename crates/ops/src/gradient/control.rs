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
use crate::shape::ShapeI;
use precast_graph::{BuildError, FunctionGraph, Gradients, OpLibrary, Operand, Prop, Pullback, Type, VarId};
use std::sync::Arc;

/// Returns whether a gradient by an input is needed and exists.
fn is_wanted(at: &Pullback<'_>, input: usize) -> bool {
    at.wanted[input] && at.graph.ty(at.inputs[input]).dtype().is_float()
}

/// The parts of a loop that have gradients.
struct Parts {
    /// The carries that are floats.
    floats: Vec<usize>,
    /// The results by whose rows gradients are given.
    rows: Vec<usize>,
    /// The sequences and the other inputs by which gradients are needed, as inputs of the op.
    by_rows: Vec<usize>,
    by_others: Vec<usize>,
}

impl Parts {
    fn of(scan: &Scan, at: &Pullback<'_>) -> Self {
        let types = scan.body.inputs();
        let first_other = 1 + scan.carries + scan.sequences;
        let wanted = |inputs: std::ops::Range<usize>| inputs.filter(|input| is_wanted(at, *input)).collect();
        Self {
            floats: (0..scan.carries).filter(|i| types[*i].dtype().is_float()).collect(),
            rows: (scan.carries..at.outputs.len()).filter(|j| at.gradients[*j].is_some()).collect(),
            by_rows: wanted(1 + scan.carries..first_other),
            by_others: wanted(first_other..at.inputs.len()),
        }
    }

    /// Returns the first values of the backward loop: the gradients by the last carries, and zeros for the sums.
    fn first(&self, at: &mut Pullback<'_>) -> Result<Vec<VarId>, BuildError> {
        let mut first = Vec::new();
        for i in &self.floats {
            first.push(match at.gradients[*i] {
                Some(gradient) => gradient,
                None => at.call("zeros_like", &[at.outputs[*i].into()])?,
            });
        }
        for input in &self.by_others {
            first.push(at.call("zeros_like", &[at.inputs[*input].into()])?);
        }
        Ok(first)
    }

    /// Computes a step of the backward loop. `arguments` are the gradients by the carries, the sums, the gradients by the
    /// rows, the inputs of the forward step that are carries or rows, and the others by which gradients are needed.
    fn step(
        &self,
        scan: &Scan,
        (inputs, library): (&[VarId], &dyn OpLibrary),
        graph: &mut FunctionGraph,
        arguments: &[VarId],
    ) -> Result<Vec<VarId>, BuildError> {
        let first_other = scan.carries + scan.sequences;
        let (sums, arguments) = arguments.split_at(self.floats.len() + self.by_others.len());
        let (seeds, arguments) = arguments.split_at(self.rows.len());
        let (values, others) = arguments.split_at(first_other);
        let mut whole = [values, &inputs[1 + first_other..]].concat();
        for (input, other) in self.by_others.iter().zip(others) {
            whole[input - 1] = *other;
        }
        let results = graph.inline(scan.body.graph(), &whole)?;
        let of_carries = self.floats.iter().map(|i| results[*i]).zip(sums.iter().copied());
        let of_rows = self.rows.iter().map(|j| results[*j]).zip(seeds.iter().copied());
        let seeds: Vec<(VarId, VarId)> = of_carries.chain(of_rows).collect();
        let by = self.floats.iter().copied().chain(self.by_rows.iter().map(|input| input - 1));
        let by: Vec<VarId> = by.map(|i| values[i]).chain(others.iter().copied()).collect();
        let mut found = pull_all(graph, library, &seeds, &by, Missing::Zero)?;
        let of_others = found.split_off(self.floats.len() + self.by_rows.len());
        let of_rows = found.split_off(self.floats.len());
        let mut at = Pullback { graph, library, inputs: &[], outputs: &[], gradients: &[], wanted: &[] };
        for (sum, gradient) in sums[self.floats.len()..].iter().zip(of_others) {
            found.push(at.call("add", &[(*sum).into(), gradient.into()])?);
        }
        Ok([found, of_rows].concat())
    }
}

pub(crate) fn scan(scan: &Scan, at: &mut Pullback<'_>) -> Result<Gradients, BuildError> {
    let parts = Parts::of(scan, at);
    let (steps, forward) = forward(scan, at)?;
    let first = parts.first(at)?;
    let gradients: Vec<VarId> = parts.rows.iter().filter_map(|j| at.gradients[*j]).collect();
    let types = scan.body.inputs();
    let sums = first.iter().map(|v| at.graph.ty(*v).without_extents());
    let of_rows = gradients.iter().filter_map(|gradient| row_type(at.graph.ty(*gradient)));
    let values = types[..scan.carries + scan.sequences].iter().cloned();
    let others = parts.by_others.iter().map(|input| types[input - 1].clone());
    let parameters = sums.chain(of_rows).chain(values).chain(others).enumerate();
    let parameters: Vec<(String, Type)> = parameters.map(|(i, ty)| (format!("in{i}"), ty)).collect();
    let (library, inputs) = (at.library, at.inputs);
    let traced = trace(at.graph, &parameters, Independent::Hoisted, |graph, arguments| {
        parts.step(scan, (inputs, library), graph, arguments)
    })?;
    let sequences = gradients.len() + forward.len();
    let backward = Scan::new(traced.body, first.len(), sequences, !scan.reverse, false);
    let others: Vec<VarId> = parts.by_others.iter().map(|input| at.inputs[*input]).collect();
    let whole = [vec![steps], first, gradients, forward, others, traced.captured].concat();
    // A gradient has the extents of its value.
    let of_carries = parts.floats.iter().map(|i| at.outputs[*i]);
    let of_others = parts.by_others.iter().map(|input| at.inputs[*input]);
    let of_rows = parts.rows.iter().map(|j| at.outputs[*j]);
    let like: Vec<Type> =
        of_carries.chain(of_others).chain(of_rows).map(|v| at.graph.ty(v).clone()).collect();
    let backward = backward.placed(at.graph, &whole, &like);
    let made = at.graph.apply(Arc::new(backward), &whole)?;
    let mut results: Gradients = vec![None; at.inputs.len()];
    let of_carries = parts.floats.iter().map(|i| 1 + i);
    let is_row = |input: &usize| parts.by_rows.contains(input);
    for (input, mut gradient) in of_carries.chain(parts.by_others).chain(parts.by_rows.clone()).zip(made) {
        if scan.until && is_row(&input) {
            gradient = padded(at, gradient, (input, steps))?;
        }
        results[input] = Some(gradient);
    }
    Ok(results)
}

/// Returns the gradient by a sequence of which the loop visited only the first rows: zeros for the other ones.
fn padded(
    at: &mut Pullback<'_>,
    gradient: VarId,
    (input, steps): (usize, VarId),
) -> Result<VarId, BuildError> {
    let zeros = at.call("zeros_like", &[at.inputs[input].into()])?;
    let index = Prop::List(vec![Prop::Str("e".to_owned())]);
    let part = at.call_with("subtensor", &[zeros.into(), steps.into()], &[("index", index.into())])?;
    at.call("set_subtensor", &[part.into(), gradient.into()])
}

/// Builds a copy of a loop that stores the carries before each step. Returns the number of steps, and as sequences the
/// stored carries and the loop's own.
fn forward(scan: &Scan, at: &mut Pullback<'_>) -> Result<(VarId, Vec<VarId>), BuildError> {
    let stored = at.graph.apply(Arc::new(with_carries(scan)?), at.inputs)?[at.outputs.len()..].to_vec();
    let (mut steps, mut given) = (at.inputs[0], at.inputs[1 + scan.carries..][..scan.sequences].to_vec());
    // Without carries, all gradients are those of rows.
    let counted = stored.first().copied().or_else(|| at.gradients.iter().flatten().next().copied());
    if let Some(counted) = counted.filter(|_| scan.until) {
        let end = Operand::Weak(at.apply(ShapeI { axis: 0 }, &[counted])?);
        steps = end.variable(at.graph)?;
        for sequence in &mut given {
            let index = Prop::List(vec![Prop::Str("e".to_owned())]);
            *sequence =
                at.call_with("subtensor", &[(*sequence).into(), end.clone()], &[("index", index.into())])?;
        }
    }
    Ok((steps, [stored, given].concat()))
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
    Ok(scan.with_body(Body::new(&graph)?))
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
            let results = graph.inline(body.graph(), &values)?;
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

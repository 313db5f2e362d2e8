//! Shrinks a failing graph.
//!
//! Two steps are repeated while the failure remains. One removes an output; the other replaces a result by an input
//! with the value of `perform`, which removes the Applies before it.

use precast::{Array, FunctionGraph};
use precast_graph::{Origin, VarId, interpret};
use precast_testkit::graphs::Case;
use std::collections::BTreeSet;

/// The maximum number of graphs to try.
const TRIES: usize = 150;

/// Returns the smallest failing case, and its failure.
pub(super) fn shrink(case: &Case, fails: &dyn Fn(&Case) -> Option<String>) -> (Case, String) {
    let mut best = case.clone();
    let mut what = fails(case).unwrap_or_else(|| "does not fail again, alone".to_owned());
    let mut tries = 0;
    loop {
        let smaller = candidates(&best).into_iter().filter(|smaller| {
            let size = |case: &Case| (case.graph.applies().len(), case.graph.outputs().len());
            size(smaller) < size(&best)
        });
        let found = smaller.take(TRIES - tries).find_map(|smaller| {
            tries += 1;
            fails(&smaller).map(|what| (smaller, what))
        });
        match found {
            Some((smaller, its)) => (best, what) = (smaller, its),
            None => return (best, what),
        }
    }
}

/// Returns smaller cases, smallest first.
fn candidates(case: &Case) -> Vec<Case> {
    let outputs = case.graph.outputs();
    let mut all = Vec::new();
    for (position, output) in outputs.iter().enumerate() {
        all.extend(part(case, &[*output], &BTreeSet::new()).filter(|_| outputs.len() > 1));
        let others: Vec<VarId> =
            outputs.iter().enumerate().filter(|(p, _)| *p != position).map(|(_, v)| *v).collect();
        all.extend(part(case, &others, &BTreeSet::new()).filter(|_| !others.is_empty()));
    }
    for apply in case.graph.applies() {
        all.extend(part(case, outputs, &apply.outputs.iter().copied().collect()));
        // The Apply alone, as far as outputs need it.
        all.extend(part(case, &apply.outputs, &apply.inputs.iter().copied().collect()));
    }
    all.sort_by_key(|case| case.graph.applies().len());
    all
}

/// Returns the part of a graph that some outputs need, with the variables of `given` as inputs.
fn part(case: &Case, outputs: &[VarId], given: &BTreeSet<VarId>) -> Option<Case> {
    let old = &case.graph;
    let mut needed: BTreeSet<VarId> = outputs.iter().copied().collect();
    for apply in old.applies().iter().rev() {
        if apply.outputs.iter().any(|v| needed.contains(v) && !given.contains(v)) {
            needed.extend(&apply.inputs);
        }
    }
    let values = values(case)?;
    let (mut new, mut known) = (FunctionGraph::new(), vec![None; old.variables().len()]);
    let mut inputs = Vec::new();
    for (index, variable) in old.variables().iter().enumerate() {
        let Some(v) = needed.iter().find(|v| v.index() == index) else { continue };
        match &variable.origin {
            Origin::Constant(value) => {
                known[index] = Some(new.constant_of(value.clone(), variable.ty.clone()));
            }
            Origin::Output { .. } if !given.contains(v) => {}
            _ => {
                known[index] = Some(new.input(&format!("x{}", inputs.len()), variable.ty.clone()).ok()?);
                inputs.push(values[index].clone()?);
            }
        }
    }
    for apply in old.applies() {
        if apply.outputs.iter().any(|v| needed.contains(v) && known[v.index()].is_none()) {
            let arguments = apply.inputs.iter().map(|v| known[v.index()]).collect::<Option<Vec<_>>>()?;
            let fresh = new.apply(apply.op.clone(), &arguments).ok()?;
            for (v, fresh) in apply.outputs.iter().zip(fresh) {
                known[v.index()] = known[v.index()].or(Some(fresh));
            }
        }
    }
    for v in outputs {
        new.output(known[v.index()]?, None).ok()?;
    }
    let outputs = interpret(&new, &inputs).ok()?;
    Some(Case { graph: new, inputs, outputs })
}

/// Returns the value of every variable.
fn values(case: &Case) -> Option<Vec<Option<Array>>> {
    let mut values: Vec<Option<Array>> = vec![None; case.graph.variables().len()];
    for (v, value) in case.graph.inputs().iter().zip(&case.inputs) {
        values[v.index()] = Some(value.clone());
    }
    for (v, value) in case.graph.constants() {
        values[v.index()] = Some(value.clone());
    }
    for apply in case.graph.applies() {
        let inputs =
            apply.inputs.iter().map(|v| values[v.index()].as_ref()).collect::<Option<Vec<&Array>>>()?;
        for (v, value) in apply.outputs.iter().zip(apply.op.perform(&inputs).ok()?) {
            values[v.index()] = Some(value);
        }
    }
    Some(values)
}

#[test]
fn failures_shrink_to_their_apply() {
    let graph = crate::graphs::vectors("exp(tanh(x + y)*y - x) + sqrt(x*x)", "xy");
    let inputs = crate::graphs::values(2, 3);
    let outputs = interpret(&graph, &inputs).unwrap();
    let has_tanh = |case: &Case| {
        let mut ops = case.graph.applies().iter().map(|apply| apply.op.label());
        ops.any(|label| label.contains("tanh")).then(|| "tanh".to_owned())
    };
    let (small, what) = shrink(&Case { graph, inputs, outputs }, &has_tanh);
    assert_eq!((small.graph.applies().len(), small.inputs.len(), what.as_str()), (1, 1, "tanh"));
}

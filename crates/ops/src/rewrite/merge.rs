//! `merge`: computes equal Applies only once (common subexpressions).
//!
//! Two Applies are merged if their ops are equal and they read the very same variables. Constants are never compared:
//! two constants of equal value stay two slots, so that graphs that differ only in constants share a module. Impure
//! ops are never merged.
//!
//! The pass is exact, because an op is a function: the same `perform`, and the same C code, on the same inputs.

use super::rebuild::Rebuild;
use crate::Scan;
use precast_graph::{Apply, BuildError, FunctionGraph, VarId};
use std::any::Any;
use std::collections::BTreeMap;

pub(super) fn merge(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    let mut rebuild = Rebuild::new(graph)?;
    let extended = extended(graph);
    // Keyed by new inputs and op name, because ops can only be compared, not hashed. Few Applies share both.
    let mut computed: BTreeMap<(Vec<VarId>, &str), Vec<&Apply>> = BTreeMap::new();
    for (position, apply) in graph.applies().iter().enumerate() {
        let inputs = rebuild.get_all(&apply.inputs)?;
        if let Some((later, results)) = extended.get(&position) {
            // The longer loop has the same inputs, so it can take the place of the shorter one.
            let later = &graph.applies()[*later];
            rebuild.apply_new(later.op.clone(), &inputs, &later.outputs)?;
            for (old, result) in apply.outputs.iter().zip(results) {
                let variable = rebuild.get(later.outputs[*result])?;
                rebuild.stands_for(variable, *old);
            }
            continue;
        }
        if extended.values().any(|(later, _)| *later == position) {
            continue;
        }
        let known = computed.entry((inputs.clone(), apply.op.name())).or_default();
        let equal = |other: &&&Apply| apply.op.is_pure() && *other.op == *apply.op;
        if let Some(first) = known.iter().find(equal) {
            for (old, first) in apply.outputs.iter().zip(&first.outputs) {
                let variable = rebuild.get(*first)?;
                rebuild.stands_for(variable, *old);
            }
        } else {
            known.push(apply);
            rebuild.apply_new(apply.op.clone(), &inputs, &apply.outputs)?;
        }
    }
    rebuild.finish()
}

/// Loops by position, each with the later loop and the positions of the results among its own.
type Extended = BTreeMap<usize, (usize, Vec<usize>)>;

/// Returns the loops that a later loop over the same inputs extends by further results. A gradient adds such a loop to a graph.
fn extended(graph: &FunctionGraph) -> Extended {
    let scans = graph.applies().iter().enumerate().filter_map(|(position, apply)| {
        let op: &dyn Any = &*apply.op;
        Some((position, op.downcast_ref::<Scan>()?, &apply.inputs))
    });
    let scans: Vec<(usize, &Scan, &Vec<VarId>)> = scans.collect();
    let (mut found, mut taken): (Extended, Vec<usize>) = (BTreeMap::new(), Vec::new());
    for (i, (position, scan, inputs)) in scans.iter().enumerate() {
        if taken.contains(position) {
            continue;
        }
        let longer =
            scans[i + 1..].iter().filter(|(later, _, theirs)| theirs == inputs && !taken.contains(later));
        let longer = longer.filter_map(|(later, longer, _)| Some((*later, longer.extends(scan)?)));
        if let Some((later, results)) = longer.max_by_key(|(later, _)| graph.applies()[*later].outputs.len())
        {
            taken.push(later);
            found.insert(*position, (later, results));
        }
    }
    found
}

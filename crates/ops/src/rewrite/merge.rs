//! `merge`: an Apply computed twice is computed once (common subexpressions).
//!
//! Two Applies are one if their ops are equal and they read the very same variables. Constants are never compared: two
//! constants of equal value stay two slots, so that graphs which differ in constants only keep sharing a module.
//! An op that is not pure is never merged.
//!
//! Exact because an op is a function: the same `perform`, and the same C, on the same inputs.

use super::rebuild::Rebuild;
use precast_graph::{Apply, BuildError, FunctionGraph, VarId};
use std::collections::BTreeMap;

/// Computes equal Applies once.
pub(super) fn merge(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    let mut rebuild = Rebuild::new(graph)?;
    // By new inputs and the op's name, since ops can only be compared; few share both.
    let mut computed: BTreeMap<(Vec<VarId>, &str), Vec<&Apply>> = BTreeMap::new();
    for apply in graph.applies() {
        let inputs = rebuild.get_all(&apply.inputs)?;
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

//! `merge`: computes equal Applies only once (common subexpressions).
//!
//! Two Applies are merged if their ops are equal and they read the very same variables. Constants are never compared:
//! two constants of equal value stay two slots, so that graphs that differ only in constants share a module. Impure
//! ops are never merged.
//!
//! The pass is exact, because an op is a function: the same `perform`, and the same C code, on the same inputs.

use super::rebuild::Rebuild;
use precast_graph::{Apply, BuildError, FunctionGraph, VarId};
use std::collections::BTreeMap;

pub(super) fn merge(graph: &FunctionGraph) -> Result<FunctionGraph, BuildError> {
    let mut rebuild = Rebuild::new(graph)?;
    // Keyed by new inputs and op name, because ops can only be compared, not hashed. Few Applies share both.
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

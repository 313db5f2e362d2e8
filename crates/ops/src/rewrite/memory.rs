//! The storages of variables and their lifetimes: the basis for overwriting inputs.

use precast_graph::contracts::Storages;
use precast_graph::{FunctionGraph, Origin, VarId};
use std::collections::BTreeMap;

/// The memory use of a graph whose Applies run in their order.
pub(super) struct Memory {
    storages: Storages,
    /// The last Apply that reads a storage; `usize::MAX` for storages of outputs.
    last: BTreeMap<VarId, usize>,
}

impl Memory {
    pub(super) fn of(graph: &FunctionGraph) -> Self {
        let storages = Storages::of(graph);
        let mut last = BTreeMap::new();
        for (position, apply) in graph.applies().iter().enumerate() {
            let read = apply.inputs.iter().flat_map(|v| storages.get(*v));
            last.extend(read.map(|storage| (*storage, position)));
        }
        let returned = graph.outputs().iter().flat_map(|v| storages.get(*v));
        last.extend(returned.map(|storage| (*storage, usize::MAX)));
        Self { storages, last }
    }

    /// Returns whether a result of an Apply is an output of the graph.
    pub(super) fn is_returned(&self, output: VarId) -> bool {
        self.last.get(&output) == Some(&usize::MAX)
    }

    /// Returns whether the Apply at `position` may overwrite one of its inputs. The memory must be allocated inside
    /// the graph, have no later reader, and not be another input of this Apply.
    pub(super) fn is_free(&self, graph: &FunctionGraph, position: usize, input: usize) -> bool {
        let apply = &graph.applies()[position];
        let Some(target) = apply.inputs.get(input) else { return false };
        let own = |s: &VarId| matches!(graph.variable(*s).origin, Origin::Output { .. });
        let free = |s: &VarId| own(s) && self.last.get(s) == Some(&position);
        let mut others = apply.inputs.iter().enumerate().filter(|(i, _)| *i != input);
        self.storages.get(*target).iter().all(free)
            && others.all(|(_, other)| !self.storages.share(*other, *target))
    }
}

//! Assigns canonical numbers to variables in a depth-first walk.

use crate::Type;
use crate::contracts;
use crate::graph::{Apply, FunctionGraph, Origin, VarId};
use std::collections::BTreeMap;

/// The live part of a graph, in the order of a depth-first walk from the outputs. Operands come before their Apply.
/// The readers of memory that an Apply overwrites also come before that Apply.
pub(super) struct Walk<'g> {
    pub(super) applies: Vec<&'g Apply>,
    pub(super) constants: Vec<VarId>,
    /// The edge of each visited variable, by its position in the graph.
    pub(super) edges: Vec<Option<Edge>>,
}

/// The source of a value, in canonical numbers.
#[derive(Clone, Copy)]
pub(super) enum Edge {
    Input(usize),
    Slot(usize),
    Output(usize, usize),
}

impl<'g> Walk<'g> {
    pub(super) fn of(graph: &'g FunctionGraph) -> Self {
        let mut first = BTreeMap::new();
        for (reader, destroyer) in contracts::orders(graph) {
            first.entry(destroyer).or_insert_with(Vec::new).push(reader);
        }
        let walk = Self::after(graph, &BTreeMap::new());
        if first.is_empty() {
            return walk;
        }
        // Leaves out readers that no output needs.
        let live =
            |reader: &usize| graph.applies()[*reader].outputs.iter().any(|v| walk.edges[v.index()].is_some());
        first.values_mut().for_each(|readers| readers.retain(live));
        Self::after(graph, &first)
    }

    /// Walks the graph so that the Applies in `first[k]` are visited before Apply `k`.
    fn after(graph: &'g FunctionGraph, first: &BTreeMap<usize, Vec<usize>>) -> Self {
        let edges = vec![None; graph.variables().len()];
        let mut walk = Self { applies: Vec::new(), constants: Vec::new(), edges };
        for output in graph.outputs() {
            walk.visit(graph, *output, first);
        }
        walk
    }

    /// Returns [`FunctionGraph::is_of_numbers`] for the live part of the graph.
    pub(super) fn is_of_numbers(&self, graph: &FunctionGraph) -> bool {
        let number = |variable: &VarId| matches!(graph.ty(*variable), Type::Scalar(_));
        let made = self.applies.iter().flat_map(|apply| &apply.outputs);
        graph.inputs().iter().chain(&self.constants).chain(made).all(number)
    }

    /// Numbers a variable and everything it needs. Uses an explicit stack, because a graph may be deeper than the
    /// thread's stack.
    fn visit(&mut self, graph: &'g FunctionGraph, variable: VarId, first: &BTreeMap<usize, Vec<usize>>) {
        // (Apply, number of its inputs and required readers that are done)
        let mut stack: Vec<(usize, usize)> = Vec::new();
        stack.extend(self.meet(graph, variable).map(|apply| (apply, 0)));
        while let Some((position, done)) = stack.pop() {
            let apply = &graph.applies()[position];
            let readers = first.get(&position).map_or(&[][..], Vec::as_slice);
            let next = match apply.inputs.get(done) {
                Some(input) => Some(*input),
                // All outputs of an Apply are numbered together, so the first one suffices.
                None => readers
                    .get(done - apply.inputs.len())
                    .and_then(|r| graph.applies()[*r].outputs.first().copied()),
            };
            if let Some(next) = next {
                stack.push((position, done + 1));
                stack.extend(self.meet(graph, next).map(|apply| (apply, 0)));
            } else {
                for (index, output) in apply.outputs.iter().enumerate() {
                    self.edges[output.index()] = Some(Edge::Output(self.applies.len(), index));
                }
                self.applies.push(apply);
            }
        }
    }

    /// Numbers an input or a constant, or returns the Apply that must be walked first.
    fn meet(&mut self, graph: &'g FunctionGraph, variable: VarId) -> Option<usize> {
        if self.edges[variable.index()].is_some() {
            return None;
        }
        match &graph.variable(variable).origin {
            Origin::Input(position) => self.edges[variable.index()] = Some(Edge::Input(*position)),
            Origin::Constant(_) => {
                self.edges[variable.index()] = Some(Edge::Slot(self.constants.len()));
                self.constants.push(variable);
            }
            Origin::Output { apply, .. } => return Some(apply.index()),
        }
        None
    }
}

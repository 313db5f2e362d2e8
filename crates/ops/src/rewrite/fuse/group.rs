//! Groups Applies that become one loop, searching from the outputs towards the inputs.
//!
//! Every group has a *level*, higher than the levels of all groups that use its results. Applies are visited in
//! reverse order. An Apply may join a group if every other group that uses it has a lower level. Levels therefore
//! fall along every edge between groups, so the groups stay acyclic. Groups of one level never use each other and may
//! be merged.
//! ```text
//! e = exp(x)        level 1, used by both below
//! a = e*y           level 0 ─┐ if both have the shape of e, they are merged, and e joins them:
//! b = e + z         level 0 ─┘ one loop with results a and b
//! ```
//! Each Apply is visited once, together with the groups of its clients. The work is linear in the number of edges.

use super::shape::Shapes;
use super::{elementwise, reduction, weight};
use precast_graph::{Extent, FunctionGraph, Type, VarId, contracts};
use std::collections::{BTreeMap, BTreeSet};

/// The weight above which a group only accepts Applies that add no operands, so that a long chain is cut between its terms
/// and not within them. The weight counts steps, and transcendental functions several times. The limit bounds gcc's time per
/// kernel.
const WEIGHT: usize = 96;
/// The maximum weight of a group.
const MOST_WEIGHT: usize = 160;
/// The maximum number of operands with dimensions that a group reads. Each operand needs a block in the first-level
/// cache.
const READS: usize = 12;
/// The maximum number of operands with dimensions, including results.
const BLOCKS: usize = 16;
/// The maximum number of all operands, including those without dimensions.
const OPERANDS: usize = 48;

/// The kind of a group's loop.
#[derive(Clone, PartialEq)]
pub(super) enum Kind {
    /// An elementwise loop; all its results have this shape.
    Loop(Vec<u32>),
    /// A reduction of a map.
    Reduction,
    /// An Apply that no other Apply can join.
    Alone,
}

/// A group of Applies that become one.
#[derive(Clone)]
pub(super) struct Group {
    pub(super) kind: Kind,
    pub(super) level: usize,
    pub(super) members: BTreeSet<usize>,
    /// Results that are used outside the group.
    pub(super) written: BTreeSet<VarId>,
    reads: BTreeSet<VarId>,
    /// For each dimension of the loop, whether it is broadcastable.
    pattern: Vec<bool>,
    weight: usize,
}

/// Divides the Applies of `graph` into groups. Groups only use results of earlier groups.
pub(super) fn groups(graph: &FunctionGraph) -> Vec<Group> {
    let mut grouping = Grouping::of(graph);
    for position in (0..graph.applies().len()).rev() {
        grouping.place(position);
    }
    let mut groups: Vec<Group> = grouping.groups.into_iter().flatten().collect();
    groups.sort_by_key(|group| (std::cmp::Reverse(group.level), group.members.first().copied()));
    groups
}

struct Grouping<'g> {
    graph: &'g FunctionGraph,
    shapes: Shapes,
    /// The groups; `None` if a group was merged into another.
    groups: Vec<Option<Group>>,
    /// The group of each placed Apply.
    home: Vec<usize>,
    /// The Applies that use each variable.
    clients: Vec<Vec<usize>>,
    /// The Applies that must follow each Apply because of memory.
    after: BTreeMap<usize, Vec<usize>>,
    outputs: BTreeSet<VarId>,
}

impl<'g> Grouping<'g> {
    fn of(graph: &'g FunctionGraph) -> Self {
        let mut clients = vec![Vec::new(); graph.variables().len()];
        for (position, apply) in graph.applies().iter().enumerate() {
            apply.inputs.iter().for_each(|v| clients[v.index()].push(position));
        }
        let mut after: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (reader, destroyer) in contracts::orders(graph) {
            after.entry(reader).or_default().push(destroyer);
        }
        let (shapes, home) = (Shapes::of(graph), vec![usize::MAX; graph.applies().len()]);
        let outputs = graph.outputs().iter().copied().collect();
        Self { graph, shapes, groups: Vec::new(), home, clients, after, outputs }
    }

    fn group(&self, number: usize) -> Option<&Group> {
        self.groups.get(number)?.as_ref()
    }

    /// Puts an Apply into the only group that uses it, into a group that writes its result to memory, or into a new group.
    fn place(&mut self, position: usize) {
        let apply = &self.graph.applies()[position];
        let users: BTreeSet<usize> = apply
            .outputs
            .iter()
            .flat_map(|v| &self.clients[v.index()])
            .map(|client| self.home[*client])
            .collect();
        let after: Vec<usize> =
            self.after.get(&position).into_iter().flatten().map(|k| self.home[*k]).collect();
        if elementwise(self.graph, apply).is_some() {
            let output = apply.outputs[0];
            let kept = self.outputs.contains(&output) || !after.is_empty();
            if let (Some(only), 1, false) = (users.first(), users.len(), kept)
                && let Some(grown) = self.joined(*only, position)
            {
                return self.put(*only, grown, position);
            }
            if let Some((number, grown)) = self.written_out(position, &users, &after) {
                return self.put(number, grown, position);
            }
        }
        let below = users.iter().chain(&after).filter_map(|number| self.group(*number));
        let level = below.map(|group| group.level + 1).max().unwrap_or(0);
        self.found(position, level);
    }

    /// Returns the group extended by an Apply that only the group uses.
    fn joined(&self, number: usize, position: usize) -> Option<Group> {
        let (group, apply) = (self.group(number)?, &self.graph.applies()[position]);
        let scalar = elementwise(self.graph, apply)?;
        let ty = self.graph.ty(apply.outputs[0]);
        let fits = match group.kind {
            Kind::Alone => false,
            // The value is computed once per element as before, or loaded and computed once per chunk.
            _ => pattern(ty) == group.pattern || (ty.ndim() == 0 && scalar.is_cheap()),
        };
        // The map of a reduction only takes tensors.
        let tensors = apply.inputs.iter().all(|v| matches!(self.graph.ty(*v), Type::Tensor(_)));
        if !fits || (group.kind == Kind::Reduction && !tensors) {
            return None;
        }
        let mut grown = group.clone();
        grown.take(self.graph, position, false);
        let fits = grown.weight <= WEIGHT || grown.blocks(self.graph) <= group.blocks(self.graph);
        (fits && grown.is_small(self.graph)).then_some(grown)
    }

    /// Returns the group that an Apply may join although other groups use it too. The Apply must have the shape of
    /// the group's loop, and its result is written to memory. The groups of the highest level that use it are merged
    /// first.
    fn written_out(
        &mut self,
        position: usize,
        users: &BTreeSet<usize>,
        after: &[usize],
    ) -> Option<(usize, Group)> {
        let apply = &self.graph.applies()[position];
        let output = apply.outputs[0];
        let kind = Kind::Loop(self.shapes.get(output).to_vec());
        let level = users.iter().filter_map(|number| self.group(*number)).map(|group| group.level).max()?;
        if after.iter().filter_map(|number| self.group(*number)).any(|group| group.level >= level) {
            return None;
        }
        let top: Vec<usize> = users
            .iter()
            .copied()
            .filter(|n| self.group(*n).is_some_and(|group| group.level == level))
            .collect();
        let mut merged: Option<Group> = None;
        for number in &top {
            let group = self.group(*number).filter(|group| group.kind == kind)?;
            match &mut merged {
                None => merged = Some(group.clone()),
                Some(merged) => merged.absorb(group),
            }
        }
        let mut grown = merged?;
        let outside = self.outputs.contains(&output) || !after.is_empty() || users.len() > top.len();
        grown.take(self.graph, position, outside);
        if grown.weight > WEIGHT || !grown.is_small(self.graph) {
            return None;
        }
        let (number, others) = top.split_first()?;
        for other in others {
            let gone = self.groups[*other].take();
            gone.iter().flat_map(|group| &group.members).for_each(|member| self.home[*member] = *number);
        }
        Some((*number, grown))
    }

    fn put(&mut self, number: usize, grown: Group, position: usize) {
        self.groups[number] = Some(grown);
        self.home[position] = number;
    }

    /// Creates a group of one Apply.
    fn found(&mut self, position: usize, level: usize) {
        let apply = &self.graph.applies()[position];
        let (kind, pattern) = if elementwise(self.graph, apply).is_some() {
            let output = apply.outputs[0];
            (Kind::Loop(self.shapes.get(output).to_vec()), pattern(self.graph.ty(output)))
        } else if reduction(apply).is_some() {
            (Kind::Reduction, pattern(self.graph.ty(apply.inputs[0])))
        } else {
            (Kind::Alone, Vec::new())
        };
        let (members, written) = (BTreeSet::from([position]), apply.outputs.iter().copied().collect());
        let (reads, weight) = (apply.inputs.iter().copied().collect(), 1);
        self.home[position] = self.groups.len();
        self.groups.push(Some(Group { kind, level, members, written, reads, pattern, weight }));
    }
}

impl Group {
    /// Adds an Apply whose clients in the group have all been added before.
    fn take(&mut self, graph: &FunctionGraph, position: usize, outside: bool) {
        let apply = &graph.applies()[position];
        self.members.insert(position);
        self.weight += elementwise(graph, apply).map_or(1, |scalar| weight(&**scalar));
        for output in &apply.outputs {
            self.reads.remove(output);
            if outside {
                self.written.insert(*output);
            }
        }
        self.reads.extend(&apply.inputs);
    }

    /// Merges a group of the same level and shape.
    fn absorb(&mut self, other: &Self) {
        self.members.extend(&other.members);
        self.written.extend(&other.written);
        self.reads.extend(&other.reads);
        self.weight += other.weight;
    }

    /// Returns the number of operands with dimensions that the group reads.
    fn blocks(&self, graph: &FunctionGraph) -> usize {
        self.reads.iter().filter(|v| graph.ty(**v).ndim() > 0).count()
    }

    fn is_small(&self, graph: &FunctionGraph) -> bool {
        let blocks = self.blocks(graph);
        self.weight <= MOST_WEIGHT
            && blocks <= READS
            && blocks + self.written.len() <= BLOCKS
            && self.reads.len() + self.written.len() <= OPERANDS
    }
}

/// Returns for each dimension whether it is broadcastable.
fn pattern(ty: &Type) -> Vec<bool> {
    ty.shape().iter().map(|extent| *extent == Extent::Fixed(1)).collect()
}

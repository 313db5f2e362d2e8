//! Groups Applies that become row programs, searching from the inputs towards the outputs.
//!
//! A group is computed as a whole. Therefore no member may depend on another member through an Apply outside the
//! group. This is checked when an Apply joins: its inputs from outside must not depend on the group.

use crate::rewrite::fuse::shape::{Dim, Shapes};
use crate::{DimShuffle, Elemwise, Reduce};
use precast_graph::{Apply, FunctionGraph, Origin, Type, VarId};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of members of a group.
const MEMBERS: usize = 24;
/// The maximum number of operands with dimensions; each may need a block in the first-level cache.
const BLOCKS: usize = 12;
/// The maximum number of folds in a group.
const FOLDS: usize = 8;

/// A unit of the graph that is computed as a whole.
pub(super) enum Unit {
    /// An Apply outside all groups.
    Alone(usize),
    /// The members of a group, ascending.
    Group(Vec<usize>),
}

/// Returns the Applies of `graph` as units, in a valid order of computation.
pub(super) fn units(graph: &FunctionGraph) -> Vec<Unit> {
    let mut grouping = Grouping::of(graph);
    for position in 0..graph.applies().len() {
        grouping.place(position);
    }
    grouping.finish()
}

/// A group of Applies that become one, over rows of one shape.
struct Group {
    axes: Vec<usize>,
    shape: Vec<Dim>,
    members: BTreeSet<usize>,
    /// Values with one element per row.
    single: BTreeSet<VarId>,
    /// Variables with all dimensions that the group reads from outside.
    reads: BTreeSet<VarId>,
    folds: usize,
    maps: usize,
}

/// The role of an Apply in a group.
enum Member {
    Fold { axes: Vec<usize>, shape: Vec<Dim> },
    Map { shape: Vec<Dim> },
    Shuffle,
}

struct Grouping<'g> {
    graph: &'g FunctionGraph,
    shapes: Shapes,
    groups: Vec<Group>,
    /// The group of each Apply, if it is in one.
    home: Vec<Option<usize>>,
    /// The Applies that use each variable.
    clients: Vec<Vec<usize>>,
    /// The groups that read a variable with all dimensions from outside.
    readers: BTreeMap<VarId, BTreeSet<usize>>,
}

impl<'g> Grouping<'g> {
    fn of(graph: &'g FunctionGraph) -> Self {
        let mut clients = vec![Vec::new(); graph.variables().len()];
        for (position, apply) in graph.applies().iter().enumerate() {
            apply.inputs.iter().for_each(|v| clients[v.index()].push(position));
        }
        let home = vec![None; graph.applies().len()];
        Self { graph, shapes: Shapes::of(graph), groups: Vec::new(), home, clients, readers: BTreeMap::new() }
    }

    /// Returns the role that an Apply could have in a group.
    fn member(&mut self, apply: &Apply) -> Option<Member> {
        let all = apply.inputs.iter().chain(&apply.outputs);
        if all.clone().any(|v| !matches!(self.graph.ty(*v), Type::Tensor(_))) {
            return None;
        }
        let op: &dyn Any = &*apply.op;
        if op.is::<DimShuffle>() {
            return Some(Member::Shuffle);
        }
        if let Some(elemwise) = op.downcast_ref::<Elemwise>() {
            let shape = self.shapes.get(*apply.outputs.first()?).to_vec();
            return elemwise.scalar.content_id().map(|_| Member::Map { shape });
        }
        let reduce = op.downcast_ref::<Reduce>()?;
        let (axes, shape) = (reduce.axes.clone()?, self.shapes.broadcast(&apply.inputs));
        let is_row = axes.last() == shape.len().checked_sub(1).as_ref() && axes.len() < shape.len();
        is_row.then_some(Member::Fold { axes, shape })
    }

    /// Puts an Apply into a group that provides one of its inputs, or into a new group if it may be the first member.
    fn place(&mut self, position: usize) {
        let apply = &self.graph.applies()[position];
        let Some(member) = self.member(apply) else { return };
        let makers = apply.inputs.iter().filter_map(|v| self.home[producer(self.graph, *v)?]);
        let mut candidates: BTreeSet<usize> = makers.collect();
        if matches!(member, Member::Fold { .. }) {
            candidates.extend(apply.inputs.iter().filter_map(|v| self.readers.get(v)).flatten());
        }
        let fits = |group: &usize| self.fits(*group, apply, &member) && self.is_apart(*group, apply);
        if let Some(group) = candidates.into_iter().rev().find(fits) {
            self.put(group, position, &member);
        } else if let Some((axes, shape)) = self.founds(apply, &member) {
            let (members, single, reads) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
            self.groups.push(Group { axes, shape, members, single, reads, folds: 0, maps: 0 });
            self.put(self.groups.len() - 1, position, &member);
        }
    }

    /// Returns whether an Apply may join a group.
    fn fits(&self, group: usize, apply: &Apply, member: &Member) -> bool {
        let group = &self.groups[group];
        let types = |v: &VarId| self.graph.ty(*v);
        let dimensional = || apply.inputs.iter().filter(|v| types(v).ndim() > 0);
        let reads =
            dimensional().filter(|v| types(v).ndim() == group.shape.len() && !group.single.contains(v));
        let blocks = group.reads.iter().chain(reads).collect::<BTreeSet<_>>().len() + apply.outputs.len();
        let is_small = group.members.len() < MEMBERS && blocks + group.maps <= BLOCKS;
        // A single element that is combined with a row must have the dimensions of the row.
        let meets =
            || dimensional().all(|v| !group.single.contains(v) || types(v).ndim() == group.shape.len());
        is_small
            && match member {
                Member::Shuffle => group.single.contains(&apply.inputs[0]) && self.changes_form(group, apply),
                Member::Fold { axes, shape } => {
                    *axes == group.axes && group.folds < FOLDS && meets() && self.is_like(shape, &group.shape)
                }
                Member::Map { shape } => {
                    let rank = dimensional().next().map(|v| types(v).ndim());
                    let alike = |v: &VarId| group.single.contains(v) && Some(types(v).ndim()) == rank;
                    let is_single = rank.is_some() && dimensional().all(alike);
                    is_single || (meets() && self.is_like(shape, &group.shape))
                }
            }
    }

    /// Returns whether a dimshuffle only restores or only drops the reduced dimensions of a single value.
    fn changes_form(&self, group: &Group, apply: &Apply) -> bool {
        let op: &dyn Any = &*apply.op;
        let Some(shuffle) = op.downcast_ref::<DimShuffle>() else { return false };
        let (ndim, mut next) = (group.shape.len(), 0..);
        let is_kept = |d: &usize| !group.axes.contains(d);
        if self.graph.ty(apply.inputs[0]).ndim() == ndim {
            return shuffle.order.iter().copied().eq((0..ndim).filter(is_kept).map(Some));
        }
        shuffle.order.iter().copied().eq((0..ndim).map(|d| if is_kept(&d) { next.next() } else { None }))
    }

    /// Returns whether two shapes are equal except for dimensions that may be broadcast at run time.
    fn is_like(&self, a: &[Dim], b: &[Dim]) -> bool {
        let alike = |(a, b): (&Dim, &Dim)| self.shapes.is_within(*a, *b) || self.shapes.is_within(*b, *a);
        let flat = |(a, b): (&Dim, &Dim)| (*a == 0) == (*b == 0);
        a.len() == b.len() && a.iter().zip(b).all(|pair| flat(pair) && alike(pair))
    }

    /// Returns whether none of an Apply's inputs from outside a group depend on the group.
    fn is_apart(&self, group: usize, apply: &Apply) -> bool {
        let first = self.earliest(self.groups[group].members.first().copied().unwrap_or(0));
        let outside = |v: &VarId| producer(self.graph, *v).filter(|p| self.home[*p] != Some(group));
        let mut left: Vec<usize> = apply.inputs.iter().filter_map(outside).collect();
        let mut seen: BTreeSet<usize> = left.iter().copied().collect();
        while let Some(position) = left.pop() {
            let alone = BTreeSet::from([position]);
            let unit = self.home[position].map_or(&alone, |home| &self.groups[home].members);
            if unit.last().is_none_or(|last| *last < first) {
                continue;
            }
            for read in unit.iter().flat_map(|member| &self.graph.applies()[*member].inputs) {
                let Some(producer) = producer(self.graph, *read) else { continue };
                if self.home[producer] == Some(group) {
                    return false;
                }
                if seen.insert(producer) {
                    left.push(producer);
                }
            }
        }
        true
    }

    /// Returns the first Apply that may depend on the one at `first`. A group is computed as a whole, so its early members
    /// depend on what its late ones read.
    fn earliest(&self, mut first: usize) -> usize {
        loop {
            let reach = |group: &&Group| group.members.last().is_some_and(|last| *last >= first);
            let starts = self.groups.iter().filter(reach).filter_map(|group| group.members.first().copied());
            match starts.min().filter(|start| *start < first) {
                Some(start) => first = start,
                None => return first,
            }
        }
    }

    /// Returns the axes and the shape of the group that an Apply would start. The Apply must be a reduction, or a map
    /// that a reduction reads.
    fn founds(&mut self, apply: &Apply, member: &Member) -> Option<(Vec<usize>, Vec<Dim>)> {
        let graph = self.graph;
        match member {
            Member::Fold { axes, shape } => Some((axes.clone(), shape.clone())),
            Member::Shuffle => None,
            Member::Map { shape } => {
                let clients = apply.outputs.iter().flat_map(|v| self.clients[v.index()].clone());
                let clients: Vec<usize> = clients.collect();
                let folds = clients.into_iter().filter_map(|client| self.member(&graph.applies()[client]));
                let folds = folds.collect::<Vec<_>>().into_iter();
                let mut axes = folds.filter_map(|fold| match fold {
                    Member::Fold { axes, shape: of } if self.is_like(&of, shape) => Some(axes),
                    _ => None,
                });
                Some((axes.next()?, shape.clone()))
            }
        }
    }

    fn put(&mut self, number: usize, position: usize, member: &Member) {
        let apply = &self.graph.applies()[position];
        let group = &mut self.groups[number];
        let is_single = match member {
            Member::Shuffle | Member::Fold { .. } => true,
            Member::Map { .. } => {
                let mut inputs = apply.inputs.iter().filter(|v| self.graph.ty(**v).ndim() > 0);
                inputs.all(|v| group.single.contains(v))
            }
        };
        let outside = |v: &&VarId| producer(self.graph, **v).is_none_or(|p| self.home[p] != Some(number));
        let full = |v: &&VarId| self.graph.ty(**v).ndim() == group.shape.len();
        let reads: Vec<VarId> = apply.inputs.iter().filter(full).filter(outside).copied().collect();
        for variable in reads {
            group.reads.insert(variable);
            self.readers.entry(variable).or_default().insert(number);
        }
        if is_single {
            group.single.extend(&apply.outputs);
        }
        group.folds += usize::from(matches!(member, Member::Fold { .. }));
        group.maps += usize::from(!is_single);
        group.members.insert(position);
        self.home[position] = Some(number);
    }

    /// Returns the units in a valid order of computation, close to the order of the Applies.
    fn finish(mut self) -> Vec<Unit> {
        for group in &mut self.groups {
            if group.folds == 0 || group.folds + group.maps < 2 {
                group.members.iter().for_each(|member| self.home[*member] = None);
                group.members.clear();
            }
        }
        let members = |position: usize| match self.home[position] {
            Some(home) => self.groups[home].members.iter().copied().collect(),
            None => vec![position],
        };
        // A unit is identified by its first Apply.
        let first = |position: usize| members(position)[0];
        let (mut waits, mut then) = (BTreeMap::new(), BTreeMap::<usize, BTreeSet<usize>>::new());
        for unit in (0..self.home.len()).filter(|position| first(*position) == *position) {
            let reads = members(unit).into_iter().flat_map(|member| &self.graph.applies()[member].inputs);
            let needs: BTreeSet<usize> = reads.filter_map(|v| producer(self.graph, *v)).map(first).collect();
            let needs: BTreeSet<usize> = needs.into_iter().filter(|need| *need != unit).collect();
            waits.insert(unit, needs.len());
            for need in needs {
                then.entry(need).or_default().insert(unit);
            }
        }
        let mut ready: BTreeSet<usize> =
            waits.iter().filter(|(_, count)| **count == 0).map(|(unit, _)| *unit).collect();
        let mut units = Vec::new();
        while let Some(unit) = ready.pop_first() {
            for next in then.remove(&unit).unwrap_or_default() {
                let Some(count) = waits.get_mut(&next) else { continue };
                *count -= 1;
                if *count == 0 {
                    ready.insert(next);
                }
            }
            let is_alone = self.home[unit].is_none();
            units.push(if is_alone { Unit::Alone(unit) } else { Unit::Group(members(unit)) });
        }
        units
    }
}

/// Returns the position of the Apply that produces a variable.
pub(in crate::rewrite) fn producer(graph: &FunctionGraph, variable: VarId) -> Option<usize> {
    match &graph.variable(variable).origin {
        Origin::Output { apply, .. } => Some(apply.index()),
        _ => None,
    }
}

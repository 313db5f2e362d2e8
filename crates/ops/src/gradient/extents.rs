//! Extents while a graph is differentiated: dimensions that are equal at run time, for certain.

use crate::control::CustomGradient;
use crate::index::{AdvancedIncSubtensor1, IncSubtensor};
use crate::linalg::{Cholesky, Dot, Matmul};
use crate::reduce::CumOp;
use crate::shape::{Alloc, Assert, DeepCopy, ShapeI, View};
use crate::{DimShuffle, Elemwise, Reduce, Sort};
use precast_graph::{Apply, Extent, FunctionGraph, Origin, VarId};
use std::any::Any;
use std::collections::BTreeSet;

/// The extent of a dimension. Equal values are equal extents at run time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Dim {
    Fixed(u64),
    /// The extent to which these dimensions of variables are broadcast; in order, and not empty.
    Open(BTreeSet<(VarId, usize)>),
}

impl Dim {
    pub(super) const ONE: Self = Self::Fixed(1);

    fn of(variable: VarId, axis: usize) -> Self {
        Self::Open(BTreeSet::from([(variable, axis)]))
    }

    /// Returns whether a dimension of this extent can be summed to one of another extent, whatever they are at run time.
    pub(super) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Open(own), Self::Open(others)) => own.is_superset(others),
            // The other extent is the same one, or 1.
            (Self::Fixed(n), Self::Open(_)) => *n != 1,
            _ => self == other || *other == Self::ONE,
        }
    }

    /// Returns the extent to which both are broadcast.
    pub(super) fn broadcast(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Open(own), Self::Open(others)) => Self::Open(own.union(others).copied().collect()),
            (one, dim) | (dim, one) if *one == Self::ONE => dim.clone(),
            // An extent above 1 decides.
            (fixed @ Self::Fixed(_), _) | (_, fixed) => fixed.clone(),
        }
    }
}

/// The extents of all variables of a graph that grows.
#[derive(Debug, Default)]
pub(super) struct Extents(Vec<Vec<Dim>>);

impl Extents {
    /// Returns the extents of a variable.
    pub(super) fn of(&mut self, graph: &FunctionGraph, variable: VarId) -> &[Dim] {
        let known = self.0.len();
        for (next, found) in graph.variables().iter().enumerate().skip(known) {
            let dims = match &found.origin {
                Origin::Constant(value) => value.shape().iter().map(|n| Dim::Fixed(*n as u64)).collect(),
                Origin::Input(position) => own(graph, graph.inputs()[*position]),
                Origin::Output { apply, index } => {
                    let apply = &graph.applies()[apply.index()];
                    let result = apply.outputs[*index];
                    let derived = if *index == 0 { self.derived(graph, apply, result) } else { None };
                    let own = own(graph, result).into_iter();
                    match derived {
                        // An extent in the type is certain.
                        Some(derived) => own
                            .zip(derived)
                            .map(|(own, dim)| if matches!(own, Dim::Fixed(_)) { own } else { dim })
                            .collect(),
                        None => own.collect(),
                    }
                }
            };
            debug_assert_eq!(self.0.len(), next, "variables are visited in order");
            self.0.push(dims);
        }
        &self.0[variable.index()]
    }

    /// States that a known variable has these extents.
    pub(super) fn state(&mut self, variable: VarId, dims: Vec<Dim>) {
        self.0[variable.index()] = dims;
    }

    /// Returns the extents of an Apply's first output, as its op derives them from the inputs.
    fn derived(&self, graph: &FunctionGraph, apply: &Apply, result: VarId) -> Option<Vec<Dim>> {
        let (op, inputs) = (&*apply.op as &dyn Any, &apply.inputs);
        let of = |input: usize| self.0[inputs[input].index()].as_slice();
        if op.is::<Elemwise>() {
            let ndim = graph.ty(result).ndim();
            return Some((0..ndim).map(|d| self.broadcast(inputs, d, ndim)).collect());
        }
        if let Some(op) = op.downcast_ref::<DimShuffle>() {
            return Some(op.order.iter().map(|d| d.map_or(Dim::ONE, |d| of(0)[d].clone())).collect());
        }
        if let Some(op) = op.downcast_ref::<Reduce>().filter(|op| op.map.is_none()) {
            let kept = of(0).iter().enumerate().filter(|(d, _)| !op.reduces(*d));
            return Some(kept.map(|(_, dim)| dim.clone()).collect());
        }
        if op.is::<Dot>() || op.is::<Matmul>() {
            return match (of(0), of(1)) {
                ([n, _], [_, m]) => Some(vec![n.clone(), m.clone()]),
                ([n, _], [_]) => Some(vec![n.clone()]),
                ([_], [_, m]) => Some(vec![m.clone()]),
                _ => None,
            };
        }
        if op.is::<Alloc>() {
            return Some(
                inputs[1..].iter().enumerate().map(|(d, n)| self.number(graph, *n, result, d)).collect(),
            );
        }
        let same = op.is::<View>()
            || op.is::<DeepCopy>()
            || op.is::<Assert>()
            || op.is::<CustomGradient>()
            || op.is::<IncSubtensor>()
            || op.is::<AdvancedIncSubtensor1>()
            || op.is::<Sort>()
            || op.is::<Cholesky>()
            || op.downcast_ref::<CumOp>().is_some_and(|op| op.axis.is_some());
        same.then(|| of(0).to_vec())
    }

    /// Returns the extent of a dimension to which variables are broadcast.
    fn broadcast(&self, inputs: &[VarId], d: usize, ndim: usize) -> Dim {
        let own = |input: &VarId| {
            let own = &self.0[input.index()];
            (d + own.len()).checked_sub(ndim).map_or(Dim::ONE, |d| own[d].clone())
        };
        inputs.iter().map(own).fold(Dim::ONE, |common, dim| common.broadcast(&dim))
    }

    /// Returns the extent that a number stands for.
    fn number(&self, graph: &FunctionGraph, number: VarId, result: VarId, d: usize) -> Dim {
        let unknown = Dim::of(result, d);
        if let Origin::Constant(value) = &graph.variable(number).origin {
            return crate::elements::integer("alloc", value)
                .ok()
                .and_then(|n| u64::try_from(n).ok())
                .map_or(unknown, Dim::Fixed);
        }
        let Some(apply) = graph.producer(number) else { return unknown };
        let op: &dyn Any = &*apply.op;
        op.downcast_ref::<ShapeI>().map_or(unknown, |op| self.0[apply.inputs[0].index()][op.axis].clone())
    }
}

/// Returns the extents that the type of a variable has.
fn own(graph: &FunctionGraph, variable: VarId) -> Vec<Dim> {
    let dim = |(d, extent): (usize, &Extent)| match extent {
        Extent::Fixed(n) => Dim::Fixed(*n),
        Extent::Unknown => Dim::of(variable, d),
    };
    graph.ty(variable).shape().iter().enumerate().map(dim).collect()
}

//! What is known of run-time shapes: which variables have the same one, whatever the extents turn out to be.
//!
//! A dimension is the set of *atoms* that are broadcast together in it: dimension d of an input, of a constant, or of what an
//! op makes that is not known here. Extent 1 is the empty set. Elementwise ops unite the sets of their operands, reductions
//! keep some, a dimshuffle moves them. Equal sets mean equal extents, since broadcasting is the same in any order:
//! ```text
//! x f64[?,?]                      {x0} {x1}
//! m = max(x, axis=1)              {x0}
//! x - dimshuffle(m, [0,-1])       {x0} {x1}∪{} = {x1}       the shape of x
//! x + y, y f64[?,?]               {x0,y0} {x1,y1}           another one: each `?` may be 1
//! ```
//! Fixed extents other than 1 tell nothing here, so that modules do not depend on them.

use crate::{DimShuffle, Elemwise, Reduce};
use precast_graph::{Apply, Extent, FunctionGraph, VarId};
use std::any::Any;
use std::collections::BTreeMap;

/// A set of atoms, by its number; 0 is the empty one.
type Dim = u32;

/// The dimensions of every variable of a graph.
pub(super) struct Shapes {
    of: Vec<Vec<Dim>>,
    sets: Vec<Vec<u32>>,
    numbers: BTreeMap<Vec<u32>, Dim>,
    unions: BTreeMap<(Dim, Dim), Dim>,
    atoms: u32,
}

impl Shapes {
    /// Finds what is known of `graph`.
    pub(super) fn of(graph: &FunctionGraph) -> Self {
        let empty = BTreeMap::from([(Vec::new(), 0)]);
        let of = vec![Vec::new(); graph.variables().len()];
        let mut shapes =
            Self { of, sets: vec![Vec::new()], numbers: empty, unions: BTreeMap::new(), atoms: 0 };
        let known = graph.inputs().iter().copied().chain(graph.constants().map(|(v, _)| v));
        for variable in known {
            shapes.of[variable.index()] = shapes.fresh(graph, variable);
        }
        for apply in graph.applies() {
            let dims = shapes.result(graph, apply);
            for output in &apply.outputs {
                let mut dims = dims.clone().unwrap_or_else(|| shapes.fresh(graph, *output));
                for (dim, extent) in dims.iter_mut().zip(graph.ty(*output).shape()) {
                    *dim = if *extent == Extent::Fixed(1) { 0 } else { *dim };
                }
                shapes.of[output.index()] = dims;
            }
        }
        shapes
    }

    /// The dimensions of a variable: equal for variables of equal shape.
    pub(super) fn get(&self, variable: VarId) -> &[Dim] {
        &self.of[variable.index()]
    }

    /// What an op makes of its operands' shapes; `None` if that is not known.
    fn result(&mut self, graph: &FunctionGraph, apply: &Apply) -> Option<Vec<Dim>> {
        let op: &dyn Any = &*apply.op;
        if op.is::<Elemwise>() {
            return Some(self.broadcast(&apply.inputs));
        }
        if let Some(reduce) = op.downcast_ref::<Reduce>() {
            let dims = self.broadcast(&apply.inputs);
            let kept = dims.into_iter().enumerate().filter(|(d, _)| !reduce.reduces(*d));
            return Some(kept.map(|(_, dim)| dim).collect());
        }
        let order = &op.downcast_ref::<DimShuffle>()?.order;
        let dims = self.get(apply.inputs[0]);
        debug_assert_eq!(dims.len(), graph.ty(apply.inputs[0]).ndim(), "a dimension each");
        order.iter().map(|d| d.map_or(Some(0), |d| dims.get(d).copied())).collect()
    }

    fn broadcast(&mut self, operands: &[VarId]) -> Vec<Dim> {
        let ndim = operands.iter().map(|v| self.get(*v).len()).max().unwrap_or(0);
        let mut dims = vec![0; ndim];
        for operand in operands {
            let own = self.get(*operand).to_vec();
            let offset = ndim - own.len();
            for (d, dim) in own.into_iter().enumerate() {
                dims[offset + d] = self.union(dims[offset + d], dim);
            }
        }
        dims
    }

    fn union(&mut self, a: Dim, b: Dim) -> Dim {
        if a == b || b == 0 {
            return a;
        }
        if a == 0 {
            return b;
        }
        if let Some(known) = self.unions.get(&(a.min(b), a.max(b))) {
            return *known;
        }
        let mut set = self.sets[a as usize].clone();
        set.extend(&self.sets[b as usize]);
        set.sort_unstable();
        set.dedup();
        let number = self.number(set);
        self.unions.insert((a.min(b), a.max(b)), number);
        number
    }

    fn number(&mut self, set: Vec<u32>) -> Dim {
        let next = u32::try_from(self.sets.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(set.clone()).or_insert(next);
        if number == next {
            self.sets.push(set);
        }
        number
    }

    /// An atom for each dimension that is not 1.
    fn fresh(&mut self, graph: &FunctionGraph, variable: VarId) -> Vec<Dim> {
        let shape = graph.ty(variable).shape();
        let dim = |extent: &Extent| {
            if *extent == Extent::Fixed(1) {
                return 0;
            }
            self.atoms += 1;
            self.number(vec![self.atoms])
        };
        shape.iter().map(dim).collect()
    }
}

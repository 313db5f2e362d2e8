//! Static knowledge about run-time shapes: which variables have equal shapes for all possible extents.
//!
//! A dimension is the set of *atoms* that are broadcast together in it. An atom is a dimension of an input, of a
//! constant, or of the result of an op with an unknown shape rule. Extent 1 is the empty set. Elementwise ops unite
//! the sets of their operands, reductions keep some sets, a dimshuffle moves them. Equal sets mean equal extents,
//! because the order of broadcasting does not matter:
//! ```text
//! x f64[?,?]                      {x0} {x1}
//! m = max(x, axis=1)              {x0}
//! x - dimshuffle(m, [0,-1])       {x0} {x1}∪{} = {x1}       the shape of x
//! x + y, y f64[?,?]               {x0,y0} {x1,y1}           a different shape: each `?` may be 1
//! ```
//! Fixed extents other than 1 are ignored, so that modules do not depend on them.

use crate::{DimShuffle, Elemwise, Reduce, RowProgram, row_program};
use precast_graph::{Extent, FunctionGraph, Op, VarId};
use std::any::Any;
use std::collections::BTreeMap;

/// The number of a set of atoms; 0 is the empty set.
pub(in crate::rewrite) type Dim = u32;

/// The dimensions of every variable of a graph.
pub(in crate::rewrite) struct Shapes {
    of: Vec<Vec<Dim>>,
    sets: Vec<Vec<u32>>,
    numbers: BTreeMap<Vec<u32>, Dim>,
    unions: BTreeMap<(Dim, Dim), Dim>,
    atoms: u32,
}

impl Shapes {
    /// Determines the dimensions of all variables of `graph`.
    pub(in crate::rewrite) fn of(graph: &FunctionGraph) -> Self {
        let empty = BTreeMap::from([(Vec::new(), 0)]);
        let of = vec![Vec::new(); graph.variables().len()];
        let mut shapes =
            Self { of, sets: vec![Vec::new()], numbers: empty, unions: BTreeMap::new(), atoms: 0 };
        let known = graph.inputs().iter().copied().chain(graph.constants().map(|(v, _)| v));
        for variable in known {
            shapes.of[variable.index()] = shapes.fresh(graph, variable);
        }
        for apply in graph.applies() {
            let operands: Vec<Vec<Dim>> = apply.inputs.iter().map(|v| shapes.get(*v).to_vec()).collect();
            let results = shapes.results(&*apply.op, &operands, apply.outputs.len());
            for (position, output) in apply.outputs.iter().enumerate() {
                let known = results.as_ref().and_then(|results| results.get(position)).cloned();
                let mut dims = known.unwrap_or_else(|| shapes.fresh(graph, *output));
                for (dim, extent) in dims.iter_mut().zip(graph.ty(*output).shape()) {
                    *dim = if *extent == Extent::Fixed(1) { 0 } else { *dim };
                }
                shapes.of[output.index()] = dims;
            }
        }
        shapes
    }

    /// Returns the dimensions of a variable, which are equal for variables of equal shape.
    pub(in crate::rewrite) fn get(&self, variable: VarId) -> &[Dim] {
        &self.of[variable.index()]
    }

    /// Returns the shapes of an op's results, given the shapes of its operands; `None` if unknown.
    fn results(&mut self, op: &dyn Op, operands: &[Vec<Dim>], count: usize) -> Option<Vec<Vec<Dim>>> {
        let any: &dyn Any = op;
        let Some(program) = any.downcast_ref::<RowProgram>() else {
            return Some(vec![self.result(op, operands)?; count]);
        };
        let mut values = operands.to_vec();
        for (op, reads) in program.steps() {
            let read: Vec<Vec<Dim>> = reads.iter().map(|value| values[*value].clone()).collect();
            let made = self.result(&**op, &read)?;
            values.resize(values.len() + row_program::results(&**op), made);
        }
        Some(program.output_values().iter().map(|value| values[*value].clone()).collect())
    }

    /// Returns the shape of all results of an op, given the shapes of its operands; `None` if unknown.
    fn result(&mut self, op: &dyn Op, operands: &[Vec<Dim>]) -> Option<Vec<Dim>> {
        let op: &dyn Any = op;
        if op.is::<Elemwise>() {
            return Some(self.union_of(operands));
        }
        if let Some(reduce) = op.downcast_ref::<Reduce>() {
            let dims = self.union_of(operands);
            let kept = dims.into_iter().enumerate().filter(|(d, _)| !reduce.reduces(*d));
            return Some(kept.map(|(_, dim)| dim).collect());
        }
        let order = &op.downcast_ref::<DimShuffle>()?.order;
        let dims = operands.first()?;
        order.iter().map(|d| d.map_or(Some(0), |d| dims.get(d).copied())).collect()
    }

    /// Returns whether the first dimension has extent 1 whenever the second one has.
    pub(in crate::rewrite) fn is_within(&self, a: Dim, b: Dim) -> bool {
        let (a, b) = (&self.sets[a as usize], &self.sets[b as usize]);
        a.iter().all(|atom| b.binary_search(atom).is_ok())
    }

    /// Returns the shape to which operands are broadcast.
    pub(in crate::rewrite) fn broadcast(&mut self, operands: &[VarId]) -> Vec<Dim> {
        let operands: Vec<Vec<Dim>> = operands.iter().map(|v| self.get(*v).to_vec()).collect();
        self.union_of(&operands)
    }

    fn union_of(&mut self, operands: &[Vec<Dim>]) -> Vec<Dim> {
        let ndim = operands.iter().map(Vec::len).max().unwrap_or(0);
        let mut dims = vec![0; ndim];
        for own in operands {
            let offset = ndim - own.len();
            for (d, dim) in own.iter().enumerate() {
                dims[offset + d] = self.union(dims[offset + d], *dim);
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

    /// Creates an atom for each dimension whose extent is not 1.
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

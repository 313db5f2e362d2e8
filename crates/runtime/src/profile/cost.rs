//! The work of a kernel: bytes, operations, and the least time that they take on this machine.
//!
//! | op | operations |
//! |---|---|
//! | elementwise | 1 for each element, or [`FUNCTION`] for slow ops: divisions, `sqrt`, `exp`, `pow` |
//! | reductions, running sums | 1 for each element read |
//! | products of matrices | 2 for each term |
//! | all remaining ops | 0: they only move bytes |
//!
//! Bytes are those of operands and results, each counted once: results are not read before they are written, and an
//! operand that is read twice is in a cache.

use super::machine::Machine;
use precast_graph::{Array, DType, FunctionGraph, Op, Type, VarId};
use precast_ops::{Argmax, BatchedDot, CumOp, Dot, Elemwise, Matmul, Reduce, RowProgram, rewrite};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

/// The number of operations of a slow op, roughly that of `exp`.
const FUNCTION: f64 = 20.0;
/// The minimum number of elements for which threads share a loop (`precast/driver.h`).
const SHARED: usize = 32_768;

/// The resource that limits a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Memory bandwidth.
    Memory,
    /// Arithmetic throughput.
    Arithmetic,
}

impl Bound {
    /// Returns the name of the limit.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Arithmetic => "arithmetic",
        }
    }
}

/// The work of a kernel.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) bytes: u64,
    pub(super) operations: f64,
    /// Whether threads share the work, if several are available.
    pub(super) is_shared: bool,
    /// The size of its widest element, in bytes.
    item_bytes: usize,
}

impl Work {
    /// Counts the work of an Apply on these values.
    pub(super) fn of<'a>(
        graph: &FunctionGraph,
        position: usize,
        value: &dyn Fn(VarId) -> Option<&'a Array>,
    ) -> Self {
        let apply = &graph.applies()[position];
        let operands: BTreeSet<VarId> = apply.inputs.iter().chain(&apply.outputs).copied().collect();
        let arrays: Vec<&Array> = operands.into_iter().filter_map(value).collect();
        let item = |array: &&Array| array.dtype().itemsize_bytes();
        let bytes = |array: &&Array| (array.shape().iter().product::<usize>() * item(array)) as u64;
        let longest = arrays.iter().map(|array| array.shape().iter().product()).max().unwrap_or(0);
        Self {
            bytes: arrays.iter().map(bytes).sum(),
            operations: operations(graph, position, value),
            is_shared: longest >= SHARED && may_be_shared(&*apply.op),
            item_bytes: arrays.iter().map(item).max().unwrap_or(8).max(1),
        }
    }

    /// Returns the limiting resource, and the least time in seconds.
    pub(super) fn limit(&self, machine: &mut Machine, threads: usize) -> (Bound, f64) {
        let set = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        let moving = self.bytes as f64 / machine.bytes(set, threads);
        // A vector holds more elements if they are narrower than f64; the factor is capped at two.
        let lanes = (DType::F64.itemsize_bytes() as f64 / self.item_bytes as f64).clamp(1.0, 2.0);
        let computing = self.operations / (machine.operations(threads) * lanes);
        if computing > moving { (Bound::Arithmetic, computing) } else { (Bound::Memory, moving) }
    }
}

fn may_be_shared(op: &dyn Op) -> bool {
    let op: &dyn Any = op;
    op.is::<Elemwise>()
        || op.is::<Reduce>()
        || op.is::<RowProgram>()
        || op.is::<Dot>()
        || op.is::<Matmul>()
        || op.is::<BatchedDot>()
}

/// Returns the operations of an Apply: the sum over the Applies that were fused into it.
fn operations<'a>(graph: &FunctionGraph, position: usize, value: &dyn Fn(VarId) -> Option<&'a Array>) -> f64 {
    let apply = &graph.applies()[position];
    let types: Option<Vec<Type>> = apply.inputs.iter().map(|input| value(*input).map(Array::ty)).collect();
    let Some(types) = types else { return 0.0 };
    let Ok(Some(parts)) = rewrite::unfuse(graph, position) else {
        return apply.op.make_node(&types).map_or(0.0, |results| counted(&*apply.op, &types, &results));
    };
    // Types with the extents of this run, updated step by step.
    let mut known: BTreeMap<VarId, Type> = parts.inputs().iter().copied().zip(types).collect();
    let mut sum = 0.0;
    for part in parts.applies() {
        let ty = |input: &VarId| known.get(input).unwrap_or_else(|| parts.ty(*input)).clone();
        let types: Vec<Type> = part.inputs.iter().map(ty).collect();
        let Ok(results) = part.op.make_node(&types) else { return sum };
        sum += counted(&*part.op, &types, &results);
        known.extend(part.outputs.iter().copied().zip(results));
    }
    sum
}

fn counted(op: &dyn Op, inputs: &[Type], outputs: &[Type]) -> f64 {
    let op: &dyn Any = op;
    let (read, made) = (inputs.first().map_or(0.0, elements), outputs.first().map_or(0.0, elements));
    if let Some(elemwise) = op.downcast_ref::<Elemwise>() {
        return made * if elemwise.scalar.is_cheap() { 1.0 } else { FUNCTION };
    }
    if op.is::<Dot>() || op.is::<Matmul>() || op.is::<BatchedDot>() {
        let terms = inputs.first().and_then(|ty| ty.shape().last()).map_or(1.0, extent);
        return 2.0 * made * terms;
    }
    if op.is::<Reduce>() || op.is::<CumOp>() || op.is::<Argmax>() { read } else { 0.0 }
}

fn elements(ty: &Type) -> f64 {
    ty.shape().iter().map(extent).product()
}

fn extent(extent: &precast_graph::Extent) -> f64 {
    match extent {
        precast_graph::Extent::Fixed(n) => *n as f64,
        precast_graph::Extent::Unknown => 1.0,
    }
}

//! The reference reduction: one element at a time, in the order that `c/precast/ops/monoid.h` defines.

use super::kind::Fold;
use super::{Reduce, ReduceKind};
use ndarray::{ArrayD, IxDyn};
use precast_graph::{Array, PerformError};

/// The number of elements in a block.
const BLOCK: usize = 4096;

/// Reduces the axes of `array`.
pub(super) fn reduce(op: &Reduce, array: &Array) -> Result<Array, PerformError> {
    match array {
        Array::Bool(a) => over_axes(op, a).map(Array::from),
        Array::I8(a) => over_axes(op, a).map(Array::from),
        Array::I16(a) => over_axes(op, a).map(Array::from),
        Array::I32(a) => over_axes(op, a).map(Array::from),
        Array::U8(a) => over_axes(op, a).map(Array::from),
        Array::U16(a) => over_axes(op, a).map(Array::from),
        Array::U32(a) => over_axes(op, a).map(Array::from),
        Array::U64(a) => over_axes(op, a).map(Array::from),
        Array::I64(a) => over_axes(op, a).map(Array::from),
        Array::F32(a) => over_axes(op, a).map(Array::from),
        Array::F64(a) => over_axes(op, a).map(Array::from),
        Array::C64(a) => over_axes(op, a).map(Array::from),
        Array::C128(a) => over_axes(op, a).map(Array::from),
        other => Err(PerformError::value(op.kind.name(), format!("no rule for {}", other.dtype()))),
    }
}

fn over_axes<T: Fold>(op: &Reduce, array: &ArrayD<T>) -> Result<ArrayD<T>, PerformError> {
    let shape = array.shape();
    let (reduced, kept): (Vec<usize>, Vec<usize>) = (0..shape.len()).partition(|d| op.reduces(*d));
    let count: usize = reduced.iter().map(|d| shape[*d]).product();
    let result: Vec<usize> = kept.iter().map(|d| shape[*d]).collect();
    if let Some(problem) = op.kind.refuses_empty().filter(|_| count == 0) {
        return Err(PerformError::value(op.kind.name(), problem));
    }
    // The kept axes come first. The reduced axes keep their order, so the elements of each output are adjacent and in
    // C order.
    let axes: Vec<usize> = kept.into_iter().chain(reduced).collect();
    let elements: Vec<T> = array.view().permuted_axes(axes).iter().copied().collect();
    let outputs = result.iter().product::<usize>();
    let row = |i: usize| one(op.kind, &elements[i * count..(i + 1) * count]);
    ArrayD::from_shape_vec(IxDyn(&result), (0..outputs).map(row).collect())
        .map_err(|_| PerformError::value(op.kind.name(), "the shape does not fit"))
}

/// Computes one output: blocks, lanes, tree, total.
fn one<T: Fold>(kind: ReduceKind, elements: &[T]) -> T {
    let mut total = None;
    // An empty input forms one block of identities.
    let blocks = elements.chunks(BLOCK).chain(elements.is_empty().then_some(elements));
    for block in blocks {
        let mut lanes = vec![T::identity(kind); T::lanes(kind)];
        for (i, x) in block.iter().enumerate() {
            let lane = i % lanes.len();
            lanes[lane] = T::add(kind, lanes[lane], *x);
        }
        while lanes.len() > 1 {
            let upper = lanes.split_off(lanes.len() / 2);
            for (lane, other) in lanes.iter_mut().zip(upper) {
                *lane = T::add(kind, *lane, other);
            }
        }
        let own = lanes[0].total();
        total = Some(total.map_or(own, |total| T::add_total(kind, total, own)));
    }
    T::finish(kind, total.unwrap_or_else(|| T::identity(kind).total()), elements.len())
}

//! What an Apply on arrays of known extents computes.

use super::{MAX_ELEMENTS, Value, fixed_extents};
use crate::DimShuffle;
use crate::declared::of;
use crate::elements::{positions, steps};
use crate::elemwise::Elemwise;
use crate::index::{IncSubtensor, Subtensor};
use crate::linalg::{BatchedDot, Dot, Matmul};
use crate::reduce::{Reduce, ReduceKind};
use crate::scalar::ScalarOp;
use crate::shape::{
    Alloc, Assert, DeepCopy, Join, MakeVector, Reshape, ScalarFromTensor, Shape, ShapeI, Split, SumTo, View,
};
use precast_graph::{Array, DType, Extent, Op, Type};
use std::any::Any;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// The position of an element: the input of the Apply, and the position in C order.
pub(super) type From = (usize, usize);

/// The computation of an Apply.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// The result follows from the facts.
    Known,
    /// A scalar op on each element.
    Map(Arc<dyn ScalarOp>),
    /// Each element of each result is one of an input.
    Move(Vec<Vec<From>>),
    /// Each element is that of the first input, plus one of the second input at some positions.
    Add(Vec<Option<usize>>),
    Sums(Sums),
    /// A product of matrices with these extents: `c[m,n] = a[m,k] . b[k,n]`.
    Product {
        m: usize,
        n: usize,
        k: usize,
    },
    /// The first input, if all elements of the others are true.
    Check(Assert),
    /// The op's own C code, on tensors over the arrays.
    Call,
}

/// A reduction: each element combines elements of the input, or of a map of the inputs.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    pub(super) kind: ReduceKind,
    pub(super) map: Option<Arc<dyn ScalarOp>>,
    /// The extents of the input, or of the map.
    pub(super) shape: Vec<usize>,
    /// The extents of the result.
    pub(super) kept: Vec<usize>,
    /// The step of the first element along each of them.
    pub(super) along: Vec<usize>,
    /// The distances of the elements that a result combines from the first one, in order.
    pub(super) offsets: Vec<usize>,
}

/// A step with the shapes of its results.
pub(super) struct Found {
    pub(super) step: Step,
    /// The shapes, and the elements if they are known.
    pub(super) results: Vec<(Vec<usize>, Option<Array>)>,
    /// The number of operations on elements.
    pub(super) work: usize,
    /// The inputs of the body that extents and indices of the step depend on.
    pub(super) needed: BTreeSet<usize>,
    /// The inputs of the body that known elements of the results depend on.
    pub(super) from: BTreeSet<usize>,
}

impl Found {
    fn new(step: Step, shape: Vec<usize>, work: usize) -> Self {
        let work = work.max(shape.iter().product());
        Self { step, results: vec![(shape, None)], work, needed: BTreeSet::new(), from: BTreeSet::new() }
    }
}

/// Finds the step of an Apply; `None` if there is none for its op or its extents.
pub(super) fn find(op: &dyn Op, inputs: &[&Value]) -> Option<Found> {
    let any: &dyn Any = op;
    if let Some(found) = known(op, inputs) {
        return Some(found);
    }
    if let Some(elemwise) = any.downcast_ref::<Elemwise>() {
        let dtypes: Vec<DType> = inputs.iter().map(|value| value.dtype).collect();
        let shape = broadcast(inputs)?;
        let mut found = Found::new(Step::Map(elemwise.scalar.clone()), shape.clone(), 0);
        found.results = vec![(shape, None); elemwise.scalar.outputs(&dtypes)?.len()];
        return Some(found);
    }
    if let Some(reduce) = any.downcast_ref::<Reduce>() {
        return reduction(reduce, inputs);
    }
    if any.is::<SumTo>() {
        return sum_to(op, inputs);
    }
    if any.is::<Dot>() || any.is::<Matmul>() || any.is::<BatchedDot>() {
        return product(op, inputs).or_else(|| called(op, inputs));
    }
    if let Some(assert) = any.downcast_ref::<Assert>() {
        return Some(checked(assert, inputs));
    }
    moved(op, inputs).or_else(|| called(op, inputs))
}

/// Evaluates an Apply whose results follow from the facts: integers and bools.
fn known(op: &dyn Op, inputs: &[&Value]) -> Option<Found> {
    if let Some(extents) = shape_of(op, inputs) {
        let result = (extents.shape().to_vec(), Some(extents));
        let (needed, from) = (BTreeSet::new(), BTreeSet::new());
        return Some(Found { step: Step::Known, results: vec![result], work: 0, needed, from });
    }
    let arrays = inputs.iter().map(|value| value.known.clone()).collect::<Option<Vec<_>>>()?;
    let from = inputs.iter().flat_map(|value| value.from.iter().copied()).collect();
    if arrays.is_empty() || !is_small(op, inputs) {
        return None;
    }
    let results = op.perform(&arrays.iter().collect::<Vec<_>>()).ok()?;
    let is_integer = |array: &Array| !array.dtype().is_float() && !array.dtype().is_complex();
    if !results.iter().all(is_integer) {
        return None;
    }
    let results: Vec<_> = results.into_iter().map(|array| (array.shape().to_vec(), Some(array))).collect();
    // The extents of the results must follow from the facts that are kept, even if the elements are not needed.
    let needed =
        operands(op, inputs.len()).map_or_else(BTreeSet::new, |moved| positions_from(inputs, &moved));
    Some(Found { step: Step::Known, results, work: 0, needed, from })
}

/// Returns whether an op returns extents.
pub(super) fn is_shape(op: &dyn Op) -> bool {
    let any: &dyn Any = op;
    any.is::<ShapeI>() || any.is::<Shape>()
}

/// Returns the extents that an op returns, if it does.
fn shape_of(op: &dyn Op, inputs: &[&Value]) -> Option<Array> {
    let any: &dyn Any = op;
    let extents: Vec<i64> = inputs.first()?.shape.iter().map(|n| *n as i64).collect();
    match any.downcast_ref::<ShapeI>() {
        Some(of) => Some(Array::from(*extents.get(of.axis)?)),
        None => any.is::<Shape>().then(|| Array::from(ndarray::Array1::from(extents))),
    }
}

/// Returns whether `perform` makes no large result: only these ops can.
fn is_small(op: &dyn Op, inputs: &[&Value]) -> bool {
    let any: &dyn Any = op;
    if !any.is::<Alloc>() {
        return any.is::<Elemwise>() || any.is::<Reduce>() || operands(op, inputs.len()).is_some();
    }
    let extent = |value: &&Value| {
        usize::try_from(i64::from_ne_bytes(value.known.as_ref()?.bits().first()?.to_ne_bytes())).ok()
    };
    let size = inputs[1..].iter().map(extent).try_fold(1_usize, |size, n| size.checked_mul(n?));
    size.is_some_and(|size| size <= MAX_ELEMENTS)
}

/// Returns the shape to which all shapes broadcast; `None` if there are none.
pub(super) fn common<'a>(shapes: impl Iterator<Item = &'a [usize]> + Clone) -> Option<Vec<usize>> {
    let ndim = shapes.clone().map(<[usize]>::len).max()?;
    let mut shape = vec![1; ndim];
    for own in shapes {
        for (n, extent) in shape[ndim - own.len()..].iter_mut().zip(own) {
            match (*n, *extent) {
                (_, 1) => {}
                (n, extent) if n != 1 && n != extent => return None,
                _ => *n = *extent,
            }
        }
    }
    Some(shape)
}

/// Returns the shape to which the inputs of a map broadcast.
fn broadcast(inputs: &[&Value]) -> Option<Vec<usize>> {
    common(inputs.iter().map(|value| value.shape.as_slice()))
}

/// Returns the inputs whose elements an op moves; the others are extents and indices.
fn operands(op: &dyn Op, count: usize) -> Option<Range<usize>> {
    let any: &dyn Any = op;
    let is_first = any.is::<DimShuffle>()
        || any.is::<Reshape>()
        || any.is::<Subtensor>()
        || any.is::<Alloc>()
        || any.is::<DeepCopy>()
        || any.is::<View>()
        || any.is::<ScalarFromTensor>()
        || any.is::<Split>();
    match () {
        () if is_first => Some(0..1),
        () if any.is::<Join>() || any.is::<MakeVector>() => Some(0..count),
        () if any.is::<IncSubtensor>() => Some(0..2),
        () => None,
    }
}

/// Returns the inputs of the body that the extents and indices of a move depend on.
fn positions_from(inputs: &[&Value], moved: &Range<usize>) -> BTreeSet<usize> {
    let others = inputs.iter().enumerate().filter(|(input, _)| !moved.contains(input));
    others.flat_map(|(_, value)| value.from.iter().copied()).collect()
}

/// Finds where the elements of a result come from: applies the op to positions.
fn moved(op: &dyn Op, inputs: &[&Value]) -> Option<Found> {
    let operands = operands(op, inputs.len())?;
    if !is_small(op, inputs) {
        return None;
    }
    let (mut arrays, mut starts, mut total) = (Vec::new(), Vec::new(), 0);
    for (input, value) in inputs.iter().enumerate() {
        if operands.contains(&input) {
            starts.push(total);
            let all: Vec<u64> = (total..total + value.size()).map(|position| position as u64).collect();
            arrays.push(Array::from_bits(DType::I64, &value.shape, &all)?);
            total += value.size();
        } else {
            arrays.push(value.known.clone()?);
        }
    }
    let any: &dyn Any = op;
    let of_positions: Option<Arc<dyn Op>> = match any.downcast_ref::<IncSubtensor>() {
        Some(inc) => Some(Arc::new(IncSubtensor { set: true, ..inc.clone() })),
        None => any.is::<MakeVector>().then(|| Arc::new(MakeVector { dtype: DType::I64 }) as Arc<dyn Op>),
    };
    let op = of_positions.as_deref().unwrap_or(op);
    let results = op.perform(&arrays.iter().collect::<Vec<_>>()).ok()?;
    let place = |position: u64| {
        let position = usize::try_from(position).ok()?;
        let input = starts.partition_point(|start| *start <= position) - 1;
        Some((operands.start + input, position - starts[input]))
    };
    let places = |result: &Array| result.bits().into_iter().map(place).collect::<Option<Vec<From>>>();
    let places = results.iter().map(places).collect::<Option<Vec<_>>>()?;
    let is_sum = any.downcast_ref::<IncSubtensor>().is_some_and(|inc| !inc.set);
    let step = match is_sum {
        true => Step::Add(places[0].iter().map(|(input, at)| (*input == 1).then_some(*at)).collect()),
        false => Step::Move(places),
    };
    let mut found = Found::new(step, Vec::new(), total);
    found.results = results.iter().map(|result| (result.shape().to_vec(), None)).collect();
    found.needed = positions_from(inputs, &operands);
    Some(found)
}

/// Returns the step of an Assert: none, if the conditions follow from the facts and hold.
fn checked(assert: &Assert, inputs: &[&Value]) -> Found {
    let holds =
        |value: &&Value| value.known.as_ref().is_some_and(|known| known.bits().iter().all(|bit| *bit == 1));
    let (whole, conditions) = (inputs[0], &inputs[1..]);
    let mut found = if conditions.iter().all(holds) {
        let places = (0..whole.size()).map(|at| (0, at)).collect();
        let mut found = Found::new(Step::Move(vec![places]), whole.shape.clone(), 0);
        found.needed = conditions.iter().flat_map(|value| value.from.iter().copied()).collect();
        found
    } else {
        let work = conditions.iter().map(|value| value.size()).sum();
        Found::new(Step::Check(assert.clone()), whole.shape.clone(), work)
    };
    found.results[0].1.clone_from(&whole.known);
    found.from.clone_from(&whole.from);
    found
}

/// Returns the step of an op that is called with tensors, if its types determine the extents of its results.
fn called(op: &dyn Op, inputs: &[&Value]) -> Option<Found> {
    let extents = |value: &&Value| value.shape.iter().map(|n| Extent::Fixed(*n as u64)).collect();
    let types: Vec<Type> = inputs.iter().map(|value| of(value.dtype, extents(value))).collect();
    if !op.is_pure() || !op.view_map().is_empty() || !op.destroy_map().is_empty() {
        return None;
    }
    let outputs = op.make_node(&types).ok()?;
    super::calls::c_op(op, &types, &outputs)?;
    let work = inputs.iter().map(|value| value.size()).sum();
    let mut found = Found::new(Step::Call, Vec::new(), work);
    let shapes = match outputs.iter().map(fixed_extents).collect::<Option<Vec<_>>>() {
        Some(shapes) => shapes,
        // The extents may depend on the values, as those of `eye` and `arange`.
        None => {
            found.needed = inputs.iter().flat_map(|value| value.from.iter().copied()).collect();
            let small = inputs.iter().map(|value| value.known.as_ref().filter(|known| is_near_zero(known)));
            let results = op.perform(&small.collect::<Option<Vec<_>>>()?).ok()?;
            results.iter().map(|result| result.shape().to_vec()).collect()
        }
    };
    found.results = shapes.into_iter().map(|shape| (shape, None)).collect();
    Some(found)
}

/// Returns whether integers are small, so that arrays of such extents are too.
fn is_near_zero(array: &Array) -> bool {
    let Array::I64(integers) = array else { return false };
    integers.iter().all(|n| n.unsigned_abs() <= 256)
}

/// The maximum number of elements of the operands of an op whose extents are found by applying it.
const MAX_APPLIED: usize = 65536;

/// Finds the extents of the results of an op on arrays of any size.
pub(super) fn extents(op: &dyn Op, inputs: &[&Value]) -> Option<Vec<Vec<usize>>> {
    let fixed = |value: &&Value| value.shape.iter().map(|n| Extent::Fixed(*n as u64)).collect();
    let types: Vec<Type> = inputs.iter().map(|value| of(value.dtype, fixed(value))).collect();
    let outputs = op.make_node(&types).ok()?;
    if let Some(shapes) = outputs.iter().map(fixed_extents).collect() {
        return Some(shapes);
    }
    let operands = operands(op, inputs.len())?;
    let size: usize =
        inputs[operands.clone()].iter().map(|value| value.size()).fold(0, usize::saturating_add);
    if size > MAX_APPLIED || !is_small(op, inputs) {
        return None;
    }
    let value = |(k, value): (usize, &&Value)| match operands.contains(&k) {
        true => Some(Array::zeros(value.dtype, &value.shape)),
        false => value.known.clone(),
    };
    let values = inputs.iter().enumerate().map(value).collect::<Option<Vec<_>>>()?;
    let results = op.perform(&values.iter().collect::<Vec<_>>()).ok()?;
    Some(results.iter().map(|result| result.shape().to_vec()).collect())
}

fn reduction(reduce: &Reduce, inputs: &[&Value]) -> Option<Found> {
    let shape = broadcast(inputs)?;
    let dtypes: Vec<DType> = inputs.iter().map(|value| value.dtype).collect();
    let dtype = match &reduce.map {
        Some(map) => map.output(&dtypes)?,
        None => dtypes[0],
    };
    super::sums::combine(reduce.kind, dtype)?;
    if shape.iter().product::<usize>() > MAX_ELEMENTS {
        return None;
    }
    let (reduced, kept): (Vec<usize>, Vec<usize>) = (0..shape.len()).partition(|d| reduce.reduces(*d));
    Some(sums(reduce.kind, reduce.map.clone(), shape, &reduced, &kept))
}

fn sums(
    kind: ReduceKind,
    map: Option<Arc<dyn ScalarOp>>,
    shape: Vec<usize>,
    reduced: &[usize],
    kept: &[usize],
) -> Found {
    let all = steps(&shape);
    let of = |axes: &[usize], list: &[usize]| axes.iter().map(|d| list[*d]).collect::<Vec<usize>>();
    let (extents, along) = (of(reduced, &shape), of(reduced, &all));
    let along: Vec<i64> = along.iter().map(|step| *step as i64).collect();
    let offsets = positions(&extents, 0, &along);
    let (result, along) = (of(kept, &shape), of(kept, &all));
    let work = shape.iter().product();
    let sums = Sums { kind, map, shape, kept: result.clone(), along, offsets };
    Found::new(Step::Sums(sums), result, work)
}

fn sum_to(op: &dyn Op, inputs: &[&Value]) -> Option<Found> {
    let whole = &inputs[0].shape;
    let arrays: Vec<Array> = inputs[1..].iter().map(|value| value.known.clone()).collect::<Option<_>>()?;
    let shape = crate::elements::extents(op.name(), &arrays.iter().collect::<Vec<_>>()).ok()?;
    let extra = whole.len().checked_sub(shape.len())?;
    let (kept, reduced): (Vec<usize>, Vec<usize>) =
        (0..whole.len()).partition(|d| *d >= extra && shape[*d - extra] == whole[*d]);
    if reduced.iter().any(|d| *d >= extra && shape[*d - extra] != 1) {
        return None;
    }
    let mut found = match reduced.is_empty() {
        true => {
            Found::new(Step::Move(vec![(0..inputs[0].size()).map(|i| (0, i)).collect()]), shape.clone(), 0)
        }
        false => sums(ReduceKind::Sum, None, whole.clone(), &reduced, &kept),
    };
    found.results = vec![(shape, None)];
    found.needed = inputs[1..].iter().flat_map(|value| value.from.iter().copied()).collect();
    Some(found)
}

/// The number of elements that a product of matrices adds at once.
const PRODUCT_BLOCK: usize = 256;

/// The maximum number of multiplications of a product that is written as loops.
const MAX_PRODUCT: usize = 4096;

/// A product of two vectors or matrices.
fn product(op: &dyn Op, inputs: &[&Value]) -> Option<Found> {
    let [a, b] = inputs else { return None };
    let any: &dyn Any = op;
    let is_real = matches!(a.dtype, DType::F32 | DType::F64);
    if !is_real || any.is::<BatchedDot>() || a.shape.len() > 2 || b.shape.len() > 2 {
        return None;
    }
    let (k, inner) = (*a.shape.last()?, b.shape[b.shape.len().saturating_sub(2)]);
    let m = if a.shape.len() == 2 { a.shape[0] } else { 1 };
    let n = if b.shape.len() == 2 { b.shape[1] } else { 1 };
    // Longer sums of a product of matrices have blocks.
    if k != inner || m * n * k > MAX_PRODUCT || (m > 1 && n > 1 && k > PRODUCT_BLOCK) {
        return None;
    }
    let shape =
        [&a.shape[..a.shape.len() - 1], if b.shape.len() == 2 { &b.shape[1..] } else { &[] }].concat();
    Some(Found::new(Step::Product { m, n, k }, shape, m * n * k))
}

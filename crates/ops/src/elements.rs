//! Addresses elements by their position in C order, for the reference `perform` of structural ops.

use ndarray::IxDyn;
use precast_graph::{Array, PerformError};

/// Returns the elements at `positions` as an array of shape `shape`. Elements are moved, never computed with.
pub(crate) fn pick(
    op: &str,
    array: &Array,
    shape: &[usize],
    positions: &[usize],
) -> Result<Array, PerformError> {
    let order: Vec<(usize, usize)> = positions.iter().map(|p| (0, *p)).collect();
    gather(op, &[array], shape, &order)
}

/// Returns elements of arrays of one dtype as an array of shape `shape`. `order` gives the array and the position of
/// each element.
///
/// The elements are moved as bits, so this function is compiled once, not once per dtype.
pub(crate) fn gather(
    op: &str,
    arrays: &[&Array],
    shape: &[usize],
    order: &[(usize, usize)],
) -> Result<Array, PerformError> {
    let dtype = arrays.first().ok_or_else(|| mismatch(op))?.dtype();
    if arrays.iter().any(|array| array.dtype() != dtype) {
        return Err(mismatch(op));
    }
    let (all, words) = (arrays.iter().map(|array| array.bits()).collect::<Vec<_>>(), dtype.words());
    let mut placed = Vec::with_capacity(order.len() * words);
    for (array, p) in order {
        let from = p.checked_mul(words).and_then(|at| all[*array].get(at..)?.get(..words));
        placed.extend(from.ok_or_else(|| mismatch(op))?);
    }
    Array::from_bits(dtype, shape, &placed).ok_or_else(|| mismatch(op))
}

/// Returns the distance, in elements, between neighbours along each dimension of a C-contiguous array.
pub(crate) fn steps(shape: &[usize]) -> Vec<usize> {
    let mut steps = vec![1; shape.len()];
    for d in (1..shape.len()).rev() {
        steps[d - 1] = steps[d] * shape[d];
    }
    steps
}

/// Returns the position of each element of `shape`, in C order, given the step along each dimension.
pub(crate) fn positions(shape: &[usize], start: i64, steps: &[i64]) -> Vec<usize> {
    let place = |index: IxDyn| {
        let moved = ndarray::Dimension::slice(&index).iter().zip(steps).map(|(i, s)| *i as i64 * s);
        usize::try_from(start + moved.sum::<i64>()).unwrap_or(usize::MAX)
    };
    ndarray::indices(IxDyn(shape)).into_iter().map(place).collect()
}

/// Returns the positions of the elements when an array of shape `own` is broadcast to `shape`; `None` if the shapes
/// are incompatible.
pub(crate) fn broadcast(own: &[usize], shape: &[usize]) -> Option<Vec<usize>> {
    let shift = shape.len().checked_sub(own.len())?;
    let own_steps = steps(own);
    let mut all = vec![0; shape.len()];
    for (d, n) in own.iter().enumerate() {
        if *n != 1 && *n != shape[shift + d] {
            return None;
        }
        all[shift + d] = if *n == 1 { 0 } else { own_steps[d] as i64 };
    }
    Some(positions(shape, 0, &all))
}

/// Returns all elements of an i64 array, in C order.
pub(crate) fn integers(op: &str, array: &Array) -> Result<Vec<i64>, PerformError> {
    match array {
        Array::I64(a) => Ok(a.iter().copied().collect()),
        other => Err(PerformError::value(op, format!("needs integers, found {}", other.dtype()))),
    }
}

/// Returns the only element of an i64 array without dimensions.
pub(crate) fn integer(op: &str, array: &Array) -> Result<i64, PerformError> {
    integers(op, array)?
        .first()
        .copied()
        .ok_or_else(|| PerformError::value(op, "needs an integer, found none"))
}

/// Converts integers without dimensions to extents.
pub(crate) fn extents(op: &str, arrays: &[&Array]) -> Result<Vec<usize>, PerformError> {
    let extent = |(d, array): (usize, &&Array)| {
        let n = integer(op, array)?;
        let negative = || format!("negative dimensions are not allowed: extent {n} of dimension {d}");
        usize::try_from(n).map_err(|_| PerformError::value(op, negative()))
    };
    arrays.iter().enumerate().map(extent).collect()
}

/// The bytes per element that a `perform` needs: position, value and result, each in a list.
const COST_BYTES: usize = 48;

/// Sizes up to this number of bytes are not checked; a process without this much memory cannot continue anyway.
const SMALL_BYTES: usize = 16 << 20;

/// Returns the number of elements of a result that may be larger than all inputs together, if it fits into memory. A
/// failed allocation of a list would end the process, so the total is reserved before the first list is created.
pub(crate) fn room(op: &str, shape: &[usize]) -> Result<usize, PerformError> {
    let too_large = || {
        let problem = format!("cannot allocate an array of shape {}: there is no memory for it", text(shape));
        PerformError::value(op, problem)
    };
    // As in NumPy, an extent of 0 does not hide an overflow of the remaining extents.
    let bytes = shape.iter().try_fold(COST_BYTES, |bytes, n| bytes.checked_mul((*n).max(1)));
    let bytes = bytes.ok_or_else(too_large)?;
    let size = shape.iter().product();
    if size * COST_BYTES > SMALL_BYTES {
        Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| too_large())?;
    }
    Ok(size)
}

/// Formats a shape as NumPy prints it.
pub(crate) fn text<T: ToString>(shape: &[T]) -> String {
    let extents: Vec<String> = shape.iter().map(ToString::to_string).collect();
    format!("({}{})", extents.join(","), if extents.len() == 1 { "," } else { "" })
}

/// Returns the error for a shape that cannot be broadcast to another, in NumPy's words.
pub(crate) fn not_broadcast(op: &str, own: &[usize], shape: &[usize]) -> PerformError {
    let (own, shape) = (text(own), text(shape));
    PerformError::value(op, format!("could not broadcast input array from shape {own} into shape {shape}"))
}

/// Returns the error for inputs that `make_node` should already have rejected.
pub(crate) fn mismatch(op: &str) -> PerformError {
    PerformError::value(op, "the inputs do not fit each other")
}

//! Small new arrays: copies of arrays of the same dtype and shape that their thread made before.
//!
//! To make an ndarray of any rank of its parts takes three times as long as to copy one, memory and all. A thread has few
//! shapes of small results at a time, so a few arrays to copy are enough.

use super::Output;
use crate::{Array, DType};
use std::cell::RefCell;

/// What a small array has at most, in bytes: more takes longer to copy than its parts to put together.
const BYTES: usize = 256;
/// What it has at most, in dimensions: as many as ndarray keeps without allocating.
const NDIM: usize = 4;
/// Arrays that a thread keeps.
const KEPT: usize = 4;

thread_local! {
    static KNOWN: RefCell<Known> = const { RefCell::new(Known { arrays: Vec::new(), next: 0 }) };
}

/// Arrays to copy; a new one replaces the oldest.
struct Known {
    arrays: Vec<(Kind, Array)>,
    next: usize,
}

/// Dtype, rank, extents.
type Kind = (DType, usize, [usize; NDIM]);

/// Whether a result is small where operands have this shape in common, of so many elements.
#[inline(always)]
pub(super) fn is_small(output: &Output, common: &[usize], elements: usize) -> bool {
    !output.is_full || (common.len() <= NDIM && elements <= BYTES / output.dtype.itemsize_bytes())
}

/// A small array, whose elements are any numbers.
#[inline]
pub(super) fn array(dtype: DType, shape: &[usize]) -> Option<Array> {
    // By their number: to copy so few is a call otherwise.
    let extents = match *shape {
        [] => [0; NDIM],
        [a] => [a, 0, 0, 0],
        [a, b] => [a, b, 0, 0],
        [a, b, c] => [a, b, c, 0],
        [a, b, c, d] => [a, b, c, d],
        _ => return None,
    };
    let kind = (dtype, shape.len(), extents);
    let copied = |known: &RefCell<Known>| {
        let known = &mut *known.borrow_mut();
        match known.arrays.iter().find(|(other, _)| *other == kind) {
            Some((_, array)) => array.clone(),
            None => known.add(kind, shape),
        }
    };
    KNOWN.try_with(copied).ok()
}

impl Known {
    #[cold]
    fn add(&mut self, kind: Kind, shape: &[usize]) -> Array {
        let array = Array::zeros(kind.0, shape);
        let added = (kind, array.clone());
        match self.arrays.get_mut(self.next) {
            Some(oldest) => *oldest = added,
            None => self.arrays.push(added),
        }
        self.next = (self.next + 1) % KEPT;
        array
    }
}

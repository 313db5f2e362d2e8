//! Small new arrays: copies of arrays of the same dtype and shape that their thread made before.
//!
//! To make an ndarray of any rank of its parts takes three times as long as to copy one, memory and all. A thread has few
//! shapes of small results at a time, so a few arrays to copy are enough. Each is copied to where it stays: to move what was
//! just written piece by piece takes as long as to copy it.

use super::Pointer;
use crate::{Array, DType, with_array};
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

/// Arrays to copy, each with its word; a new one replaces the oldest.
struct Known {
    arrays: Vec<(u64, Array)>,
    next: usize,
}

/// Puts a small array behind `arrays`, whose elements are any numbers, and says where they lie; `None` if it is not small, or has
/// no elements.
#[inline]
pub(super) fn push(arrays: &mut Vec<Array>, dtype: DType, shape: &[usize]) -> Option<Pointer> {
    let word = word(dtype, shape)?;
    let copy = |known: &RefCell<Known>| {
        let known = &mut *known.borrow_mut();
        match known.arrays.iter().find(|(other, _)| *other == word) {
            Some((_, array)) => arrays.push(array.clone()),
            None => arrays.push(known.add(word, Array::zeros(dtype, shape))),
        }
    };
    KNOWN.try_with(copy).ok()?;
    Some(with_array!(arrays.last_mut()?, a => a.as_mut_ptr().cast()))
}

/// Dtype, rank and extents of a small array in a word: to compare them is one step.
#[inline]
fn word(dtype: DType, shape: &[usize]) -> Option<u64> {
    if shape.len() > NDIM {
        return None;
    }
    // 9 bits for each of NDIM extents, 5 for the dtype, 3 for the rank.
    let (mut bytes, mut word) = (dtype.itemsize_bytes(), 0);
    for extent in shape {
        // Of so few bytes no extent has more than nine bits.
        bytes = bytes.saturating_mul(*extent);
        word = word << 9 | *extent as u64;
    }
    (1..=BYTES).contains(&bytes).then_some(word << 8 | (dtype as u64) << 3 | shape.len() as u64)
}

impl Known {
    #[cold]
    fn add(&mut self, word: u64, array: Array) -> Array {
        let added = (word, array.clone());
        match self.arrays.get_mut(self.next) {
            Some(oldest) => *oldest = added,
            None => self.arrays.push(added),
        }
        self.next = (self.next + 1) % KEPT;
        array
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_arrays_have_the_dtype_and_shape_that_are_asked_for() {
        let shapes: [&[usize]; 16] = [
            &[],
            &[1],
            &[4],
            &[4, 1],
            &[1, 4],
            &[2, 2],
            &[2, 2, 1, 1],
            &[1, 2, 1, 2],
            &[16],
            &[256],
            &[257],
            &[1, 1, 1, 1, 1],
            &[0],
            &[2, 0],
            &[512, 1],
            &[usize::MAX, 2],
        ];
        let mut arrays = Vec::new();
        // Each is asked for when others took its place, and then once more.
        for shape in shapes.into_iter().chain(shapes).flat_map(|shape| [shape; 2]) {
            for dtype in DType::ALL {
                let elements = shape.iter().try_fold(1_usize, |all, extent| all.checked_mul(*extent));
                let bytes = elements.map_or(usize::MAX, |n| n * dtype.itemsize_bytes());
                let is_small = shape.len() <= 4 && (1..=256).contains(&bytes);
                let before = arrays.len();
                let data = push(&mut arrays, dtype, shape);
                assert_eq!((data.is_some(), arrays.len() - before), (is_small, usize::from(is_small)));
                if let Some(array) = arrays.last().filter(|_| is_small) {
                    assert_eq!((array.dtype(), array.shape()), (dtype, shape));
                    assert_eq!(data, Some(with_array!(array, a => a.as_ptr().cast_mut().cast())));
                }
            }
        }
    }
}

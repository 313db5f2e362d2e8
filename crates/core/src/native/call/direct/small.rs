//! Creates small arrays as copies of earlier arrays with the same dtype and shape in the same thread.
//!
//! Creating an ndarray of dynamic rank from its parts takes three times as long as cloning one, including its memory. A
//! thread has few shapes of small results at a time, so a cache of a few arrays suffices. Each copy is created in its final
//! place, because moving a value right after it was written takes as long as copying it.

use super::Pointer;
use crate::{Array, DType, with_array};
use std::cell::RefCell;

/// Maximum size of a small array, in bytes. Copying a larger one takes longer than creating it from its parts.
const BYTES: usize = 256;
/// Maximum rank of a small array: the rank up to which ndarray allocates nothing for extents and strides.
const NDIM: usize = 4;
/// The number of arrays that a thread caches.
const KEPT: usize = 4;

thread_local! {
    static KNOWN: RefCell<Known> = const { RefCell::new(Known { arrays: Vec::new(), next: 0 }) };
}

/// Cached arrays with their words. A new one replaces the oldest.
struct Known {
    arrays: Vec<(u64, Array)>,
    next: usize,
}

/// Appends a small array with arbitrary elements to `arrays` and returns the address of its elements. Returns `None` if the
/// array would not be small, or would be empty.
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

/// Packs dtype, rank and extents of a small array in a word, so that they are compared at once.
#[inline]
fn word(dtype: DType, shape: &[usize]) -> Option<u64> {
    if shape.len() > NDIM {
        return None;
    }
    // 9 bits for each of NDIM extents, 5 for the dtype, 3 for the rank.
    let (mut bytes, mut word) = (dtype.itemsize_bytes(), 0);
    for extent in shape {
        // An array of at most `BYTES` bytes has no extent above nine bits.
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
    fn small_arrays_have_requested_dtype_and_shape() {
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
        // Each shape is requested after it was evicted, and then again.
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

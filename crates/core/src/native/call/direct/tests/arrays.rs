//! Arrays that lie in one piece of memory, generated from a seed.

use crate::DType;
use crate::native::RawArray;
use crate::native::arrays::ArrayRef;

/// Number of elements of the memory that contains the arrays.
pub(super) const MEMORY: usize = 128;

/// Pseudo-random numbers that depend only on a seed.
pub(super) struct Choices(pub(super) u64);

impl Choices {
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// An array in the memory: first element, extents, strides in bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Lies {
    pub(super) start: usize,
    pub(super) shape: Vec<usize>,
    pub(super) strides: Vec<isize>,
}

impl Lies {
    /// Creates an array anywhere in the memory. It is usually contiguous, and otherwise reversed, spread, transposed or
    /// broadcast.
    pub(super) fn somewhere(choices: &mut Choices, shape: Vec<usize>, may_stretch: bool) -> Self {
        let mut order: Vec<usize> = (0..shape.len()).rev().collect();
        let is_plain = choices.below(3) > 0;
        if !is_plain && choices.below(2) == 0 {
            order.reverse();
        }
        let (mut strides, mut step, mut low) = (vec![0; shape.len()], 1_isize, 0_isize);
        for axis in order {
            let extent = shape[axis].max(1).cast_signed();
            strides[axis] = 8 * step;
            step *= extent;
            if is_plain {
                continue;
            }
            match choices.below(5) {
                0 => {
                    low -= strides[axis] / 8 * (extent - 1);
                    strides[axis] = -strides[axis];
                }
                1 => {
                    strides[axis] *= 2;
                    step *= 2;
                }
                2 if may_stretch => strides[axis] = 0,
                _ => {}
            }
        }
        let span = step.unsigned_abs();
        let room = MEMORY.saturating_sub(span);
        let start = choices.below(room.max(1)) + low.unsigned_abs();
        Self { start, shape, strides }
    }

    /// Returns whether all elements are in the memory.
    pub(super) fn is_inside(&self) -> bool {
        let (mut low, mut high) = (self.start.cast_signed(), self.start.cast_signed());
        for (extent, stride) in self.shape.iter().zip(&self.strides) {
            let reach = stride / 8 * extent.saturating_sub(1).cast_signed();
            if reach < 0 { low += reach } else { high += reach }
        }
        self.shape.len() == self.strides.len() && low >= 0 && high < MEMORY.cast_signed()
    }

    pub(super) fn raw(&self, memory: *mut f64) -> RawArray<'_> {
        let data = memory.wrapping_add(self.start).cast();
        let (shape, strides_bytes) = (&self.shape[..], &self.strides[..]);
        RawArray { data, dtype: DType::F64, shape, strides_bytes, readonly: false }
    }

    pub(super) fn read(&self, memory: *mut f64) -> ArrayRef<'_> {
        // SAFETY: `somewhere` keeps arrays inside the memory, which nothing else uses during a call.
        unsafe { self.raw(memory).read() }.unwrap()
    }
}

/// Returns extents for a type, usually those of the other arrays.
pub(super) fn extents(choices: &mut Choices, ndim: usize, common: &[usize]) -> Vec<usize> {
    let ndim = if choices.below(20) == 0 { choices.below(4) } else { ndim };
    let common = |axis: usize| common[common.len() - ndim + axis];
    (0..ndim)
        .map(|axis| match choices.below(8) {
            0 => 1,
            1 => choices.below(4),
            _ => common(axis),
        })
        .collect()
}

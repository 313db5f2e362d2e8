//! Programs that are one map of arrays of one shape, its operands in the order of inputs and outputs: `x + y`, as most calls of a
//! few elements are.
//!
//! What operands have to be is one word of their dtypes and ranks, which is compared once, and which the compiler knows where it
//! sees through a call. Besides that, each has to lie as kernels want it, in the shape of the first.

use super::run::{call, elements};
use super::{Pointer, Strided};
use crate::DType;
use crate::native::DefaultFloats;
use crate::program::Port;
use precast_abi::driver::Kernel;
use std::mem::MaybeUninit;

/// Most operands: a byte of the word for each, and one for the number of inputs.
const MOST: usize = 7;
/// Most dimensions: those that a half of a byte counts.
const MOST_NDIM: usize = 15;

/// A program of one map.
#[derive(Debug, Clone, Copy)]
pub struct Map {
    kernel: Kernel,
    /// The word of its operands.
    kinds: u64,
    /// Most elements of a call.
    most: usize,
}

/// The word of one more operand. No byte of it is 0, so it says how many there are.
#[inline(always)]
const fn with(word: u64, dtype: DType, ndim: usize) -> u64 {
    word << 8 | (dtype as u64 + 1) << 4 | ndim as u64
}

impl Map {
    /// A kernel that takes what these ports say, if that has a place in a word.
    pub(super) fn new(kernel: Kernel, inputs: &[Port], outputs: &[Port], most: usize) -> Option<Self> {
        let ports = || inputs.iter().chain(outputs);
        let has_place = ports().count() <= MOST && ports().all(|port| port.ty.ndim() <= MOST_NDIM);
        let word = |word, port: &Port| with(word, port.ty.dtype(), port.ty.ndim());
        has_place.then(|| Self { kernel, kinds: ports().fold(inputs.len() as u64, word), most })
    }

    /// Serves a call into memory of the caller; `false` if it is not served.
    #[inline(always)]
    pub(crate) fn serve<'a, 'b>(
        &self,
        inputs: impl ExactSizeIterator<Item = Strided<'a>> + Clone,
        outputs: impl Iterator<Item = Strided<'b>>,
    ) -> bool {
        let Some(first) = inputs.clone().next() else { return false };
        let extents = first.extents;
        // Each a value of its own, so that all but the pointers stays in registers.
        let mut table = [const { MaybeUninit::<Pointer>::uninit() }; MOST];
        let (mut places, mut kinds) = (table.iter_mut(), inputs.len() as u64);
        let mut take = |operand: Strided<'_>| {
            let Some(place) = places.next() else { return false };
            place.write(operand.data);
            kinds = with(kinds, operand.dtype, operand.extents.len());
            operand.fills(extents)
        };
        for input in inputs {
            if !take(input) {
                return false;
            }
        }
        for output in outputs {
            if !take(output) {
                return false;
            }
        }
        let (n, are_these) = (elements(extents), kinds == self.kinds && extents.len() <= MOST_NDIM);
        let _floats = DefaultFloats::set();
        // SAFETY: as many operands of the kernel's dtypes, each of so many elements in C order; outputs were made of exclusive
        // borrows, or of memory that was compared with every other operand's.
        are_these && (1..=self.most).contains(&n) && unsafe { call(self.kernel, n, table.as_ptr().cast()) }
    }
}

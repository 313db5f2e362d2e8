//! Programs that are one map over arrays of one shape, with the operands in the order of inputs and outputs. Most calls
//! with few elements are of this kind, such as `x + y`.
//!
//! The expected dtypes and ranks of all operands form one word, which is compared once. The compiler knows the word if the
//! argument types are known. In addition, each operand must be laid out as kernels need it, in the shape of the first.

use super::run::{call, elements};
use super::{Pointer, Strided};
use crate::DType;
use crate::native::DefaultFloats;
use crate::program::Port;
use precast_abi::driver::Kernel;
use std::mem::MaybeUninit;

/// Maximum number of operands: one byte of the word for each, and one for the number of inputs.
const MOST: usize = 7;
/// Maximum rank, which must fit in half a byte.
const MOST_NDIM: usize = 15;

/// A program of one map.
#[derive(Debug, Clone, Copy)]
pub struct Map {
    kernel: Kernel,
    /// The word of its operands.
    kinds: u64,
    /// Maximum number of elements of a call.
    most: usize,
}

/// Appends an operand to a word. Its byte is never 0, so the word also encodes the number of operands.
#[inline(always)]
const fn with(word: u64, dtype: DType, ndim: usize) -> u64 {
    word << 8 | (dtype as u64 + 1) << 4 | ndim as u64
}

impl Map {
    /// Creates a map for ports of these types. Returns `None` if they do not fit in a word.
    pub(super) fn new(kernel: Kernel, inputs: &[Port], outputs: &[Port], most: usize) -> Option<Self> {
        let ports = || inputs.iter().chain(outputs);
        let has_place = ports().count() <= MOST && ports().all(|port| port.ty.ndim() <= MOST_NDIM);
        let word = |word, port: &Port| with(word, port.ty.dtype(), port.ty.ndim());
        has_place.then(|| Self { kernel, kinds: ports().fold(inputs.len() as u64, word), most })
    }

    /// Runs a call that writes to memory of the caller. Returns `false` if the call is not possible.
    #[inline(always)]
    pub(crate) fn serve<'a, 'b>(
        &self,
        inputs: impl ExactSizeIterator<Item = Strided<'a>> + Clone,
        outputs: impl Iterator<Item = Strided<'b>>,
    ) -> bool {
        let Some(first) = inputs.clone().next() else { return false };
        let extents = first.extents;
        // Separate local variables, so that everything except the pointers stays in registers.
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
        // SAFETY: the operands have the number and dtypes that the kernel expects, and each has `n` elements in C order.
        // Outputs were created from exclusive borrows, or from memory that was compared with every other operand's.
        are_these && (1..=self.most).contains(&n) && unsafe { call(self.kernel, n, table.as_ptr().cast()) }
    }
}

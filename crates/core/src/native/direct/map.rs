//! Programs that are one map of arrays of one shape, its operands in the order of inputs and outputs: `x + y`, as most calls of a
//! few elements are.
//!
//! What operands have to be is one word of their dtypes and ranks, which is compared once, and which the compiler knows where it
//! sees through a call. Besides that, each has to lie as kernels want it, in the shape of the first.

use super::run::{call, elements};
use super::{Pointer, Strided};
use crate::DType;
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

/// The operands of a call, as far as they are looked at.
pub(super) struct Operands<'a> {
    table: [MaybeUninit<Pointer>; MOST],
    len: usize,
    /// The number of inputs, then a byte for each operand.
    kinds: u64,
    extents: &'a [usize],
}

impl<'a> Operands<'a> {
    /// None of them, of which so many are inputs; `extents` are those of the first.
    #[inline(always)]
    pub(super) const fn new(inputs: usize, extents: &'a [usize]) -> Self {
        Self { table: [const { MaybeUninit::uninit() }; MOST], len: 0, kinds: inputs as u64, extents }
    }

    /// Takes the next one; `false` if it has another shape, or lies with gaps, or there are too many.
    #[inline(always)]
    pub(super) fn take(&mut self, operand: Strided<'_>) -> bool {
        let Some(place) = self.table.get_mut(self.len) else { return false };
        place.write(operand.data);
        self.len += 1;
        self.kinds = with(self.kinds, operand.dtype, operand.extents.len());
        operand.fills(self.extents)
    }
}

impl Map {
    /// A kernel that takes what these ports say, if that has a place in a word.
    pub(super) fn new(kernel: Kernel, inputs: &[Port], outputs: &[Port], most: usize) -> Option<Self> {
        let ports = || inputs.iter().chain(outputs);
        let has_place = ports().count() <= MOST && ports().all(|port| port.ty.ndim() <= MOST_NDIM);
        let word = |word, port: &Port| with(word, port.ty.dtype(), port.ty.ndim());
        has_place.then(|| Self { kernel, kinds: ports().fold(inputs.len() as u64, word), most })
    }

    /// Runs a call; `false` if it is not served.
    #[inline(always)]
    pub(super) fn run(&self, operands: &Operands<'_>) -> bool {
        let n = elements(operands.extents);
        let are_these = operands.kinds == self.kinds && operands.extents.len() <= MOST_NDIM;
        // SAFETY: as many operands of the kernel's dtypes, each of so many elements in C order; outputs were made of exclusive
        // borrows, or of memory that was compared with every other operand's.
        are_these
            && (1..=self.most).contains(&n)
            && unsafe { call(self.kernel, n, operands.table.as_ptr().cast()) }
    }

    /// Serves a call into memory of the caller; `false` if it is not served.
    #[inline(always)]
    pub(crate) fn serve<'a, 'b>(
        &self,
        inputs: impl ExactSizeIterator<Item = Strided<'a>> + Clone,
        outputs: impl Iterator<Item = Strided<'b>>,
    ) -> bool {
        let Some(first) = inputs.clone().next() else { return false };
        let mut operands = Operands::new(inputs.len(), first.extents);
        for input in inputs {
            if !operands.take(input) {
                return false;
            }
        }
        for output in outputs {
            if !operands.take(output) {
                return false;
            }
        }
        self.run(&operands)
    }
}

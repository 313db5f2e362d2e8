//! Direct calls: a program that is maps and whole reductions, run where the caller's arrays lie.
//!
//! ```text
//! all operands contiguous, of one shape or one element, few elements in slots ──▶ the modules' kernels, one after the other
//! anything else, and what a kernel refuses ──▶ Frame: tensors ──▶ modules or chains ──▶ drivers ──▶ the same kernels
//! ```
//! Looking at the operands is all that such a call does besides its arithmetic: it needs no tensors, no frame and no driver.
//! A kernel is a function of the element alone, and a reduction's order one of the count, so which way was taken shows in no
//! bits. A call that fails here is made again in a frame, which says what is wrong: it has written to outputs alone.
//!
//! `assembly` makes tasks of captured modules, `run` runs them, `map` those that are one, `results` makes new arrays, `small` the
//! small ones.

mod assembly;
mod few;
mod map;
mod results;
mod run;
mod small;

use super::array_ref::ArrayRef;
use super::library::LoadedModule;
use super::strided::Strided;
use crate::{Array, DType, Type};
use few::Few;
pub use map::Map;
pub use results::{AllMade, Made};
use run::{Table, Task, Wires};
use std::ffi::c_char;

/// A program that can be run directly.
#[derive(Debug)]
pub struct Direct {
    inputs: Few<Input>,
    /// The position of the first input that has the common shape; beyond them if none has.
    lead: usize,
    outputs: Few<Output>,
    /// The program, if it is one map.
    map: Option<Map>,
    tasks: Vec<Task>,
    wires: Wires,
    /// Whether nothing is to be set or compared besides operands: no wires, no types that fix extents.
    is_plain: bool,
    /// Bytes of the widest element.
    widest: usize,
    /// Most elements of a call.
    most: usize,
    /// The types of inputs and outputs, where they fix an extent.
    fixed: Option<Box<(Vec<Type>, Vec<Type>)>>,
    /// What wires point to.
    _constants: Vec<Array>,
    /// Keeps the kernels' code mapped.
    _modules: Vec<LoadedModule>,
}

// SAFETY: function pointers and read-only data of modules, and constants, which it keeps alive and nobody writes to.
unsafe impl Send for Direct {}
// SAFETY: as above.
unsafe impl Sync for Direct {}

/// What an input has to be.
#[derive(Debug, Clone, Copy)]
struct Input {
    kind: Kind,
    reads: Reads,
    /// Its position in the table; of what is not read, [`UNREAD`].
    at: u8,
}

/// Dtype and rank in one word: to compare them is one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kind(u64);

impl Kind {
    /// ndarray has ranks beyond ours, but none of 2⁵⁶ dimensions.
    #[inline(always)]
    const fn new(dtype: DType, ndim: usize) -> Self {
        Self((dtype as u64) << 56 | ndim as u64)
    }

    #[inline(always)]
    fn is_of(self, array: &Strided<'_>) -> bool {
        self == Self::new(array.dtype, array.extents.len())
    }

    /// Bytes of an element.
    fn itemsize_bytes(self) -> usize {
        DType::ALL[(self.0 >> 56) as usize].itemsize_bytes()
    }
}

/// What kernels read of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// Nothing: its extents are its own affair.
    Nothing,
    /// Its one element.
    One,
    /// All elements, in the shape that all have in common.
    All,
}

/// What an output has to be.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    kind: Kind,
    dtype: DType,
    /// Whether it has the common shape; else it is one element.
    is_full: bool,
    /// Its position in the table.
    at: u8,
}

/// A call whose operands are looked at.
#[derive(Debug)]
pub struct Call<'a> {
    table: Table,
    /// The shape that operands have in common, that of the first input which has it; of one element as long as none was seen.
    shape: &'a [usize],
}

// SAFETY: addresses of operands that the caller lends for a call, as those of an `ArrayRef`.
unsafe impl Send for Call<'_> {}

impl Default for Call<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> Call<'a> {
    /// A call of which nothing is known yet.
    #[must_use]
    #[inline(always)]
    pub const fn new() -> Self {
        Self { table: Table::new(), shape: &[] }
    }

    /// Takes an input; `false` if it is not what the program takes, or does not lie as kernels want it.
    #[inline(always)]
    fn takes(&mut self, input: &Input, array: Strided<'_>) -> bool {
        self.table.set(input.at, array.data);
        input.kind.is_of(&array) && (input.reads != Reads::All || array.fills(self.shape))
    }

    /// Takes memory for an output; `false` if the result has another dtype or shape, or lies there with gaps.
    #[inline(always)]
    fn gives(&mut self, output: &Output, array: Strided<'_>) -> bool {
        self.table.set(output.at, array.data);
        output.kind.is_of(&array) && (!output.is_full || array.fills(self.shape))
    }

    /// The shape that the inputs which were taken have in common, but for those of one element.
    #[must_use]
    #[inline(always)]
    pub fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// Of every operand that is not one element.
    #[must_use]
    #[inline(always)]
    pub fn elements(&self) -> usize {
        run::elements(self.shape())
    }
}

impl Direct {
    /// The program, if it is one map: a call that the compiler sees through is then served by that.
    #[inline(always)]
    pub(crate) const fn map(&self) -> Option<&Map> {
        self.map.as_ref()
    }

    /// Serves a call into memory of the caller; `false` if it is not served.
    #[inline(never)]
    pub(crate) fn serve(&self, inputs: &[Strided<'_>], outputs: &[Strided<'_>]) -> bool {
        let mut call = Call::new();
        self.takes_each(&mut call, inputs.iter().copied())
            && self.gives_each(&mut call, outputs.iter().copied())
    }

    /// Takes the inputs of a call; `false` as [`Call::takes`].
    #[inline(always)]
    fn takes_each<'a>(
        &self,
        call: &mut Call<'a>,
        inputs: impl ExactSizeIterator<Item = Strided<'a>> + Clone,
    ) -> bool {
        if inputs.len() != self.inputs.len() {
            return false;
        }
        call.shape = inputs.clone().nth(self.lead).map_or(&[], |lead| lead.extents);
        for (expected, input) in self.inputs.iter().zip(inputs.clone()) {
            if !call.takes(expected, input) {
                return false;
            }
        }
        let admit = |(types, _): &(Vec<Type>, Vec<Type>)| {
            types.iter().zip(inputs).all(|(ty, input)| ty.admits(input.dtype, input.extents))
        };
        self.fixed.as_deref().is_none_or(admit)
    }

    /// Takes memory for all outputs, after all inputs, and runs the call; `false` if it is not served.
    #[inline(always)]
    fn gives_each<'b>(
        &self,
        call: &mut Call<'_>,
        outputs: impl ExactSizeIterator<Item = Strided<'b>>,
    ) -> bool {
        if outputs.len() != self.outputs.len() {
            return false;
        }
        for (expected, output) in self.outputs.iter().zip(outputs) {
            if !call.gives(expected, output) {
                return false;
            }
        }
        let elements = call.elements();
        // SAFETY: inputs were taken; outputs have the shapes of the results, and were made of exclusive borrows, or of memory
        // that was compared with every other operand's.
        unsafe { self.run(call, elements) }
    }

    /// Serves a call into memory of the caller; `false` if it is not served.
    #[inline(always)]
    pub(crate) fn write<'b>(
        &self,
        inputs: &[ArrayRef<'_>],
        outputs: impl ExactSizeIterator<Item = Strided<'b>>,
    ) -> bool {
        let inputs = inputs.iter().map(|input| input.view.strided());
        match &self.map {
            Some(map) => map.serve(inputs, outputs),
            None => self.write_each(inputs, outputs),
        }
    }

    /// As [`Direct::write`], of a program that is no map: its pointers take much of the stack.
    #[inline(never)]
    fn write_each<'a, 'b>(
        &self,
        inputs: impl ExactSizeIterator<Item = Strided<'a>> + Clone,
        outputs: impl ExactSizeIterator<Item = Strided<'b>>,
    ) -> bool {
        let mut call = Call::new();
        self.takes_each(&mut call, inputs) && self.gives_each(&mut call, outputs)
    }

    /// Takes the input at a position; `false` if it is not what the program takes, or does not lie as kernels want it.
    #[inline(always)]
    pub fn take<'a>(&self, call: &mut Call<'a>, at: usize, input: Strided<'a>) -> bool {
        let Some(expected) = self.inputs.get(at) else { return false };
        if at == self.lead {
            call.shape = input.extents;
        }
        let is_fixed = |fixed: &(Vec<Type>, Vec<Type>)| fixed.0[at].admits(input.dtype, input.extents);
        call.takes(expected, input) && self.fixed.as_deref().is_none_or(is_fixed)
    }

    /// Takes memory for the output at a position, after all inputs; `false` if the result does not lie there as kernels
    /// write it.
    #[inline(always)]
    pub fn give(&self, call: &mut Call<'_>, at: usize, output: Strided<'_>) -> bool {
        self.outputs.get(at).is_some_and(|expected| call.gives(expected, output))
    }

    /// What an output has to be.
    #[must_use]
    #[inline(always)]
    pub fn output(&self, at: usize) -> Option<&Output> {
        self.outputs.get(at)
    }

    /// Runs a call whose operands others describe; `false` if it is not served, or outputs overlap what is read or each other.
    ///
    /// # Safety
    /// Every input was taken, every output given, and both are as their descriptions promise. `elements` is that of the call.
    #[inline(always)]
    pub unsafe fn run_apart(&self, call: &mut Call<'_>, elements: usize) -> bool {
        let bytes = |kind: Kind, is_full: bool| kind.itemsize_bytes() * if is_full { elements } else { 1 };
        let are_apart = |output: &Output, at: u8, length: usize| {
            // SAFETY: the caller's promise.
            let [written, other] = [output.at, at].map(|at| unsafe { call.table.get(at) }.addr());
            written + bytes(output.kind, output.is_full) <= other || other + length <= written
        };
        let is_apart = |(position, output): (usize, &Output)| {
            self.inputs.iter().all(|input| match input.reads {
                Reads::Nothing => true,
                Reads::One => are_apart(output, input.at, bytes(input.kind, false)),
                Reads::All => are_apart(output, input.at, bytes(input.kind, true)),
            }) && self.outputs[..position]
                .iter()
                .all(|other| are_apart(output, other.at, bytes(other.kind, other.is_full)))
        };
        // SAFETY: the caller's promise.
        self.outputs.iter().enumerate().all(is_apart) && unsafe { self.run(call, elements) }
    }
}

impl Output {
    /// The shape of a result where operands have this one.
    #[must_use]
    #[inline(always)]
    pub fn shape<'a>(&self, common: &'a [usize]) -> &'a [usize] {
        if self.is_full { common } else { &[] }
    }
}

/// Where an operand lies.
type Pointer = *mut c_char;

#[cfg(test)]
mod tests;

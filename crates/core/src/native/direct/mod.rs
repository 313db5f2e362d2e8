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
//! `assembly` makes tasks of captured modules, `run` runs them, `results` makes new arrays, `small` the small ones.

mod assembly;
mod few;
mod results;
mod run;
mod small;

use super::array_ref::ArrayRef;
use super::library::LoadedModule;
use super::strided::Strided;
use crate::{Array, DType, Type};
use few::Few;
pub use results::{AllMade, Made};
use run::{Table, Task, Wires};
use std::ffi::c_char;

/// A program that can be run directly.
#[derive(Debug)]
pub struct Direct {
    inputs: Few<Input>,
    outputs: Few<Output>,
    tasks: Vec<Task>,
    wires: Wires,
    /// Whether nothing is to be set or compared besides operands: no wires, no types that fix extents.
    is_plain: bool,
    /// Results that are no outputs, at one time.
    slots: u8,
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
    dtype: DType,
    reads: Reads,
    /// Its position in the table.
    at: u8,
}

/// Dtype, rank, and what is read of an input, in one word: to compare them is one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kind(u64);

impl Kind {
    /// ndarray has ranks beyond ours, but none of 2⁴⁸ dimensions.
    #[inline(always)]
    const fn new(dtype: DType, ndim: usize, reads: Reads) -> Self {
        Self((dtype as u64) << 56 | (reads as u64) << 48 | ndim as u64)
    }
}

/// What kernels read of an input.
#[derive(Debug, Clone, Copy)]
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
    /// The shape that operands have in common; `None` as long as none was seen that has it.
    shape: Option<&'a [usize]>,
}

impl Input {
    fn new(dtype: DType, ndim: usize, reads: Reads, at: u8) -> Self {
        Self { kind: Kind::new(dtype, ndim, reads), dtype, reads, at }
    }
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
        Self { table: Table::new(), shape: None }
    }

    /// Takes an input; `false` if it is not what the program takes, or does not lie as kernels want it.
    #[inline(always)]
    fn takes(&mut self, input: &Input, array: Strided<'a>) -> bool {
        let kind = |reads| Kind::new(array.dtype, array.extents.len(), reads);
        if input.kind == kind(Reads::All) {
            self.table.set(input.at, array.data);
            return array.fills(self.shape.get_or_insert(array.extents));
        }
        if input.kind == kind(Reads::One) {
            self.table.set(input.at, array.data);
            return true;
        }
        input.kind == kind(Reads::Nothing)
    }

    /// Takes memory for an output; `false` if the result has another dtype or shape, or lies there with gaps.
    #[inline(always)]
    fn gives(&mut self, output: &Output, array: Strided<'_>) -> bool {
        self.table.set(output.at, array.data);
        array.dtype == output.dtype && array.fills(output.shape(self.shape()))
    }

    /// The shape that the inputs which were taken have in common, but for those of one element.
    #[must_use]
    #[inline(always)]
    pub fn shape(&self) -> &'a [usize] {
        self.shape.unwrap_or_default()
    }

    /// Of every operand that is not one element.
    #[must_use]
    #[inline(always)]
    pub fn elements(&self) -> usize {
        match self.shape() {
            [n] => *n,
            shape => shape.iter().product(),
        }
    }
}

impl Direct {
    /// Takes the inputs of a call that the compiler sees through; `false` as [`Call::takes`], and where types fix extents.
    #[inline(always)]
    pub(crate) fn takes_each<'a, const N: usize>(
        &self,
        call: &mut Call<'a>,
        inputs: [Strided<'a>; N],
    ) -> bool {
        let Some(expected) = self.inputs.as_array::<N>() else { return false };
        // A loop that is unrolled: adapters of iterators are left as calls, and arrays in memory.
        for (expected, input) in expected.iter().zip(&inputs) {
            if !call.takes(expected, *input) {
                return false;
            }
        }
        self.fixed.is_none()
    }

    /// As [`Direct::write`], where the compiler sees through the call.
    #[inline(always)]
    pub(crate) fn write_each<const N: usize>(&self, call: &mut Call<'_>, outputs: [Strided<'_>; N]) -> bool {
        let Some(expected) = self.outputs.as_array::<N>() else { return false };
        for (expected, output) in expected.iter().zip(&outputs) {
            if !call.gives(expected, *output) {
                return false;
            }
        }
        let elements = call.elements();
        // SAFETY: as in `write`.
        unsafe { self.run(call, elements) }
    }

    /// Takes the inputs of a call; `false` as [`Call::takes`].
    #[inline]
    pub(crate) fn takes<'a>(&self, call: &mut Call<'a>, inputs: &'a [ArrayRef<'_>]) -> bool {
        let mut inputs = inputs.iter().enumerate();
        inputs.len() == self.inputs.len()
            && inputs.all(|(at, input)| self.take(call, at, input.view.strided()))
    }

    /// Takes the input at a position; `false` if it is not what the program takes, or does not lie as kernels want it.
    #[inline(always)]
    pub fn take<'a>(&self, call: &mut Call<'a>, at: usize, input: Strided<'a>) -> bool {
        let Some(expected) = self.inputs.get(at) else { return false };
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
        let bytes = |dtype: DType, is_full: bool| dtype.itemsize_bytes() * if is_full { elements } else { 1 };
        let are_apart = |output: &Output, at: u8, length: usize| {
            // SAFETY: the caller's promise.
            let [written, other] = [output.at, at].map(|at| unsafe { call.table.get(at) }.addr());
            written + bytes(output.dtype, output.is_full) <= other || other + length <= written
        };
        let is_apart = |(position, output): (usize, &Output)| {
            self.inputs.iter().all(|input| match input.reads {
                Reads::Nothing => true,
                Reads::One => are_apart(output, input.at, bytes(input.dtype, false)),
                Reads::All => are_apart(output, input.at, bytes(input.dtype, true)),
            }) && self.outputs[..position]
                .iter()
                .all(|other| are_apart(output, other.at, bytes(other.dtype, other.is_full)))
        };
        // SAFETY: the caller's promise.
        self.outputs.iter().enumerate().all(is_apart) && unsafe { self.run(call, elements) }
    }

    /// Runs a call into memory of the caller; `false` if it is not served.
    #[inline(always)]
    pub(crate) fn write<'b>(
        &self,
        call: &mut Call<'_>,
        outputs: impl ExactSizeIterator<Item = Strided<'b>>,
    ) -> bool {
        if outputs.len() != self.outputs.len() {
            return false;
        }
        for (at, output) in outputs.enumerate() {
            if !self.give(call, at, output) {
                return false;
            }
        }
        let elements = call.elements();
        // SAFETY: inputs were taken; outputs have the shapes of the results, and were made of exclusive borrows, or of memory
        // that was compared with every other operand's.
        unsafe { self.run(call, elements) }
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

//! Direct calls: programs of maps and whole reductions that run on the caller's arrays.
//!
//! ```text
//! all operands contiguous, of one shape or one element, few elements in slots ──▶ the modules' kernels, one after the other
//! anything else, and errors of kernels ──▶ Frame: tensors ──▶ modules or chains ──▶ drivers ──▶ the same kernels
//! ```
//! Such a call only checks its operands and computes: it needs no tensors, no frame and no driver. A kernel is a function
//! of single elements, and the order of a reduction depends only on the count. So both paths return the same bits. A call
//! that fails here is repeated in a frame, which reports the error; until then it has only written to outputs.
//!
//! `assembly` creates tasks from captured modules, and `run` runs them. `map` runs programs that are a single map.
//! `results` creates new arrays, and `small` creates small ones.

mod assembly;
mod few;
mod map;
mod results;
mod run;
mod small;

use crate::native::arrays::ArrayRef;
use crate::native::arrays::Strided;
use crate::native::load::LoadedModule;
use crate::{Array, DType, Type};
use few::Few;
pub use map::Map;
pub use results::{AllMade, Made};
use run::{Table, Task, Wires};
use std::ffi::c_char;

/// A program that can run directly.
#[derive(Debug)]
pub struct Direct {
    inputs: Few<Input>,
    /// The position of the first input with the common shape, or the number of inputs if none has it.
    lead: usize,
    outputs: Few<Output>,
    /// The program, if it is one map.
    map: Option<Map>,
    tasks: Vec<Task>,
    wires: Wires,
    /// Whether only operands must be checked and set: there are no wires, and no types that fix extents.
    is_plain: bool,
    /// Bytes of the widest element.
    widest: usize,
    /// Maximum number of elements of a call.
    most: usize,
    /// The extents that are fixed or must be equal, if any.
    fixed: Option<Box<Fixed>>,
    /// The constants that wires point to.
    _constants: Vec<Array>,
    /// Keeps the kernels' code mapped.
    _modules: Vec<LoadedModule>,
}

// SAFETY: function pointers and read-only data of modules, and constants. They are kept alive and never written.
unsafe impl Send for Direct {}
// SAFETY: as above.
unsafe impl Sync for Direct {}

/// The requirements on extents.
#[derive(Debug)]
struct Fixed {
    inputs: Vec<Type>,
    outputs: Vec<Type>,
    /// Pairs of axes of the common shape whose extents have one name.
    equal: Vec<(usize, usize)>,
}

/// The requirements on an input.
#[derive(Debug, Clone, Copy)]
struct Input {
    kind: Kind,
    reads: Reads,
    /// Its position in the table, or [`UNREAD`].
    at: u8,
}

/// Dtype and rank in one word, so that both are compared at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kind(u64);

impl Kind {
    /// Packs dtype and rank. ndarray has larger ranks than we support, but not 2⁵⁶.
    #[inline(always)]
    const fn new(dtype: DType, ndim: usize) -> Self {
        Self((dtype as u64) << 56 | ndim as u64)
    }

    #[inline(always)]
    fn is_of(self, array: &Strided<'_>) -> bool {
        self == Self::new(array.dtype, array.extents.len())
    }

    /// Returns the bytes of an element.
    fn itemsize_bytes(self) -> usize {
        DType::ALL[(self.0 >> 56) as usize].itemsize_bytes()
    }
}

/// The part of an input that kernels read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// Nothing. Its extents do not matter.
    Nothing,
    /// Its only element.
    One,
    /// All elements, in the common shape.
    All,
}

/// The requirements on an output.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    kind: Kind,
    dtype: DType,
    /// Whether it has the common shape; otherwise it is one element.
    is_full: bool,
    /// Its position in the table.
    at: u8,
}

/// A call whose operands are being checked.
#[derive(Debug)]
pub struct Call<'a> {
    table: Table,
    /// The common shape, taken from the first input that has it. Empty before that.
    shape: &'a [usize],
}

// SAFETY: addresses of operands that the caller lends for a call, like those of an `ArrayRef`.
unsafe impl Send for Call<'_> {}

impl Default for Call<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> Call<'a> {
    /// Creates a call without operands.
    #[must_use]
    #[inline(always)]
    pub const fn new() -> Self {
        Self { table: Table::new(), shape: &[] }
    }

    /// Adds an input. Returns `false` if its type, shape or layout is not as kernels need it.
    #[inline(always)]
    fn takes(&mut self, input: &Input, array: Strided<'_>) -> bool {
        self.table.set(input.at, array.data);
        input.kind.is_of(&array) && (input.reads != Reads::All || array.fills(self.shape))
    }

    /// Adds memory for an output. Returns `false` if dtype or shape differ from the result's, or the memory is not
    /// contiguous.
    #[inline(always)]
    fn gives(&mut self, output: &Output, array: Strided<'_>) -> bool {
        self.table.set(output.at, array.data);
        output.kind.is_of(&array) && (!output.is_full || array.fills(self.shape))
    }

    /// Returns the common shape of the inputs added so far, except for those of one element.
    #[must_use]
    #[inline(always)]
    pub fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// Returns the number of elements of every operand that has the common shape.
    #[must_use]
    #[inline(always)]
    pub fn elements(&self) -> usize {
        run::elements(self.shape())
    }
}

impl Direct {
    /// Returns the program as a map, if it is one. A call with statically known types then uses the map.
    #[inline(always)]
    pub(crate) const fn map(&self) -> Option<&Map> {
        self.map.as_ref()
    }

    /// Runs a call that writes to memory of the caller. Returns `false` if the call is not possible.
    #[inline(never)]
    pub(crate) fn serve(&self, inputs: &[Strided<'_>], outputs: &[Strided<'_>]) -> bool {
        let mut call = Call::new();
        self.takes_each(&mut call, inputs.iter().copied())
            && self.gives_each(&mut call, outputs.iter().copied())
    }

    /// Adds the inputs of a call. Returns `false` as [`Call::takes`] does.
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
        let admit = |fixed: &Fixed| {
            fixed.inputs.iter().zip(inputs).all(|(ty, input)| ty.admits(input.dtype, input.extents))
        };
        self.fixed.as_deref().is_none_or(admit)
    }

    /// Adds the memory of all outputs, after all inputs, and runs the call. Returns `false` if the call is not possible.
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
        // SAFETY: all inputs were added. Outputs have the shapes of the results, and were created from exclusive borrows,
        // or from memory that was compared with every other operand's.
        unsafe { self.run(call, elements) }
    }

    /// Runs a call that writes to memory of the caller. Returns `false` if the call is not possible.
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

    /// Does the same as [`Direct::write`] for a program that is not a map. Not inlined, because its pointers need much
    /// stack.
    #[inline(never)]
    fn write_each<'a, 'b>(
        &self,
        inputs: impl ExactSizeIterator<Item = Strided<'a>> + Clone,
        outputs: impl ExactSizeIterator<Item = Strided<'b>>,
    ) -> bool {
        let mut call = Call::new();
        self.takes_each(&mut call, inputs) && self.gives_each(&mut call, outputs)
    }

    /// Adds the input at a position. Returns `false` if its type, shape or layout is not as kernels need it.
    #[inline(always)]
    pub fn take<'a>(&self, call: &mut Call<'a>, at: usize, input: Strided<'a>) -> bool {
        let Some(expected) = self.inputs.get(at) else { return false };
        if at == self.lead {
            call.shape = input.extents;
        }
        let is_fixed = |fixed: &Fixed| fixed.inputs[at].admits(input.dtype, input.extents);
        call.takes(expected, input) && self.fixed.as_deref().is_none_or(is_fixed)
    }

    /// Adds memory for the output at a position, after all inputs. Returns `false` if it does not have the layout that
    /// kernels need.
    #[inline(always)]
    pub fn give(&self, call: &mut Call<'_>, at: usize, output: Strided<'_>) -> bool {
        self.outputs.get(at).is_some_and(|expected| call.gives(expected, output))
    }

    /// Returns the requirements on an output.
    #[must_use]
    #[inline(always)]
    pub fn output(&self, at: usize) -> Option<&Output> {
        self.outputs.get(at)
    }

    /// Runs a call whose operands are raw descriptions. Returns `false` if the call is not possible, or an output overlaps
    /// an input or another output.
    ///
    /// # Safety
    /// Every input was taken, every output was given, and their descriptions are true. `elements` is that of the call.
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
    /// Returns the shape of the result for a common shape.
    #[must_use]
    #[inline(always)]
    pub fn shape<'a>(&self, common: &'a [usize]) -> &'a [usize] {
        if self.is_full { common } else { &[] }
    }
}

/// The address of an operand.
type Pointer = *mut c_char;

#[cfg(test)]
mod tests;

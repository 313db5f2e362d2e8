//! Tasks, run one after the other on all elements.

use super::{Call, Direct, Pointer};
use crate::Type;
use crate::native::{DefaultFloats, host};
use precast_abi::context::{Context, Host};
use precast_abi::driver::{Kernel, Monoid};
use std::ffi::c_char;
use std::mem::{MaybeUninit, offset_of};
use std::ptr;

/// Most pointers of a program: as many as a `u8` counts.
const TABLE: usize = 256;
/// The position of what is not read.
pub(super) const UNREAD: u8 = 255;
/// Bytes for slots, on the stack: a part of the first-level cache.
const SLOT_BYTES: usize = 8192;
/// Bytes for the lanes of a reduction, on the stack.
const LANES_BYTES: usize = 1024;

/// Where the operands of all tasks are, those of one side by side. What is not set is not read.
#[derive(Debug)]
pub(super) struct Table([MaybeUninit<Pointer>; TABLE]);

impl Table {
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; TABLE])
    }

    #[inline(always)]
    pub(super) fn set(&mut self, at: u8, pointer: Pointer) {
        self.0[usize::from(at)].write(pointer);
    }

    /// The pointer at a position.
    ///
    /// # Safety
    /// It was set.
    #[inline(always)]
    pub(super) unsafe fn get(&self, at: u8) -> Pointer {
        // SAFETY: the caller's promise.
        unsafe { self.0[usize::from(at)].assume_init() }
    }

    /// Those from a position on.
    #[inline(always)]
    const fn from(&self, at: u8) -> *const Pointer {
        self.0.as_ptr().cast::<Pointer>().wrapping_add(at as usize)
    }
}

/// The pointers that no operand of the call brings, each with its position.
#[derive(Debug, Default)]
pub(super) struct Wires {
    pub(super) constants: Vec<(Pointer, u8)>,
    pub(super) slots: Vec<(u8, u8)>,
    /// Those that stand in the table once more; looked at last.
    pub(super) twice: Vec<(u8, u8)>,
}

impl Wires {
    pub(super) const fn is_empty(&self) -> bool {
        self.constants.is_empty() && self.slots.is_empty() && self.twice.is_empty()
    }
}

/// What is run on which pointers.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) work: Work,
    /// The first of its positions.
    pub(super) first: u8,
    /// Whether it reads all elements; else one.
    pub(super) is_full: bool,
}

#[derive(Debug)]
pub(super) enum Work {
    /// A kernel, on its operands and results.
    Map(Kernel),
    /// A reduction of one operand.
    Fold(Box<Fold>),
    /// One element of so many bytes, as often as there are elements.
    Fill(usize),
}

/// A reduction.
#[derive(Debug)]
pub(super) struct Fold {
    monoid: Monoid,
    /// Its lanes before the first element.
    clear: [Line; LANES_BYTES / size_of::<Line>()],
    /// How many of them there are, in lines of memory.
    lines: usize,
}

impl Fold {
    /// `None` if its lanes have no room.
    pub(super) fn new(monoid: Monoid) -> Option<Self> {
        let bytes = usize::try_from(monoid.lanes.checked_mul(monoid.item)?).ok()?;
        let lines = bytes.div_ceil(size_of::<Line>());
        let mut clear = [Line([0; 64]); LANES_BYTES / size_of::<Line>()];
        if lines > clear.len() {
            return None;
        }
        // SAFETY: the lanes have room.
        unsafe { (monoid.clear)(clear.as_mut_ptr().cast(), i64::from(monoid.lanes)) };
        Some(Self { monoid, clear, lines })
    }

    /// Reduces elements of one block in the order of `precast/ops/monoid.h`.
    ///
    /// # Safety
    /// There are `n` elements of the monoid's at `from`, at least one and at most `REDUCE_BLOCK`, and room for a result at
    /// `to`.
    #[inline(always)]
    unsafe fn run(&self, from: *const c_char, n: i64, to: *mut c_char) {
        if n <= i64::from(self.monoid.lanes) {
            // SAFETY: the caller's promise; as many elements as there are lanes, or less.
            unsafe { (self.monoid.few)(from.cast(), n, to) };
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.run_in_lanes(from, n, to) };
        }
    }

    /// # Safety
    /// As [`Fold::run`].
    #[inline(never)]
    unsafe fn run_in_lanes(&self, from: *const c_char, n: i64, to: *mut c_char) {
        let mut lanes = [const { MaybeUninit::<Line>::uninit() }; LANES_BYTES / size_of::<Line>()];
        // Few lines, which a call would take longer to copy.
        for (lane, clear) in lanes.iter_mut().zip(&self.clear).take(self.lines) {
            lane.write(*clear);
        }
        let mut total = MaybeUninit::<Line>::uninit();
        let (lanes, total) = (lanes.as_mut_ptr().cast(), total.as_mut_ptr().cast());
        // SAFETY: the lanes are cleared; the elements are the caller's.
        unsafe { (self.monoid.fold)(lanes, from.cast(), n, 0) };
        // SAFETY: a total has 16 bytes at most (precast/driver.h).
        unsafe { (self.monoid.close)(lanes, 1, total, 1) };
        // SAFETY: the total was made; room for the result is the caller's.
        unsafe { (self.monoid.finish)(total, 1, n, to, 0) };
    }
}

/// How many elements of so many bytes a program may have that needs so many slots.
pub(super) fn most_in_slots(slots: u8, widest: usize) -> usize {
    let lines = SLOT_BYTES / size_of::<Line>() / usize::from(slots.max(1));
    if slots == 0 { usize::MAX } else { lines * size_of::<Line>() / widest }
}

/// A line of the cache.
#[repr(C, align(64))]
#[derive(Debug, Clone, Copy)]
struct Line([u8; 64]);

impl Direct {
    /// Runs a call; `false` if it is not served: no elements, too many of them, or what a kernel refuses.
    ///
    /// # Safety
    /// Every input and output is set: elements of its dtype in C order, as many as the call has, or one. Outputs are written
    /// by nobody else, and overlap no other operand.
    #[inline(always)]
    pub(super) unsafe fn run(&self, call: &mut Call<'_>, elements: usize) -> bool {
        if elements == 0 || elements > self.most {
            return false;
        }
        let _floats = DefaultFloats::set();
        if self.is_plain {
            // SAFETY: as promised by the caller; there is nothing else to set.
            return unsafe { self.run_tasks(&call.table, elements) };
        }
        // SAFETY: as promised by the caller.
        self.gives(call.shape()) && unsafe { self.run_wired(&mut call.table, elements) }
    }

    /// Whether the types of the outputs admit results of a call with this common shape.
    fn gives(&self, common: &[usize]) -> bool {
        let admits = |fixed: &(Vec<Type>, Vec<Type>)| {
            let mut outputs = fixed.1.iter().zip(self.outputs.iter());
            outputs.all(|(ty, output)| ty.admits(output.dtype, output.shape(common)))
        };
        self.fixed.as_deref().is_none_or(admits)
    }

    /// # Safety
    /// As [`Direct::run`].
    #[inline(never)]
    unsafe fn run_wired(&self, table: &mut Table, elements: usize) -> bool {
        let mut slots = [const { MaybeUninit::<Line>::uninit() }; SLOT_BYTES / size_of::<Line>()];
        // There is room: `most` says how many elements slots have it for.
        let lines = (elements * self.widest).div_ceil(size_of::<Line>());
        let Wires { constants, slots: made, twice } = &self.wires;
        for (pointer, to) in constants {
            table.set(*to, *pointer);
        }
        for (slot, to) in made {
            let start = usize::from(*slot) * lines;
            table.set(*to, slots.as_mut_ptr().wrapping_add(start).cast());
        }
        for (from, to) in twice {
            // SAFETY: inputs, outputs, constants and slots are set.
            table.set(*to, unsafe { table.get(*from) });
        }
        // SAFETY: as promised by the caller; the wires set the rest, and every slot has room for all elements.
        unsafe { self.run_tasks(table, elements) }
    }

    /// # Safety
    /// Every position is set, as [`Direct::run`] has it.
    #[inline(always)]
    unsafe fn run_tasks(&self, table: &Table, elements: usize) -> bool {
        for Task { work, first, is_full } in &self.tasks {
            let n = if *is_full { elements } else { 1 };
            let operands = table.from(*first);
            match work {
                Work::Map(kernel) => {
                    // SAFETY: as promised by the caller: so many elements of each operand, inputs then results.
                    if !unsafe { call(*kernel, n, operands) } {
                        return false;
                    }
                }
                Work::Fold(fold) => {
                    // SAFETY: as above: elements, and room for a result.
                    let [from, to] = unsafe { *operands.cast::<[Pointer; 2]>() };
                    // SAFETY: as above; `most` is a block of reductions.
                    unsafe { fold.run(from, n as i64, to) };
                }
                Work::Fill(bytes) => {
                    // SAFETY: as above: an element, and a slot.
                    let [from, to] = unsafe { *operands.cast::<[Pointer; 2]>() };
                    // SAFETY: as above; the slot has room for all elements.
                    unsafe { fill(from, *bytes, n, to) };
                }
            }
        }
        true
    }
}

/// How many elements an array of these extents has.
#[inline(always)]
pub(super) fn elements(extents: &[usize]) -> usize {
    match extents {
        [n] => *n,
        // What a caller broadcasts may have more than can be counted: who asks looks where the elements lie, too.
        extents => extents.iter().fold(1, |all, extent| all.wrapping_mul(*extent)),
    }
}

/// Calls a kernel; `false` if it refuses what it is given.
///
/// # Safety
/// There are `n` elements of each of its operands, inputs then results, or one where it takes one.
#[inline(always)]
pub(super) unsafe fn call(kernel: Kernel, n: usize, operands: *const Pointer) -> bool {
    // The message is not cleared: it is long, and nobody reads it.
    let mut context = MaybeUninit::<Context>::uninit();
    // SAFETY: a context begins with a head.
    unsafe { context.as_mut_ptr().cast::<Head>().write(Head { host: host::here(), kind: 0, reserved: 0 }) };
    // SAFETY: as promised by the caller; the context has a host and an empty slot.
    unsafe { kernel(context.as_mut_ptr(), n as i64, operands) == 0 }
}

/// What a context begins with: all of it but the message.
#[repr(C)]
struct Head {
    host: *const Host,
    kind: i32,
    reserved: i32,
}

const _: () = assert!(offset_of!(Context, error) == offset_of!(Head, kind));

/// Writes one element `n` times.
///
/// # Safety
/// There is one element of so many bytes at `from`, and room for `n` at `to`, which is other memory.
unsafe fn fill(from: *const c_char, bytes: usize, n: usize, to: *mut c_char) {
    for i in 0..n {
        // SAFETY: as promised by the caller.
        let to = unsafe { to.add(i * bytes) };
        // SAFETY: as promised by the caller.
        unsafe { ptr::copy_nonoverlapping(from, to, bytes) };
    }
}

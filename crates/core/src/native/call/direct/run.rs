//! Runs tasks one after the other, each on all elements.

use super::{Call, Direct, Fixed, Pointer};
use crate::native::{DefaultFloats, host};
use precast_abi::context::{Context, Host};
use precast_abi::driver::{Kernel, Monoid};
use std::ffi::c_char;
use std::mem::{MaybeUninit, offset_of};
use std::ptr;

/// Maximum number of pointers of a program, so that positions fit in a `u8`.
const TABLE: usize = 256;
/// The position of inputs that are not read.
pub(super) const UNREAD: u8 = 255;
/// Size of the slots on the stack, in bytes: a part of the first-level cache.
const SLOT_BYTES: usize = 8192;
/// Size of the lanes of a reduction on the stack, in bytes.
const LANES_BYTES: usize = 1024;

/// The addresses of the operands of all tasks. Those of one task are adjacent. Unset positions are never read.
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

    /// Returns the pointer at a position.
    ///
    /// # Safety
    /// The position was set.
    #[inline(always)]
    pub(super) unsafe fn get(&self, at: u8) -> Pointer {
        // SAFETY: the caller's promise.
        unsafe { self.0[usize::from(at)].assume_init() }
    }

    /// Returns the pointers from a position on.
    #[inline(always)]
    const fn from(&self, at: u8) -> *const Pointer {
        self.0.as_ptr().cast::<Pointer>().wrapping_add(at as usize)
    }
}

/// Pointers that are not operands of the call, each with its position.
#[derive(Debug, Default)]
pub(super) struct Wires {
    pub(super) constants: Vec<(Pointer, u8)>,
    pub(super) slots: Vec<(u8, u8)>,
    /// Further copies of pointers in the table; set last.
    pub(super) twice: Vec<(u8, u8)>,
}

impl Wires {
    pub(super) const fn is_empty(&self) -> bool {
        self.constants.is_empty() && self.slots.is_empty() && self.twice.is_empty()
    }
}

/// A task: work on adjacent pointers of the table.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) work: Work,
    /// The first of its positions.
    pub(super) first: u8,
    /// Whether it processes all elements; otherwise one.
    pub(super) is_full: bool,
}

#[derive(Debug)]
pub(super) enum Work {
    /// A kernel that runs on its operands and results.
    Map(Kernel),
    /// A reduction of one operand.
    Fold(Box<Fold>),
    /// Repeats one element of this many bytes to the number of elements.
    Fill(usize),
}

/// A reduction.
#[derive(Debug)]
pub(super) struct Fold {
    monoid: Monoid,
    /// The initial state of the lanes.
    clear: [Line; LANES_BYTES / size_of::<Line>()],
    /// The size of the lanes, in cache lines.
    lines: usize,
}

impl Fold {
    /// Creates a reduction. Returns `None` if its lanes are too large.
    pub(super) fn new(monoid: Monoid) -> Option<Self> {
        let bytes = usize::try_from(monoid.lanes.checked_mul(monoid.item)?).ok()?;
        let lines = bytes.div_ceil(size_of::<Line>());
        let mut clear = [Line([0; 64]); LANES_BYTES / size_of::<Line>()];
        if lines > clear.len() {
            return None;
        }
        // SAFETY: the lanes fit.
        unsafe { (monoid.clear)(clear.as_mut_ptr().cast(), i64::from(monoid.lanes)) };
        Some(Self { monoid, clear, lines })
    }

    /// Reduces the elements of one block in the order of `precast/ops/monoid.h`.
    ///
    /// # Safety
    /// `from` points to `n` elements of the monoid, at least one and at most `REDUCE_BLOCK`, and `to` to room for a result.
    #[inline(always)]
    unsafe fn run(&self, from: *const c_char, n: i64, to: *mut c_char) {
        if n <= i64::from(self.monoid.lanes) {
            // SAFETY: the caller's promise; there are at most as many elements as lanes.
            unsafe { (self.monoid.few)(from.cast(), n, to) };
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.run_in_lanes(from, n, to) };
        }
    }

    /// Reduces more elements than there are lanes.
    ///
    /// # Safety
    /// As for [`Fold::run`].
    #[inline(never)]
    unsafe fn run_in_lanes(&self, from: *const c_char, n: i64, to: *mut c_char) {
        let mut lanes = [const { MaybeUninit::<Line>::uninit() }; LANES_BYTES / size_of::<Line>()];
        // A loop, because for a few lines a call of `memcpy` takes longer than the copy.
        for (lane, clear) in lanes.iter_mut().zip(&self.clear).take(self.lines) {
            lane.write(*clear);
        }
        let mut total = MaybeUninit::<Line>::uninit();
        let (lanes, total) = (lanes.as_mut_ptr().cast(), total.as_mut_ptr().cast());
        // SAFETY: the lanes are cleared; the elements are promised by the caller.
        unsafe { (self.monoid.fold)(lanes, from.cast(), n, 0) };
        // SAFETY: a total has at most 16 bytes (precast/driver.h).
        unsafe { (self.monoid.close)(lanes, 1, total, 1) };
        // SAFETY: the total was computed; the caller promises room for the result.
        unsafe { (self.monoid.finish)(total, 1, n, to, 0) };
    }
}

/// Returns the maximum number of elements for a program with this many slots and this element size.
pub(super) fn most_in_slots(slots: u8, widest: usize) -> usize {
    let lines = SLOT_BYTES / size_of::<Line>() / usize::from(slots.max(1));
    if slots == 0 { usize::MAX } else { lines * size_of::<Line>() / widest }
}

/// A cache line.
#[repr(C, align(64))]
#[derive(Debug, Clone, Copy)]
struct Line([u8; 64]);

impl Direct {
    /// Runs a call. Returns `false` if the call has no elements or too many, or if a kernel fails.
    ///
    /// # Safety
    /// Every input and output is set: elements of its dtype in C order, as many as the call has, or one. Outputs are not
    /// accessed by anything else and do not overlap any other operand.
    #[inline(always)]
    pub(super) unsafe fn run(&self, call: &mut Call<'_>, elements: usize) -> bool {
        if elements == 0 || elements > self.most {
            return false;
        }
        let _floats = DefaultFloats::set();
        if self.is_plain {
            // SAFETY: as promised by the caller; there are no other pointers to set.
            return unsafe { self.run_tasks(&call.table, elements) };
        }
        // SAFETY: as promised by the caller.
        self.gives(call.shape()) && unsafe { self.run_wired(&mut call.table, elements) }
    }

    /// Returns whether the types of the outputs admit results of a call with this common shape, and its extents of one name
    /// are equal.
    fn gives(&self, common: &[usize]) -> bool {
        let admits = |fixed: &Fixed| {
            let mut outputs = fixed.outputs.iter().zip(self.outputs.iter());
            let are_equal = fixed.equal.iter().all(|(a, b)| common.get(*a) == common.get(*b));
            are_equal && outputs.all(|(ty, output)| ty.admits(output.dtype, output.shape(common)))
        };
        self.fixed.as_deref().is_none_or(admits)
    }

    /// Sets the wires and runs the tasks.
    ///
    /// # Safety
    /// As for [`Direct::run`].
    #[inline(never)]
    unsafe fn run_wired(&self, table: &mut Table, elements: usize) -> bool {
        let mut slots = [const { MaybeUninit::<Line>::uninit() }; SLOT_BYTES / size_of::<Line>()];
        // The slots are large enough, because `most` limits the number of elements.
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

    /// Runs all tasks.
    ///
    /// # Safety
    /// Every position is set as [`Direct::run`] requires.
    #[inline(always)]
    unsafe fn run_tasks(&self, table: &Table, elements: usize) -> bool {
        for Task { work, first, is_full } in &self.tasks {
            let n = if *is_full { elements } else { 1 };
            let operands = table.from(*first);
            match work {
                Work::Map(kernel) => {
                    // SAFETY: as promised by the caller: `n` elements of each operand, inputs then results.
                    if !unsafe { call(*kernel, n, operands) } {
                        return false;
                    }
                }
                Work::Fold(fold) => {
                    // SAFETY: as above: elements, and room for a result.
                    let [from, to] = unsafe { *operands.cast::<[Pointer; 2]>() };
                    // SAFETY: as above; `most` is at most one block of reductions.
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

/// Returns the number of elements of an array with these extents.
#[inline(always)]
pub(super) fn elements(extents: &[usize]) -> usize {
    match extents {
        [n] => *n,
        // A broadcast array may have more elements than fit in `usize`. The wrapped result is safe, because callers also
        // check the layout of the elements.
        extents => extents.iter().fold(1, |all, extent| all.wrapping_mul(*extent)),
    }
}

/// Calls a kernel. Returns `false` if the kernel fails.
///
/// # Safety
/// There are `n` elements of each of its operands, inputs then results, or one if it takes one.
#[inline(always)]
pub(super) unsafe fn call(kernel: Kernel, n: usize, operands: *const Pointer) -> bool {
    // The message is not cleared, because it is long and never read.
    let mut context = MaybeUninit::<Context>::uninit();
    // SAFETY: a context begins with a head.
    unsafe { context.as_mut_ptr().cast::<Head>().write(Head { host: host::here(), kind: 0, reserved: 0 }) };
    // SAFETY: as promised by the caller; the context has a host and no error.
    unsafe { kernel(context.as_mut_ptr(), n as i64, operands) == 0 }
}

/// The fields of a context before the message.
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
/// `from` points to one element of `bytes` bytes, and `to` to room for `n`; they do not overlap.
unsafe fn fill(from: *const c_char, bytes: usize, n: usize, to: *mut c_char) {
    for i in 0..n {
        // SAFETY: as promised by the caller.
        let to = unsafe { to.add(i * bytes) };
        // SAFETY: as promised by the caller.
        unsafe { ptr::copy_nonoverlapping(from, to, bytes) };
    }
}

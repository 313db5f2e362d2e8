//! A chain: the kernels of several modules, run one after the other on blocks that fit in the first-level cache.
//!
//! ```text
//! x ─┐                          one block of every operand at a time
//! y ─┼─▶ driver ─▶ block ─▶ kernel 0 ─▶ slot 0 ─▶ kernel 1 ─▶ slot 1 ─▶ … ─▶ result, or the lanes of a reduction
//! z ─┘  broadcast, gather
//! ```
//! For the host's driver, a chain is one kernel. The driver handles broadcasting, strides, the order of additions in a
//! reduction, and sharing between threads, as for a fused module. Kernels are functions of single elements, so neither the
//! block length nor the number of threads changes the result bits. Each range of elements that a thread runs has its own
//! slots.

mod share;

use super::capture::Kernels;
use crate::native::host;
use crate::native::load::LoadedModule;
use crate::native::load::{RunError, run_error};
use crate::native::threads;
use precast_abi::context::Context;
use precast_abi::driver::{Elemwise, Kernel, Reduce, SHARED};
use precast_abi::tensor::Tensor;
use share::SHARING;
use std::ffi::{c_char, c_int};
use std::ptr;

/// Maximum number of operands of a kernel in a chain, including its output.
const OPERANDS: usize = 16;
/// Maximum size of the slots and input blocks, in bytes, so that they fit in the first-level cache.
const CACHE_BYTES: usize = 24 * 1024;
/// Maximum block length, in elements.
const BLOCK: usize = 2048;

/// The source of an operand in a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// An input of the chain.
    Input(usize),
    /// The result of an earlier kernel.
    Result(usize),
}

/// A kernel to be chained.
#[derive(Debug, Clone)]
pub struct Chained {
    /// The module of the kernel.
    pub module: LoadedModule,
    /// The kernel.
    pub work: Kernels,
    /// The sources of its operands, in order.
    pub operands: Vec<Value>,
    /// For each operand, whether the kernel reads only one element of it.
    pub scalar: Vec<bool>,
    /// The dtype number of its result.
    pub typenum: i32,
    /// Bytes of an element of its result.
    pub item_bytes: usize,
    /// Whether several threads may run it at once.
    pub is_shared: bool,
}

/// The memory of a kernel's operand.
#[derive(Debug, Clone, Copy)]
enum Location {
    /// The driver's block of this operand, which advances by `item_bytes` for each element.
    Block { operand: usize, item_bytes: usize },
    /// The only element of this operand.
    Element(usize),
    /// This slot.
    Slot(usize),
}

/// A kernel and the locations of its operands; the last is its result.
#[derive(Debug)]
struct Stage {
    kernel: Kernel,
    locations: Vec<Location>,
}

/// One or more kernels that run as one.
#[derive(Debug)]
pub struct Chain {
    stages: Vec<Stage>,
    /// For each input, 1 if its type has only one element.
    scalar: Vec<u8>,
    /// One-element inputs that a kernel needs as a block: operand, slot, bytes of an element.
    fills: Vec<(usize, usize, usize)>,
    /// The dtype number of the result.
    typenum: i32,
    reduce: Option<Reduce>,
    /// The kernel that the driver calls: [`run_blocks`], or the only kernel itself.
    kernel: Kernel,
    /// Whether `kernel` is [`run_blocks`], which needs a [`Running`].
    is_staged: bool,
    slots: usize,
    /// Bytes of the widest element. A slot holds `block` elements of this size.
    widest: usize,
    /// Length of a block, in elements.
    block: usize,
    /// Whether several threads may run it at once.
    is_shared: bool,
    /// Keeps the kernels' code mapped.
    _modules: Vec<LoadedModule>,
}

// SAFETY: function pointers and read-only data of modules that `_modules` keeps alive.
unsafe impl Send for Chain {}
// SAFETY: as above.
unsafe impl Sync for Chain {}

/// A cache line, the allocation unit of slots.
#[repr(C, align(64))]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line([u8; 64]);

/// The context of a running chain. Kernels see its first field.
#[repr(C)]
pub(crate) struct Running {
    pub(crate) ctx: Context,
    blocks: Blocks,
}

/// The chain that runs, and its slots.
#[derive(Clone, Copy)]
struct Blocks {
    chain: *const Chain,
    slots: *mut c_char,
    /// The distance between slots.
    slot_bytes: usize,
    /// The stage that failed.
    failed: Option<usize>,
}

impl Running {
    pub(crate) const fn new(ctx: Context) -> Self {
        let blocks = Blocks { chain: ptr::null(), slots: ptr::null_mut(), slot_bytes: 0, failed: None };
        Self { ctx, blocks }
    }
}

impl Chain {
    /// Chains kernels; the last may be a reduction. `inputs` are the element size of each input, and whether its type has
    /// only one element. Returns `None` if the kernels cannot be chained.
    pub fn new(chained: &[Chained], inputs: &[(usize, bool)]) -> Option<Self> {
        let (last, rest) = chained.split_last()?;
        let reduce = if let Kernels::Reduce(reduce) = last.work { Some(reduce) } else { None };
        let maps = if reduce.is_some() { rest } else { chained };
        // A reduction must read exactly the result of the kernel before it.
        if let Some(reduce) = &reduce
            && (reduce.map.is_some() || last.operands != [Value::Result(maps.len().checked_sub(1)?)])
        {
            return None;
        }
        let mut allocator = SlotAllocator::new(maps, inputs);
        let stages = (0..maps.len()).map(|position| allocator.stage(position)).collect::<Option<Vec<_>>>()?;
        let typenum = maps.last()?.typenum;
        let blocks = allocator.slots + inputs.iter().filter(|(_, scalar)| !scalar).count() + 1;
        let block = (CACHE_BYTES / (blocks * allocator.widest)).clamp(256, BLOCK) / 64 * 64;
        let only_kernel = allocator.only_kernel(&stages);
        Some(Self {
            kernel: only_kernel.unwrap_or(run_blocks),
            is_staged: only_kernel.is_none(),
            stages,
            scalar: inputs.iter().map(|(_, scalar)| u8::from(*scalar)).collect(),
            typenum: reduce.map_or(typenum, |reduce| reduce.dtype),
            fills: allocator.fills,
            reduce,
            slots: allocator.slots,
            widest: allocator.widest,
            block,
            is_shared: chained.iter().all(|link| link.is_shared),
            _modules: chained.iter().map(|map| map.module.clone()).collect(),
        })
    }

    /// Returns the number of cache lines that the slots need.
    pub(crate) fn lines(&self) -> usize {
        (self.slots * self.widest * self.block).div_ceil(size_of::<Line>())
    }

    /// Runs the chain.
    ///
    /// # Safety
    /// `inputs` are as many live tensors as the chain has inputs, of the dtypes it was made for. `out` is a cell that holds
    /// NULL or a tensor of its output's dtype.
    pub(crate) unsafe fn run(
        &self,
        running: &mut Running,
        slots: &mut [Line],
        inputs: &[*mut Tensor],
        out: *mut *mut Tensor,
    ) -> Result<(), RunError> {
        debug_assert!(slots.len() >= self.lines() && inputs.len() == self.scalar.len());
        running.ctx.error.kind = 0;
        let (slots, slot_bytes) = (slots.as_mut_ptr().cast(), self.widest * self.block);
        running.blocks = Blocks { chain: self, slots, slot_bytes, failed: None };
        let is_shared = self.is_shared && threads::count() > 1;
        // Each thread has its own context, and its own slots if there are several stages.
        running.ctx.host = if is_shared && self.is_staged { &raw const SHARING } else { host::here() };
        let ctx: *mut Context = ptr::from_mut(running).cast();
        let n_in = u16::try_from(inputs.len()).unwrap_or(u16::MAX);
        let flags = if is_shared { SHARED } else { 0 };
        let (scalar, names) = (self.scalar.as_ptr(), ptr::null());
        let failure = if let Some(reduce) = &self.reduce {
            let op = Reduce { n_in, flags, scalar, names, map: Some(self.kernel), ..*reduce };
            // SAFETY: the description is alive during the call; operands are as the caller promises.
            unsafe { host::pc_driver_reduce(ctx, (&raw const op).cast(), inputs.as_ptr(), out) }
        } else {
            let dtypes = [self.typenum];
            let op = Elemwise {
                n_in,
                flags,
                n_out: 1,
                scalar,
                dtypes: dtypes.as_ptr(),
                names,
                kernel: self.kernel,
            };
            // SAFETY: as above.
            unsafe { host::pc_driver_elemwise(ctx, (&raw const op).cast(), inputs.as_ptr(), out) }
        };
        // The next work in this frame may not be a chain.
        running.ctx.host = host::here();
        if failure == 0 {
            return Ok(());
        }
        Err(run_error(&running.ctx, running.blocks.failed))
    }
}

/// Assigns slots to results while a chain is built.
struct SlotAllocator<'a> {
    maps: &'a [Chained],
    inputs: &'a [(usize, bool)],
    /// The slot of each kernel's result. The last result has none.
    of: Vec<Option<usize>>,
    free: Vec<usize>,
    slots: usize,
    fills: Vec<(usize, usize, usize)>,
    /// Bytes of the widest element.
    widest: usize,
}

impl<'a> SlotAllocator<'a> {
    fn new(maps: &'a [Chained], inputs: &'a [(usize, bool)]) -> Self {
        let results = maps.iter().map(|link| link.item_bytes);
        let widest = inputs.iter().map(|(item, _)| *item).chain(results).max().unwrap_or(8).max(1);
        Self { maps, inputs, of: Vec::new(), free: Vec::new(), slots: 0, fills: Vec::new(), widest }
    }

    fn slot(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        })
    }

    /// Returns the kernel of the only stage, if its operands are the driver's operands in order.
    fn only_kernel(&self, stages: &[Stage]) -> Option<Kernel> {
        let [Stage { kernel, locations }] = stages else { return None };
        let in_order = locations.iter().enumerate().all(|(at, place)| match place {
            Location::Block { operand, .. } | Location::Element(operand) => *operand == at,
            Location::Slot(_) => false,
        });
        (in_order && locations.len() == self.inputs.len() + 1).then_some(*kernel)
    }

    fn stage(&mut self, position: usize) -> Option<Stage> {
        let maps = self.maps;
        let map = &maps[position];
        let Kernels::Map(kernel) = map.work else { return None };
        if map.operands.len() >= OPERANDS {
            return None;
        }
        let mut locations = Vec::new();
        for (operand, scalar) in map.operands.iter().zip(&map.scalar) {
            locations.push(self.locate(*operand, *scalar)?);
        }
        let is_last = position + 1 == maps.len();
        let (result, slot) = if is_last {
            (Location::Block { operand: self.inputs.len(), item_bytes: map.item_bytes }, None)
        } else {
            let slot = self.slot();
            (Location::Slot(slot), Some(slot))
        };
        locations.push(result);
        self.of.push(slot);
        // Free the slots whose last reader is this kernel.
        for earlier in 0..position {
            let value = Value::Result(earlier);
            let read_later = maps[position + 1..].iter().any(|later| later.operands.contains(&value));
            if map.operands.contains(&value) && !read_later {
                self.free.extend(self.of[earlier]);
            }
        }
        Some(Stage { kernel, locations })
    }

    /// Returns the location of an operand, or `None` if a kernel needs a single element of an operand that is a block.
    fn locate(&mut self, value: Value, wants_element: bool) -> Option<Location> {
        match value {
            Value::Result(earlier) => {
                self.of.get(earlier).copied().flatten().map(Location::Slot).filter(|_| !wants_element)
            }
            Value::Input(operand) => match (self.inputs.get(operand)?, wants_element) {
                ((_, true), true) => Some(Location::Element(operand)),
                ((_, false), true) => None,
                ((item_bytes, false), false) => Some(Location::Block { operand, item_bytes: *item_bytes }),
                ((item_bytes, true), false) => {
                    if let Some((_, slot, _)) = self.fills.iter().find(|(known, ..)| *known == operand) {
                        return Some(Location::Slot(*slot));
                    }
                    let slot = self.slot_for_ever();
                    self.fills.push((operand, slot, *item_bytes));
                    Some(Location::Slot(slot))
                }
            },
        }
    }

    /// Allocates a slot that is never freed.
    fn slot_for_ever(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }
}

/// The kernel that the driver calls for a chain: runs all stages on one block, then on the next.
unsafe extern "C" fn run_blocks(ctx: *mut Context, n: i64, data: *const *mut c_char) -> c_int {
    let running = ctx.cast::<Running>();
    // SAFETY: `Chain::run` made this context.
    let Blocks { chain, slots, slot_bytes, .. } = unsafe { (*running).blocks };
    // SAFETY: `Chain::run` keeps the chain alive while it runs.
    let chain = unsafe { &*chain };
    let n = usize::try_from(n).unwrap_or(0);
    // SAFETY: the driver passes a pointer for each operand: the inputs, then the result.
    let data = unsafe { std::slice::from_raw_parts(data, chain.scalar.len() + 1) };
    for (operand, slot, item_bytes) in &chain.fills {
        // SAFETY: `Chain::run` got memory for all slots.
        let slot = unsafe { slots.add(slot * slot_bytes) };
        // SAFETY: the slot has room for a block of this item; the operand has one element.
        unsafe { fill(slot, data[*operand], *item_bytes, n.min(chain.block)) };
    }
    let mut done = 0;
    while done < n {
        let length = chain.block.min(n - done);
        for (position, stage) in chain.stages.iter().enumerate() {
            let mut pointers = [ptr::null_mut::<c_char>(); OPERANDS];
            for (pointer, place) in pointers.iter_mut().zip(&stage.locations) {
                *pointer = match place {
                    // SAFETY: the driver's block has `n` elements.
                    Location::Block { operand, item_bytes } => unsafe {
                        data[*operand].add(done * item_bytes)
                    },
                    Location::Element(operand) => data[*operand],
                    // SAFETY: `Chain::run` got memory for all slots.
                    Location::Slot(slot) => unsafe { slots.add(slot * slot_bytes) },
                };
            }
            // SAFETY: every operand has `length` contiguous elements of the kernel's dtypes, or one if it reads one.
            let failure = unsafe { (stage.kernel)(ctx, length as i64, pointers.as_ptr()) };
            if failure != 0 {
                // SAFETY: as above; no reference into it is alive.
                unsafe { (*running).blocks.failed = Some(position) };
                return failure;
            }
        }
        done += length;
    }
    0
}

/// Writes one element `n` times.
///
/// # Safety
/// `to` has room for `n` elements of `item_bytes`; `from` is one element.
unsafe fn fill(to: *mut c_char, from: *const c_char, item_bytes: usize, n: usize) {
    for i in 0..n {
        // SAFETY: as promised by the caller.
        let place = unsafe { to.add(i * item_bytes) };
        // SAFETY: as promised by the caller; a slot never overlaps an operand.
        unsafe { ptr::copy_nonoverlapping(from, place, item_bytes) };
    }
}

/// Allocates memory for the slots of a program's chains.
pub(crate) fn lines(chains: impl Iterator<Item = usize>) -> Vec<Line> {
    vec![Line([0; 64]); chains.max().unwrap_or(0)]
}

#[cfg(test)]
mod tests;

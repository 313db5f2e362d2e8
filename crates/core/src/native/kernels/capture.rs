//! Capture: finds out which kernels a module runs, without computing anything.
//!
//! A module of element-wise ops and reductions only passes its kernels to the host's drivers (`precast/driver.h`). A
//! capturing host has drivers that record their arguments and compute nothing. With this host, the module reports its
//! kernels and their operands once, when a program is created:
//!
//! ```text
//! input 0 ─┬─▶ add ──▶ result 0 ─▶ output 0
//! input 1 ─┴─▶ mul ──▶ sum ─────▶ output 1      operands and outputs are identified by the addresses of their tensors
//! slot 0 ──────┘
//! ```
//! The program can then run these kernels without calling the module: block by block (see [`super::chain`]), or on the
//! caller's arrays (see [`crate::native::call::direct`]).
//!
//! The program states that the module does nothing else ([`Computes`](crate::program::Computes)). The capture checks that
//! it is complete. Every operand must be an input, a slot or a driver's result, and every output must be a driver's result.

use crate::native::host;
use crate::native::host::DefaultFloats;
use crate::native::load::Instance;
use crate::native::load::LoadedModule;
use crate::native::memory::object::{Owned, new_tensor};
use crate::{Array, DType};
use precast_abi::context::{Context, Host};
use precast_abi::driver::{Elemwise, Kernel, LOOP_OPERANDS, REDUCE_ALL, Reduce, SHARED};
use precast_abi::tensor::{Object, Tensor};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

/// The driver calls of a module. They point into the module, which must outlive them.
#[derive(Debug, Clone, Default)]
pub struct Captured {
    /// The driver calls, in order.
    pub calls: Vec<Driven>,
    /// For each output of the module, the number of its result, counted over all calls.
    pub outputs: Vec<usize>,
}

/// One driver call.
#[derive(Debug, Clone)]
pub struct Driven {
    /// The kernel or reduction.
    pub work: Kernels,
    /// The source of each operand of the kernel. `y - x` does not read the inputs in order, and `x * x` reads one twice.
    pub operands: Vec<Operand>,
    /// For each operand, whether the kernel reads only one element of it.
    pub scalar: Vec<bool>,
    /// The dtype numbers of the results.
    pub typenums: Vec<i32>,
    /// Whether several threads may run it at once, each on its own elements.
    pub is_shared: bool,
}

/// The work of a driver.
#[derive(Debug, Clone, Copy)]
pub enum Kernels {
    /// A kernel that runs on every element.
    Map(Kernel),
    /// A reduction.
    Reduce(Reduce),
}

/// The source of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// An input of the module.
    Input(usize),
    /// A constant of its instance.
    Slot(usize),
    /// A result, counted over all calls.
    Result(usize),
}

// SAFETY: function pointers and read-only data of a module.
unsafe impl Send for Captured {}
// SAFETY: as above.
unsafe impl Sync for Captured {}

/// The context of a capturing run. Modules see its first field.
#[repr(C)]
struct Capture {
    ctx: Context,
    /// The tensors of inputs and slots.
    given: Vec<(*mut Object, Operand)>,
    /// The tensors created by the drivers, kept alive so that addresses stay unique.
    made: Vec<Owned>,
    calls: Vec<Driven>,
}

impl Capture {
    /// Returns the source of a tensor, or `None` if the module created it itself.
    fn operand(&self, tensor: *mut Object) -> Option<Operand> {
        let given = self.given.iter().find(|(known, _)| *known == tensor).map(|(_, operand)| *operand);
        given.or_else(|| self.result(tensor).map(Operand::Result))
    }

    fn result(&self, tensor: *mut Object) -> Option<usize> {
        self.made.iter().position(|made| made.as_raw() == tensor)
    }

    /// Records a call and fills its output cells. Returns `None` if it cannot be captured.
    ///
    /// # Safety
    /// There are `n_in` live `operands` and flags in `scalar`, and as many cells as `typenums`.
    unsafe fn driver(
        &mut self,
        (work, n_in, may_share): (Kernels, u16, u16),
        (operands, scalar): (*const *mut Tensor, *const u8),
        typenums: &[i32],
        out: *mut *mut Tensor,
    ) -> Option<()> {
        let n_in = Some(usize::from(n_in)).filter(|n| n + typenums.len() <= LOOP_OPERANDS)?;
        // SAFETY: as promised by the caller.
        let operands = unsafe { std::slice::from_raw_parts(operands, n_in) };
        // SAFETY: as promised by the caller.
        let flags = unsafe { std::slice::from_raw_parts(scalar, n_in) };
        let known: Option<Vec<Operand>> = operands.iter().map(|tensor| self.operand(tensor.cast())).collect();
        // SAFETY: they are live tensors.
        let ranks = operands.iter().map(|tensor| unsafe { (**tensor).ndim });
        let ndim = usize::try_from(ranks.max().unwrap_or(0)).ok()?;
        let kept = match work {
            Kernels::Map(_) => ndim,
            Kernels::Reduce(reduce) => (0..ndim).filter(|axis| !reduces(&reduce, *axis)).count(),
        };
        let (operands, scalar) = (known?, flags.iter().map(|flag| *flag != 0).collect());
        let is_shared = may_share & SHARED != 0;
        self.calls.push(Driven { work, operands, scalar, typenums: typenums.to_vec(), is_shared });
        for (position, typenum) in typenums.iter().enumerate() {
            // SAFETY: as promised by the caller.
            let cell = unsafe { out.add(position) };
            // SAFETY: as promised by the caller, which lends the cells.
            let cell = unsafe { &mut *cell };
            let tensor = new_tensor(*typenum, &vec![0; kept]).ok().filter(|_| cell.is_null())?;
            // SAFETY: the tensor is new. Its only reference belongs to the cell, and this adds a second one to keep.
            unsafe { (*tensor).object.refcount += 1 };
            // SAFETY: the second reference.
            self.made.push(unsafe { Owned::from_raw(tensor.cast()) });
            *cell = tensor;
        }
        Some(())
    }
}

/// Returns whether a reduction reduces an axis of its operands.
pub(crate) fn reduces(reduce: &Reduce, axis: usize) -> bool {
    reduce.axes == REDUCE_ALL || (axis < 32 && reduce.axes >> axis & 1 == 1)
}

/// The capturing host, which differs from other hosts only in its drivers.
static CAPTURING: Host = host::host(capture_elemwise, capture_reduce, refuse);

unsafe extern "C" fn capture_elemwise(
    ctx: *mut Context,
    op: *const c_void,
    operands: *const *mut Tensor,
    out: *mut *mut Tensor,
) -> c_int {
    // SAFETY: the module passes on the context of `capture`, which is the first field of a `Capture`.
    let capture = unsafe { &mut *ctx.cast::<Capture>() };
    // SAFETY: the contract of `pc_host.elemwise`: a live description.
    let op = unsafe { &*op.cast::<Elemwise>() };
    let n_out = usize::try_from(op.n_out).unwrap_or(0);
    // SAFETY: the header promises `n_out` dtypes.
    let typenums = unsafe { std::slice::from_raw_parts(op.dtypes, n_out) };
    // SAFETY: the header promises `n_in` operands and flags, and `n_out` cells.
    let seen = unsafe {
        capture.driver((Kernels::Map(op.kernel), op.n_in, op.flags), (operands, op.scalar), typenums, out)
    };
    seen.map_or(-1, |()| 0)
}

unsafe extern "C" fn capture_reduce(
    ctx: *mut Context,
    op: *const c_void,
    operands: *const *mut Tensor,
    out: *mut *mut Tensor,
) -> c_int {
    // SAFETY: as in `capture_elemwise`.
    let capture = unsafe { &mut *ctx.cast::<Capture>() };
    // SAFETY: the contract of `pc_host.reduce`: a live description.
    let op = unsafe { *op.cast::<Reduce>() };
    // SAFETY: the header promises `n_in` operands and flags, and one cell.
    let seen = unsafe {
        capture.driver((Kernels::Reduce(op), op.n_in, op.flags), (operands, op.scalar), &[op.dtype], out)
    };
    seen.map_or(-1, |()| 0)
}

/// Rejects row programs. Capturing them would gain nothing, because their driver already runs at full speed.
unsafe extern "C" fn refuse(
    _: *mut Context,
    _: *const c_void,
    _: *const *mut Tensor,
    _: *mut *mut Tensor,
) -> c_int {
    -1
}

/// The dtypes and ranks of slots and inputs. A capture depends on nothing else.
type Kinds = Vec<(DType, usize)>;

/// The captures of one module. Programs that share a module and differ only in constants share the capture.
#[derive(Debug, Default)]
pub(crate) struct Captures(Mutex<BTreeMap<Kinds, Option<Arc<Captured>>>>);

impl Captures {
    /// Returns the capture for these slots and inputs, and calls `capture` on first use.
    pub(crate) fn get(
        &self,
        slots: &[Array],
        inputs: &[(DType, usize)],
        capture: impl FnOnce() -> Option<Captured>,
    ) -> Option<Arc<Captured>> {
        // A module has a fixed number of slots, so they need no separator.
        let slots = slots.iter().map(|slot| (slot.dtype(), slot.shape().len()));
        let kinds: Kinds = slots.chain(inputs.iter().copied()).collect();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(kinds).or_insert_with(|| capture().map(Arc::new)).clone()
    }
}

/// Captures the driver calls of a module with these constants and inputs of these dtypes and ranks. Returns `None` if it
/// does anything else. The module must [compute](crate::program::Computes) only by drivers.
pub(crate) fn capture(module: &LoadedModule, slots: &[Array], inputs: &[(DType, usize)]) -> Option<Captured> {
    let _floats = DefaultFloats::set();
    let slots: Vec<Owned> = slots.iter().cloned().map(Owned::constant).collect();
    let mut given: Vec<(*mut Object, Operand)> =
        slots.iter().enumerate().map(|(slot, owned)| (owned.as_raw(), Operand::Slot(slot))).collect();
    let mut instance = Instance::on(&CAPTURING, module.clone(), slots).ok()?;
    let (n_in, n_out) = instance.arity();
    if n_in != inputs.len() {
        return None;
    }
    let mut operands = Vec::new();
    for (position, (dtype, ndim)) in inputs.iter().enumerate() {
        let tensor = new_tensor(dtype.typenum(), &vec![0; *ndim]).ok()?;
        // SAFETY: a new tensor has one reference, which is passed on here.
        operands.push(unsafe { Owned::from_raw(tensor.cast()) });
        given.push((tensor.cast(), Operand::Input(position)));
    }
    let mut args: Vec<*mut Object> = operands.iter().map(Owned::as_raw).collect();
    args.resize(n_in + n_out, ptr::null_mut());
    let ctx = Context { host: &raw const CAPTURING, ..host::context() };
    let mut capture = Capture { ctx, given, made: Vec::new(), calls: Vec::new() };
    let ctx: *mut Context = ptr::from_mut(&mut capture).cast();
    // SAFETY: the number of arguments matches the module, and the inputs are alive and not NULL. The context is the first
    // field of a `Capture`.
    let result = unsafe { instance.run_raw(ctx, args.as_mut_ptr()) };
    // SAFETY: each cell owns one reference to the object left in it.
    let left: Vec<Owned> = args[n_in..].iter().map(|object| unsafe { Owned::from_raw(*object) }).collect();
    let outputs = left.iter().map(|object| capture.result(object.as_raw())).collect::<Option<Vec<_>>>()?;
    result.ok().map(|()| Captured { calls: capture.calls, outputs })
}

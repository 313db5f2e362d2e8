//! Capture: the kernel of a module, instead of a run of it.
//!
//! A module of one elementwise op does nothing but hand its kernel to the host's driver (`precast/driver.h`). Given a host
//! whose drivers take the description and refuse to go on, such a module tells its kernel, once, when a program is made. The
//! program can then run several kernels block by block (see [`super::chain`]) without going through the modules again.
//!
//! A module that does something else is not a case of it: it never calls the driver, or not with what was expected.

use super::host;
use super::instance::Instance;
use super::library::LoadedModule;
use super::object::{Owned, new_tensor};
use crate::DType;
use precast_abi::context::{Context, Host};
use precast_abi::driver::{Elemwise, Kernel, LOOP_OPERANDS, Reduce};
use precast_abi::tensor::{Object, Tensor};
use std::ffi::{c_int, c_void};
use std::ptr;

/// What a module handed to its driver. It points into the module, which must outlive it.
#[derive(Debug, Clone)]
pub enum Captured {
    /// A kernel with one output.
    Map {
        /// The kernel.
        kernel: Kernel,
        /// For each operand of the kernel, which input of the module it is: `y - x` has them the other way round, `x * x` one twice.
        inputs: Vec<usize>,
        /// For each operand, whether the kernel reads one element of it.
        scalar: Vec<bool>,
        /// Of the output.
        typenum: i32,
    },
    /// A reduction of the module's only input.
    Reduce(Reduce),
}

// SAFETY: function pointers and read-only data of a module.
unsafe impl Send for Captured {}
// SAFETY: as above.
unsafe impl Sync for Captured {}

/// The context of a capturing run; modules see its first field.
#[repr(C)]
struct Capture {
    ctx: Context,
    /// The module's inputs, by which operands are known.
    inputs: Vec<*mut Object>,
    captured: Option<Captured>,
}

impl Capture {
    /// Which inputs some operands are; `None` if one of them is something that the module made.
    ///
    /// # Safety
    /// There are `n` operands.
    unsafe fn inputs_of(&self, operands: *const *mut Tensor, n: usize) -> Option<Vec<usize>> {
        // SAFETY: as promised by the caller.
        let operands = unsafe { std::slice::from_raw_parts(operands, n) };
        let input = |operand: &*mut Tensor| self.inputs.iter().position(|input| *input == operand.cast());
        operands.iter().map(input).collect()
    }
}

/// A host like any other, but for its drivers.
static CAPTURING: Host = host::host(capture_elemwise, capture_reduce);

unsafe extern "C" fn capture_elemwise(
    ctx: *mut Context,
    op: *const c_void,
    operands: *const *mut Tensor,
    _out: *mut *mut Tensor,
) -> c_int {
    // SAFETY: the module passes on the context of `capture`, which is the first field of a `Capture`.
    let capture = unsafe { &mut *ctx.cast::<Capture>() };
    // SAFETY: the contract of `pc_host.elemwise`: a live description.
    let op = unsafe { &*op.cast::<Elemwise>() };
    let n_in = usize::try_from(op.n_in).unwrap_or(LOOP_OPERANDS);
    if op.n_out == 1 && n_in < LOOP_OPERANDS {
        // SAFETY: the header promises `n_in` operands.
        let Some(inputs) = (unsafe { capture.inputs_of(operands, n_in) }) else { return -1 };
        // SAFETY: the header promises `n_in` flags.
        let flags = unsafe { std::slice::from_raw_parts(op.scalar, n_in) };
        // SAFETY: the header promises `n_out` dtypes, here one.
        let typenum = unsafe { *op.dtypes };
        let scalar = flags.iter().map(|flag| *flag != 0).collect();
        capture.captured = Some(Captured::Map { kernel: op.kernel, inputs, scalar, typenum });
    }
    -1
}

unsafe extern "C" fn capture_reduce(
    ctx: *mut Context,
    op: *const c_void,
    operands: *const *mut Tensor,
    _out: *mut *mut Tensor,
) -> c_int {
    // SAFETY: as in `capture_elemwise`.
    let capture = unsafe { &mut *ctx.cast::<Capture>() };
    // SAFETY: the contract of `pc_host.reduce`: a live description.
    let op = unsafe { *op.cast::<Reduce>() };
    let is_plain = op.n_in == 1 && op.map.is_none() && capture.inputs.len() == 1;
    // SAFETY: the header promises `n_in` operands, here one.
    if is_plain && unsafe { capture.inputs_of(operands, 1) }.is_some() {
        capture.captured = Some(Captured::Reduce(op));
    }
    -1
}

/// What the module of one op on tensors of these dtypes and ranks hands to its driver; `None` if it does not.
pub fn capture(module: &LoadedModule, inputs: &[(DType, usize)]) -> Option<Captured> {
    let mut instance = Instance::new(module.clone(), Vec::new()).ok()?;
    let (n_in, n_out) = instance.arity();
    if n_in != inputs.len() || n_out != 1 {
        return None;
    }
    let mut operands = Vec::new();
    for (dtype, ndim) in inputs {
        let tensor = new_tensor(dtype.typenum(), &vec![0; *ndim]).ok()?;
        // SAFETY: a new tensor has one reference, which was the caller's.
        operands.push(unsafe { Owned::from_raw(tensor.cast()) });
    }
    let mut args: Vec<*mut Object> = operands.iter().map(Owned::as_raw).collect();
    args.push(ptr::null_mut());
    let ctx = Context { host: &raw const CAPTURING, ..host::context() };
    let mut capture = Capture { ctx, inputs: args[..n_in].to_vec(), captured: None };
    let ctx: *mut Context = ptr::from_mut(&mut capture).cast();
    // SAFETY: as many arguments as the module takes, the inputs alive and not NULL; the context is a capture's first field.
    let result = unsafe { instance.run_raw(ctx, args.as_mut_ptr()) };
    // SAFETY: the cell owns one reference to whatever was left in it.
    drop(unsafe { Owned::from_raw(args[n_in]) });
    // A module that succeeded computed something by itself.
    if result.is_ok() { None } else { capture.captured }
}

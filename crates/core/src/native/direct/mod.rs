//! Direct calls: a program that is one chain, run where the caller's arrays lie.
//!
//! ```text
//! all operands contiguous, of one shape, few elements in slots ──▶ the chain's kernel on all elements
//! anything else ──▶ Frame: tensors ──▶ driver ──▶ the same kernel
//! ```
//! Looking at the operands is all that such a call does besides its arithmetic: it needs no tensors, no frame and no driver.
//! A kernel is a function of the element alone, so which way was taken shows in no bits.

use super::array_ref::{ArrayMut, ArrayRef};
use super::chain::{Blocks, Chain, Line, Running};
use super::frame::Targets;
use super::host;
use super::instance::{self, RunError};
use crate::program::{Port, Register};
use crate::{Array, DType, Element, Extent, Type};
use ndarray::{ArrayD, Dimension};
use precast_abi::context::{Context, Error, Host};
use precast_abi::driver::Kernel;
use std::ffi::{CStr, c_char};
use std::mem::{MaybeUninit, offset_of};
use std::ptr;
use std::sync::Arc;

/// Most operands of a direct call, its result included.
const OPERANDS: usize = 8;
/// Lines of memory for slots, on the stack.
const LINES: usize = 32;
/// Largest result that is allocated here: a larger one gets large pages and may be refused, by the host's services.
const NEW_BYTES: usize = 64 * 1024;

/// A chain that is all of a program.
#[derive(Debug)]
pub struct Direct {
    kernel: Kernel,
    /// Keeps the kernel's code mapped.
    chain: Arc<Chain>,
    /// The operand that each input is.
    operands: Vec<Operand>,
    /// Of the result.
    dtype: DType,
    /// The types of inputs and result, where they fix an extent.
    fixed: Option<(Vec<Type>, Type)>,
}

/// What an operand has to be, and where it stands.
#[derive(Debug, Clone, Copy)]
struct Operand {
    /// Its position among the kernel's.
    at: usize,
    dtype: DType,
    ndim: usize,
    /// Whether the kernel reads one element of it.
    is_scalar: bool,
}

/// Where the operands of one call are, the result's last.
type Pointers = [*mut c_char; OPERANDS];

impl Direct {
    /// The direct calls of a program whose only step is this chain; `None` if it has none.
    pub fn new(chain: &Arc<Chain>, args: &[Register], inputs: &[Port], output: &Port) -> Option<Self> {
        let (Register::Output(0), args) = args.split_last()? else { return None };
        // An input that nothing reads is no operand.
        let operand = |(input, port): (usize, &Port)| {
            let at = args.iter().position(|register| *register == Register::Input(input))?;
            let (dtype, ndim) = (port.ty.dtype(), port.ty.ndim());
            Some(Operand { at, dtype, ndim, is_scalar: *chain.scalar.get(at)? != 0 })
        };
        let operands = inputs.iter().enumerate().map(operand).collect::<Option<Vec<_>>>()?;
        let ndim = operands.iter().filter(|operand| !operand.is_scalar).map(|operand| operand.ndim).max();
        let is_map = chain.reduce.is_none()
            && chain.typenum == output.ty.dtype().typenum()
            && output.ty.ndim() == ndim.unwrap_or(0);
        if !is_map || operands.len() != args.len() || operands.len() >= OPERANDS {
            return None;
        }
        let types: Vec<Type> = inputs.iter().map(|port| port.ty.clone()).collect();
        let is_fixed = |ty: &Type| ty.shape().iter().any(|extent| *extent != Extent::Unknown);
        let is_open = !types.iter().chain([&output.ty]).any(is_fixed);
        let fixed = (!is_open).then(|| (types, output.ty.clone()));
        let (kernel, chain, dtype) = (chain.kernel, Arc::clone(chain), output.ty.dtype());
        Some(Self { kernel, chain, operands, dtype, fixed })
    }

    /// Finds where the operands are; gives the shape that they have in common. `None` if they are not what the program takes,
    /// or do not lie as the kernel wants them: a frame then says why, or runs it.
    #[inline(always)]
    fn look<'a>(&self, inputs: &'a [ArrayRef<'_>], data: &mut Pointers) -> Option<&'a [usize]> {
        if inputs.len() != self.operands.len() {
            return None;
        }
        let mut shape: Option<&[usize]> = None;
        for (ArrayRef { view }, operand) in inputs.iter().zip(&self.operands) {
            *data.get_mut(operand.at)? = view.data();
            if view.kind() != (operand.dtype, operand.ndim) {
                return None;
            }
            if !operand.is_scalar && !view.fills(shape.get_or_insert(view.shape())) {
                return None;
            }
        }
        let shape = shape.unwrap_or_default();
        if let Some((types, result)) = &self.fixed {
            let admitted = |(ty, input): (&Type, &ArrayRef<'_>)| ty.admits(input.dtype(), input.shape());
            if !types.iter().zip(inputs).all(admitted) || !result.admits(self.dtype, shape) {
                return None;
            }
        }
        Some(shape)
    }

    /// Runs the kernel; `None` if its slots have no room on the stack.
    ///
    /// # Safety
    /// `data` is what [`Direct::look`] found, and a result's memory of so many elements of its dtype.
    #[inline]
    unsafe fn run(&self, data: &Pointers, elements: usize) -> Option<Result<(), Box<RunError>>> {
        if elements == 0 {
            return Some(Ok(()));
        }
        if self.chain.slots == 0 {
            // SAFETY: as promised by the caller; a chain without slots needs no lines.
            return Some(unsafe { self.run_on(data, elements, &mut [], 0) });
        }
        let slot_bytes = elements.checked_mul(self.chain.widest)?.next_multiple_of(size_of::<Line>());
        if elements > self.chain.block
            || slot_bytes.checked_mul(self.chain.slots)? > LINES * size_of::<Line>()
        {
            return None;
        }
        let mut slots = [const { MaybeUninit::<Line>::uninit() }; LINES];
        // SAFETY: as promised by the caller; the lines hold all slots, each with room for all elements.
        Some(unsafe { self.run_on(data, elements, &mut slots, slot_bytes) })
    }

    /// Runs the program; `None` if it has to be run in a frame, which says what is wrong where something is.
    #[inline]
    pub(crate) fn run_for(
        &self,
        inputs: &[ArrayRef<'_>],
        targets: &mut Targets<'_, '_>,
    ) -> Option<Result<(), Box<RunError>>> {
        match targets {
            Targets::New(arrays) => Some(self.run_array(inputs)?.map(|array| arrays.push(array))),
            Targets::Reuse([array]) => self.run_into(inputs, &ArrayMut::from(array)),
            Targets::Into([array]) => self.run_into(inputs, array),
            Targets::Reuse(_) | Targets::Into(_) => None,
        }
    }

    /// Runs the program into memory of the caller; `None` if it has to be run in a frame.
    #[inline]
    pub(crate) fn run_into(
        &self,
        inputs: &[ArrayRef<'_>],
        out: &ArrayMut<'_>,
    ) -> Option<Result<(), Box<RunError>>> {
        let mut data = [ptr::null_mut(); OPERANDS];
        let shape = self.look(inputs, &mut data)?;
        let out = &out.view;
        if out.dtype() != self.dtype || !out.fills(shape) {
            return None;
        }
        *data.get_mut(self.operands.len())? = out.data();
        // SAFETY: the result's memory is that of `out`, which has the operands' shape, and was made of an exclusive borrow.
        unsafe { self.run(&data, shape.iter().product()) }
    }

    /// Runs the program into a new array; `None` if it has to be run in a frame, or gives no array of `T` and `D`.
    #[inline]
    pub(crate) fn run_new<T: Element, D: Dimension>(
        &self,
        inputs: &[ArrayRef<'_>],
    ) -> Option<Result<ndarray::Array<T, D>, Box<RunError>>> {
        let mut data = [ptr::null_mut(); OPERANDS];
        let shape = self.look(inputs, &mut data)?;
        let elements: usize = shape.iter().product();
        let fits = self.dtype == T::DTYPE && D::NDIM.is_none_or(|ndim| ndim == shape.len());
        if !fits || elements > NEW_BYTES / size_of::<T>() {
            return None;
        }
        let mut dim = D::zeros(shape.len());
        dim.slice_mut().iter_mut().zip(shape).for_each(|(to, extent)| *to = *extent);
        let mut result = Vec::<T>::with_capacity(elements);
        *data.get_mut(self.operands.len())? = result.as_mut_ptr().cast();
        // SAFETY: the result's memory is that of the vector, which has room for the elements of its dtype.
        match unsafe { self.run(&data, elements) }? {
            // SAFETY: the kernel wrote all elements.
            Ok(()) => unsafe { result.set_len(elements) },
            Err(error) => return Some(Err(error)),
        }
        // SAFETY: there are as many elements as the extents' product.
        Some(Ok(unsafe { ndarray::Array::from_shape_vec_unchecked(dim, result) }))
    }

    /// As [`Direct::run_new`], for a result of whichever dtype.
    #[inline]
    fn run_array(&self, inputs: &[ArrayRef<'_>]) -> Option<Result<Array, Box<RunError>>> {
        macro_rules! array {
            ($($variant:ident => $element:ty),*) => {
                match self.dtype {
                    $(DType::$variant => {
                        let result: Result<ArrayD<$element>, _> = self.run_new(inputs)?;
                        Some(result.map(Array::$variant))
                    })*
                }
            };
        }
        crate::for_each_dtype!(array)
    }

    /// Runs the kernel once.
    ///
    /// # Safety
    /// As [`Direct::run`]; if the chain has slots, they are in `slots`, each of `slot_bytes`, with room for so many elements.
    #[inline]
    unsafe fn run_on(
        &self,
        data: &Pointers,
        elements: usize,
        slots: &mut [MaybeUninit<Line>],
        slot_bytes: usize,
    ) -> Result<(), Box<RunError>> {
        // The message is not cleared: it is long, and read only after it was written.
        let mut running = MaybeUninit::<Running>::uninit();
        let running = running.as_mut_ptr();
        // SAFETY: a context begins with a head.
        unsafe { running.cast::<Head>().write(Head { host: &raw const host::HOST, kind: 0, reserved: 0 }) };
        let (chain, slots) = (&raw const *self.chain, slots.as_mut_ptr().cast());
        // SAFETY: a field of the value, on this stack.
        let blocks = unsafe { &raw mut (*running).blocks };
        // SAFETY: as above.
        unsafe { blocks.write(Blocks { chain, slots, slot_bytes, failed: None }) };
        // SAFETY: as promised by the caller; the context is the first field of a `Running`, as `run_blocks` wants it.
        let failure = unsafe { (self.kernel)(running.cast(), elements as i64, data.as_ptr()) };
        if failure == 0 {
            return Ok(());
        }
        // SAFETY: written above, and by the kernel.
        Err(unsafe { failed(running) })
    }
}

/// What a context begins with: all of it but the message.
#[repr(C)]
struct Head {
    host: *const Host,
    kind: i32,
    reserved: i32,
}

/// Where the message of a context begins.
const MESSAGE: usize = offset_of!(Context, error) + offset_of!(Error, message);
const _: () = assert!(MESSAGE == size_of::<Head>());

/// What a kernel reported.
///
/// # Safety
/// `running` is as `run_on` made it, after its kernel returned.
#[cold]
unsafe fn failed(running: *const Running) -> Box<RunError> {
    // SAFETY: the head was written before the kernel ran.
    let Head { host, kind, reserved } = unsafe { running.cast::<Head>().read() };
    // SAFETY: as above.
    let Blocks { failed, .. } = unsafe { (*running).blocks };
    let mut ctx = Context { host, error: Error { kind, reserved, message: Error::NONE.message } };
    if kind != 0 {
        // SAFETY: within the context.
        let message = unsafe { running.cast::<c_char>().add(MESSAGE) };
        // SAFETY: who sets a kind has written a message before that, which ends with a NUL (precast/context.h).
        let message = unsafe { CStr::from_ptr(message) };
        let len = message.count_bytes().min(ctx.error.message.len() - 1);
        ctx.error.message[..len].copy_from_slice(&message.to_bytes()[..len]);
    }
    Box::new(instance::run_error(&ctx, failed))
}

#[cfg(test)]
mod tests;

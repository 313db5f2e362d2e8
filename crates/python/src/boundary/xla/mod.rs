//! Functions as custom calls of XLA: one handler, which XLA calls with buffers and the number of a function.
//!
//! ```text
//! register(f) ──▶ number ──jax.ffi.ffi_call("precast", …)(x, function=number)──▶ XLA ──▶ handle(frame) ──▶ f
//! ```
//! The handler is part of this library, so a call needs no compiler. Functions are read and written in XLA's buffers.
//!
//! # Numbers
//! Compiled computations contain the number, and XLA does not report when it drops one. So registered functions live as
//! long as the process. Half of a number is random in each process: a computation that was exported by another process
//! finds no function, instead of a wrong one.
//!
//! # Batches
//! `jax.vmap` adds leading axes, of extent 1 where an operand is the same for the batch. The function is called once for
//! each index of these axes.
//!
//! # The contract
//! XLA passes buffers in C order that live as long as the call. Results have no other user. It may call in any thread,
//! with or without the GIL.

mod abi;
mod operand;

use crate::error;
use crate::own::stash;
use abi::{CreateError, Error, Frame, INTERNAL, INVALID_ARGUMENT, METADATA, MetadataExtension};
use operand::Operand;
use precast_core::CallError;
use precast_core::native::RawArrayError;
use precast_core::program::Port;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CString, c_int, c_void};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, PoisonError, RwLock};
use std::{ptr, slice};

/// The registered functions, and the random half of their numbers.
static FUNCTIONS: LazyLock<Functions> = LazyLock::new(|| Functions {
    // JAX writes attributes as signed integers, so the number is less than 2^63.
    random: RandomState::new().build_hasher().finish() >> 33 << 32,
    list: RwLock::default(),
});

struct Functions {
    random: u64,
    list: RwLock<Vec<precast_core::Function>>,
}

/// The reason why a call failed.
#[derive(Debug, thiserror::Error)]
enum CallFailed {
    #[error("the computation was compiled by another process: it has no function of the number {number}")]
    Unknown { number: u64 },
    #[error("expected one attribute, the number of a function")]
    NoNumber,
    #[error("called at stage {found}, expected only the execution")]
    Stage { found: c_int },
    #[error("expected {expected} operands, found {found}")]
    Count { expected: usize, found: i64 },
    #[error("`{name}` has XLA's type {found} and {rank} dimension(s), expected `{expected}`")]
    Type { name: String, found: c_int, rank: i64, expected: String },
    #[error("`{name}` has another batch than the first result")]
    Batch { name: String },
    #[error("`{name}` has bools that are neither 0 nor 1")]
    NoBools { name: String },
    #[error("`{name}` has an invalid buffer")]
    Buffer { name: String, source: RawArrayError },
    #[error(transparent)]
    Call(#[from] CallError),
}

/// Registers a function and returns its number.
pub(crate) fn register(function: &precast_core::Function) -> u64 {
    let mut list = FUNCTIONS.list.write().unwrap_or_else(PoisonError::into_inner);
    list.push(function.clone());
    FUNCTIONS.random | (list.len() as u64 - 1)
}

/// Returns the capsule of the handler.
pub(crate) fn capsule(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: the address is that of a function, which lives as long as the process.
    let capsule = unsafe { ffi::PyCapsule_New(handle as *mut c_void, ptr::null(), None) };
    // SAFETY: it is a new reference, or NULL with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, capsule) }
}

fn find(number: u64) -> Result<precast_core::Function, CallFailed> {
    let list = FUNCTIONS.list.read().unwrap_or_else(PoisonError::into_inner);
    let is_ours = number >> 32 == FUNCTIONS.random >> 32;
    let found = list.get((number & u64::from(u32::MAX)) as usize).filter(|_| is_ours);
    found.cloned().ok_or(CallFailed::Unknown { number })
}

/// The handler that XLA calls.
unsafe extern "C" fn handle(frame: *mut Frame) -> *mut Error {
    // SAFETY: XLA passes a frame that lives as long as the call.
    let frame = unsafe { &*frame };
    // SAFETY: the extension is NULL or lives as long as the frame.
    if let Some(extension) = unsafe { frame.extension.as_ref() }
        && extension.kind == METADATA
    {
        // SAFETY: an extension of this kind has metadata to fill.
        unsafe { describe(frame, frame.extension.cast()) };
        return ptr::null_mut();
    }
    let call = || {
        // SAFETY: as above.
        unsafe { run(frame) }
    };
    let (text, code) = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => return ptr::null_mut(),
        Ok(Err(failed)) => (error::text(&failed), INVALID_ARGUMENT),
        Err(_) => ("precast panicked; this is a bug in precast".to_owned(), INTERNAL),
    };
    // XLA reports texts only, so the exception of a Python method is not raised again.
    drop(stash::take());
    let message = CString::new(text.replace('\0', " ")).unwrap_or_default();
    let size = size_of::<CreateError>();
    let mut args =
        CreateError { struct_size: size, extension: ptr::null_mut(), message: message.as_ptr(), code };
    // SAFETY: a frame has the table of XLA's functions.
    let api = unsafe { &*frame.api };
    // SAFETY: XLA copies the message.
    unsafe { (api.create_error)(&raw mut args) }
}

/// States the version of the interface: that of the caller, since all versions 0.x have the fields that are used.
///
/// # Safety
/// The extension has metadata.
unsafe fn describe(frame: &Frame, extension: *mut MetadataExtension) {
    // SAFETY: guaranteed by the caller.
    let extension = unsafe { &*extension };
    // SAFETY: as above.
    let metadata = unsafe { &mut *extension.metadata };
    // SAFETY: the table of XLA's functions is NULL or lives as long as the process.
    let minor = unsafe { frame.api.as_ref() }.map_or(1, |api| api.version.minor);
    (metadata.version.major, metadata.version.minor) = (0, minor);
    metadata.traits = 0;
}

/// Calls the function for each index of the batch.
///
/// # Safety
/// XLA passed the frame.
unsafe fn run(frame: &Frame) -> Result<(), CallFailed> {
    if frame.stage != abi::EXECUTE {
        return Err(CallFailed::Stage { found: frame.stage });
    }
    // SAFETY: guaranteed by the caller.
    let function = find(unsafe { number(&frame.attributes) }?)?;
    // SAFETY: as above.
    let outputs = unsafe { operands(&frame.results, function.outputs()) }?;
    // SAFETY: as above.
    let inputs = unsafe { operands(&frame.args, function.inputs()) }?;
    let batch = outputs.first().map_or(&[][..], |(_, output)| output.batch());
    let other = outputs.iter().find(|(_, output)| output.batch() != batch);
    let other = other.or_else(|| inputs.iter().find(|(_, input)| !input.spreads_over(batch)));
    if let Some((port, _)) = other {
        return Err(CallFailed::Batch { name: port.name.clone() });
    }
    for (port, input) in &inputs {
        // SAFETY: the elements of an input are readable.
        if !unsafe { input.is_valid() } {
            return Err(CallFailed::NoBools { name: port.name.clone() });
        }
    }
    let invalid = |port: &Port| {
        let name = port.name.clone();
        move |source| CallFailed::Buffer { name, source }
    };
    for index in 0..batch.iter().product() {
        let given = inputs.iter().map(|(port, input)| {
            // SAFETY: the elements of an input are initialised, and unchanged during the call.
            unsafe { input.at(batch, index).read() }.map_err(invalid(port))
        });
        let given = given.collect::<Result<Vec<_>, _>>()?;
        let rooms = outputs.iter().map(|(port, output)| {
            // SAFETY: XLA lets the call write to its results.
            unsafe { output.at(batch, index).write() }.map_err(invalid(port))
        });
        function.call_views(&given, &mut rooms.collect::<Result<Vec<_>, _>>()?)?;
    }
    Ok(())
}

/// Reads the number of the function.
///
/// # Safety
/// XLA passed the attributes.
unsafe fn number(attributes: &abi::Attributes) -> Result<u64, CallFailed> {
    if attributes.size != 1 {
        return Err(CallFailed::NoNumber);
    }
    // SAFETY: there is one attribute.
    if unsafe { attributes.kinds.read() } != abi::SCALAR {
        return Err(CallFailed::NoNumber);
    }
    // SAFETY: as above.
    let value = unsafe { attributes.values.read() };
    // SAFETY: it is a scalar.
    let scalar = unsafe { &*value };
    if scalar.dtype != abi::number(precast_core::DType::U64) {
        return Err(CallFailed::NoNumber);
    }
    // SAFETY: it is a `u64`.
    Ok(unsafe { scalar.value.read_unaligned() })
}

/// Reads the buffers of the inputs or the outputs.
///
/// # Safety
/// XLA passed the operands.
unsafe fn operands<'a>(
    found: &abi::Operands,
    ports: &'a [Port],
) -> Result<Vec<(&'a Port, Operand)>, CallFailed> {
    if usize::try_from(found.size) != Ok(ports.len()) {
        return Err(CallFailed::Count { expected: ports.len(), found: found.size });
    }
    let pointers = match ports.len() {
        0 => &[],
        // SAFETY: there are as many addresses.
        count => unsafe { slice::from_raw_parts(found.operands, count) },
    };
    let read = ports.iter().zip(pointers).map(|(port, pointer)| {
        // SAFETY: all operands are buffers.
        let buffer = unsafe { &**pointer };
        // SAFETY: as above.
        let operand = unsafe { Operand::of(buffer, port) };
        let (found, rank) = (buffer.dtype, buffer.rank);
        let wrong =
            || CallFailed::Type { name: port.name.clone(), found, rank, expected: port.ty.to_string() };
        operand.map(|operand| (port, operand)).ok_or_else(wrong)
    });
    read.collect()
}

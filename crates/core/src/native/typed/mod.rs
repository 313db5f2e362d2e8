//! Typed handles to native functions: what a Rust type says and what a module says are compared once, when one is bound.
//!
//! ```text
//! fn(f64, f64) -> f64                      dd)d~            cannot fail
//! fn(f64) -> (f64, i32)                    d)T{di}~         several results: a struct in C
//! fn(f64) -> Result<f64, CallError>        d)d!c~ or d)d~   may fail
//! ```
//! A handle that exists fits, so a call is an indirect call; it keeps the library.

mod numbers;

pub use numbers::{NativeType, Number, Results, Returns};

use super::host;
use super::plain::{NativeFunction, NoNative};
use crate::function::{CallError, Function};
use numbers::Arguments;
use precast_abi::context::{Context, ERROR_BYTES, ErrorKind};
use precast_abi::module::NativeFn;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A native function of the type `F`, [bound](Function::native) once and called as often as one likes. Clones are the same
/// function.
#[derive(Debug, Clone)]
pub struct Native<F> {
    function: NativeFn,
    fails: bool,
    of: NativeFunction,
    ty: PhantomData<F>,
}

/// Why a native function cannot be called as one of some Rust type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BindNativeError {
    /// There is no native function.
    #[error("there is no native function: {0}")]
    None(NoNative),
    /// It has another signature.
    #[error("the native function is `{found}`, asked for `{asked}`{}", hint(found, asked))]
    Signature {
        /// Its signature.
        found: String,
        /// That of the Rust type.
        asked: &'static str,
    },
}

/// What helps where only the way to fail differs.
fn hint(found: &str, asked: &str) -> &'static str {
    if found.strip_suffix("!c~") == asked.strip_suffix('~') {
        "\nhint: an op of it may fail: ask for a `fn(…) -> Result<…, CallError>`"
    } else {
        ""
    }
}

impl Function {
    /// The function as a native one of the type `F`, where the graph is one of C scalars. The types are compared here, once.
    ///
    /// # Errors
    /// There is none, and why; or it has another signature than `F`.
    ///
    /// # Examples
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let loader = precast_core::Loader::open("model.precast")?;
    /// let gauss = loader.entry("gauss")?.native::<fn(f64) -> f64>()?; // exp(-x*x)*0.5
    /// let area: f64 = (0..1000).map(|i| gauss.call(f64::from(i) * 1e-3) * 1e-3).sum();
    /// # Ok(())
    /// # }
    /// ```
    pub fn native<F: NativeType>(&self) -> Result<Native<F>, BindNativeError> {
        self.native_function().map_err(|reason| BindNativeError::None(reason.clone()))?.bind()
    }
}

impl NativeFunction {
    /// A handle of the type `F`.
    ///
    /// # Errors
    /// The function has another signature.
    pub fn bind<F: NativeType>(&self) -> Result<Native<F>, BindNativeError> {
        type C<F> = <<<F as NativeType>::Returns as Returns>::Results as Results>::C;
        let (plain, failing) = (F::Arguments::signature::<C<F>>(), F::Arguments::failing_signature::<C<F>>());
        let fails = match self.signature() {
            found if found == plain => false,
            found if F::Returns::MAY_FAIL && found == failing => true,
            found => {
                let asked = if F::Returns::MAY_FAIL { failing } else { plain };
                return Err(BindNativeError::Signature { found: found.to_owned(), asked });
            }
        };
        Ok(Native { function: self.function(), fails, of: self.clone(), ty: PhantomData })
    }
}

impl<F> Native<F> {
    /// What it is a handle to.
    #[must_use]
    pub const fn function(&self) -> &NativeFunction {
        &self.of
    }

    /// Where the function is, for C; as long as this handle or a clone of it lives.
    #[must_use]
    pub fn address(&self) -> *const c_void {
        self.of.address()
    }

    /// Calls a function that may fail.
    ///
    /// # Safety
    /// Its signature is the failing one of `A` and `R`.
    unsafe fn call_failing<A: Arguments, R: Results>(&self, arguments: A) -> Result<R, CallError> {
        // The message is written when there is one.
        let mut ctx = MaybeUninit::<Context>::uninit();
        let place = ctx.as_mut_ptr();
        // SAFETY: a field of memory that is ours.
        unsafe { (&raw mut (*place).host).write(host::here()) };
        // SAFETY: as above.
        unsafe { (&raw mut (*place).error.kind).write(0) };
        // SAFETY: the caller's promise; the context has a host and an empty slot.
        let result = unsafe { arguments.call_in::<R::C>(self.function, place) };
        // SAFETY: written above, and by the function since.
        let kind = unsafe { (&raw const (*place).error.kind).read() };
        match ErrorKind::from_code(kind) {
            None => Ok(R::of_c(result)),
            Some(kind) => {
                // SAFETY: the slot is set, so a message that ends with a NUL was written.
                let message = unsafe { message((&raw const (*place).error.message).cast()) };
                let signature = self.of.ops().to_owned();
                Err(CallError::Op { signature, kind, message, inputs: String::new() })
            }
        }
    }
}

/// The text of an error slot.
///
/// # Safety
/// A NUL is among the first [`ERROR_BYTES`], and all bytes before it are initialised.
#[cold]
unsafe fn message(bytes: *const u8) -> String {
    let mut text = Vec::new();
    for at in 0..ERROR_BYTES {
        // SAFETY: in the slot, and no further than its NUL.
        match unsafe { bytes.add(at).read() } {
            0 => break,
            byte => text.push(byte),
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

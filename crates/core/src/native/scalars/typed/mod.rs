//! Typed handles to native functions. The signatures of the Rust type and of the module are compared once, when the handle
//! is bound.
//!
//! ```text
//! fn(f64, f64) -> f64                      dd)d~            cannot fail
//! fn(f64) -> (f64, i32)                    d)T{di}~         several results: a struct in C
//! fn(f64) -> Result<f64, CallError>        d)d!c~ or d)d~   may fail
//! ```
//! The type of a handle always matches, so a call is one indirect call. A handle keeps the library loaded.

mod numbers;

pub use numbers::{NativeType, Number, Results, Returns};

use super::plain::{NativeFunction, NoNative};
use crate::function::{CallError, Function};
use crate::native::host;
use numbers::Arguments;
use precast_abi::context::{Context, ERROR_BYTES, Error, ErrorKind, Host};
use precast_abi::module::NativeFn;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::{MaybeUninit, offset_of};

/// A native function of the type `F`, [bound](Function::native) once. Clones share the function.
#[derive(Debug, Clone)]
pub struct Native<F> {
    function: NativeFn,
    fails: bool,
    of: NativeFunction,
    ty: PhantomData<F>,
}

/// The reason why a native function cannot be called with some Rust type.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BindNativeError {
    /// The native function does not exist.
    #[error("no native function: {0}")]
    None(NoNative),
    /// The native function has another signature.
    #[error("the native function has signature `{found}`, expected `{asked}`{}", hint(found, asked))]
    Signature {
        /// The signature of the native function.
        found: String,
        /// The signature of the Rust type.
        asked: &'static str,
    },
}

crate::debug_as_chain!(BindNativeError);

/// Returns a hint if the signatures differ only in the ability to fail.
fn hint(found: &str, asked: &str) -> &'static str {
    if found.strip_suffix("!c~") == asked.strip_suffix('~') {
        "\nhint: request a `fn(…) -> Result<…, CallError>`, because an op may fail"
    } else {
        ""
    }
}

impl Function {
    /// Returns the native function with the type `F`, if the graph is one of C scalars. The types are compared here, once.
    ///
    /// # Errors
    /// The native function does not exist, or has another signature than `F`.
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
    /// Binds a handle of the type `F`.
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
    /// Returns the native function.
    #[must_use]
    pub const fn function(&self) -> &NativeFunction {
        &self.of
    }

    /// Returns the address of the function for C. It is valid as long as this handle or a clone of it lives.
    #[must_use]
    pub fn address(&self) -> *const c_void {
        self.of.address()
    }

    /// Calls a function that may fail.
    ///
    /// # Safety
    /// Its signature is the failing one of `A` and `R`.
    unsafe fn call_failing<A: Arguments, R: Results>(&self, arguments: A) -> Result<R, CallError> {
        let mut slot = Slot {
            host: host::here(),
            kind: 0,
            reserved: 0,
            message: [const { MaybeUninit::uninit() }; ERROR_BYTES],
        };
        // SAFETY: the caller's promise; the context has a host and no error.
        let result = unsafe { arguments.call_in::<R::C>(self.function, (&raw mut slot).cast()) };
        match ErrorKind::from_code(slot.kind) {
            None => Ok(R::of_c(result)),
            Some(kind) => {
                // SAFETY: the error kind is set, so a message that ends with a NUL was written.
                let message = unsafe { slot.text() };
                let signature = self.of.ops().to_owned();
                Err(CallError::Op { signature, kind, message, inputs: String::new() })
            }
        }
    }
}

/// A context with an uninitialised message, because clearing it would cost more than the call.
#[repr(C)]
struct Slot {
    host: *const Host,
    kind: i32,
    reserved: i32,
    message: [MaybeUninit<u8>; ERROR_BYTES],
}

const _: () = assert!(size_of::<Slot>() == size_of::<Context>());
const _: () = assert!(offset_of!(Slot, kind) == offset_of!(Context, error) + offset_of!(Error, kind));
const _: () = assert!(offset_of!(Slot, message) == offset_of!(Context, error) + offset_of!(Error, message));

impl Slot {
    /// Returns the message.
    ///
    /// # Safety
    /// It contains a NUL, and all bytes before that are initialised.
    #[cold]
    unsafe fn text(&self) -> String {
        let mut text = Vec::new();
        for byte in &self.message {
            // SAFETY: no byte after the NUL is read.
            match unsafe { byte.assume_init() } {
                0 => break,
                byte => text.push(byte),
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    }
}

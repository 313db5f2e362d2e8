//! Finds native functions by signature: callables with several specializations, and typed handles to them.
//!
//! ```text
//! Function::of(f)  ─┐                              ┌─ bind::<extern "C" fn(f64) -> f64>() ─▶ Bound: one indirect call
//! Function::new(…) ─┴▶ Callable (a TableCell) ─────┤
//!                                                  └─ find(&Key) ─▶ an address, for a call made at run time
//! ```
//! A handle is created only if the signature of its Rust type equals a signature in the table, so an existing handle
//! always fits. That a *function* matches its signature is promised once, by the code that adds it.

use super::cell::TableCell;
use super::encoding::{Key, Text};
use super::signature::Signature;
use super::typed::{Native, SafeNative};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A native function and its signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    signature: Signature,
    address: NonNull<c_void>,
}

// SAFETY: functions and their addresses are the same for every thread.
unsafe impl Send for Function {}
// SAFETY: as for `Send`.
unsafe impl Sync for Function {}

impl Function {
    /// Creates a function from a Rust function, whose type determines the signature.
    #[must_use]
    pub fn of<F: SafeNative>(function: F) -> Self {
        // SAFETY: the type guarantees that the function is safe to call, and Rust functions are never unloaded.
        unsafe { Self::of_unsafe(function) }
    }

    /// Creates a function whose type determines the signature but does not guarantee that calls are safe.
    ///
    /// # Safety
    /// See [`Function::new`].
    ///
    /// # Panics
    /// Never: the compiler generated the signature.
    #[must_use]
    pub unsafe fn of_unsafe<F: Native>(function: F) -> Self {
        let signature = Signature::parse(F::SIGNATURE).expect("a function type has a canonical signature");
        let address = NonNull::new(function.address().cast_mut()).expect("a function has an address");
        Self { signature, address }
    }

    /// Creates a function from an address, for example that of a C function.
    ///
    /// # Safety
    /// A C function of this signature must be at `address` while this value, its clones, or callables that contain it
    /// exist. If its arguments contain no pointers, calls with any values must be safe. If the signature has `~`, calls
    /// from any thread must be safe. A result that is a function, `X{…}`, must never be NULL.
    #[must_use]
    pub const unsafe fn new(signature: Signature, address: NonNull<c_void>) -> Self {
        Self { signature, address }
    }

    /// Returns the signature.
    #[must_use]
    pub const fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Returns the address of the function.
    #[must_use]
    pub const fn address(&self) -> NonNull<c_void> {
        self.address
    }
}

/// Specializations of one function, keyed by signature. Other threads may call them while a specialization is added.
///
/// # Examples
/// CEP 1000 suggests trying an exact match first, then promoted arguments, then boxed ones.
/// ```
/// use precast_abi::nativecall::{Callable, Function};
/// extern "C" fn half(x: f32) -> f32 { x / 2.0 }
/// let callable = Callable::default();
/// callable.add(&Function::of(half as extern "C" fn(f32) -> f32));
///
/// let x = 3.0_f64;
/// let y = if let Ok(f) = callable.bind::<extern "C" fn(f64) -> f64>() {
///     f.call(x)
/// } else if let Ok(f) = callable.bind::<extern "C" fn(f32) -> f32>() {
///     f64::from(f.call(x as f32))
/// } else {
///     f64::NAN // or a call made at run time, of boxed values
/// };
/// assert_eq!(y, 1.5);
/// ```
#[derive(Debug, Default)]
pub struct Callable {
    cell: TableCell<Text>,
}

/// An error: no function has the requested signature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no function with the signature `{wanted}`; available: {}", list(.known))]
pub struct BindError {
    /// The requested signature.
    pub wanted: &'static str,
    /// The available signatures, newest first.
    pub known: Vec<Signature>,
}

fn list(known: &[Signature]) -> String {
    let known: Vec<String> = known.iter().map(|signature| format!("`{signature}`")).collect();
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}

impl Callable {
    /// Adds a specialization, which replaces an older one of the same signature in lookups.
    pub fn add(&self, function: &Function) {
        self.cell.add(Key::new(&function.signature), function.address.expose_provenance().get() as u64);
    }

    /// Returns the signatures and addresses, newest first.
    pub fn entries(&self) -> impl Iterator<Item = (Signature, NonNull<c_void>)> {
        self.cell.table().entries().filter_map(|(signature, payload)| Some((signature, address(payload)?)))
    }

    /// Looks up the function of a signature.
    #[must_use]
    #[inline]
    pub fn find(&self, key: &Key<Text>) -> Option<NonNull<c_void>> {
        address(self.cell.table().find(key)?)
    }

    /// Looks up the function of a canonical signature text.
    fn find_text(&self, signature: &str) -> Option<NonNull<c_void>> {
        self.find(&Key::<Text>::parse(signature).ok()?)
    }

    /// Returns a handle to the function of a type; calling it costs the same as an indirect call.
    ///
    /// # Errors
    /// Fails if no function has that signature.
    pub fn bind<F: Native>(&self) -> Result<Bound<'_, F>, BindError> {
        let found = match F::KEY {
            Some(key) => self.find(key),
            None => self.find_text(F::SIGNATURE),
        };
        found.map(Bound::new).ok_or_else(|| self.unknown(F::SIGNATURE))
    }

    /// Like [`Callable::bind`], but also accepts a function that needs the GIL.
    ///
    /// # Safety
    /// The thread must hold the GIL whenever it calls the handle.
    ///
    /// # Errors
    /// See [`Callable::bind`].
    pub unsafe fn bind_with_gil<F: Native>(&self) -> Result<Bound<'_, F>, BindError> {
        let found = self.find_text(F::SIGNATURE).or_else(|| self.find_text(F::WITH_GIL));
        found.map(Bound::new).ok_or_else(|| self.unknown(F::WITH_GIL))
    }

    /// Returns the cell that C reads (`pc_native_cell`).
    #[must_use]
    pub const fn cell(&self) -> &TableCell<Text> {
        &self.cell
    }

    #[cold]
    fn unknown(&self, wanted: &'static str) -> BindError {
        BindError { wanted, known: self.entries().map(|(signature, _)| signature).collect() }
    }
}

/// Converts a payload to an address; `None` for 0.
#[inline]
fn address(payload: u64) -> Option<NonNull<c_void>> {
    NonNull::new(std::ptr::with_exposed_provenance_mut(usize::try_from(payload).ok()?))
}

/// A function of type `F` that is valid as long as the callable it was bound from.
#[derive(Debug, Clone, Copy)]
pub struct Bound<'a, F> {
    function: F,
    of: PhantomData<&'a Callable>,
}

impl<F: Native> Bound<'_, F> {
    fn new(address: NonNull<c_void>) -> Self {
        // SAFETY: the table has this address under the signature of `F`, and the code that added it guaranteed that
        // they match.
        Self { function: unsafe { F::from_address(address.as_ptr()) }, of: PhantomData }
    }

    /// Returns the function itself, without its lifetime.
    ///
    /// # Safety
    /// The function may be called only while the callable it was bound from exists.
    #[must_use]
    pub const unsafe fn get(&self) -> F {
        self.function
    }
}

/// Implements `call` for each number of arguments.
macro_rules! calls {
    ([$($done:ident)*]) => { calls!(@one [$($done)*]); };
    ([$($done:ident)*] $next:ident $($rest:ident)*) => {
        calls!(@one [$($done)*]);
        calls!([$($done)* $next] $($rest)*);
    };
    (@one [$($a:ident)*]) => {
        #[allow(non_snake_case, clippy::too_many_arguments, reason = "an argument is named as its type")]
        impl<R, $($a),*> Bound<'_, extern "C" fn($($a),*) -> R> {
            /// Calls the function.
            #[inline]
            pub fn call(&self, $($a: $a),*) -> R {
                (self.function)($($a),*)
            }
        }

        #[allow(non_snake_case, clippy::too_many_arguments, reason = "an argument is named as its type")]
        impl<R, $($a),*> Bound<'_, unsafe extern "C" fn($($a),*) -> R> {
            /// Calls the function.
            ///
            /// # Safety
            /// The pointers among the arguments must be valid for the function, and a context must have a host.
            #[inline]
            pub unsafe fn call(&self, $($a: $a),*) -> R {
                // SAFETY: guaranteed by the caller.
                unsafe { (self.function)($($a),*) }
            }
        }
    };
}

calls!([] A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12);

//! Native functions by signature: one callable with several specialisations, and typed handles to them.
//!
//! ```text
//! Function::of(f)  ─┐                              ┌─ bind::<extern "C" fn(f64) -> f64>() ─▶ Bound: one indirect call
//! Function::new(…) ─┴▶ Callable (a TableCell) ─────┤
//!                                                  └─ find(&Key) ─▶ an address, for a call made at run time
//! ```
//! What a type says and what a table says are compared as text when a handle is made, so a handle that exists fits. That
//! a *function* is what its signature says is promised once, where it is added.

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
    /// A function of Rust, whose type says its signature.
    #[must_use]
    pub fn of<F: SafeNative>(function: F) -> Self {
        // SAFETY: the type says that it is safe to call; functions of Rust stay where they are.
        unsafe { Self::of_unsafe(function) }
    }

    /// A function whose type says its signature, but not that it is safe to call.
    ///
    /// # Safety
    /// As [`Function::new`].
    ///
    /// # Panics
    /// Never: the compiler made the signature.
    #[must_use]
    pub unsafe fn of_unsafe<F: Native>(function: F) -> Self {
        let signature = Signature::parse(F::SIGNATURE).expect("a function type has a canonical signature");
        let address = NonNull::new(function.address().cast_mut()).expect("a function has an address");
        Self { signature, address }
    }

    /// A function from elsewhere.
    ///
    /// # Safety
    /// A C function of this signature is at `address`, as long as this value, its clones and the callables that they are
    /// added to live. If its arguments hold no pointers, it may be called with any values; if it says `~`, by any thread.
    /// A result that is a function, `X{…}`, is never NULL.
    #[must_use]
    pub const unsafe fn new(signature: Signature, address: NonNull<c_void>) -> Self {
        Self { signature, address }
    }

    /// The signature.
    #[must_use]
    pub const fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Where the function is.
    #[must_use]
    pub const fn address(&self) -> NonNull<c_void> {
        self.address
    }
}

/// Specialisations of one function, by signature; added while others call.
///
/// # Examples
/// The order that CEP 1000 shows: exact, promoted, boxed.
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

/// No function of the wanted signature is there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no function with the signature `{wanted}`; there are {}", list(.known))]
pub struct BindError {
    /// The signature.
    pub wanted: &'static str,
    /// The signatures that are there, newest first.
    pub known: Vec<Signature>,
}

fn list(known: &[Signature]) -> String {
    let known: Vec<String> = known.iter().map(|signature| format!("`{signature}`")).collect();
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}

impl Callable {
    /// Adds a specialisation, which is found instead of an older one of the same signature.
    pub fn add(&self, function: &Function) {
        self.cell.add(Key::new(&function.signature), function.address.expose_provenance().get() as u64);
    }

    /// The signatures and addresses, newest first.
    pub fn entries(&self) -> impl Iterator<Item = (Signature, NonNull<c_void>)> {
        self.cell.table().entries().filter_map(|(signature, payload)| Some((signature, address(payload)?)))
    }

    /// The function of a signature.
    #[must_use]
    #[inline]
    pub fn find(&self, key: &Key<Text>) -> Option<NonNull<c_void>> {
        address(self.cell.table().find(key)?)
    }

    /// The function of a canonical text.
    fn find_text(&self, signature: &str) -> Option<NonNull<c_void>> {
        self.find(&Key::<Text>::parse(signature).ok()?)
    }

    /// A handle to the function of a type; calling it costs what an indirect call does.
    ///
    /// # Errors
    /// No function of that signature is there.
    pub fn bind<F: Native>(&self) -> Result<Bound<'_, F>, BindError> {
        let found = match F::KEY {
            Some(key) => self.find(key),
            None => self.find_text(F::SIGNATURE),
        };
        found.map(Bound::new).ok_or_else(|| self.unknown(F::SIGNATURE))
    }

    /// As [`Callable::bind`], and also accepts a function that needs the GIL.
    ///
    /// # Safety
    /// The thread holds the GIL whenever it calls the handle.
    ///
    /// # Errors
    /// As [`Callable::bind`].
    pub unsafe fn bind_with_gil<F: Native>(&self) -> Result<Bound<'_, F>, BindError> {
        let found = self.find_text(F::SIGNATURE).or_else(|| self.find_text(F::WITH_GIL));
        found.map(Bound::new).ok_or_else(|| self.unknown(F::WITH_GIL))
    }

    /// The cell that C reads (`pc_native_cell`).
    #[must_use]
    pub const fn cell(&self) -> &TableCell<Text> {
        &self.cell
    }

    #[cold]
    fn unknown(&self, wanted: &'static str) -> BindError {
        BindError { wanted, known: self.entries().map(|(signature, _)| signature).collect() }
    }
}

/// The address that a payload is; `None` for 0.
#[inline]
fn address(payload: u64) -> Option<NonNull<c_void>> {
    NonNull::new(std::ptr::with_exposed_provenance_mut(usize::try_from(payload).ok()?))
}

/// A function of the type `F` that lives as long as what it was bound from.
#[derive(Debug, Clone, Copy)]
pub struct Bound<'a, F> {
    function: F,
    of: PhantomData<&'a Callable>,
}

impl<F: Native> Bound<'_, F> {
    fn new(address: NonNull<c_void>) -> Self {
        // SAFETY: the table has this address under the signature of `F`, which whoever added it promised to be true.
        Self { function: unsafe { F::from_address(address.as_ptr()) }, of: PhantomData }
    }

    /// The function itself, which does not know how long it lives.
    ///
    /// # Safety
    /// It is called only as long as what it was bound from lives.
    #[must_use]
    pub const unsafe fn get(&self) -> F {
        self.function
    }
}

/// Calls of each number of arguments.
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
            /// The pointers among the arguments are what the function expects; a context has a host.
            #[inline]
            pub unsafe fn call(&self, $($a: $a),*) -> R {
                // SAFETY: the caller's promise.
                unsafe { (self.function)($($a),*) }
            }
        }
    };
}

calls!([] A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12);

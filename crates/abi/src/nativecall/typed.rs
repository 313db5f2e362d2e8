//! Signatures of Rust's function types, made by the compiler.
//!
//! ```
//! use precast_abi::nativecall::Native;
//! assert_eq!(<extern "C" fn(f64, i32) -> i32>::SIGNATURE, "di)i~");
//! ```
//! A Rust program holds no GIL, so its functions are `~`. There are two families: `extern "C" fn` of plain values may be
//! called by anyone; with pointers among the arguments it is `unsafe extern "C" fn`. A last argument `*mut Context` is where
//! failures are reported, `!c`; it has a host, so who makes contexts wraps such calls.

use super::code::Code;
use super::encoding::{Key, Text};
use crate::context::Context;
use std::ffi::c_void;

/// A type that C passes by value.
///
/// # Safety
/// `CODE` is the PEP 3118 code of a C type of the same size, alignment and way of being passed.
///
/// # Examples
/// ```
/// use precast_abi::nativecall::{Code, Field, Native};
/// #[repr(C)]
/// #[derive(Clone, Copy)]
/// struct Point { x: f64, y: f64, layer: i32 }
/// // SAFETY: the struct is `repr(C)` and these are its fields.
/// unsafe impl Field for Point {
///     const CODE: Code = Code::structure(&[f64::CODE, f64::CODE, i32::CODE]);
/// }
/// assert_eq!(<unsafe extern "C" fn(Point) -> f64>::SIGNATURE, "T{ddi})d~");
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` has no code in a CEP 1000 signature")]
pub unsafe trait Field: Copy {
    /// The code.
    const CODE: Code;
}

/// A field of which every value is harmless to any C function that takes it: no pointer, nor a struct with one.
///
/// # Safety
/// As it says.
pub unsafe trait Plain: Field {}

/// What a function gives back: a [`Field`], or nothing.
///
/// # Safety
/// As for [`Field`].
#[diagnostic::on_unimplemented(message = "`{Self}` has no code in a CEP 1000 signature")]
pub unsafe trait Outcome {
    /// The code; empty for nothing.
    const CODE: Code;
}

/// A type of C functions that has a signature.
///
/// # Safety
/// `CODE` is the signature of functions of this type, and `from_address` gives the function at an address.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type of C functions with a CEP 1000 signature",
    note = "these are `extern \"C\" fn` of numbers, and `unsafe extern \"C\" fn` of numbers, pointers and structs"
)]
pub unsafe trait Native: Copy + Send + Sync + 'static {
    /// The signature.
    const CODE: Code;
    /// The signature, where it can be borrowed for ever.
    const TEXT: &'static Code = &Self::CODE;
    /// The signature as text.
    const SIGNATURE: &'static str = Self::TEXT.as_str();
    /// The signature without the promise that no GIL is needed.
    const WITH_GIL: &'static str = Self::SIGNATURE.split_at(Self::SIGNATURE.len() - 1).0;
    /// The key in tables of text, unless the signature is too long for a constant.
    const KEY: &'static Option<Key<Text>> = &Key::<Text>::constant(Self::SIGNATURE);

    /// Where the function is.
    fn address(self) -> *const c_void;

    /// The function at an address.
    ///
    /// # Safety
    /// A function of this type is there.
    unsafe fn from_address(address: *const c_void) -> Self;
}

/// A type of functions that anyone may call: `extern "C" fn` of plain values.
///
/// # Safety
/// As it says.
///
/// # Examples
/// A table does not say whether a function is safe, so an unsafe one is promised to be what its signature says:
/// ```compile_fail
/// use precast_abi::nativecall::Function;
/// unsafe extern "C" fn step(x: f64) -> f64 { x }
/// Function::of(step as unsafe extern "C" fn(f64) -> f64);
/// ```
#[diagnostic::on_unimplemented(
    message = "functions of the type `{Self}` are not safe to call",
    note = "`Function::of_unsafe` takes them"
)]
pub unsafe trait SafeNative: Native {}

/// Fields of one letter, by type.
macro_rules! numbers {
    ($($type:ty: $code:literal),+ $(,)?) => {$(
        // SAFETY: the type is that of the same size and kind in C.
        unsafe impl Field for $type {
            const CODE: Code = Code::new($code);
        }
        // SAFETY: a number.
        unsafe impl Plain for $type {}
    )+};
}

numbers! {
    bool: "?", i8: "b", u8: "B", i16: "h", u16: "H", i32: "i", u32: "I", i64: "q", u64: "Q", f32: "f", f64: "d",
}

#[cfg(target_pointer_width = "64")]
numbers! { isize: "q", usize: "Q" }

#[cfg(target_pointer_width = "32")]
numbers! { isize: "i", usize: "I" }

// SAFETY: a pointer is a pointer.
unsafe impl<T: Field> Field for *const T {
    const CODE: Code = Code::pointer(T::CODE);
}

// SAFETY: a pointer is a pointer; C's `const` is not part of a signature.
unsafe impl<T: Field> Field for *mut T {
    const CODE: Code = Code::pointer(T::CODE);
}

// SAFETY: `void *`.
unsafe impl Field for *mut c_void {
    const CODE: Code = Code::new("P");
}

// SAFETY: `const void *`.
unsafe impl Field for *const c_void {
    const CODE: Code = Code::new("P");
}

// SAFETY: nothing is nothing.
unsafe impl Outcome for () {
    const CODE: Code = Code::new("");
}

// SAFETY: what `Field` says.
unsafe impl<T: Field> Outcome for T {
    const CODE: Code = T::CODE;
}

/// The traits of one function type.
macro_rules! native {
    ($type:ty, $errors:literal, $outcome:ident, $bound:ident, [$($argument:ident)*]) => {
        // SAFETY: the signature is made of the codes of the arguments and the result, in order.
        unsafe impl<$outcome: Outcome + 'static $(, $argument: $bound + 'static)*> Native for $type {
            const CODE: Code = Code::new("")
                $(.then(&$argument::CODE))*
                .then(&Code::new(")"))
                .then(&$outcome::CODE)
                .then(&Code::new($errors));

            fn address(self) -> *const c_void {
                self as *const c_void
            }

            unsafe fn from_address(address: *const c_void) -> Self {
                // SAFETY: the caller's promise.
                unsafe { std::mem::transmute::<*const c_void, Self>(address) }
            }
        }
    };
}

/// Function pointers among arguments and results are unsafe ones: text does not say whether a function is safe to call.
macro_rules! pointer {
    ($type:ty, [$($argument:ident)*]) => {
        // SAFETY: `X{…}` is a pointer to a function of this signature.
        unsafe impl<R: Outcome + 'static $(, $argument: Field + 'static)*> Field for $type {
            const CODE: Code = Code::function(&<Self as Native>::CODE);
        }
    };
}

/// The function types of each number of arguments.
macro_rules! arities {
    ([$($done:ident)*]) => { arities!(@one [$($done)*]); };
    ([$($done:ident)*] $next:ident $($rest:ident)*) => {
        arities!(@one [$($done)*]);
        arities!([$($done)* $next] $($rest)*);
    };
    (@one [$($a:ident)*]) => {
        native!(extern "C" fn($($a),*) -> R, "~", R, Plain, [$($a)*]);
        // SAFETY: the function type is a safe one, and its arguments are plain.
        unsafe impl<R: Outcome + 'static $(, $a: Plain + 'static)*> SafeNative for extern "C" fn($($a),*) -> R {}
        native!(unsafe extern "C" fn($($a),*) -> R, "~", R, Field, [$($a)*]);
        native!(unsafe extern "C" fn($($a,)* *mut Context) -> R, "!c~", R, Field, [$($a)*]);
        pointer!(unsafe extern "C" fn($($a),*) -> R, [$($a)*]);
        pointer!(unsafe extern "C" fn($($a,)* *mut Context) -> R, [$($a)*]);
    };
}

arities!([] A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12);

//! Signatures of Rust function types, generated at compile time.
//!
//! ```
//! use precast_abi::nativecall::Native;
//! assert_eq!(<extern "C" fn(f64, i32) -> i32>::SIGNATURE, "di)i~");
//! ```
//! A Rust program does not hold the GIL, so its functions have `~`. There are two families. Functions of plain values
//! are `extern "C" fn`, which anyone may call. Functions with pointers among the arguments are `unsafe extern "C" fn`.
//! If the last argument is `*mut Context`, the function reports failures there (`!c`). The context must have a host, so
//! code that creates contexts should wrap such calls.

use super::code::Code;
use super::encoding::{Key, Text};
use crate::context::Context;
use std::ffi::c_void;

/// A type that C passes by value.
///
/// # Safety
/// `CODE` must be the PEP 3118 code of a C type with the same size, alignment and calling convention.
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

/// A field whose every value is safe to pass to any C function: neither a pointer nor a struct that contains one.
///
/// # Safety
/// The type must have this property.
pub unsafe trait Plain: Field {}

/// The result type of a function: a [`Field`] or nothing.
///
/// # Safety
/// See [`Field`].
#[diagnostic::on_unimplemented(message = "`{Self}` has no code in a CEP 1000 signature")]
pub unsafe trait Outcome {
    /// The code; empty for no result.
    const CODE: Code;
}

/// A C function type that has a signature.
///
/// # Safety
/// `CODE` must be the signature of functions of this type, and `from_address` must return the function at the address.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a C function type with a CEP 1000 signature",
    note = "use `extern \"C\" fn` of numbers, or `unsafe extern \"C\" fn` of numbers, pointers and structs"
)]
pub unsafe trait Native: Copy + Send + Sync + 'static {
    /// The signature.
    const CODE: Code;
    /// The signature as a `'static` reference.
    const TEXT: &'static Code = &Self::CODE;
    /// The signature as text.
    const SIGNATURE: &'static str = Self::TEXT.as_str();
    /// The signature without `~`, i.e. of a function that needs the GIL.
    const WITH_GIL: &'static str = Self::SIGNATURE.split_at(Self::SIGNATURE.len() - 1).0;
    /// The key in text tables, unless the signature is too long for a constant.
    const KEY: &'static Option<Key<Text>> = &Key::<Text>::constant(Self::SIGNATURE);

    /// Returns the address of the function.
    fn address(self) -> *const c_void;

    /// Returns the function at an address.
    ///
    /// # Safety
    /// A function of this type must be at `address`.
    unsafe fn from_address(address: *const c_void) -> Self;
}

/// A function type that is safe to call: `extern "C" fn` of plain values.
///
/// # Safety
/// All functions of the type must be safe to call.
///
/// # Examples
/// A table does not record whether a function is safe, so adding an unsafe function requires a promise that it matches
/// its signature:
/// ```compile_fail
/// use precast_abi::nativecall::Function;
/// unsafe extern "C" fn step(x: f64) -> f64 { x }
/// Function::of(step as unsafe extern "C" fn(f64) -> f64);
/// ```
#[diagnostic::on_unimplemented(
    message = "functions of type `{Self}` are not safe to call",
    note = "use `Function::of_unsafe`"
)]
pub unsafe trait SafeNative: Native {}

/// Implements `Field` and `Plain` for the types with one-letter codes.
macro_rules! numbers {
    ($($type:ty: $code:literal),+ $(,)?) => {$(
        // SAFETY: the C type of this code has the same size and kind.
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

// SAFETY: C passes all pointers alike.
unsafe impl<T: Field> Field for *const T {
    const CODE: Code = Code::pointer(T::CODE);
}

// SAFETY: C passes all pointers alike; `const` is not part of a signature.
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

// SAFETY: a function without a result has an empty code.
unsafe impl Outcome for () {
    const CODE: Code = Code::new("");
}

// SAFETY: guaranteed by `Field`.
unsafe impl<T: Field> Outcome for T {
    const CODE: Code = T::CODE;
}

/// Implements the traits for one function type.
macro_rules! native {
    ($type:ty, $errors:literal, $outcome:ident, $bound:ident, [$($argument:ident)*]) => {
        // SAFETY: the signature consists of the codes of the arguments and the result, in order.
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
                // SAFETY: guaranteed by the caller.
                unsafe { std::mem::transmute::<*const c_void, Self>(address) }
            }
        }
    };
}

/// Implements `Field` for function pointers. They must be `unsafe`, since a signature does not state whether a function
/// is safe.
macro_rules! pointer {
    ($type:ty, [$($argument:ident)*]) => {
        // SAFETY: `X{…}` is a pointer to a function of this signature.
        unsafe impl<R: Outcome + 'static $(, $argument: Field + 'static)*> Field for $type {
            const CODE: Code = Code::function(&<Self as Native>::CODE);
        }
    };
}

/// Implements the traits for each number of arguments.
macro_rules! arities {
    ([$($done:ident)*]) => { arities!(@one [$($done)*]); };
    ([$($done:ident)*] $next:ident $($rest:ident)*) => {
        arities!(@one [$($done)*]);
        arities!([$($done)* $next] $($rest)*);
    };
    (@one [$($a:ident)*]) => {
        native!(extern "C" fn($($a),*) -> R, "~", R, Plain, [$($a)*]);
        // SAFETY: the function type is safe, and its arguments are plain.
        unsafe impl<R: Outcome + 'static $(, $a: Plain + 'static)*> SafeNative for extern "C" fn($($a),*) -> R {}
        native!(unsafe extern "C" fn($($a),*) -> R, "~", R, Field, [$($a)*]);
        native!(unsafe extern "C" fn($($a,)* *mut Context) -> R, "!c~", R, Field, [$($a)*]);
        pointer!(unsafe extern "C" fn($($a),*) -> R, [$($a)*]);
        pointer!(unsafe extern "C" fn($($a,)* *mut Context) -> R, [$($a)*]);
    };
}

arities!([] A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12);

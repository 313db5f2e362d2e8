//! The Rust types in calls of native functions: numbers, tuples of results, lists of arguments.
//!
//! ```text
//! Number    bool, integers, f32, f64, Complex          Results   a Number, or a tuple of them: a struct in C
//! Returns   Results, or a Result of them               Arguments 0 to 12 Numbers
//! ```

use super::Native;
use crate::function::CallError;
use num_complex::Complex;
use precast_abi::context::Context;
use precast_abi::module::NativeFn;
use precast_abi::nativecall::{Code, Field, Native as Signed, Outcome, Plain};

/// A number that C passes by value: `bool`, integers, `f32`, `f64`, and complex numbers.
///
/// `f16` and `bf16` are excluded, because C does not pass 16-bit floats.
#[diagnostic::on_unimplemented(message = "native functions cannot take or return `{Self}`")]
pub trait Number: Results<C: Plain> + Copy + 'static {
    #[doc(hidden)]
    fn to_c(self) -> Self::C;
}

/// The results of a native function: a number, or a tuple of several.
#[diagnostic::on_unimplemented(message = "native functions cannot return `{Self}`")]
pub trait Results: Sized {
    /// The C type of the results.
    #[doc(hidden)]
    type C: Field + 'static;

    #[doc(hidden)]
    fn of_c(c: Self::C) -> Self;
}

/// The return type of a handle: [`Results`], or a `Result` of them if an op may fail.
#[diagnostic::on_unimplemented(message = "native functions cannot return `{Self}`")]
pub trait Returns: Sized {
    #[doc(hidden)]
    type Results: Results;

    /// Whether the type can express a failed call.
    #[doc(hidden)]
    const MAY_FAIL: bool;

    /// Calls the function of a handle.
    ///
    /// # Safety
    /// The handle was bound: its function has these arguments and results.
    #[doc(hidden)]
    unsafe fn call<F, A: Arguments>(handle: &Native<F>, arguments: A) -> Self;
}

/// The arguments of a native function: a tuple of numbers.
///
/// # Safety
/// The signatures are those of the called functions.
#[doc(hidden)]
pub unsafe trait Arguments {
    /// Returns the signature of functions that cannot fail.
    fn signature<R: Outcome + 'static>() -> &'static str;

    /// Returns the signature of functions that can fail.
    fn failing_signature<R: Outcome + 'static>() -> &'static str;

    /// Calls a function that cannot fail.
    ///
    /// # Safety
    /// The function has that signature.
    unsafe fn call<R>(self, function: NativeFn) -> R;

    /// Calls a function that can fail.
    ///
    /// # Safety
    /// The function has the failing signature; the context has a host.
    unsafe fn call_in<R>(self, function: NativeFn, ctx: *mut Context) -> R;
}

/// A Rust function type that native functions can be bound to: `fn` of up to 12 [`Number`]s that [`Returns`].
#[diagnostic::on_unimplemented(
    message = "native functions cannot be called as `{Self}`",
    note = "use a `fn` of up to 12 numbers, such as `fn(f64, f64) -> f64`"
)]
pub trait NativeType {
    #[doc(hidden)]
    type Arguments: Arguments;
    #[doc(hidden)]
    type Returns: Returns;
}

/// Implements [`Returns`] for results that cannot fail.
macro_rules! returns_itself {
    () => {
        type Results = Self;
        const MAY_FAIL: bool = false;

        #[inline]
        unsafe fn call<F, A: Arguments>(handle: &Native<F>, arguments: A) -> Self {
            // SAFETY: the caller's promise; a type that cannot express failure is bound only to functions that cannot fail.
            Self::of_c(unsafe { arguments.call(handle.function) })
        }
    };
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Number for $number {
            #[inline]
            fn to_c(self) -> Self {
                self
            }
        }

        impl Results for $number {
            type C = Self;

            #[inline]
            fn of_c(c: Self) -> Self {
                c
            }
        }

        impl Returns for $number {
            returns_itself!();
        }
    )*};
}
numbers!(bool, i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);

/// A complex number of C, on machines that pass it as a struct of its parts.
#[doc(hidden)]
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct CComplex<T>(T, T);

macro_rules! complex {
    ($($part:ty: $code:literal),*) => {$(
        // SAFETY: the ABIs of x86-64 (System V) and 64-bit Arm pass complex numbers of C like a struct of both parts.
        #[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
        unsafe impl Field for CComplex<$part> {
            const CODE: Code = Code::new($code);
        }
        // SAFETY: two numbers.
        #[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
        unsafe impl Plain for CComplex<$part> {}

        #[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
        impl Number for Complex<$part> {
            #[inline]
            fn to_c(self) -> Self::C {
                CComplex(self.re, self.im)
            }
        }

        #[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
        impl Results for Complex<$part> {
            type C = CComplex<$part>;

            #[inline]
            fn of_c(c: Self::C) -> Self {
                Self::new(c.0, c.1)
            }
        }

        #[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
        impl Returns for Complex<$part> {
            returns_itself!();
        }
    )*};
}
complex!(f32: "Zf", f64: "Zd");

impl<R: Results> Returns for Result<R, CallError> {
    type Results = R;
    const MAY_FAIL: bool = true;

    #[inline]
    unsafe fn call<F, A: Arguments>(handle: &Native<F>, arguments: A) -> Self {
        if handle.fails {
            // SAFETY: the caller's promise; the handle was bound to the failing signature.
            return unsafe { handle.call_failing(arguments) };
        }
        // SAFETY: the caller's promise; the handle was bound to the other signature.
        Ok(R::of_c(unsafe { arguments.call(handle.function) }))
    }
}

/// Implements results for tuples, as structs in C.
macro_rules! tuples {
    ($($structure:ident: $($result:ident $at:tt),+;)*) => {$(
        #[doc(hidden)]
        #[repr(C)]
        #[derive(Debug, Clone, Copy)]
        pub struct $structure<$($result),+>($($result),+);

        // SAFETY: the struct is `repr(C)`, and these are its fields.
        unsafe impl<$($result: Field),+> Field for $structure<$($result),+> {
            const CODE: Code = Code::structure(&[$($result::CODE),+]);
        }

        impl<$($result: Number),+> Results for ($($result,)+) {
            type C = $structure<$($result::C),+>;

            #[inline]
            fn of_c(c: Self::C) -> Self {
                ($($result::of_c(c.$at),)+)
            }
        }

        impl<$($result: Number),+> Returns for ($($result,)+) {
            returns_itself!();
        }
    )*};
}
tuples! {
    Two: R0 0, R1 1;
    Three: R0 0, R1 1, R2 2;
    Four: R0 0, R1 1, R2 2, R3 3;
    Five: R0 0, R1 1, R2 2, R3 3, R4 4;
    Six: R0 0, R1 1, R2 2, R3 3, R4 4, R5 5;
    Seven: R0 0, R1 1, R2 2, R3 3, R4 4, R5 5, R6 6;
    Eight: R0 0, R1 1, R2 2, R3 3, R4 4, R5 5, R6 6, R7 7;
}

/// Implements the traits for each number of arguments.
macro_rules! arities {
    ([$($done:ident)*]) => { arities!(@one [$($done)*]); };
    ([$($done:ident)*] $next:ident $($rest:ident)*) => {
        arities!(@one [$($done)*]);
        arities!([$($done)* $next] $($rest)*);
    };
    (@one [$($a:ident)*]) => {
        // SAFETY: the signatures belong to the function types that the address is converted to.
        #[allow(non_snake_case, reason = "an argument is named as its type")]
        unsafe impl<$($a: Number),*> Arguments for ($($a,)*) {
            fn signature<R: Outcome + 'static>() -> &'static str {
                <extern "C" fn($($a::C),*) -> R as Signed>::SIGNATURE
            }

            fn failing_signature<R: Outcome + 'static>() -> &'static str {
                <unsafe extern "C" fn($($a::C,)* *mut Context) -> R as Signed>::SIGNATURE
            }

            #[inline]
            unsafe fn call<R>(self, function: NativeFn) -> R {
                let ($($a,)*) = self;
                // SAFETY: the caller's promise.
                let function = unsafe { std::mem::transmute::<NativeFn, extern "C" fn($($a::C),*) -> R>(function) };
                function($($a.to_c()),*)
            }

            #[inline]
            unsafe fn call_in<R>(self, function: NativeFn, ctx: *mut Context) -> R {
                let ($($a,)*) = self;
                // SAFETY: the caller's promise.
                let function = unsafe { std::mem::transmute::<NativeFn, extern "C" fn($($a::C,)* *mut Context) -> R>(function) };
                function($($a.to_c(),)* ctx)
            }
        }

        impl<R: Returns, $($a: Number),*> NativeType for fn($($a),*) -> R {
            type Arguments = ($($a,)*);
            type Returns = R;
        }

        #[allow(non_snake_case, clippy::too_many_arguments, reason = "an argument is named as its type")]
        impl<R: Returns, $($a: Number),*> Native<fn($($a),*) -> R> {
            /// Calls the function.
            #[inline]
            pub fn call(&self, $($a: $a),*) -> R {
                // SAFETY: the handle was bound to a function of these arguments and results.
                unsafe { R::call(self, ($($a,)*)) }
            }
        }
    };
}
arities!([] A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12);

//! Calls functions at run time from a signature; libffi lays out the arguments as C does.
//!
//! ```text
//! "T{dd}i)d~" ─▶ Prototype ─▶ Call (layouts, computed once) ─ invoke(function, values) ─▶ values
//! ```
//! This module needs the feature `ffi`, which deployed programs do not enable: building libffi requires `make`, and a
//! call costs hundreds of nanoseconds. It is a fallback for signatures that are not known at compile time.
//!
//! Values are bytes in C's layout ([`Value`]), and the signature defines their types. A function with
//! [`Errors::Status`] gets pointers for its results, and a function with [`Errors::Context`] gets the context.
//! Functions that report errors through Python's error indicator are rejected.

use super::callable::Function;
use super::prototype::{Errors, Field, Number, Prototype};
use super::signature::Signature;
use crate::context::Context;
use libffi::middle::{Arg, Cif, CodePtr, Ret, Type, arg};
use std::ffi::{c_int, c_void};

/// A value in C's layout, including padding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value(Vec<u8>);

impl Value {
    /// Creates a value from its bytes in native byte order.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Converts numbers to and from values.
macro_rules! conversions {
    ($($type:ty),+) => {$(
        impl From<$type> for Value {
            fn from(number: $type) -> Self {
                Self(number.to_ne_bytes().to_vec())
            }
        }

        impl TryFrom<Value> for $type {
            type Error = Value;

            fn try_from(value: Value) -> Result<Self, Value> {
                let bytes = value.0.as_slice().try_into().map_err(|_| value.clone())?;
                Ok(Self::from_ne_bytes(bytes))
            }
        }
    )+};
}

conversions!(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);

impl<T> From<*mut T> for Value {
    fn from(pointer: *mut T) -> Self {
        Self::from(pointer.expose_provenance() as u64)
    }
}

/// A prepared call of functions with one signature.
#[derive(Debug)]
pub struct Call {
    signature: Signature,
    errors: Errors,
    cif: Cif,
    /// The sizes of the arguments in bytes.
    arguments: Vec<usize>,
    results: Vec<usize>,
}

/// The reason why functions of a signature cannot be called at run time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The function has more than one result but does not return them through pointers.
    #[error(
        "`{0}` has several results, which a C function can only return through pointers\nhint: add `!s` to the \
         signature if the function does so"
    )]
    Results(Signature),
    /// libffi has no type for a field, or does not support it on this machine.
    #[error("`{0}` has a field that cannot be passed by value in a run-time call")]
    Field(Signature),
    /// The function reports failures only to a Python interpreter.
    #[error("`{0}` reports failures to Python, but this process has no interpreter")]
    Python(Signature),
}

/// The reason why a call failed or was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvokeError {
    /// The number of arguments is wrong.
    #[error("`{signature}` takes {expected} arguments, found {found}")]
    Count {
        /// The signature.
        signature: Signature,
        /// The expected number of arguments.
        expected: usize,
        /// The actual number of arguments.
        found: usize,
    },
    /// A value has the wrong size.
    #[error("argument {position} of `{signature}` has {found} bytes, expected {expected}")]
    Size {
        /// The signature.
        signature: Signature,
        /// The position of the argument, starting at 0.
        position: usize,
        /// The expected size in bytes.
        expected: usize,
        /// The actual size in bytes.
        found: usize,
    },
    /// The function has a different signature.
    #[error("cannot call a function of `{found}` as `{expected}`")]
    Signature {
        /// The signature of the call.
        expected: Signature,
        /// The signature of the function.
        found: Signature,
    },
    /// The function failed.
    #[error("a function of `{signature}` failed: {message}")]
    Failed {
        /// The signature.
        signature: Signature,
        /// The error message, or the status code.
        message: String,
    },
}

impl Call {
    /// Prepares calls of a signature.
    ///
    /// # Errors
    /// Fails if the signature is not that of a C function, or if libffi cannot call it.
    pub fn new(signature: &Signature) -> Result<Self, PrepareError> {
        let Prototype { arguments, results, errors, .. } = signature.prototype();
        if errors == Errors::Python {
            return Err(PrepareError::Python(signature.clone()));
        }
        if results.len() > 1 && errors != Errors::Status {
            return Err(PrepareError::Results(signature.clone()));
        }
        let sizes =
            |fields: &[Field]| fields.iter().map(|field| Some(layout(field)?.0)).collect::<Option<Vec<_>>>();
        let prepared = || {
            let mut passed = arguments.iter().map(ffi_type).collect::<Option<Vec<Type>>>()?;
            let result = match errors {
                Errors::Status => {
                    passed.extend(results.iter().map(|_| Type::pointer()));
                    Type::c_int()
                }
                _ => results.first().map_or_else(|| Some(Type::void()), ffi_type)?,
            };
            passed.extend((errors == Errors::Context).then(Type::pointer));
            Some((Cif::try_new(passed, result).ok()?, sizes(&arguments)?, sizes(&results)?))
        };
        let (cif, arguments, results) = prepared().ok_or_else(|| PrepareError::Field(signature.clone()))?;
        Ok(Self { signature: signature.clone(), errors, cif, arguments, results })
    }

    /// Calls a function.
    ///
    /// # Errors
    /// Fails if the number or the sizes of the arguments are wrong, if the function's signature differs, or if the
    /// function reports a failure.
    ///
    /// # Safety
    /// All pointers among `arguments`, at any depth, must be valid for the function. The same holds for the host of
    /// `context`, which is passed only to functions with [`Errors::Context`]. If the function needs the GIL, this
    /// thread must hold it.
    pub unsafe fn invoke(
        &self,
        function: &Function,
        arguments: &[Value],
        context: &mut Context,
    ) -> Result<Vec<Value>, InvokeError> {
        self.check(function, arguments)?;
        // 16-byte words are aligned for every type.
        let given: Vec<Vec<u128>> = arguments.iter().map(|value| aligned(&value.0)).collect();
        let mut results: Vec<Vec<u128>> =
            self.results.iter().map(|bytes| vec![0; bytes.div_ceil(16).max(1)]).collect();
        context.error.kind = 0;
        let slots: Vec<*mut c_void> = results.iter_mut().map(|words| words.as_mut_ptr().cast()).collect();
        let slot: *mut Context = context;
        let mut passed: Vec<Arg<'_>> = given.iter().map(|words| arg(words.as_slice())).collect();
        let mut status: u128 = 0;
        match self.errors {
            Errors::Status => passed.extend(slots.iter().map(arg)),
            Errors::Context => passed.push(arg(&slot)),
            Errors::None | Errors::Python => {}
        }
        let code = CodePtr::from_ptr(function.address().as_ptr());
        let result = match results.first_mut() {
            Some(words) if self.errors != Errors::Status => Ret::new(words.as_mut_slice()),
            _ => Ret::new(&mut status),
        };
        // SAFETY: the layouts are those of the signature, which `check` compared with the function's; the caller
        // guarantees the pointers.
        unsafe { self.cif.call_return_into(code, &passed, result) };
        let message = match self.errors {
            Errors::Status if status as u32 as c_int != 0 => {
                Some(format!("status {}", status as u32 as c_int))
            }
            Errors::Context if context.error.kind != 0 => Some(context.error.message()),
            _ => None,
        };
        if let Some(message) = message {
            return Err(InvokeError::Failed { signature: self.signature.clone(), message });
        }
        let bytes = results.iter().zip(&self.results).map(|(words, len)| {
            let bytes = words.iter().flat_map(|word| word.to_ne_bytes()).take(*len);
            Value(bytes.collect())
        });
        Ok(bytes.collect())
    }

    fn check(&self, function: &Function, arguments: &[Value]) -> Result<(), InvokeError> {
        let signature = || self.signature.clone();
        if *function.signature() != self.signature {
            return Err(InvokeError::Signature {
                expected: signature(),
                found: function.signature().clone(),
            });
        }
        if arguments.len() != self.arguments.len() {
            let (expected, found) = (self.arguments.len(), arguments.len());
            return Err(InvokeError::Count { signature: signature(), expected, found });
        }
        let sizes = arguments.iter().map(|value| value.0.len()).zip(&self.arguments).enumerate();
        for (position, (found, expected)) in sizes {
            if found != *expected {
                let (signature, expected) = (signature(), *expected);
                return Err(InvokeError::Size { signature, position, expected, found });
            }
        }
        Ok(())
    }
}

/// Copies the bytes into words of the largest alignment.
fn aligned(bytes: &[u8]) -> Vec<u128> {
    let words = bytes.chunks(16).map(|chunk| {
        let mut word = [0; 16];
        word[..chunk.len()].copy_from_slice(chunk);
        u128::from_ne_bytes(word)
    });
    words.collect()
}

/// Returns the size and alignment of a field in bytes; structs are laid out as in C.
fn layout(field: &Field) -> Option<(usize, usize)> {
    let Field::Struct(members) = field else {
        let ty = ffi_type(field)?;
        // SAFETY: `ty` owns the type description that the pointer refers to.
        let ty = unsafe { *ty.as_raw_ptr() };
        return Some((ty.size, usize::from(ty.alignment)));
    };
    let (mut size, mut align) = (0_usize, 1);
    for member in members {
        let (own_size, own_align) = layout(member)?;
        size = size.next_multiple_of(own_align) + own_size;
        align = align.max(own_align);
    }
    Some((size.next_multiple_of(align), align))
}

fn ffi_type(field: &Field) -> Option<Type> {
    Some(match field {
        Field::Number(number) => number_type(*number)?,
        Field::LongDouble => Type::longdouble(),
        Field::ComplexLongDouble => Type::complex_longdouble(),
        Field::Struct(fields) => Type::structure(fields.iter().map(ffi_type).collect::<Option<Vec<_>>>()?),
        Field::Address | Field::Object | Field::Pointer(_) | Field::Function(_) | Field::Tensor { .. } => {
            Type::pointer()
        }
    })
}

/// Returns the libffi type of a number; `None` for half-precision floats, since the way C passes them depends on the
/// compiler.
fn number_type(number: Number) -> Option<Type> {
    Some(match (number.is_complex(), number.letter()) {
        (true, 'f') => Type::c32(),
        (true, _) => Type::c64(),
        (false, '?' | 'B') => Type::u8(),
        (false, 'b') => Type::i8(),
        (false, 'h') => Type::i16(),
        (false, 'H') => Type::u16(),
        (false, 'i') => Type::i32(),
        (false, 'I') => Type::u32(),
        (false, 'q') => Type::i64(),
        (false, 'Q') => Type::u64(),
        (false, 'f') => Type::f32(),
        (false, 'd') => Type::f64(),
        _ => return None,
    })
}

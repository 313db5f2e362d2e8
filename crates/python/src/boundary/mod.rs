//! The boundary to the memory of Python's and NumPy's objects: the only unsafe code of the package.
//!
//! ```text
//! array    conversion between NumPy's arrays and precast's
//! object   the type of functions: a vectorcall, and the Rust value behind it
//! ufunc    functions as ufuncs: loops that NumPy calls with addresses and steps
//! callback functions as SciPy callbacks, with a `void *` that refers to the function
//! xla      functions as custom calls of XLA, which passes buffers and the number of a function
//! raised   exceptions of ufuncs and callbacks whose caller does not check for errors
//! given    the arguments of a call, sorted for both paths
//! fast     calls that read arguments in NumPy's memory, without allocating
//! ```
#![allow(unsafe_code, reason = "the memory of Python's objects; each block argues its case")]

pub(crate) mod array;
pub(crate) mod callback;
pub(crate) mod fast;
pub(crate) mod given;
pub(crate) mod object;
mod raised;
pub(crate) mod ufunc;
pub(crate) mod xla;

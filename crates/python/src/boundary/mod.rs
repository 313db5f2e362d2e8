//! Where Python's and NumPy's objects are memory: the only unsafe code of the package.
//!
//! ```text
//! array    NumPy's arrays as precast's, and precast's results as NumPy's
//! object   the type of functions: a vectorcall, and the Rust value behind it
//! ufunc    functions as ufuncs: loops that NumPy calls with addresses and steps
//! callback functions as what SciPy calls back, with a `void *` behind which they are
//! raised   what these raise where the caller cannot be told
//! fast     a call whose arguments are read where NumPy has them, without allocating anything
//! ```
#![allow(unsafe_code, reason = "the memory of Python's objects; each block argues its case")]

pub(crate) mod array;
pub(crate) mod callback;
pub(crate) mod fast;
pub(crate) mod object;
mod raised;
pub(crate) mod ufunc;

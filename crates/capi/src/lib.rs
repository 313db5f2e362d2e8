//! The C API of precast: `libprecast.so`, `libprecast.a` and `include/precast.h`, which is its documentation.
//!
//! ```text
//! boundary  the functions of the header: pointers become references, errors and panics become statuses; the only unsafe code
//! handle    what the opaque pointers point to: a loader, a function with its ports
//! array     an array of the caller, described, checked as far as can be seen
//! dlpack    the tensors of DLPack, as arrays of the caller and as results
//! failure   statuses, and the last failure of each thread
//! ```
//! It stands on `precast-core` alone, as a deployed program in Rust does: nothing here compiles or resolves. Structs of the header
//! have mirrors here, which a test has the C compiler compare; `symbols.txt` lists what is exported.

mod array;
mod boundary;
mod dlpack;
mod failure;
mod handle;

//! The C API of precast: `libprecast.so`, `libprecast.a` and `include/precast.h`, which is its documentation.
//!
//! ```text
//! boundary  the header's functions: pointers become references, errors and panics statuses; the only unsafe code
//! handle    the targets of the opaque pointers: a loader, a function with its ports
//! array     an array of the caller, as far as it can be checked
//! dlpack    the tensors of DLPack, as arrays of the caller and as results
//! failure   statuses, and the last failure of each thread
//! ```
//! It depends only on `precast-core`, like a deployed program in Rust, so it neither compiles nor resolves graphs.
//! The header's structs have mirrors here, and a test compares them with the C compiler. `symbols.txt` lists the
//! exported symbols.

mod array;
mod boundary;
mod dlpack;
mod failure;
mod handle;

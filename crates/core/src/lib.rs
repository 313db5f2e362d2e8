//! All that a deployed program links: values, keys, bundles, the native loader, and calls by name.
//!
//! ```text
//! bundle bytes ──▶ bundle: find, verify ──▶ native: memfd, dlopen, handshake ──▶ call
//!                     │ entry: interface, program, slots
//! value  dtypes, types, arrays            key   the hashes that name what is wanted and what came out
//! ```
//! | module | its job | touches files |
//! |---|---|---|
//! | [`value`] | dtypes, elements, types and arrays | no |
//! | [`key`] | the hashes, one Rust type each, and the encoding under them | no |
//! | [`requires`] | what code needs to run, against what this host has | no |
//! | [`native`] | the only unsafe code of the run time: load verified bytes, call them | memory files |
//! | [`event`] | what readers got over, as values | no |
//!
//! Nothing here knows of ops, graphs, code generation or text: those are in the crates above, which resolve a graph to the
//! same programs that a bundle's entries hold.

pub mod cpu;
pub mod event;
pub mod key;
pub mod native;
pub mod requires;
pub mod value;

pub use event::Event;
pub use half::{bf16, f16};
pub use key::{ActionKey, BuildKey, ContentId, Digest, Fingerprint, ParseHashError, RecordId, ToolchainId};
pub use native::{ArrayMut, ArrayRef, LoadLibraryError, matmul};
pub use num_complex::Complex;
pub use requires::{Host, Requires, Unmet};
pub use value::{
    Array, Convert, DType, Element, Extent, Number, OtherDTypeError, ParseDTypeError, ParseTypeError,
    TensorType, Type, UserType,
};

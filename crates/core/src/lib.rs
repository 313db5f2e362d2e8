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
//! | [`record`] | the statement that binds keys, action and digest; what code needs to run; named graphs | no |
//! | [`program`] | a graph as calls of modules by their keys, and how it becomes callable | no |
//! | [`bundle`] | a store in one deployable file | reads one |
//! | [`Loader`], [`function`] | entries of a bundle as functions; checked calls | no |
//! | [`model`] | what generated, typed functions stand on | no |
//! | [`names`] | the rule for names, and how text of strangers is spelled | no |
//! | [`native`] | the only unsafe code of the run time: load verified bytes, call them | memory files |
//! | [`mod@file`], [`scratch`] | reading files that somebody named; directories for a moment's work | yes |
//! | [`trust`] | whether a file is out of others' reach | judges some |
//! | `keyring` | whose signatures make a bundle, a record or an entry believed (feature `signed`) | reads one |
//! | [`trace`] | spans of what an answer takes (feature `tracing`) | no |
//! | [`event`] | what readers got over, as values | no |
//!
//! Nothing here knows of ops, graphs, code generation or text: those are in the crates above, which resolve a graph to the
//! same programs that a bundle's entries hold.

pub mod blame;
pub mod bundle;
pub mod cpu;
pub mod event;
pub mod file;
pub mod function;
pub mod key;
#[cfg(feature = "signed")]
pub mod keyring;
mod loader;
pub mod model;
pub mod names;
pub mod native;
pub mod program;
mod provenance;
pub mod record;
pub mod scratch;
pub mod trace;
pub mod trust;
mod typed;
pub mod value;

pub use bundle::{Bundle, BundleLoadError, BundleSignatureError, OpenBundleError};
pub use event::Event;
pub use function::{CallError, Function};
pub use key::{ActionKey, BuildKey, ContentId, Digest, Fingerprint, ParseHashError, RecordId, ToolchainId};
pub use loader::{Libraries, LoadEntryError, Loader, NotLoaded, best_first};
pub use native::threads;
pub use native::{
    ArrayMut, ArrayRef, BindNativeError, Factor, KeepLarge, LoadLibraryError, Native, NativeFunction,
    NoNative, matmul,
};
pub use num_complex::Complex;
pub use precast_abi::tensor::MAX_NDIM;
pub use program::Program;
pub use provenance::{Provenance, Served};
pub use record::{Entry, Host, Member, Record, Requires, Unmet};
pub use trust::{Fault, TrustError, Untrusted};
pub use typed::{Argument, Arguments, Kind, OtherTypesError, Outcome, Outcomes, Typed};
pub use value::{
    Array, Convert, DType, Element, Extent, Number, OtherDTypeError, ParseDTypeError, ParseTypeError,
    TensorType, Type, UserType, bf16, f16,
};

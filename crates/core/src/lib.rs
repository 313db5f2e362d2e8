//! Everything that a deployed program links: values, keys, bundles, the native loader, and calls by name.
//!
//! ```text
//! bundle bytes ──▶ bundle: find, verify ──▶ native: memfd, dlopen, handshake ──▶ call
//!                     │ entry: interface, program, slots
//! value  dtypes, types, arrays            key   the hashes that identify requests and results
//! ```
//! | module | purpose | touches files |
//! |---|---|---|
//! | [`value`] | dtypes, elements, types and arrays | no |
//! | [`key`] | the hashes, each with its own Rust type, and their canonical encoding | no |
//! | [`record`] | records, which bind keys, action and digest; requirements of code; named graphs | no |
//! | [`program`] | a graph as calls of modules by key, and its conversion to a callable form | no |
//! | [`bundle`] | a store in one deployable file | reads one |
//! | [`metadata`] | what a bundle states about its functions beyond their programs | no |
//! | [`Loader`], [`function`] | entries of a bundle as functions; checked calls | no |
//! | [`model`] | the support code of generated, typed functions | no |
//! | [`names`] | the rule for names, and escaping of untrusted text | no |
//! | [`native`] | the only unsafe code of the run time: loads verified bytes and calls them | memory files |
//! | [`redact`] | texts and URLs without credentials | no |
//! | [`mod@file`], [`scratch`] | safe reads of untrusted paths; temporary directories | yes |
//! | [`trust`] | checks that other users cannot change a file | checks some |
//! | `keyring` | trusted keys and signatures of bundles, records and entries (feature `signed`) | reads one |
//! | [`trace`] | tracing spans (feature `tracing`) | no |
//! | [`event`] | problems that readers recovered from, as values | no |
//!
//! This crate does not know ops, graphs, code generation or the text of modules. Higher crates do, and they resolve a graph
//! to the same programs that the entries of a bundle contain.

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
pub mod metadata;
pub mod model;
pub mod names;
pub mod native;
pub mod program;
mod provenance;
pub mod record;
pub mod redact;
pub mod scratch;
pub mod trace;
pub mod trust;
mod typed;
pub mod value;

pub use bundle::{Bundle, BundleLoadError, BundleMetadataError, BundleSignatureError, OpenBundleError};
pub use event::Event;
pub use function::{CallError, Function};
pub use key::{ActionKey, BuildKey, ContentId, Digest, Fingerprint, ParseHashError, RecordId, ToolchainId};
pub use loader::{Libraries, LoadEntryError, Loader, NotLoaded, best_first};
pub use metadata::Metadata;
pub use native::threads;
pub use native::{
    ArrayMut, ArrayRef, BindNativeError, Cancel, Factor, KeepLarge, LoadLibraryError, Native, NativeFunction,
    NoNative, cancellable, matmul,
};
pub use num_complex::Complex;
pub use precast_abi::tensor::MAX_NDIM;
pub use program::Program;
pub use provenance::{CodeOrigin, Provenance};
pub use record::{Entry, Host, Member, Record, Requires, Unmet};
pub use trust::{Fault, TrustError, Untrusted};
pub use typed::{Argument, Arguments, Kind, OtherTypesError, Outcome, Outcomes, Typed};
pub use value::{
    Array, Convert, DType, DeclaredType, Element, Extent, Number, OtherDTypeError, ParseDTypeError,
    ParseTypeError, TensorType, Type, UserType, bf16, f16,
};

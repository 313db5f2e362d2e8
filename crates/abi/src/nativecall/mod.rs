//! CEP 1000, "Native dispatch through callables": finds and calls functions by signature.
//!
//! ```text
//! text ─▶ Signature ─▶ Prototype (a tree)                      grammar, normal, signature, prototype
//!             │
//!             ▼ Text, Compact (approach 2)                                  encoding ─ chunks, compact, needle
//!            Key ─▶ Table, published by a TableCell ─▶ payload              table, cell
//!                        │
//! fn(f64) -> f64 ─▶ Code ┴▶ Callable ─ bind ─▶ Bound: a typed handle        typed, code, callable
//! Prototype ─▶ a call made at run time (feature `ffi`)                      call
//! Id, Interned (approach 1): two more encodings (feature `registry`)        registry
//! ```
//! `precast/nativecall.h` provides the same for C: the grammar, keys, tables and lookup. `CEP1000.md` in this crate
//! describes the implemented parts of the proposal, the decisions on its open points, and the cost of the encodings.

#[cfg(feature = "ffi")]
pub mod call;
mod callable;
mod cell;
mod chunks;
mod code;
pub mod compact;
mod encoding;
mod grammar;
#[cfg(all(test, loom))]
mod loom;
mod needle;
mod normal;
mod prototype;
#[cfg(feature = "registry")]
pub mod registry;
mod signature;
mod table;
mod typed;
mod words;

pub use callable::{BindError, Bound, Callable, Function};
pub use cell::TableCell;
pub use code::Code;
pub use encoding::{Compact, Encoding, Key, Text, Verbatim};
pub use grammar::{MAX_BYTES, MAX_DEPTH, Problem};
pub use normal::NormalizeError;
pub use prototype::{Errors, Field as FieldType, Number, Prototype};
pub use signature::{ParseSignatureError, Signature};
pub use table::{DamagedTableError, Table};
pub use typed::{Field, Native, Outcome, Plain, SafeNative};

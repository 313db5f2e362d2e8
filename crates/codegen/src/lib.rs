//! C code generation: a graph in, the source of a module out. Pure: no files, clock, environment or processes.
//!
//! ```text
//! FunctionGraph ──▶ CLinker ──▶ Module { includes, body with `@M@`, language, sources, flags } ──▶ BuildKey
//!                    │   ▲                             │
//!             COp, CType │                             └─▶ Unit: the modules of one translation unit ──▶ text
//!                     Library (which Rust type emits C, which name is which op)
//! ```
//! The words and the methods are those of Theano, Aesara and PyTensor: [`COp`], [`CType`], [`CLinkerObject`], `sub`.
//! C text lives in template files (`c/`, marks like `@NAME@`), not in Rust strings.
//!
//! For authors of ops and types: `WRITING_OPS.md` beside this crate.
//!
//! [`link`] makes one module for each of a graph's [`segments`], which for a graph without C of an author is the graph. Op by
//! op it makes one for each Apply: that of [`single`].

mod cop;
mod ctype;
mod error;
mod extension;
pub mod external;
mod library;
mod linker;
mod module;
mod native;
mod object;
pub mod params;
mod spelling;
mod sub;
pub mod template;
pub mod tokens;
pub mod types;
mod unit;

pub use cop::{COp, Node};
pub use ctype::{CDataType, CType};
pub use error::LinkError;
pub use extension::Host;
pub use library::{Library, OpFactory, c_type};
pub use linker::{Segment, link, native, segments, single};
pub use module::{Module, SourceSet};
pub use native::native_signature;
pub use object::{CCompiler, CLinkerObject, CacheVersion};
pub use params::{EnumType, ParamType, ParamsType, slots};
pub use sub::Sub;
pub use types::{TypeOp, TypeOps, UserTypes};
pub use unit::{Origins, Unit};

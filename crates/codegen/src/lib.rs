//! C code generation: turns a graph into the source of a module. Pure: it uses no files, clock, environment or
//! processes.
//!
//! ```text
//! FunctionGraph ──▶ CLinker ──▶ Module { includes, body with `@M@`, language, sources, flags } ──▶ BuildKey
//!                    │   ▲                             │
//!             COp, CType │                             └─▶ Unit: the modules of one translation unit ──▶ text
//!                     Library (which Rust types emit C, which names refer to which ops)
//! ```
//! Terms and methods follow Theano, Aesara and PyTensor: [`COp`], [`CType`], [`CLinkerObject`], `sub`. C text is in
//! template files (`c/`, with marks like `@NAME@`), not in Rust strings.
//!
//! Authors of ops and types should read `WRITING_OPS.md` in this crate.
//!
//! [`link`] creates one module for each of a graph's [`segments`]. A graph without author-written C is a single
//! segment. When a graph runs op by op, each Apply has its own module, generated from [`single`].

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

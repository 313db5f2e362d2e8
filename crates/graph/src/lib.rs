//! Typed graphs of numeric operations; no C here.
//!
//! ```text
//! Type ◀── Variable ◀── Apply ──▶ Op          op: what an operation is, and its reference `perform`
//!              └────────┬────────┘
//!                 FunctionGraph               graph: inputs, outputs, applies in topological order
//!                       │
//!     text  json  encode  interpret           the forms of a graph, and the slow road to its values
//!     contracts                               what may lie in one memory, and who overwrites it
//! ```
//! A graph is built in order: an Apply can only use variables that exist, so every [`FunctionGraph`] is acyclic and
//! sorted by construction. What comes from outside (JSON, text) is checked while it is built.
//!
//! Ops are trait objects. Forms that name ops (text, JSON) take an [`OpLibrary`] that turns a name and its declared
//! props into an op; `precast-ops` has the library that everybody uses.

mod array;
mod cast;
pub mod contracts;
mod dtype;
mod edges;
mod element;
pub mod encode;
mod float16;
mod graph;
pub mod json;
pub mod literal;
mod nearest;
pub mod op;
mod perform;
mod special;
pub mod text;
mod ty;

pub use array::{Array, OtherDTypeError};
pub use cast::{Convert, Number};
pub use contracts::ContractError;
pub use dtype::{DType, ParseDTypeError};
pub use element::Element;
pub use graph::{Apply, ApplyId, BuildError, FunctionGraph, Origin, VarId, Variable};
pub use half::{bf16, f16};
pub use literal::Literal;
pub use nearest::nearest;
pub use num_complex::Complex;
pub use op::{MakeNodeError, Op, OpLibrary, Operand, PerformError, Prop, Props};
pub use perform::{InterpretError, interpret};
pub use special::special_bits;
pub use ty::{CarrierRules, Extent, FilterError, ParseTypeError, TensorType, Type, TypeRules, UserType};

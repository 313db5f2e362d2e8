//! Typed graphs of numeric operations. This crate contains no C.
//!
//! ```text
//! Type ◀── Variable ◀── Apply ──▶ Op          op: the definition of an operation and its reference `perform`
//!              └────────┬────────┘
//!                 FunctionGraph               graph: inputs, outputs, applies in topological order
//!                       │
//!     text  json  encode  interpret           the forms of a graph, and the slow reference evaluation
//!     contracts                               aliasing: which variables share memory, which Applies overwrite it
//! ```
//! A graph is built in order: an Apply can only use existing variables, so every [`FunctionGraph`] is acyclic and
//! sorted by construction. External input (JSON, text) is checked while the graph is built.
//!
//! Ops are trait objects. Forms that name ops (text, JSON) take an [`OpLibrary`] that resolves a name and its
//! declared props to an op. `precast-ops` provides the standard library.

mod build_error;
pub mod contracts;
mod edges;
pub mod encode;
mod function;
mod graph;
mod interface;
pub mod json;
pub mod literal;
mod make_node_error;
mod nearest;
pub mod op;
mod operand;
mod perform;
mod pullback;
mod rules;
mod special;
pub mod text;

pub use build_error::BuildError;
pub use contracts::ContractError;
pub use function::Function;
pub use graph::{Apply, ApplyId, FunctionGraph, Origin, VarId, Variable};
pub use literal::Literal;
pub use make_node_error::MakeNodeError;
pub use nearest::nearest;
pub use op::{Op, OpLibrary, PerformError, Prop, Props};
pub use operand::{Keywords, Operand, keywords};
pub use perform::{InterpretError, Perform, interpret, interpret_with};
pub use precast_core::{
    Array, Complex, Convert, DType, DeclaredType, Element, Extent, Number, OtherDTypeError, ParseDTypeError,
    ParseTypeError, TensorType, Type, UserType, bf16, f16, for_each_dtype, with_array,
};
pub use pullback::{Gradients, Pullback};
pub use rules::{CarrierRules, FilterError, TypeRules};
pub use special::special_bits;

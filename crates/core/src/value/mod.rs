//! Values and their types: arguments and results of calls, constants, and the types in keys and entries.

mod array;
mod cast;
mod dtype;
mod element;
mod float16;
mod ty;

pub use array::{Array, OtherDTypeError};
pub use cast::{Convert, Number};
pub use dtype::{DType, ParseDTypeError};
pub use element::Element;
pub use float16::{bf16, f16};
pub use ty::{DeclaredType, Extent, ParseTypeError, TensorType, Type, UserType};

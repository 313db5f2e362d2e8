//! Values and their types: what calls take and give, what constants are, what keys and entries name.

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
pub use ty::{Extent, ParseTypeError, TensorType, Type, UserType};

//! The caller's arrays: borrowed for a call, never copied before it.
//!
//! ```text
//! array_ref  ArrayRef and ArrayMut: borrowed arrays of any dtype, rank and strides; the arguments of every call
//! raw_array  the same from an address, extents and strides of foreign code, such as DLPack and NumPy
//! strided    the element layout of one array, in registers; the arguments of direct calls
//! copy       copies elements between two layouts
//! ```

mod array_ref;
mod copy;
mod raw_array;
mod strided;

pub(super) use array_ref::RawView;
pub use array_ref::{ArrayMut, ArrayRef};
pub use raw_array::{RawArray, RawArrayError};
pub use strided::Strided;

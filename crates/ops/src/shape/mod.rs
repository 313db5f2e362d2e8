//! Ops about shapes: tensors of another shape, made of numbers, put together, taken apart; no arithmetic.
//!
//! | op | inputs | result |
//! |---|---|---|
//! | [`Reshape`] | tensor, i64 vector of extents | the elements in C order in another shape; a view where it can be |
//! | [`Alloc`] | value, an i64 an axis | the value broadcast to those extents |
//! | [`ARange`] | start, stop, step | start, start + step, … up to, without, stop |
//! | [`Eye`] | rows, columns, diagonal | ones on a diagonal of zeros |
//! | [`Join`] | tensors of one rank | one after another along an axis |
//! | [`Split`] | tensor, i64 vector of extents | views of the pieces along an axis |
//! | [`MakeVector`] | numbers | a vector of them |
//! | [`Shape`], [`ShapeI`] | anything | the extents, one extent (i64) |
//! | [`DeepCopy`], [`View`] | tensor | its elements in memory of their own; the same memory |
//! | [`EinsumOperand`] | tensor, another | the tensor with axes of extent 1 stretched to those of the other |
//! | [`Assert`] | tensor, conditions | the tensor, if all elements of all conditions are true |
//!
//! Extents are inputs, never baked in, so graphs that differ in them share modules. What moves elements moves bytes:
//! these ops exist for every dtype. The C is in `c/precast/ops/{reshape,fill,range,join,shape,einsum}.h`.

mod alloc;
mod arange;
mod assert;
mod copy;
mod einsum_operand;
mod eye;
mod join;
mod make_vector;
mod reshape;
mod scalar_from_tensor;
mod shape_of;
mod split;

pub use alloc::Alloc;
pub use arange::ARange;
pub use assert::Assert;
pub use copy::{DeepCopy, View};
pub use einsum_operand::{EinsumOperand, Pair};
pub use eye::Eye;
pub use join::Join;
pub use make_vector::MakeVector;
pub use reshape::Reshape;
pub use scalar_from_tensor::ScalarFromTensor;
pub use shape_of::{Shape, ShapeI};
pub use split::Split;

//! Ops of shapes: they reshape, create, join and split tensors, without arithmetic.
//!
//! | op | inputs | result |
//! |---|---|---|
//! | [`Reshape`] | tensor, i64 vector of extents | the elements in C order in another shape; a view if possible |
//! | [`Alloc`] | value, one i64 per axis | the value broadcast to those extents |
//! | [`ARange`] | start, stop, step | start, start + step, … up to but not including stop |
//! | [`Eye`] | rows, columns, diagonal | zeros with ones on a diagonal |
//! | [`Join`] | tensors of one rank | the concatenation along an axis |
//! | [`Split`] | tensor, i64 vector of extents | views of the pieces along an axis |
//! | [`MakeVector`] | numbers | a vector of them |
//! | [`Shape`], [`ShapeI`] | anything | the extents, one extent (i64) |
//! | [`DeepCopy`], [`View`] | tensor | its elements in separate memory; in the same memory |
//! | [`EinsumOperand`] | tensor, another | the tensor with axes of extent 1 broadcast to those of the other |
//! | [`Assert`] | tensor, conditions | the tensor, if all elements of all conditions are true |
//!
//! Extents are inputs and never compile-time values, so graphs that differ in extents share modules. Ops that move
//! elements move bytes, so they support every dtype. The C code is in
//! `c/precast/ops/{reshape,fill,range,join,shape,einsum}.h`.

mod alloc;
mod arange;
pub(crate) mod assert;
mod copy;
mod einsum_operand;
mod eye;
mod join;
mod make_vector;
mod reshape;
mod scalar_from_tensor;
mod shape_of;
mod split;
mod sum_to;

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
pub use sum_to::SumTo;

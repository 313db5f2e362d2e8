//! Products of vectors, matrices and stacks of them.
//!
//! | op | shapes | result |
//! |---|---|---|
//! | [`Dot`] | ranks 1 to 3 in every pair | NumPy's `dot`: sums over the last dimension of a, the last but one (or only) of b |
//! | [`BatchedDot`] | ranks 2 and 3 in every pair | the dot of `a[i]` and `b[i]` for each i |
//! | [`Matmul`] | ranks from 2 | NumPy's `matmul`: multiplies the matrices of two stacks, which are broadcast |
//!
//! f32 and f64 go through the host's GEMM; other dtypes use a plain loop. The C code is in `c/precast/ops/dot.h`.

mod batched_dot;
mod dot;
mod product;
mod stacks;

pub use batched_dot::BatchedDot;
pub use dot::Dot;
pub use stacks::Matmul;

//! Products of vectors, matrices and stacks of them, decompositions, and systems of linear equations.
//!
//! | op | shapes | result |
//! |---|---|---|
//! | [`Dot`] | ranks 1 to 3 in every pair | NumPy's `dot`: sums over the last dimension of a, the last but one (or only) of b |
//! | [`BatchedDot`] | ranks 2 and 3 in every pair | the dot of `a[i]` and `b[i]` for each i |
//! | [`Matmul`] | ranks from 2 | NumPy's `matmul`: multiplies the matrices of two stacks, which are broadcast |
//! | [`Cholesky`], [`LuFactor`] | square matrices, and stacks of them | decompositions |
//! | [`Qr`], [`Svd`] | matrices, and stacks of them | decompositions by reflections |
//! | [`Eigh`] | square matrices, and stacks of them | eigenvalues and eigenvectors of symmetric matrices |
//! | [`Eig`] | square matrices, and stacks of them | complex eigenvalues and eigenvectors |
//! | [`Schur`] | square matrices, and stacks of them | Schur forms and their vectors |
//! | [`Qz`] | pairs of square matrices, and stacks of them | generalized Schur forms, their eigenvalues and vectors |
//! | [`PivotToPermutation`] | the pivots of LU decompositions | the order of their rows |
//! | [`Solve`], [`SolveTriangular`] | square matrices and right sides, and stacks of them, which are broadcast | solutions of systems |
//! | [`SolveBanded`] | diagonals of square matrices, and right sides | solutions of systems |
//!
//! Products of f32 and f64 go through the host's GEMM; other dtypes use a plain loop. Their C code is in
//! `c/precast/ops/dot.h`. Decompositions and systems exist for f32, f64, c64 and c128; their C code is in
//! `c/precast/ops/linalg/`.

mod batched_dot;
mod cholesky;
mod column_order;
mod complex_rows;
mod complex_schur;
mod dot;
mod eig;
mod eigenvalue_sort;
mod eigh;
mod lu_factor;
mod matrix;
mod pencil;
mod pivot_to_permutation;
mod product;
mod qr;
mod qz;
mod qz_form;
mod reflections;
mod schur;
mod schur_form;
mod schur_sorted;
mod singular;
mod solve;
mod solve_banded;
mod solve_triangular;
mod stacks;
mod svd;

pub use batched_dot::BatchedDot;
pub use cholesky::Cholesky;
pub use dot::Dot;
pub use eig::Eig;
pub use eigenvalue_sort::EigenvalueSort;
pub use eigh::Eigh;
pub use lu_factor::LuFactor;
pub use pivot_to_permutation::PivotToPermutation;
pub use qr::Qr;
pub use qz_form::Qz;
pub use schur_form::Schur;
pub use solve::Solve;
pub use solve_banded::SolveBanded;
pub use solve_triangular::SolveTriangular;
pub use stacks::Matmul;
pub use svd::Svd;

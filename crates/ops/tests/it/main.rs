//! Compares the C code of the ops with their reference `perform`, and both with values from NumPy.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may say so by panicking")]

mod accuracy;
mod agree;
mod blocks;
mod c_scalars;
mod cases;
mod compiler;
mod complex;
mod control;
mod extents;
mod factors;
mod few;
mod fixed_loops;
mod functions;
mod golden;
mod gradient;
mod kernels;
mod language;
mod language_errors;
mod linalg;
mod literals;
mod machine;
mod math_bits;
mod mistakes;
mod numbers;
mod numpy;
mod order;
mod overwriting;
mod own_op;
mod parts;
mod precise;
mod random;
mod readme;
mod rewrite_rules;
mod rewrites;
mod row_programs;
mod rows;
mod scalar_golden;
mod short_axes;
mod stabilise;
mod structural;
mod tiles;
mod vectors;
mod whole;

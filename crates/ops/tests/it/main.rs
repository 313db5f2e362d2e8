//! The C of the ops against their reference `perform`, and both against values made by NumPy.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may say so by panicking")]

mod compiler;
mod golden;
mod kernels;
mod machine;
mod math_bits;
mod own_op;
<<<<<<< HEAD
mod precise;
=======
mod rewrite_rules;
mod rewrites;
>>>>>>> 34f0ab5 (ops: rewrites: simplify, merge, constant_fold, order, inplace; fusion with several results; passes by name, a trace of them)
mod structural;

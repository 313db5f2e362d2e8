//! The C of the ops against their reference `perform`, and both against values made by NumPy.

mod compiler;
mod golden;
mod kernels;
mod machine;
mod math_bits;

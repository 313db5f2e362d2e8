//! Integration tests of code generation: the text of modules, and the behavior of the compiled code.
//!
//! `toy` has its own ops, so that these tests do not depend on the op library.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod boxed;
mod double;
mod external;
mod failure;
mod levels;
mod opaque;
mod params;
mod run;
mod scopes;
mod shared;
mod text;
mod toy;
mod tutorial;
mod types;
mod units;

//! Tests of code generation from outside: the text of modules, and what it does when compiled.
//!
//! `toy` has ops of its own, so that nothing here depends on the op library.
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
mod text;
mod toy;
mod tutorial;
mod types;
mod units;

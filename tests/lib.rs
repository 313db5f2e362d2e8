//! Nothing here: the tests are in `it/`, except the Rust examples of two pages, which are doctests.

/// Compiles and runs the Rust examples of the front page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// Compiles and runs the examples of the page for Rust.
#[cfg(doctest)]
#[doc = include_str!("../crates/precast/README.md")]
pub struct RustGuide;

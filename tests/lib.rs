//! Nothing here: the tests are in `it/`, but for the Rust examples of the README, which are doctests.

/// Compiles and runs the README's Rust examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

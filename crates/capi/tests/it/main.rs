//! The C library as its users have it: installed, linked by C and C++ programs, called with a bundle that is built here.
//!
//! ```text
//! installed  builds and installs the library once, and compiles, links and runs programs against it
//! examples   the examples of the README, by CMake where that is there
//! misuse     what a program may do wrong, and threads, under valgrind where that is there
//! signed     bundles under a keyring, of an argument or of the environment
//! symbols    what is exported, the header, the files beside it
//! ```
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "what is skipped is said")]

mod examples;
mod installed;
mod misuse;
mod signed;
mod symbols;

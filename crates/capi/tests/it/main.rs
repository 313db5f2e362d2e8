//! The C library as its users have it: installed, linked with C and C++ programs, and called with a bundle built
//! here.
//!
//! ```text
//! installed  builds the library and installs it for each test; compiles, links and runs programs against it
//! examples   the examples of the README, with CMake if it is installed
//! misuse     incorrect use by programs, and threads, under valgrind if it is installed
//! signed     bundles under a keyring from an argument or the environment
//! symbols    the exported symbols, the header, and the files next to it
//! ```
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "what is skipped is said")]

mod examples;
mod installed;
mod misuse;
mod signed;
mod symbols;

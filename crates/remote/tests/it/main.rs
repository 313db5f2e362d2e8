//! Tests of precast-remote. Servers are of this process (`precast_testkit::servers`), on the loopback, or others' (`real`), which
//! `cargo xtask remotes` starts; `between` stands before both and fails.

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail as its body may")]
#![allow(clippy::print_stderr, reason = "what is skipped is skipped aloud")]

mod between;
mod faults;
mod figures;
mod http;
mod oci;
mod real;
mod signer;

#[path = "../../../store/tests/it/sample.rs"]
#[allow(dead_code, reason = "the tests of the store need more of it")]
mod sample;

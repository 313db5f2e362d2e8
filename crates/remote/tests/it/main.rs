//! Tests of precast-remote. Servers run in this process (`precast_testkit::servers`) on the loopback interface, or
//! are third-party servers (`real`) that `cargo xtask remotes` starts. `between` puts a faulty proxy in front of
//! either.

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

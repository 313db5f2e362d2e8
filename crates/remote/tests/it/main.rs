//! Tests of precast-remote. Servers are of this process (`server`: a directory by HTTP, with faults; `registry`: the part of a
//! registry that is needed), on the loopback. `real` speaks to servers that `cargo xtask remotes` starts.

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail as its body may")]
#![allow(clippy::print_stderr, reason = "what is skipped is skipped aloud")]

mod faults;
mod http;
mod oci;
mod real;
mod registry;
mod server;
mod signer;

#[path = "../../../store/tests/it/sample.rs"]
#[allow(dead_code, reason = "the tests of the store need more of it")]
mod sample;

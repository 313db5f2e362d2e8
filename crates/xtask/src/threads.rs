//! `cargo xtask threads`: runs the threads of parallel calls under ThreadSanitizer, in chains, direct calls and
//! products.
//!
//! The tests are those of `precast-core`, with its C code instrumented too. The standard library must be compiled
//! with the sanitizer, which requires a nightly toolchain with sources. Without it the command prints a message and
//! runs nothing.

use crate::steps::run as run_command;
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// The prefixes of the tests to run.
const TESTS: [&str; 4] = ["native::threads", "native::chain", "native::direct", "native::matmul"];

/// The only supported target.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Runs the tests; returns `true` without a race, or if the tests cannot run here.
pub(crate) fn run() -> Result<bool> {
    if !has_sources() {
        println!(
            "skipped: ThreadSanitizer: no nightly toolchain with sources (`rustup component add rust-src --toolchain nightly`)"
        );
        return Ok(true);
    }
    let mut tests = Command::new("cargo");
    tests.args(["+nightly", "test", "--locked", "-Zbuild-std", "-p", "precast-core", "--lib"]);
    tests.args(["--target", TARGET, "--"]).args(TESTS);
    // The outer Cargo's toolchain must not be inherited.
    tests.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
    tests.envs([("RUSTFLAGS", "-Zsanitizer=thread"), ("CFLAGS", "-fsanitize=thread")]);
    // A forked child has its own thread pool, which one of the tests checks.
    tests.envs([("TSAN_OPTIONS", "die_after_fork=0"), ("CARGO_TARGET_DIR", "target/tsan")]);
    run_command(&mut tests)
}

fn has_sources() -> bool {
    let mut rustc = Command::new("rustc");
    rustc.args(["+nightly", "--print", "sysroot"]).env_remove("RUSTUP_TOOLCHAIN");
    let Some(output) = rustc.output().ok().filter(|output| output.status.success()) else { return false };
    let sysroot = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    cfg!(target_arch = "x86_64") && Path::new(&sysroot).join("lib/rustlib/src/rust/library").is_dir()
}

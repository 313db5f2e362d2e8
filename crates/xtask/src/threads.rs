//! `cargo xtask threads`: the threads that share a call, what they share of chains, direct calls and products, under ThreadSanitizer.
//!
//! The tests are those of `precast-core`, whose C is instrumented too. The standard library has to be compiled with the sanitizer, so a
//! nightly toolchain with its sources is needed; without, that is said and nothing is run.

use crate::steps::run as run_command;
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// The tests to run: names begin with these.
const TESTS: [&str; 4] = ["native::threads", "native::chain", "native::direct", "native::matmul"];

/// The only target that is tried.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Runs the tests; `true` if there is no race, or it cannot be tried here.
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
    // Another Cargo's toolchain is not asked for.
    tests.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
    tests.envs([("RUSTFLAGS", "-Zsanitizer=thread"), ("CFLAGS", "-fsanitize=thread")]);
    // A child that was forked has a pool of its own, which is one of the tests.
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

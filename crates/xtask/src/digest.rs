//! `cargo xtask digest`: compares one digest of all results over compilers, ISA levels, cuts and numbers of threads.
//! It also covers aarch64 if a cross compiler and an emulator are installed (`cargo xtask cross` installs them).
//!
//! The test itself is `tests/it/digest.rs`; `cargo xtask test` runs a part of it.

use crate::steps::run as run_command;
use crate::tools::cargo;
use anyhow::{Result, bail};
use std::process::Command;

/// The default number of random graphs, in addition to those with long arrays.
const COUNT: &str = "200";

/// Runs the test; returns `true` if all digests agree.
pub(crate) fn run(args: &[&str]) -> Result<bool> {
    let count = match args {
        [] => COUNT,
        ["--count", count] => count,
        _ => bail!("invalid arguments `{}`; usage: cargo xtask digest [--count N]", args.join(" ")),
    };
    let mut tests = Command::new(cargo());
    tests.args(["test", "-p", "precast-tests", "--test", "it", "--", "digest::", "--nocapture"]);
    run_command(tests.env("PRECAST_DIGEST_COUNT", count))
}

//! `cargo xtask digest`: one digest of what graphs compute, over compilers, ISA levels, cuts and numbers of threads; on aarch64 too,
//! where there are a cross compiler and an emulator (`cargo xtask cross` installs them).
//!
//! The test does the work (`tests/it/digest.rs`); `cargo xtask test` runs a share of it.

use crate::steps::run as run_command;
use crate::tools::cargo;
use anyhow::{Result, bail};
use std::process::Command;

/// How many random graphs, if nothing is said, beside those with long arrays.
const COUNT: &str = "200";

/// Runs the test; `true` if all digests are the same.
pub(crate) fn run(args: &[&str]) -> Result<bool> {
    let count = match args {
        [] => COUNT,
        ["--count", count] => count,
        _ => bail!("`{}` is not understood; usage: cargo xtask digest [--count N]", args.join(" ")),
    };
    let mut tests = Command::new(cargo());
    tests.args(["test", "-p", "precast-tests", "--test", "it", "--", "digest::", "--nocapture"]);
    run_command(tests.env("PRECAST_DIGEST_COUNT", count))
}

//! `cargo xtask digest`: compares one digest of all results over compilers, ISA levels, cuts and numbers of threads.
//! It installs zig, and takes every compiler on `PATH`. It also covers aarch64 if a cross compiler and an emulator are
//! installed (`cargo xtask cross` installs them). The tests of builds with zig follow.
//!
//! The test itself is `tests/it/digest.rs`; `cargo xtask test` runs a part of it.

use crate::steps::run as run_command;
use crate::tools::cargo;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
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
    let zig = zig();
    let mut tests = Command::new(cargo());
    tests.envs(zig.iter().map(|zig| ("PRECAST_ZIG", zig)));
    tests.args(["test", "-p", "precast-tests", "--test", "it", "--", "digest::", "--nocapture"]);
    let is_same = run_command(tests.env("PRECAST_DIGEST_COUNT", count))?;
    Ok(compilers(zig.as_deref())? && is_same)
}

/// Runs the tests of builds with zig, which are skipped where it is not installed.
fn compilers(zig: Option<&Path>) -> Result<bool> {
    let Some(zig) = zig else { return Ok(true) };
    let mut is_green = true;
    for (package, target, filter) in [
        ("precast-compile", "compile", "zig::"),
        ("precast-build", "it", "zig::"),
        ("precast-tests", "it", "cross::"),
    ] {
        let mut tests = Command::new(cargo());
        tests.args(["test", "-p", package, "--test", target, "--", filter]).env("PRECAST_ZIG", zig);
        is_green &= run_command(&mut tests)?;
    }
    Ok(is_green)
}

/// Installs zig from the Python package index; `None` if there is no Python or no index.
fn zig() -> Option<PathBuf> {
    let environment = crate::root().join("target/tools/ziglang");
    let program = environment.join("bin/python-zig");
    if !program.exists() {
        let make = run_command(Command::new("python3").args(["-m", "venv"]).arg(&environment));
        let pip = || {
            let mut install = Command::new(environment.join("bin/pip"));
            run_command(install.args(["install", "-q", "ziglang"]))
        };
        if !make.unwrap_or(false) || !pip().unwrap_or(false) || !program.exists() {
            println!("skipped: zig: `pip install ziglang` failed");
            return None;
        }
    }
    std::path::absolute(Path::new(&program)).ok()
}

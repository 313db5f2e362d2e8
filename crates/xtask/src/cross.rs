//! `cargo xtask cross`: artifacts for aarch64, compiled here and run under an emulator, bit by bit those of this machine.
//!
//! The test does the work (`tests/it/cross`); `cargo xtask test` runs it with a few graphs where the tools are there. Here they
//! are installed if they are not, from Debian's packages, and every function of the library is run with a dtype of each kind: some
//! minutes, as each function is compiled twice. With every dtype it takes four times as long. It tells of each dtype in turn.

use crate::steps::run as run_command;
use crate::tools::{answers, cargo};
use anyhow::{Result, bail};
use std::process::Command;

/// The cross compiler, the target's C library, and the emulator.
const PACKAGES: [&str; 3] = ["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user"];

/// How many random graphs, if nothing is said.
const COUNT: &str = "40";

/// The dtypes, if nothing is said: those that C computes with in ways of their own.
const DTYPES: &str = "f64,f16,i32,c128";

/// All of them.
const ALL: &str = "bool,i8,i16,i32,i64,u8,u16,u32,u64,f16,bf16,f32,f64,c64,c128";

/// Runs the test; `true` if all bits are the same, or it cannot be tried here.
pub(crate) fn run(args: &[&str]) -> Result<bool> {
    let (mut count, mut dtypes, mut rest) = (COUNT, DTYPES, args);
    loop {
        rest = match rest {
            [] => break,
            ["--all", rest @ ..] => {
                dtypes = ALL;
                rest
            }
            ["--count", given, rest @ ..] => {
                count = given;
                rest
            }
            ["--dtypes", given, rest @ ..] => {
                dtypes = given;
                rest
            }
            _ => bail!(
                "`{}` is not understood; usage: cargo xtask cross [--all | --dtypes f64,i32] [--count N]",
                args.join(" ")
            ),
        };
    }
    if !is_there() {
        let installed = run_command(Command::new("apt-get").args(["install", "-y"]).args(PACKAGES));
        if !installed.unwrap_or(false) || !is_there() {
            println!("skipped: artifacts for aarch64: no cross compiler, or no emulator");
            println!("hint: on Debian, as root: `apt-get update && apt-get install {}`", PACKAGES.join(" "));
            return Ok(true);
        }
    }
    let mut tests = Command::new(cargo());
    tests.args(["test", "-p", "precast-tests", "--test", "it", "--", "cross::", "--nocapture"]);
    run_command(tests.env("PRECAST_CROSS_COUNT", count).env("PRECAST_CROSS_DTYPES", dtypes))
}

/// Whether the test has what it needs.
pub(crate) fn is_there() -> bool {
    let tools = ["aarch64-linux-gnu-gcc", "qemu-aarch64"];
    tools.iter().all(|tool| answers(Command::new(tool).arg("--version")))
}

//! `cargo xtask cross`: compiles artifacts for aarch64, runs them under an emulator, and compares the bits with this
//! machine's.
//!
//! The test itself is in `tests/it/cross`. `cargo xtask test` runs it with a few graphs if the tools are installed.
//! This command installs missing tools from Debian's packages and runs every function of the library with one dtype
//! of each kind. That takes some minutes because each function is compiled twice; all dtypes take four times as long.
//! Progress is printed per dtype.

use crate::steps::run as run_command;
use crate::tools::{answers, cargo};
use anyhow::{Result, bail};
use std::process::Command;

/// The cross compiler, the target's C library, and the emulator.
const PACKAGES: [&str; 3] = ["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user"];

/// The default number of random graphs.
const COUNT: &str = "40";

/// The default dtypes: one for each way in which C computes.
const DTYPES: &str = "f64,f16,i32,c128";

/// All dtypes.
const ALL: &str = "bool,i8,i16,i32,i64,u8,u16,u32,u64,f16,bf16,f32,f64,c64,c128";

/// Runs the test; returns `true` if all bits agree or the test cannot run here.
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
                "invalid arguments `{}`; usage: cargo xtask cross [--all | --dtypes f64,i32] [--count N]",
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

/// Returns whether the tools of the test are installed.
pub(crate) fn is_there() -> bool {
    let tools = ["aarch64-linux-gnu-gcc", "qemu-aarch64"];
    tools.iter().all(|tool| answers(Command::new(tool).arg("--version")))
}

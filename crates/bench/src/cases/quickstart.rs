//! Measures the quickstart as a whole process: exec, dynamic linking, verify, load, score, report, exit.

use super::{Bench, cargo, root, target};
use crate::measure::{Runner, output, process};
use crate::report::{Found, Line, Target};
use anyhow::Result;
use std::process::Command;

const ROUNDS: usize = 100;
/// The target of a static program. It is passed by name so that build scripts are not static.
const STATIC: &str = "x86_64-unknown-linux-gnu";

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let target = target()?;
    let build = ["build", "--release", "--offline", "-p", "precast-quickstart"];
    output(cargo(&root(), &target).args(build))?;
    let program = target.join("release/precast-quickstart");
    let place = tempfile::tempdir()?;
    let bare = |program: &std::path::Path| {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", "/nonexistent").current_dir(place.path());
        command
    };
    let runners = vec![
        Runner::new("precast", || process(&mut bare(&program))),
        Runner::new("/bin/true", || process(&mut bare("/bin/true".as_ref()))),
    ];
    let line = Line::raced("exec to exit, environment empty", bench.rounds(ROUNDS), runners)?;
    let mut lines = vec![line.target(Target::Below(5e6))];
    if cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
        let mut statically = cargo(&root(), &target);
        statically.env("RUSTFLAGS", "-C target-feature=+crt-static").args(build).args(["--target", STATIC]);
        output(&mut statically)?;
        let program = target.join(STATIC).join("release/precast-quickstart");
        let runners = vec![
            Runner::new("precast", || process(&mut bare(&program))),
            Runner::new("/bin/true", || process(&mut bare("/bin/true".as_ref()))),
        ];
        let line = Line::raced("the same, a static program", bench.rounds(ROUNDS), runners)?;
        lines.push(line.target(Target::Below(2e6)));
    }
    Ok(lines.into())
}

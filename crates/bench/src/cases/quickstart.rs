//! The quickstart as a whole process: exec, dynamic linking, verify, load, score, report, exit.

use super::{Bench, cargo, root, target};
use crate::measure::{Runner, output, process};
use crate::report::{Found, Line, Target};
use anyhow::Result;
use std::process::Command;

const ROUNDS: usize = 100;

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let target = target()?;
    output(cargo(&root(), &target).args(["build", "--release", "--offline", "-p", "precast-quickstart"]))?;
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
    Ok(vec![line.target(Target::Below(5e6))].into())
}

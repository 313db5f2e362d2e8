//! The quickstart as a whole process: exec, dynamic linking, verify, load, score, report, exit.

use super::{Found, cargo, root, target};
use crate::measure::{in_turn, output, process};
use crate::report::{Row, Target};
use anyhow::Result;
use std::process::Command;

const ROUNDS: usize = 100;

pub(crate) fn run() -> Result<Found> {
    let target = target()?;
    output(cargo(&root(), &target).args(["build", "--release", "--offline", "-p", "precast-quickstart"]))?;
    let program = target.join("release/precast-quickstart");
    let place = tempfile::tempdir()?;
    let bare = |program: &std::path::Path| {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", "/nonexistent").current_dir(place.path());
        command
    };
    let (ours, peer) =
        in_turn(ROUNDS, || process(&mut bare(&program)), || process(&mut bare("/bin/true".as_ref())))?;
    let row = Row::new("quickstart", "quickstart, whole process", &ours, "/bin/true", &peer);
    Ok(vec![row.target(Target::Below(5e6))].into())
}

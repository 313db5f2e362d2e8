//! A build.rs that has nothing to do: a second `cargo build` of a package that declares 1000 combinations.
//!
//! The peer is the same package with an empty script. Without changes, Cargo runs neither script. After a touch it
//! runs both and compiles the package again in either case, so the difference is the script.

use super::precompile::manifest;
use super::{Bench, cargo, root, target};
use crate::measure::{Runner, output, process};
use crate::report::{Found, Line, Target};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROUNDS: usize = 15;
const RANKS: [usize; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

const OURS: &str = "fn main() {\n    precast_build::Build::new().run();\n}\n";
const PEER: &str = "fn main() {\n    println!(\"cargo::rerun-if-changed=precast.toml\");\n}\n";

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let place = target()?.join("bench-rerun");
    let ours = package(&place, "ours", OURS)?;
    let peer = package(&place, "peer", PEER)?;
    let target = place.join("target");
    let build = |package: &PathBuf| process(cargo(package, &target).args(["build", "--offline", "--quiet"]));
    output(cargo(&peer, &target).args(["build", "--offline"]))?;
    let combinations = combinations(&ours, &target)?;
    let touched = |package: &PathBuf| {
        fs_err::write(package.join("precast.toml"), manifest(&RANKS))?;
        build(package)
    };
    let line = |what: &str, work: &dyn Fn(&PathBuf) -> Result<()>| -> Result<Line> {
        let peer = Runner::new("the same with an empty build.rs", || work(&peer));
        let runners = vec![Runner::new("precast", || work(&ours)), peer];
        let what = format!("{what}, {combinations} combinations");
        Ok(Line::raced(&what, bench.rounds(ROUNDS), runners)?.target(Target::BelowPeerPlus(50e6)))
    };
    Ok(vec![line("nothing changed", &build)?, line("manifest touched", &touched)?].into())
}

/// Writes a package with its own workspace and lock file.
fn package(place: &Path, name: &str, script: &str) -> Result<PathBuf> {
    let directory = place.join(name);
    fs_err::create_dir_all(directory.join("src"))?;
    let write = |file: &str, text: &str| fs_err::write(directory.join(file), text);
    let root = fs_err::canonicalize(root())?;
    let head =
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n");
    // Both depend on it, so Cargo checks the same number of packages for each.
    let build =
        format!("[build-dependencies]\nprecast-build = {{ path = {:?} }}\n", root.join("build-support"));
    write("Cargo.toml", &(head + &build))?;
    write("build.rs", script)?;
    write("src/main.rs", "fn main() {}\n")?;
    write("precast.toml", &manifest(&RANKS))?;
    fs_err::copy(root.join("Cargo.lock"), directory.join("Cargo.lock"))?;
    Ok(directory)
}

/// Returns the number of combinations that the script prints.
fn combinations(package: &Path, target: &Path) -> Result<String> {
    fs_err::write(package.join("precast.toml"), manifest(&RANKS))?;
    let mut command: Command = cargo(package, target);
    let command = command.args(["build", "--offline", "-vv"]).env("CARGO_TERM_COLOR", "never");
    let told = output(command.arg("--message-format=short"))?;
    let line = told.lines().find_map(|line| line.split("precast: ").nth(1)).unwrap_or("? combinations");
    Ok(line.split(' ').next().unwrap_or("?").to_owned())
}

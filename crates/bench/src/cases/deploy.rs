//! The cost of a deployed program: crates, CPU time of a cold release build, bytes, and the time to the first call.
//!
//! Two packages are built one after the other in a separate target directory. One depends on ndarray alone, the other
//! also on `precast` without features. CPU time covers the linked dependencies. It includes no build script of the
//! program, and so no code generator.

use super::{Bench, built, cargo, graph, root, target};
use crate::measure::{Runner, Sample, once, output};
use crate::report::{Found, Line, Target};
use anyhow::{Context as _, Result};
use precast::Loader;
use precast_build::Serve;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROUNDS: usize = 200;

const HEAD: &str =
    "[package]\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n[profile.release]\nstrip = true\n";
const WITHOUT: &str = "fn main() {\n    println!(\"{}\", ndarray::array![1.0, 2.0].sum());\n}\n";
const WITH: &str = r#"
static BUNDLE: &[u8] = include_bytes!("../bundle");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = precast::Loader::embedded(BUNDLE)?.entry("graph")?;
    let x = ndarray::array![1.0, 2.0];
    println!("{}", graph.call(&[x.view().into(), x.view().into(), x.view().into()])?.len());
    Ok(())
}
"#;

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let place = target()?.join("bench-deploy");
    if place.exists() {
        fs_err::remove_dir_all(&place)?;
    }
    let with = package(&place, "with", true)?;
    let without = package(&place, "without", false)?;
    let graph = graph("out = sum(exp(-x*x)*y + z)", "xyz", "f64[?]")?;
    built::write(&[("graph".to_owned(), graph)], Serve::Whole, &with.join("bundle"))?;
    let target = place.join("target");
    let seconds = seconds(cargo(&with, &target).args(["build", "--release", "--offline", "--quiet"]))?;
    output(cargo(&without, &target).args(["build", "--release", "--offline", "--quiet"]))?;
    output(&mut Command::new(target.join("release/with")))?;
    let size =
        |name: &str| Ok::<_, anyhow::Error>(fs_err::metadata(target.join("release").join(name))?.len());
    let (ours, bare, bundle) =
        (size("with")?, size("without")?, fs_err::metadata(with.join("bundle"))?.len());
    let facts = vec![
        format!("{} crates, including the program (target: at most 41)", crates(&with, &target)?),
        format!("{seconds:.0} s of processor time for a cold release build (target: at most 60)"),
        format!(
            "{} KiB stripped, in addition to the {} KiB of the same program with ndarray alone and the {} KiB of the bundle (target: at most 1536)",
            ours.saturating_sub(bare + bundle) / 1024,
            bare / 1024,
            bundle / 1024
        ),
    ];
    Ok(Found { lines: lines(&with.join("bundle"), bench.rounds(ROUNDS))?, facts, ..Found::default() })
}

/// Writes and builds a program that calls one graph, or one that only uses arrays.
fn package(place: &Path, name: &str, calls: bool) -> Result<PathBuf> {
    let directory = place.join(name);
    fs_err::create_dir_all(directory.join("src"))?;
    let root = fs_err::canonicalize(root())?;
    let precast = root.join("crates/precast");
    let precast = format!("precast = {{ path = {precast:?}, default-features = false }}\n");
    let head = HEAD.replace("[package]\n", &format!("[package]\nname = \"{name}\"\n"));
    let dependencies = if calls { precast } else { String::new() };
    fs_err::write(
        directory.join("Cargo.toml"),
        format!("{head}[dependencies]\nndarray = \"0.17\"\n{dependencies}"),
    )?;
    fs_err::write(directory.join("src/main.rs"), if calls { WITH } else { WITHOUT })?;
    fs_err::copy(root.join("Cargo.lock"), directory.join("Cargo.lock"))?;
    Ok(directory)
}

/// Counts the packages that are linked, or run in order to link; dependencies of build scripts do not count.
fn crates(package: &Path, target: &Path) -> Result<usize> {
    let tree =
        output(cargo(package, target).args(["tree", "--offline", "-e", "normal", "--prefix", "none"]))?;
    let names = tree.lines().map(|line| line.trim_end_matches(" (*)")).filter(|line| !line.is_empty());
    Ok(names.collect::<BTreeSet<_>>().len())
}

/// Measures the CPU time of a command and its child processes with the shell's `times`.
fn seconds(command: &mut Command) -> Result<f64> {
    let mut timed = Command::new("sh");
    timed.args(["-c", "\"$@\" && times", "sh"]).arg(command.get_program()).args(command.get_args());
    timed.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    for (name, _) in command.get_envs().filter(|(_, value)| value.is_none()) {
        timed.env_remove(name);
    }
    timed.current_dir(command.get_current_dir().context("a command without a folder")?);
    // The second line is for children: user, then system, as in `1m7.490s 0m6.350s`.
    let told = output(&mut timed)?;
    let line = told.lines().last().context("`times` printed nothing")?;
    line.split_whitespace().map(parse).sum()
}

fn parse(time: &str) -> Result<f64> {
    let (minutes, seconds) = time.trim_end_matches('s').split_once('m').context("not a time")?;
    Ok(minutes.parse::<f64>()? * 60.0 + seconds.parse::<f64>()?)
}

/// Measures the first entry of a freshly opened loader, and an entry that is already loaded.
fn lines(bundle: &Path, rounds: usize) -> Result<Vec<Line>> {
    let bytes: &'static [u8] = fs_err::read(bundle)?.leak();
    let mut first = Sample::default();
    for round in 0..=rounds {
        let (ns, entry) = once(|| anyhow::Ok(Loader::embedded(bytes)?.entry("graph")?));
        drop(entry?);
        if round > 0 {
            first.push(ns);
        }
    }
    let loader = Loader::embedded(bytes)?;
    let again = Runner::short("precast", || drop(std::hint::black_box(loader.entry("graph"))));
    Ok(vec![
        Line::new("open an embedded bundle and load an entry", &first, &[]).target(Target::Below(0.4e6)),
        Line::raced("the same entry again", rounds, vec![again])?.target(Target::Below(1e3)),
    ])
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn times_are_minutes_and_seconds() {
        assert!((parse("1m7.490s").unwrap() - 67.49).abs() < 1e-9);
    }
}

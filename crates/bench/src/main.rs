//! Measurements against peers in the same run; `README.md` says how to read them.
//!
//! ```text
//! precast-bench [--json | --write] [--quick] [case…]
//! cases ──▶ measure: in turn with peers, medians and spread ──▶ report: table, JSON, or the committed table and picture
//! ```
//! A figure alone says little on a machine that others use too, so each stands beside peers that were measured in turn.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a report")]

mod cases;
mod measure;
mod peers;
mod registry;
mod report;

use anyhow::{Result, bail};
use cases::{Bench, CASES};
use peers::Peers;
use report::{Found, Machine, Report, Section, against_fastest, load, missed};
use std::path::Path;

/// As a program with large results has it; NumPy's arrays are on large pages too.
#[global_allocator]
static MEMORY: precast::KeepLarge = precast::KeepLarge::new(1 << 30);

const FLAGS: [&str; 3] = ["--json", "--write", "--quick"];

fn main() -> Result<()> {
    let (flags, names): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    if flags.first().is_some_and(|flag| flag == cases::cold::CHILD) {
        return cases::cold::child(&names);
    }
    let known: Vec<&str> = CASES.iter().map(|case| case.name).collect();
    let usage = format!("usage: precast-bench [{}] [{}]…", FLAGS.join("] ["), known.join(" | "));
    if flags.iter().any(|flag| flag == "--help") {
        println!("{usage}");
        return Ok(());
    }
    if let Some(flag) = flags.iter().find(|flag| !FLAGS.contains(&flag.as_str())) {
        bail!("unknown flag `{flag}`; {usage}");
    }
    if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("unknown case `{name}`; known: {}", known.join(", "));
    }
    let has = |flag: &str| flags.iter().any(|given| given == flag);
    if has("--write") && has("--quick") {
        bail!("`--write` is for whole runs: two rounds of a case are no figure to commit");
    }
    let (report, failed) = measure(&names, has("--quick"))?;
    if has("--json") {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", report.table());
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    if has("--write") {
        write(&report)?;
    }
    Ok(())
}

/// Runs some cases, all of them if none is named, and tells which failed: what the others found is not lost with them.
fn measure(names: &[String], quick: bool) -> Result<(Report, Vec<&'static str>)> {
    eprintln!("looking for peers; the first time they are installed");
    let bench = Bench { peers: Peers::start(1)?, quick };
    let mut report = Report {
        machine: Machine::here(bench.peers.versions.clone()),
        sections: Vec::new(),
        skipped: Vec::new(),
    };
    let mut failed = Vec::new();
    if let Err(why) = &bench.peers.environment {
        report
            .skipped
            .push(format!("NumPy, numba, JAX and PyTensor, as there is no environment for them: {why}"));
    }
    for case in CASES.iter().filter(|case| names.is_empty() || names.iter().any(|name| name == case.name)) {
        eprintln!("measuring {}", case.name);
        match (case.run)(&bench) {
            Ok(Found { lines, mut facts, skipped }) => {
                if case.is_compared {
                    facts.extend(against_fastest(&lines));
                }
                facts.extend(missed(&lines));
                report.sections.push(Section { case: case.name, title: case.title, lines, facts, skipped });
            }
            Err(why) => {
                report.skipped.push(format!("{}, which failed: {why:#}", case.name));
                failed.push(case.name);
            }
        }
    }
    report.machine.load_after = load();
    Ok((report, failed))
}

/// Writes the files of this package that a run is committed as.
fn write(report: &Report) -> Result<()> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs_err::write(package.join("RESULTS.md"), report.markdown())?;
    if let Some(picture) = report.picture() {
        fs_err::write(package.join("results.svg"), picture)?;
    }
    Ok(())
}

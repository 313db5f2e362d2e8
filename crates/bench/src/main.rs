//! Measurements against peers in the same run; `README.md` says how to read them.
//!
//! ```text
//! precast-bench [--json | --markdown] [case…]
//! cases ──▶ measure: in turn with a peer, min and median ──▶ report: table, Markdown, JSON
//! ```
//! A figure alone says little on a machine that others use too, so each stands beside a peer that was measured in turn.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a report")]

mod cases;
mod measure;
mod report;

use anyhow::{Result, bail};
use cases::{CASES, Found};
use report::{Machine, Report, load};

fn main() -> Result<()> {
    let (flags, names): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    if flags.first().is_some_and(|flag| flag == cases::jit::CHILD) {
        return cases::jit::child();
    }
    let known: Vec<&str> = CASES.iter().map(|(name, _)| *name).collect();
    if let Some(flag) = flags.iter().find(|flag| !["--json", "--markdown"].contains(&flag.as_str())) {
        bail!("unknown flag `{flag}`; usage: precast-bench [--json | --markdown] [{}]…", known.join(" | "));
    }
    if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("unknown case `{name}`; known: {}", known.join(", "));
    }
    let mut report = Report { machine: Machine::here(), rows: Vec::new(), skipped: Vec::new() };
    for (name, case) in CASES {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            eprintln!("measuring {name}");
            let Found { rows, skipped } = case()?;
            report.rows.extend(rows);
            report.skipped.extend(skipped);
        }
    }
    report.machine.load_after = load();
    let has = |flag: &str| flags.iter().any(|given| given == flag);
    if has("--json") {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else if has("--markdown") {
        print!("{}", report.markdown());
    } else {
        print!("{}", report.table());
    }
    Ok(())
}

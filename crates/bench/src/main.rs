//! Measurements against peers in the same run; `README.md` explains how to read them.
//!
//! ```text
//! precast-bench [--json | --write] [--quick] [--line=TEXT] [case…]
//! cases ──▶ measure: in turn with peers, medians and spread ──▶ report: table, JSON, or the committed table and picture
//! ```
//! A single figure means little on a shared machine, so each stands next to peers measured in turn.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a report")]

mod cases;
mod measure;
mod peers;
mod registry;
mod report;

use anyhow::{Result, bail};
use cases::{Bench, CASES, Case};
use peers::Peers;
use report::{Found, Machine, Report, Section, against_fastest, load, missed};
use std::path::Path;

/// The allocator of a program with large results; NumPy's arrays use huge pages too.
#[global_allocator]
static MEMORY: precast::KeepLarge = precast::KeepLarge::new(1 << 30);

const FLAGS: [&str; 4] = ["--json", "--write", "--quick", "--line=TEXT"];

/// Names that select lines of a case: the name, the case, and the text in the names of the lines.
const SELECTIONS: [(&str, &str, &str); 1] = [("special", "functions", ", special")];

/// The parsed command line.
#[derive(Debug)]
struct Asked {
    json: bool,
    write: bool,
    quick: bool,
    line: Option<String>,
    cases: Vec<&'static str>,
}

fn main() -> Result<()> {
    let (flags, names): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    if flags.first().is_some_and(|flag| flag == cases::cold::CHILD) {
        return cases::cold::child(&names);
    }
    if flags.first().is_some_and(|flag| flag == cases::compile::CHILD) {
        return cases::compile::child();
    }
    if flags.iter().any(|flag| flag == "--help") {
        println!("{}", usage());
        return Ok(());
    }
    let asked = asked(&flags, &names)?;
    let (report, failed) = measure(&asked)?;
    if asked.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", report.table());
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    // Without peers, no line is known to be `special`.
    if let Some(text) = &asked.line
        && report.skipped.is_empty()
        && report.sections.iter().all(|section| section.lines.is_empty())
    {
        bail!("no line has `{text}` in its name; cases: {}", asked.cases.join(", "));
    }
    if asked.write {
        write(&report)?;
    }
    Ok(())
}

fn usage() -> String {
    format!("usage: precast-bench [{}] [{}]…", FLAGS.join("] ["), names_of(|_| true).join(" | "))
}

/// Returns the names of the cases that match, in the order in which they run.
fn names_of(which: impl Fn(&Case) -> bool) -> Vec<&'static str> {
    CASES.iter().filter(|case| which(case)).map(|case| case.name).collect()
}

/// Parses a command line. Without names it selects all cases; with `--line`, all cases that measure line by line.
fn asked(flags: &[String], names: &[String]) -> Result<Asked> {
    let mut asked = Asked { json: false, write: false, quick: false, line: None, cases: Vec::new() };
    for flag in flags {
        match flag.as_str() {
            "--json" => asked.json = true,
            "--write" => asked.write = true,
            "--quick" => asked.quick = true,
            _ => match flag.strip_prefix("--line=") {
                Some(text) => asked.line = Some(text.to_owned()),
                None => bail!("unknown flag `{flag}`; {}", usage()),
            },
        }
    }
    let mut names = names.to_vec();
    for name in &mut names {
        if let Some((_, case, text)) = SELECTIONS.iter().find(|(selection, ..)| selection == name) {
            (*case).clone_into(name);
            asked.line.get_or_insert_with(|| (*text).to_owned());
        }
    }
    let (known, can) = (names_of(|_| true), names_of(|case| asked.line.is_none() || case.has_lines));
    for name in names.iter().map(String::as_str) {
        if !known.contains(&name) {
            bail!("unknown case `{name}`; known: {}", known.join(", "));
        }
        if !can.contains(&name) {
            bail!("`--line` does not apply to `{name}`; it applies to: {}", can.join(", "));
        }
    }
    asked.cases = can;
    asked.cases.retain(|case| names.is_empty() || names.iter().any(|name| name == case));
    if asked.write && (asked.quick || asked.line.is_some()) {
        bail!("`--write` needs complete runs; remove `--quick` and `--line`");
    }
    Ok(asked)
}

/// Runs the selected cases and returns the names of failed ones. A failure does not discard the results of the rest.
fn measure(asked: &Asked) -> Result<(Report, Vec<&'static str>)> {
    eprintln!("looking for peers (the first run installs them)");
    let bench = Bench { peers: Peers::start(1)?, quick: asked.quick, line: asked.line.clone() };
    let mut report = Report {
        machine: Machine::here(bench.peers.versions.clone()),
        sections: Vec::new(),
        skipped: Vec::new(),
    };
    let mut failed = Vec::new();
    if let Err(why) = &bench.peers.environment {
        report.skipped.push(format!(
            "NumPy, SciPy, numba, JAX and PyTensor, because their environment is missing: {why}"
        ));
    }
    for case in CASES.iter().filter(|case| asked.cases.contains(&case.name)) {
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

/// Writes the results of a run to the committed page, and draws the picture if its first case has run.
fn write(report: &Report) -> Result<()> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = package.join("RESULTS.md");
    let cases: Vec<(&str, &str)> = CASES.iter().map(|case| (case.name, case.title)).collect();
    let earlier = fs_err::read_to_string(&page).unwrap_or_default();
    fs_err::write(&page, report.page(&earlier, &cases))?;
    let is_pictured = report.sections.iter().any(|section| section.case == "everyday");
    if let Some(picture) = report.picture().filter(|_| is_pictured) {
        fs_err::write(package.join("results.svg"), picture)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::asked;

    fn of(line: &str) -> Result<super::Asked, String> {
        let (flags, names): (Vec<String>, Vec<String>) =
            line.split_whitespace().map(str::to_owned).partition(|arg| arg.starts_with("--"));
        asked(&flags, &names).map_err(|why| why.to_string())
    }

    #[test]
    fn single_line_cases_are_found() {
        assert_eq!(
            of("--line=tanh").unwrap().cases,
            [
                "everyday",
                "suite",
                "loops",
                "shapes",
                "memory",
                "functions",
                "linalg",
                "models",
                "mode",
                "sampling",
                "compile"
            ]
        );
        assert_eq!(of("--line=tanh everyday").unwrap().cases, ["everyday"]);
        assert!(of("--line=tanh everyday jit").unwrap_err().contains("does not apply to `jit`"));
        assert!(of("").unwrap().cases.len() > 10);
    }

    #[test]
    fn special_selects_lines_of_functions() {
        let asked = of("special").unwrap();
        assert_eq!((asked.cases, asked.line), (vec!["functions"], Some(", special".to_owned())));
        assert_eq!(of("--line=kve special").unwrap().line.unwrap(), "kve");
    }

    #[test]
    fn unknown_cases_and_pages_are_rejected() {
        assert!(of("everyday dagger").unwrap_err().contains("unknown case `dagger`"));
        assert!(of("--lines everyday").unwrap_err().contains("unknown flag `--lines`; usage"));
        assert!(of("--write --quick").unwrap_err().contains("complete runs"));
        assert!(of("--write --line=tanh").unwrap_err().contains("complete runs"));
    }
}

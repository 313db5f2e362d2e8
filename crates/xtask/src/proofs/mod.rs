//! `cargo xtask proofs`: runs every long proof once, and ends with a table of the results.
//!
//! ```text
//! list ──▶ for each proof: share of the time ──▶ `cargo xtask …` as a child ──▶ log, counts ──▶ table, exit status
//! ```
//! A proof is a command of this tool that is too long for `cargo xtask test`. Proofs of fixed length run first. The
//! rest share the remaining `--minutes` by weight, and each one stops itself when its share is spent. A failed proof
//! does not stop the next one. A proof installs its own tools; if that fails, the table shows it as skipped, with the
//! reason.

mod child;
mod list;
mod outcome;

use anyhow::{Context as _, Result, bail};
use list::{Length, PROOFS, Proof};
use outcome::{Outcome, table};
use std::path::Path;
use std::time::{Duration, Instant};

/// The default time for all proofs together, in minutes.
const MINUTES: u64 = 240;

/// The minimum time of a proof, even if less is left.
const LEAST: Duration = Duration::from_secs(60);

/// The options of the command.
struct Options<'a> {
    minutes: u64,
    names: Vec<&'a str>,
}

/// Runs all proofs, or those in `args`; returns `true` if none failed.
pub(crate) fn run(root: &Path, args: &[&str]) -> Result<bool> {
    let options = parse(args)?;
    let chosen = |length: fn(&Length) -> bool| {
        PROOFS.iter().filter(move |proof| length(&proof.length)).filter(|proof| options.selects(proof.name))
    };
    let start = Instant::now();
    let all = Duration::from_secs(options.minutes * 60);
    let logs = root.join("target/proofs");
    fs_err::create_dir_all(&logs)?;
    let mut outcomes = Vec::new();
    for proof in chosen(|length| matches!(length, Length::Fixed)) {
        outcomes.push(prove(proof, all.saturating_sub(start.elapsed()), &logs)?);
    }
    let mut weights: u64 = chosen(|length| !matches!(length, Length::Fixed)).map(Proof::weight).sum();
    for proof in chosen(|length| !matches!(length, Length::Fixed)) {
        let left = all.saturating_sub(start.elapsed());
        let share = left.mul_f64(proof.weight() as f64 / weights as f64);
        weights -= proof.weight();
        outcomes.push(prove(proof, share.max(LEAST), &logs)?);
    }
    print!("{}", table(&outcomes, start.elapsed()));
    Ok(outcomes.iter().all(|outcome| !outcome.has_failed()))
}

/// Runs one proof in its share of the time.
fn prove(proof: &'static Proof, share: Duration, logs: &Path) -> Result<Outcome> {
    println!("\n== {}: {}", proof.name, proof.claim);
    let start = Instant::now();
    let log = child::run(proof, share, &logs.join(format!("{}.log", proof.name)))?;
    let outcome = Outcome::read(proof.name, &log.text, log.end, start.elapsed());
    println!("== {}: {} in {:.0} s", proof.name, outcome.verdict(), outcome.took.as_secs_f64());
    Ok(outcome)
}

impl Options<'_> {
    fn selects(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.contains(&name)
    }
}

fn parse<'a>(args: &[&'a str]) -> Result<Options<'a>> {
    let mut options = Options { minutes: MINUTES, names: Vec::new() };
    let mut rest = args.iter();
    while let Some(&word) = rest.next() {
        if word == "--minutes" {
            let number = rest.next().context("`--minutes` needs a number")?;
            options.minutes = number.parse().with_context(|| format!("invalid number `{number}`"))?;
        } else if PROOFS.iter().any(|proof| proof.name == word) {
            options.names.push(word);
        } else {
            let names: Vec<&str> = PROOFS.iter().map(|proof| proof.name).collect();
            bail!("unknown proof `{word}`; expected `--minutes N` or one of: {}", names.join(", "));
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::{MINUTES, PROOFS, parse};

    #[test]
    fn options_name_proofs_and_minutes() {
        let options = parse(&["--minutes", "7", "digest"]).unwrap();
        assert_eq!((options.minutes, options.names), (7, vec!["digest"]));
        assert_eq!(parse(&[]).unwrap().minutes, MINUTES);
        assert!(
            parse(&["--minutes"]).is_err() && parse(&["--minutes", "x"]).is_err() && parse(&["no"]).is_err()
        );
    }

    #[test]
    fn names_of_proofs_are_unique() {
        let mut names: Vec<&str> = PROOFS.iter().map(|proof| proof.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PROOFS.len());
    }
}

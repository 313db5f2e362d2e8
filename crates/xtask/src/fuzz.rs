//! `cargo xtask fuzz-graphs` runs as many random graphs of `tests/it/fuzz` as requested, including hostile custom
//! ops. With `--numpy` it compares random expressions with NumPy (`crates/ops/tests/it/numpy`). `cargo xtask
//! fuzz-parsers` runs each target of `tests/parsers` for the requested time.
//!
//! The tests print their progress after each batch. A failure prints the seed to repeat it and the smallest graph
//! that still fails, in its JSON form.

use crate::steps::run as run_command;
use crate::tools::cargo;
use anyhow::{Context, Result, bail};
use std::process::Command;

/// The default number of graphs.
const COUNT: u64 = 100_000;

/// The default time per parser, in seconds.
const SECONDS: u64 = 600;

/// Fuzzes parsers, at least two at once; returns `true` if no failure was found.
pub(crate) fn parsers(args: &[&str]) -> Result<bool> {
    let (seconds, targets) = match args {
        ["--seconds", number, targets @ ..] => {
            (number.parse().with_context(|| format!("invalid number `{number}`"))?, targets)
        }
        targets => (SECONDS, targets),
    };
    let mut command = Command::new(cargo());
    command.args(["test", "-p", "precast-tests", "--test", "parsers", "--", "--nocapture"]).args(targets);
    // Only the time limit stops it, after any number of cases.
    command.env("BOLERO_RANDOM_ITERATIONS", usize::MAX.to_string());
    run_command(command.env("BOLERO_RANDOM_TEST_TIME_MS", (seconds * 1000).to_string()))
}

/// Runs the test; returns `true` if every graph has the expected bits.
pub(crate) fn run(args: &[&str]) -> Result<bool> {
    let (mut count, mut seed) = (COUNT, 0);
    let (numpy, args) = match args {
        ["--numpy", rest @ ..] => (true, rest),
        args => (false, args),
    };
    for pair in args.chunks(2) {
        let (target, number) = match pair {
            ["--count", number] => (&mut count, number),
            ["--seed", number] => (&mut seed, number),
            _ => bail!(
                "invalid arguments `{}`; usage: cargo xtask fuzz-graphs [--numpy] [--count N] [--seed S]",
                pair.join(" ")
            ),
        };
        *target = number.parse().with_context(|| format!("invalid number `{}`", number))?;
    }
    let (package, variable, tests): (&str, &str, &[&str]) = if numpy {
        ("precast-ops", "NUMPY", &["numpy::random_expressions_match_numpy"])
    } else {
        let tests = &[
            "fuzz::random_graphs_match_perform_under_every_cut",
            "fuzz::random_graphs_match_perform_at_every_level",
            "fuzz::hostile::hostile_authors_graphs_equal_their_ops",
        ];
        ("precast-tests", "FUZZ", tests)
    };
    let words = ["test", "-p", package, "--test", "it", "--", "--exact", "--nocapture"];
    let mut command = Command::new(cargo());
    if numpy && std::env::var_os("PRECAST_TEST_PYTHON").is_none() {
        command.envs(crate::python::installed()?.map(|python| ("PRECAST_TEST_PYTHON", python)));
    }
    command.args(words).args(tests).env(format!("PRECAST_{variable}_COUNT"), count.to_string());
    run_command(command.env(format!("PRECAST_{variable}_SEED"), seed.to_string()))
}

//! `cargo xtask fuzz-graphs`: the random graphs of `tests/it/fuzz`, as many as asked for, ops of authors who care for nobody
//! among them; with `--numpy` random expressions against NumPy, `crates/ops/tests/it/numpy`.
//!
//! The tests do the work and say what they have done after each batch; a failure ends with the seed that repeats it and the
//! smallest graph that still fails, in its JSON form.

use crate::steps::run as run_command;
use crate::tools::cargo;
use anyhow::{Context, Result, bail};
use std::process::Command;

/// How many graphs, if nothing is said.
const COUNT: u64 = 100_000;

/// Runs the test; `true` if every graph has the bits it should have.
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
                "`{}` is not understood; usage: cargo xtask fuzz-graphs [--numpy] [--count N] [--seed S]",
                pair.join(" ")
            ),
        };
        *target = number.parse().with_context(|| format!("`{}` is no number", number))?;
    }
    let (package, variable, tests): (&str, &str, &[&str]) = if numpy {
        ("precast-ops", "NUMPY", &["numpy::random_expressions_are_those_of_numpy"])
    } else {
        let tests = &[
            "fuzz::random_graphs_have_the_bits_of_perform_however_they_are_cut",
            "fuzz::random_graphs_have_the_bits_of_perform_at_every_level",
            "fuzz::hostile::whole_graphs_of_authors_who_care_for_nobody_are_their_ops",
        ];
        ("precast-tests", "FUZZ", tests)
    };
    let words = ["test", "-p", package, "--test", "it", "--", "--exact", "--nocapture"];
    let mut command = Command::new(cargo());
    command.args(words).args(tests).env(format!("PRECAST_{variable}_COUNT"), count.to_string());
    run_command(command.env(format!("PRECAST_{variable}_SEED"), seed.to_string()))
}

//! Repository automation: `cargo xtask COMMAND`.
//!
//! ```text
//! test    README's second command: every test, after a list of the missing optional tools
//! ci      the steps of .ci/run: tidy, fmt, headers, quickstart, clippy, doc, test
//! features  every combination of features, and lock-free tables under every order of memory
//! contracts  every built-in op against its contract
//! all-cases  the tests of which CI takes a share of the cases, with all of them
//! fuzz-graphs  random graphs, in the requested number
//! fuzz-parsers  edited real files against every parser, for the requested time
//! python  the Python package: installed and tested
//! cross   artifacts for another architecture, under an emulator
//! digest  the same bits from every compiler, level, cut and number of threads
//! threads  the threads that share a call, under ThreadSanitizer
//! repro   the same declarations in other directories, time zones, orders, by other users: the same bytes
//! syscalls  commands and programs while each system call is refused; limits, under resource limits; cpus, on emulated CPUs
//! reload  services that reload bundles thousands of times: memory, mappings and descriptors
//! bench   every case of the bench once, as a smoke test
//! package every published crate, packed and compiled from its package alone
//! wheel   the Python package for many Linux systems, as it is published
//! proofs  every long proof above, in a share of the time, with a table at the end
//! remotes  remote stores, a cache and a farm, against real servers: S3, a registry, a web server, BuildGrid
//! tidy    rules about the tree that no compiler checks (also a plain `#[test]` of this package)
//! book    the documentation site, and its test in a browser
//! ```
//! Only cargo and a C compiler are required. Optional tools (`cargo nextest`, `strace`, a C++ compiler) are used if
//! found, and missing ones are listed. Every step prints its command and its duration.

#![allow(clippy::print_stdout, reason = "a command line tool for this repository's developers")]

mod book;
mod buildgrid;
mod ci;
mod cross;
mod digest;
mod features;
mod fuzz;
mod headers;
mod hosts;
mod markdown;
mod package;
mod proofs;
mod python;
mod remotes;
mod repro;
mod skips;
mod steps;
mod test;
mod threads;
mod tidy;
mod tools;
mod wheel;

use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
usage: cargo xtask COMMAND

  test [--fast] [ARGS…] run all tests, and list the skipped ones; pass ARGS to the test runner (and skip the doctests);
                        --fast runs the unit tests and one flow of each host language
  ci [--without-test]   run the steps of .ci/run
  tidy                  check the rules of the tree
  book [--test] [--without-api]
                        build the documentation site in target/book/site; --without-api leaves out rustdoc and the
                        list of commands, which must be compiled; --test opens the site in Chromium

Long proofs:
  proofs [--minutes N] [NAME…]
                        run all proofs or the named ones in N (240) minutes, and print a table of results
  features              lint every combination of features; run lock-free tables under every order of memory
  contracts             check every built-in op against its contract in debug mode, of which CI checks a sixth
  all-cases             run the tests of which CI takes a share of the cases, with all of them: optimized kernels, cuts of
                        examples, crashes, secrets, and the Python package
  fuzz-graphs [--numpy] [--count N] [--seed S]
                        compare N (100000) random graphs, from seed S (0) on, with `perform` or NumPy
  fuzz-parsers [--seconds N] [TARGET…]
                        parse edited files for N (600) seconds per parser
  python [ARGS…]        install the Python package and run its tests; pass ARGS to pytest
  python --share        the same, with a share of the cases of tests that have many, as `test` does
  python --pytensor     run the tests of PyTensor and PyMC with precast
  cross [--count N]     compile for aarch64, run under an emulator, and compare the bits, with N (100) random graphs;
                        install the cross compiler and the emulator
  digest [--count N]    compare one digest over compilers, ISA levels, cuts and numbers of threads, with N (200) random graphs
  threads               run the tests of shared calls under ThreadSanitizer
  repro                 build in different directories, orders and environments with each compiler, and compare the bytes
  remotes [--figures]   install servers (S3, a registry, a web server, BuildGrid) and test against them;
                        --figures prints times instead
  syscalls              refuse each system call to the commands and to programs of each host
  limits                run them under resource limits
  cpus                  run them on emulated CPUs
  reload                reload bundles in services of each host, and fail if memory, mappings or descriptors grow
  bench                 run each case of the bench in two rounds, and fail if a result differs from a peer's
  package               pack the published crates, and check that they compile from their packages alone,
                        also with the minimum Rust version if it is installed
  wheel                 build the wheel of the Python package for glibc 2.28 and later, and check it
";

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the command of the arguments; returns `true` on success.
fn run() -> Result<bool> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        [] | ["help" | "-h" | "--help", ..] | [_, "-h" | "--help"] => {
            print!("{HELP}");
            Ok(true)
        }
        ["test", rest @ ..] => test::run(&root(), rest),
        ["ci"] => ci::run(true),
        ["ci", "--without-test"] => ci::run(false),
        ["features"] => features::run(),
        ["contracts"] => contracts(),
        ["all-cases"] => all_cases(),
        ["fuzz-graphs", rest @ ..] => fuzz::run(rest),
        ["fuzz-parsers", rest @ ..] => fuzz::parsers(rest),
        ["python", rest @ ..] => python::run(rest),
        ["cross", rest @ ..] => cross::run(rest),
        ["digest", rest @ ..] => digest::run(rest),
        ["threads"] => threads::run(),
        ["repro"] => repro::run(&root()),
        ["remotes"] => remotes::run(&root()),
        ["remotes", "--figures"] => remotes::figures(&root()),
        ["syscalls"] => hosts::syscalls(&root()),
        ["limits"] => hosts::limits(&root()),
        ["cpus"] => hosts::cpus(&root()),
        ["reload"] => hosts::reload(&root()),
        ["bench"] => bench(),
        ["package"] => package::run(&root()),
        ["wheel"] => wheel::run(),
        ["proofs", rest @ ..] => proofs::run(&root(), rest),
        ["book", rest @ ..] => book::run(&root(), rest),
        ["tidy"] => tidy::run(&root()),
        _ => bail!("unknown command `{}`\n{HELP}", args.join(" ")),
    }
}

/// Checks every built-in op.
fn contracts() -> Result<bool> {
    let of = ["test", "--locked", "-p", "precast-runtime", "--features", "jit,record", "--test", "it"];
    let selected = ["--", "--ignored", "debug::every_built_in"];
    steps::run(std::process::Command::new(tools::cargo()).args(of).args(selected))
}

/// Runs the tests that take a share of their cases, with all cases.
fn all_cases() -> Result<bool> {
    let mut is_green = true;
    for (package, target, filter) in [
        ("precast-ops", "it", ""),
        ("precast-tests", "it", "page::"),
        ("precast-tests", "it", "fuzz::boundaries::"),
        ("precast-cli", "cli", "crash::"),
        ("precast-cli", "cli", "secrets::"),
        ("precast-cli", "cli", "store::"),
    ] {
        let mut tests = std::process::Command::new(tools::cargo());
        tests.args(["test", "--locked", "-p", package, "--test", target, "--", filter]);
        is_green &= steps::run(tests.env("PRECAST_TEST_ALL", "1"))?;
    }
    // Without nextest, `cargo xtask test` leaves out no test.
    if tools::answers(std::process::Command::new(tools::cargo()).args(["nextest", "--version"])) {
        let mut others = std::process::Command::new(tools::cargo());
        others.args(["nextest", "run", "--ignore-default-filter", "-E", "not default()"]);
        is_green &= steps::run(others.args(test::OTHERS))?;
    }
    is_green &= python::run(&[])?;
    Ok(is_green)
}

/// Runs every case of the bench once as a smoke test; the figures do not count.
fn bench() -> Result<bool> {
    let words = ["run", "--release", "--locked", "-p", "precast-bench", "--", "--quick"];
    steps::run(std::process::Command::new(tools::cargo()).args(words))
}

/// Returns the workspace directory: two levels above this package's, which cargo passes in the environment.
fn root() -> PathBuf {
    let package =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from("crates/xtask"), Into::into);
    package.ancestors().nth(2).unwrap_or(Path::new(".")).to_path_buf()
}

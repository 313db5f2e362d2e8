//! `cargo xtask test`: runs all tests of the workspace in a fresh clone with only cargo and a C compiler.
//!
//! Doctests and the Python package run first, so that the last lines are the summary of the main test runner. The
//! runner is `cargo nextest` if it is installed, else `cargo test`. Tests that need more than cargo and a C compiler
//! skip themselves. A runner hides the output of passing tests, so this command lists the skipped tests before they
//! run.

use crate::python;
use crate::steps::run as run_command;
use crate::tools::{answers, cargo, compiler};
use anyhow::{Result, bail};
use std::process::Command;
use std::time::Instant;

/// Runs the tests; `args` are passed to the runner. Returns `true` if all passed.
pub(crate) fn run(args: &[&str]) -> Result<bool> {
    let start = Instant::now();
    if compiler("CC", "cc").is_none() {
        bail!(
            "no C compiler: the tests compile C\nhint: install one (Debian: `apt-get install gcc`), or name it in CC"
        );
    }
    say_what_is_missing();
    let (documents, package) = if args.is_empty() {
        let fine = run_command(Command::new(cargo()).args(["test", "--workspace", "--doc", "--quiet"]))?;
        println!("doctests: {:.1} s", start.elapsed().as_secs_f64());
        (fine, python::run(&[])?)
    } else {
        println!("skipped: doctests and the Python package, since arguments for the runner were given");
        (true, true)
    };
    let runner: &[&str] = if answers(Command::new(cargo()).args(["nextest", "--version"])) {
        &["nextest", "run"]
    } else {
        println!("not there: `cargo nextest`; `cargo test` runs the tests");
        &["test", "--all-targets", "--no-fail-fast"]
    };
    let selects = args.iter().any(|arg| arg.starts_with("-p") || arg.starts_with("--package"));
    let all: &[&str] = if selects { &[] } else { &["--workspace"] };
    let tests = run_command(Command::new(cargo()).args(runner).args(all).args(args))?;
    if !documents {
        println!("FAILED: doctests (see above)");
    }
    if !package {
        println!("FAILED: the Python package (see above)");
    }
    Ok(documents && package && tests)
}

/// Prints each missing optional tool and the tests that skip themselves without it.
fn say_what_is_missing() {
    let optional = [
        (
            compiler("CXX", "c++").is_some(),
            "a C++ compiler",
            "tests of C++ modules and of the headers in C++",
        ),
        (
            answers(Command::new("python3-config").arg("--includes")),
            "the headers of Python",
            "the test that extensions of CPython call each other natively",
        ),
        (
            answers(Command::new("strace").arg("-V")),
            "`strace`",
            "the test that the quickstart starts no process",
        ),
        (
            answers(Command::new("cmake").arg("--version")),
            "CMake",
            "the test that it finds the package of the C API",
        ),
        (
            answers(Command::new("valgrind").arg("--version")),
            "`valgrind`",
            "the test that the C API leaks nothing, whatever is done to it",
        ),
        (
            answers(Command::new("musl-gcc").arg("--version")),
            "`musl-gcc` (and `rustup target add x86_64-unknown-linux-musl`)",
            "the test that a program for musl runs where nothing else is",
        ),
        (
            crate::cross::is_there(),
            "a cross compiler and an emulator for aarch64 (`cargo xtask cross` installs them)",
            "the test that artifacts for aarch64 compute the same",
        ),
    ];
    for (there, tool, tests) in optional {
        if !there {
            println!("not there: {tool}; skipped: {tests}");
        }
    }
}

//! `cargo xtask test`: runs all tests of the workspace in a fresh clone with only cargo and a C compiler.
//!
//! Everything is compiled first, once: with the features of the whole workspace. Then the doctests, the [`PROGRAMS`] and the
//! Python package run. The main test runner is `cargo nextest` if it is installed, else `cargo
//! test`. Tests that need more than cargo and a C compiler skip themselves: this command lists the missing tools before
//! the tests, and the skipped tests after them. The last lines are the summary of the runner.
//!
//! `--fast` runs the tests of the profile `fast` in `.config/nextest.toml`: unit tests and one flow of each face.

use crate::python;
use crate::root;
use crate::skips;
use crate::steps::{line, run as run_command};
use crate::tools::{answers, cargo, compiler};
use anyhow::{Context as _, Result, bail};
use std::io::{BufRead as _, BufReader, IsTerminal as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The packages whose build scripts use precast. A build of them compiles precast twice, as features for a build script are
/// selected separately. So they are compiled as the README does, optimised, and excluded from all else.
pub(crate) const PROGRAMS: [&str; 4] = ["-p", "precast-quickstart", "-p", "precast-training"];

/// All other packages.
pub(crate) const OTHERS: [&str; 5] =
    ["--workspace", "--exclude", "precast-quickstart", "--exclude", "precast-training"];

/// Runs the tests; `args` are passed to the runner. Returns `true` if all passed.
pub(crate) fn run(root: &Path, args: &[&str]) -> Result<bool> {
    if compiler("CC", "cc").is_none() {
        bail!(
            "no C compiler, which the tests need\nhint: install one (Debian: `apt-get install gcc`), or set CC"
        );
    }
    print_missing_tools();
    let (profile, args) = match args {
        ["--fast", rest @ ..] => ("fast", rest),
        _ => ("default", args),
    };
    let is_whole = profile == "default" && args.is_empty();
    let (documents, programs, package) = if is_whole {
        (build()? && doctests()?, programs()?, python::run(&["--share"])?)
    } else {
        println!("not selected: doctests, the programs of the examples and the Python package");
        (true, true, true)
    };
    let tests = run_tests(root, profile, args)?;
    for (passed, what) in
        [(documents, "doctests"), (programs, "programs of the examples"), (package, "the Python package")]
    {
        if !passed {
            println!("FAILED: {what} (see above)");
        }
    }
    Ok(documents && programs && package && tests)
}

/// Compiles what the tests of all languages need; a second call compiles nothing. Cargo selects the features of a
/// dependency for all packages of one command together, so a command for fewer packages would compile them again.
pub(crate) fn build() -> Result<bool> {
    timed("build", &["build", "--lib", "--bins", "--tests", "--examples", "--locked"], &OTHERS)
}

fn doctests() -> Result<bool> {
    timed("doctests", &["test", "--doc", "--quiet", "--locked"], &OTHERS)
}

fn programs() -> Result<bool> {
    timed("programs of the examples", &["test", "--release", "--locked"], &PROGRAMS)
}

/// Runs cargo on some packages and prints the time.
fn timed(what: &str, args: &[&str], packages: &[&str]) -> Result<bool> {
    let start = Instant::now();
    let fine = run_command(Command::new(cargo()).args(args).args(packages).current_dir(root()))?;
    println!("{what}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(fine)
}

/// Runs the tests of a nextest profile, then prints the table of skipped tests.
fn run_tests(root: &Path, profile: &str, args: &[&str]) -> Result<bool> {
    let selects = args.iter().any(|arg| arg.starts_with("-p") || arg.starts_with("--package"));
    let all: &[&str] = if selects { &[] } else { &OTHERS };
    let mut command = Command::new(cargo());
    if !answers(Command::new(cargo()).args(["nextest", "--version"])) {
        if profile != "default" {
            bail!("`--fast` needs `cargo nextest`\nhint: `cargo install --locked cargo-nextest`");
        }
        println!("missing: `cargo nextest`; `cargo test` runs the tests, and lists no skipped ones");
        return run_command(command.args(["test", "--all-targets", "--no-fail-fast"]).args(all).args(args));
    }
    let report = root.join("target/nextest").join(profile).join("junit.xml");
    let _ = fs_err::remove_file(&report);
    command.args(["nextest", "run", "--profile", profile]).args(all).args(args);
    let (fine, summary) = run_and_keep_summary(&mut command)?;
    if let Ok(text) = fs_err::read_to_string(&report) {
        print!("{}", skips::table(&text)?);
    }
    print!("{summary}");
    Ok(fine)
}

/// Runs the test runner; returns whether it succeeded, and the lines from its summary on. It writes to a terminal
/// itself, and then the summary is empty.
fn run_and_keep_summary(command: &mut Command) -> Result<(bool, String)> {
    if std::io::stderr().is_terminal() {
        return Ok((run_command(command)?, String::new()));
    }
    println!("{}", line(command));
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let (mut summary, stderr) = (String::new(), child.stderr.take().context("the runner has no stderr")?);
    for line in BufReader::new(stderr).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        println!("{line}");
        if !summary.is_empty() || line.trim_start().starts_with("Summary [") {
            summary += &format!("{line}\n");
        }
    }
    Ok((child.wait()?.success(), summary))
}

/// Prints each missing optional tool and the tests that skip themselves without it.
fn print_missing_tools() {
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
            println!("missing: {tool}; skipped: {tests}");
        }
    }
}

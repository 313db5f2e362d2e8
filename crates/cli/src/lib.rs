//! The `precast` command, also `cargo precast`.
//!
//! ```text
//! argv ─▶ args (clap: arguments and help) ─▶ cmd (one file a command) ─▶ output (term is the only place that prints)
//!                                            │
//!              sources (layers, graph), files (arrays), report ─▶ Failure ─▶ `error: … caused by: … hint: …`, an exit code
//! ```
//!
//! A command reads everything it needs, does its work, and only then prints; files appear complete, by rename.
//! Libraries below return typed errors; here they become text (`error`) and one of the exit codes that README.md
//! lists.
//!
//! To add a command, declare its arguments in `args` and add a variant to `Command`. Put its code into a file in
//! `cmd` with an arm in `cmd::run`, and add a row to README.md.

mod args;
mod cmd;
#[cfg(test)]
mod commit;
mod files;
mod output;
mod report;
mod sources;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches as _;
use precast_build::interrupt;

use self::error::Failure;
use self::files::{arrays, dsse, handed, kind, npy, npz, secret, turn, whole};
use self::output::{error, events, print, secrets, term, trace};
use self::report::{
    attested, compared, described, difference, exported, health, held, provenance, repro, searched, signed,
    why,
};
#[cfg(feature = "remote")]
use self::sources::elsewhere;
use self::sources::{graph, layers};

/// The name under which the program was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// `precast …`
    Precast,
    /// `cargo precast …`: Cargo repeats the name of the subcommand as the first argument.
    Cargo,
}

/// Runs the command of the process arguments and returns its exit code.
#[must_use]
pub fn main(face: Face) -> ExitCode {
    run(face, std::env::args_os().collect()).into()
}

/// Prints why a command line was refused, or the requested help, and returns the exit code.
fn usage(refused: &clap::Error) -> u8 {
    match args::needs_remote(refused) {
        Some(message) if !cfg!(feature = "remote") => {
            term::error(&Failure::new(message).hint(args::INSTALL).render());
            u8::try_from(refused.exit_code()).unwrap_or(1)
        }
        _ => term::usage(refused),
    }
}

/// Runs a command and returns its exit code; the first argument is the name of the program. The process belongs to
/// the command, which handles signals.
#[must_use]
pub fn run(face: Face, mut arguments: Vec<OsString>) -> u8 {
    let mut command = args::Cli::whole();
    if face == Face::Cargo {
        if arguments.get(1).is_some_and(|first| first == "precast") {
            arguments.remove(1);
        }
        command = command.bin_name("cargo precast");
    }
    let parsed = command.try_get_matches_from(arguments).and_then(|m| args::Cli::from_arg_matches(&m));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(refused) => return usage(&refused),
    };
    if let Some(wrong) = precast_core::threads::misread() {
        term::warning(&wrong);
    }
    interrupt::watch(cmd::end);
    let ended = events::tell(cmd::run(cli.command));
    match (interrupt::exit_code(), ended) {
        // A signal ended the command, so its failure does not matter.
        (Some(code), _) => code,
        (None, Ok(exit)) => exit.into(),
        (None, Err(failure)) => {
            term::error(&failure.render());
            failure.exit().into()
        }
    }
}

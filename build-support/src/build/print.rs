//! Prints for Cargo: the only file that prints. Standard output is the interface of a build script.
#![allow(clippy::print_stdout, reason = "Cargo reads directives from a build script's standard output")]

use super::Build;
use precast_core::names::one_line;

/// Builds and prints the result; exits with a message on an error.
pub(super) fn run(build: &Build) {
    match build.try_run() {
        Ok(outcome) => {
            println!("{outcome}");
            for directive in outcome.directives() {
                println!("{directive}");
            }
        }
        Err(error) => {
            for line in error.lines().iter().flat_map(|line| line.lines()) {
                println!("cargo::error={}", one_line(line));
            }
            #[allow(clippy::exit, reason = "a build script says by its exit code that it failed")]
            std::process::exit(crate::interrupt::exit_code().map_or(1, i32::from));
        }
    }
}

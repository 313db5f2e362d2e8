//! `precast`: everything is in the library, so that `cargo precast` is the same.

use std::process::ExitCode;

fn main() -> ExitCode {
    precast_cli::main(precast_cli::Face::Precast)
}

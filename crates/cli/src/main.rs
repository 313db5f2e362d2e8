//! `precast`: a thin wrapper of the library, which `cargo precast` shares.

use std::process::ExitCode;

fn main() -> ExitCode {
    precast_cli::main(precast_cli::Face::Precast)
}

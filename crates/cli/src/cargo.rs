//! `cargo-precast`: the program that Cargo starts for `cargo precast …`.

use std::process::ExitCode;

fn main() -> ExitCode {
    precast_cli::main(precast_cli::Face::Cargo)
}

//! `precast record`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use precast_ops::Serve;

const EXAMPLES: &str = "\
Examples:
  precast record -- ./service --once               record misses in ./precast.toml
  precast record -o model.toml -- ./service        another manifest
  precast record --serve ops -- ./service          modules of single ops, for other graphs too
  precast build && ./service                       compile the recorded graphs

Exits with the program's exit code, or 1 if a miss could not be recorded.";

/// Run a program and record its cache misses as a manifest to build
///
/// New graphs are added to the manifest: existing declarations stay, and nothing is declared twice. Programs that use
/// precast record by themselves if PRECAST_RECORD names a manifest; this command sets it and reports the result.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RecordArgs {
    /// Manifest file (created if missing)
    #[arg(short, long, value_name = "FILE", default_value = "precast.toml")]
    pub(crate) output: PathBuf,
    /// Modules that `precast build` compiles for a graph: one for all of it, one per group, or one per op [default:
    /// whole]
    #[arg(long, value_name = "whole|groups|ops", value_delimiter = ',')]
    pub(crate) serve: Vec<Serve>,
    /// Program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

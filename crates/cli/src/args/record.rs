//! `precast record`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use precast_ops::Serve;

const EXAMPLES: &str = "\
Examples:
  precast record -- ./service --once               misses of ./service into ./precast.toml
  precast record -o model.toml -- ./service        another manifest
  precast record --serve ops -- ./service          modules of single ops, for other graphs too
  precast build && ./service                       compiles what was recorded

The exit code is that of the program; 1 where something could not be recorded.";

/// Runs a program and writes down every graph that no layer had for it, as a manifest to build.
///
/// The manifest is added to: what it declares already stays, and nothing is declared twice. Programs that use precast record
/// by themselves where PRECAST_RECORD names a manifest; this command sets it, and says what came of it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RecordArgs {
    /// The manifest; made where there is none.
    #[arg(short, long, value_name = "FILE", default_value = "precast.toml")]
    pub(crate) output: PathBuf,
    /// What `precast build` is to compile for a graph: a module of it, of its groups, of its ops. [default: whole]
    #[arg(long, value_name = "whole|groups|ops", value_delimiter = ',')]
    pub(crate) serve: Vec<Serve>,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

//! `precast ops`: list the functions that expressions can call.

use std::path::PathBuf;

use clap::Args;

const OPS_EXAMPLES: &str = "\
Examples:
  precast ops               every function, with its arguments
  precast ops concatenate   one function, by a name or an operator, as in `precast ops '//'`
  precast ops --json        all functions, for scripts
  precast ops --manifest own/precast.toml    the ops of a manifest first

The language of expressions: crates/ops/LANGUAGE.md";

/// List the functions that expressions can call, or describe one
#[derive(Debug, Args)]
#[command(after_help = OPS_EXAMPLES)]
pub(crate) struct OpsArgs {
    /// Name of a function, or an operator
    pub(crate) name: Option<String>,
    /// Manifest whose ops are listed first [default: `precast.toml`, if it exists]
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

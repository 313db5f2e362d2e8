//! `precast ops`: what expressions can call.

use std::path::PathBuf;

use clap::Args;

const OPS_EXAMPLES: &str = "\
Examples:
  precast ops               every function, with its arguments
  precast ops concatenate   one: by any of its names, or by an operator, as in `precast ops '//'`
  precast ops --json        all of it, for scripts
  precast ops --manifest own/precast.toml    the ops of a manifest first

The language that calls them: crates/ops/LANGUAGE.md";

/// Lists the functions that expressions can call, or shows one.
#[derive(Debug, Args)]
#[command(after_help = OPS_EXAMPLES)]
pub(crate) struct OpsArgs {
    /// The name of a function, or an operator.
    pub(crate) name: Option<String>,
    /// A manifest whose ops are listed first. [default: `precast.toml`, where there is one]
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

//! `precast ops`: what expressions can call.

use clap::Args;

const OPS_EXAMPLES: &str = "\
Examples:
  precast ops               every function, with its arguments
  precast ops concatenate   one: by any of its names, or by an operator, as in `precast ops '//'`
  precast ops --json        all of it, for scripts

The language that calls them: crates/ops/LANGUAGE.md";

/// Lists the functions that expressions can call, or shows one.
#[derive(Debug, Args)]
#[command(after_help = OPS_EXAMPLES)]
pub(crate) struct OpsArgs {
    /// The name of a function, or an operator.
    pub(crate) name: Option<String>,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

//! `precast update`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  precast update                   precast.lock beside ./precast.toml
  precast update model.toml        model.lock beside it: each manifest has its own
  precast update --dry-run         what would change
  precast build --locked           fails, with the same list, where something would change

A lock file says which C the declarations stand for, on every machine and with every compiler: commit it. Archives are pinned
by `precast build --pin`, for a release. In a package with a build script `PRECAST_LOCKED=update cargo build` writes it.";

/// Writes `precast.lock` anew: what a manifest's graphs and modules stand for. No compiler is needed.
///
/// The lock file of a manifest is called as the manifest: `model.lock` of `model.toml`; that of a `Cargo.toml`, and what build scripts
/// read, is `precast.lock`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UpdateArgs {
    /// The manifest.
    #[arg(default_value = "precast.toml")]
    pub(crate) manifest: PathBuf,
    /// Says what would change, and writes nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

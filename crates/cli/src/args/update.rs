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

/// Update `precast.lock` from the graphs and modules of the manifest, without a compiler
///
/// A lock file is named after its manifest: `model.lock` for `model.toml`. It is `precast.lock` for a `Cargo.toml`
/// and for manifests that build scripts read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UpdateArgs {
    /// Manifest file
    #[arg(default_value = "precast.toml")]
    pub(crate) manifest: PathBuf,
    /// Show what would change, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

//! `precast update`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  precast update                   write precast.lock for ./precast.toml
  precast update model.toml        write model.lock: each manifest has its own lock file
  precast update --dry-run         list the changes
  precast build --locked           fail with this list if anything would change

A lock file fixes the generated C of all declarations, on every machine and for every compiler:
commit it. For a release, pin the archives with `precast build --pin`. In a package with a build
script, write the file with `PRECAST_LOCKED=update cargo build`.";

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

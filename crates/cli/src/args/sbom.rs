//! `precast sbom`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  precast sbom model.precast > model.cdx.json

The output depends only on the bytes of the bundle.";

/// Print the bill of materials of a bundle in CycloneDX format: artifacts, modules, their sources, system libraries
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SbomArgs {
    /// Bundle file
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
}

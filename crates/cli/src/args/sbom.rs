//! `precast sbom`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  precast sbom model.precast > model.cdx.json

It is a function of the bundle's bytes: no time, no random number.";

/// Prints what a bundle is made of, in CycloneDX's form: artifacts, modules, their sources, libraries of the system.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SbomArgs {
    /// The bundle.
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
}

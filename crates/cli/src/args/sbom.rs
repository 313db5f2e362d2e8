//! `precast sbom`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  precast sbom model.precast > model.cdx.json
  precast sbom model.precast --supplier \"Example Inc.\" --license MIT

The output depends on the bytes of the bundle, the options and `SOURCE_DATE_EPOCH`.";

/// Print the bill of materials of a bundle in CycloneDX format: artifacts, modules, their sources, system libraries
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SbomArgs {
    /// Bundle file
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
    /// Supplier of the bundle
    #[arg(long, value_name = "NAME")]
    pub(crate) supplier: Option<String>,
    /// Author of the bill [default: the supplier]
    #[arg(long, value_name = "NAME")]
    pub(crate) author: Option<String>,
    /// Licence of the bundle, as an SPDX expression
    #[arg(long, value_name = "SPDX")]
    pub(crate) license: Option<String>,
}

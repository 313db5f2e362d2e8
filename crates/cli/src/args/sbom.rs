//! `precast sbom`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  precast sbom model.precast > model.cdx.json
  precast sbom model.precast --name model --version 1.4 --supplier \"Example Inc.\" --license MIT
  precast sbom model.precast --provenance model.precast.provenance.json

The output depends on the bytes of the bundle, the options and `SOURCE_DATE_EPOCH`.";

/// Print the bill of materials of a bundle in CycloneDX format: artifacts, modules, their sources, system libraries
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SbomArgs {
    /// Bundle file
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
    /// Name of the bundle [default: precast-bundle]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Version of the bundle [default: a hash of its bytes]
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: Option<String>,
    /// Provenance of the bundle (`FILE.provenance.json`), which names the compiler
    #[arg(long, value_name = "FILE")]
    pub(crate) provenance: Option<PathBuf>,
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

//! `precast bridgestan`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  precast bridgestan model.precast
  python -c 'import bridgestan; print(bridgestan.StanModel(\"./model.so\").param_names())'

`precast.pymc.export` writes model packages. Build the library with `cargo build --release -p precast-bridgestan`.";

/// Write a model package and a library with BridgeStan's interface as one file, for BridgeStan's clients
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BridgestanArgs {
    /// Model package
    #[arg(value_name = "PACKAGE")]
    pub(crate) package: PathBuf,

    /// File to write [default: the package with the extension `so`]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// `libprecast_bridgestan.so` [default: beside this program, or in `../lib`]
    #[arg(long, value_name = "FILE")]
    pub(crate) library: Option<PathBuf>,
}

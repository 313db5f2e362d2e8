//! `precast doctor`.

use clap::Args;

use super::LayerArgs;

const EXAMPLES: &str = "\
Examples:
  precast doctor                                 this host, its compiler, the store
  precast doctor --verify --store artifacts      also read and verify every file
  precast doctor --target aarch64-unknown-linux-gnu";

/// Report the capabilities of this host: CPU, compiler, policies, stores and their health; with a keyring, also whether
/// artifacts are signed by enough keys
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DoctorArgs {
    /// Read and verify all files of the layers
    #[arg(long)]
    pub(crate) verify: bool,
    /// Target triple to look for a compiler of [default: this machine's]
    #[arg(long, value_name = "TRIPLE")]
    pub(crate) target: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) layers: LayerArgs,
}

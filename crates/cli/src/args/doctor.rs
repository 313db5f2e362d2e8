//! `precast doctor`.

use clap::Args;

use super::LayerArgs;

const EXAMPLES: &str = "\
Examples:
  precast doctor                                 this host, its compiler, the store
  precast doctor --verify --store artifacts      read and verify every file, too
  precast doctor --target aarch64-unknown-linux-gnu";

/// Says what this host can do: CPU, compiler, policies, stores and their health; with a keyring, whether enough keys have signed
/// what they hold.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DoctorArgs {
    /// Reads and verifies everything that the layers hold.
    #[arg(long)]
    pub(crate) verify: bool,
    /// The target whose compiler is looked for. [default: this machine's]
    #[arg(long, value_name = "TRIPLE")]
    pub(crate) target: Option<String>,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) layers: LayerArgs,
}

//! Where artifacts are looked for.

use std::path::PathBuf;

use clap::Args;

/// Layers: bundles first, then stores, each in the order given.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Layers")]
pub(crate) struct LayerArgs {
    /// A bundle to look in; repeated, in this order, before the stores.
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Vec<PathBuf>,
    /// A store to look in; repeated, in this order. [default, without a bundle: $PRECAST_STORE; for ls, show and
    /// doctor, which load no code, else ./artifacts]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Vec<PathBuf>,
    /// Believes only what enough keys of this keyring have signed. [default: $PRECAST_KEYRING, else everything that others
    /// cannot change]
    #[arg(long, value_name = "FILE")]
    pub(crate) keyring: Option<PathBuf>,
}

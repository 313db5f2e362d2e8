//! Where artifacts are looked for.

use std::path::PathBuf;

use clap::Args;

/// Layers: bundles first, then stores, then remotes, each in the order given.
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
    /// A store or a release elsewhere to look in, after the stores; repeated: https://host/path, s3://bucket/prefix,
    /// oci://host/repository:tag. What comes is kept in the user's cache, and has to be signed (--keyring).
    #[cfg(feature = "remote")]
    #[arg(long, value_name = "URL")]
    pub(crate) remote: Vec<String>,
    /// Believes only what enough keys of this keyring have signed. [default: $PRECAST_KEYRING, else everything that others
    /// cannot change]
    #[arg(long, value_name = "FILE")]
    pub(crate) keyring: Option<PathBuf>,
}

impl LayerArgs {
    /// Tells whether no layer is named.
    pub(crate) fn is_empty(&self) -> bool {
        self.store.is_empty() && self.bundle.is_empty() && self.remotes().is_empty()
    }

    /// The remotes that are named.
    pub(crate) fn remotes(&self) -> &[String] {
        #[cfg(feature = "remote")]
        let remotes = &self.remote;
        #[cfg(not(feature = "remote"))]
        let remotes = &[];
        remotes
    }
}

//! The options that name layers to search for artifacts.

use std::path::PathBuf;

use clap::Args;
use precast_core::redact::UrlText;

/// Layers: bundles first, then stores, then remotes, each in the order given.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Layers")]
pub(crate) struct LayerArgs {
    /// Search this bundle, before the stores (repeatable, in order)
    #[arg(long, value_name = "FILE", value_parser = super::local())]
    pub(crate) bundle: Vec<PathBuf>,
    /// Search this store (repeatable, in order) [default, without a bundle: $PRECAST_STORE; for ls, show and doctor,
    /// which load no code, else ./artifacts]
    #[arg(long, value_name = "DIR", value_parser = super::local())]
    pub(crate) store: Vec<PathBuf>,
    /// Search this remote store or release, after the stores (repeatable): https://host/path, s3://bucket/prefix,
    /// oci://host/repository:tag. Artifacts must be signed (--keyring) and are kept in the user's cache
    #[cfg(feature = "remote")]
    #[arg(long, value_name = "URL")]
    pub(crate) remote: Vec<UrlText>,
    /// Use only artifacts signed by enough keys in this keyring [default: $PRECAST_KEYRING, else use all files that
    /// other users cannot change]
    #[arg(long, value_name = "FILE")]
    pub(crate) keyring: Option<PathBuf>,
}

impl LayerArgs {
    /// Returns whether no layer is named.
    pub(crate) fn is_empty(&self) -> bool {
        self.store.is_empty() && self.bundle.is_empty() && self.remotes().is_empty()
    }

    /// Returns the remotes that are named.
    pub(crate) fn remotes(&self) -> &[UrlText] {
        #[cfg(feature = "remote")]
        let remotes = &self.remote;
        #[cfg(not(feature = "remote"))]
        let remotes = &[];
        remotes
    }
}

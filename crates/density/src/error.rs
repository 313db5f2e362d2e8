//! The errors of model packages.

use precast_core::native::ErrorKind;
use precast_core::{BundleMetadataError, CallError, LoadEntryError, OpenBundleError};
use std::sync::Arc;

/// The reason why a package cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenDensityError {
    /// The file is not a bundle that can be used here.
    #[error(transparent)]
    Bundle(#[from] OpenBundleError),
    /// Too few trusted keys have signed the file.
    #[cfg(feature = "signed")]
    #[error(transparent)]
    Signature(#[from] precast_core::keyring::OpenSignedError),
    /// The metadata is damaged.
    #[error(transparent)]
    Metadata(#[from] BundleMetadataError),
    /// The bundle describes no model.
    #[error(
        "{bundle} is not a model package\nhint: `precast.pymc.export` writes one; use `Loader` for other bundles"
    )]
    NoModel {
        /// The bundle.
        bundle: String,
    },
    /// The description of the model cannot be read.
    #[error("cannot read the description of the model in {bundle}")]
    Json {
        /// The bundle.
        bundle: String,
        /// The reason.
        source: serde_json::Error,
    },
    /// The description is of another version, or contradicts itself.
    #[error("cannot use the description of the model in {bundle}: {reason}")]
    Description {
        /// The bundle.
        bundle: String,
        /// The reason.
        reason: String,
    },
    /// An entry that every package has cannot be loaded.
    #[error(transparent)]
    Entry(#[from] DensityError),
}

/// The reason why a question to a model has no answer.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum DensityError {
    /// The package has no such entry, or it cannot be loaded on this host.
    #[error("the model has no `{entry}`")]
    Entry {
        /// The entry.
        entry: String,
        /// The reason.
        source: Arc<LoadEntryError>,
    },
    /// An entry has other inputs or outputs than its name promises.
    #[error("entry `{entry}` of the package has {found}, expected {expected}")]
    Interface {
        /// The entry.
        entry: String,
        /// What it has.
        found: String,
        /// What a package has.
        expected: String,
    },
    /// The model has no such data.
    #[error("the model has no data `{name}`; found {known}")]
    Data {
        /// The requested name.
        name: String,
        /// The existing names.
        known: String,
    },
    /// A slice has the wrong length.
    #[error("`{name}` has {found} element(s), expected {expected}")]
    Length {
        /// The slice.
        name: &'static str,
        /// Its length.
        found: usize,
        /// The expected length.
        expected: usize,
    },
    /// The call failed.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl DensityError {
    /// Returns whether the model rejected the values: a check of a parameter failed, or a matrix was not positive definite.
    /// A sampler treats such a point as one of density 0. Other errors would be the same at every point.
    #[must_use]
    pub fn is_of_values(&self) -> bool {
        use ErrorKind::{Assert, Index, Runtime, Value};
        matches!(self, Self::Call(CallError::Op { kind: Assert | Index | Runtime | Value, .. }))
    }
}

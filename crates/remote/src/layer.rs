//! Opens a layer from a URL.

use std::path::PathBuf;
use std::sync::Arc;

use precast_core::event::Observer;
use precast_store::remote::RemoteError;
use precast_store::{CreateError, Keyring, Layer, OpenSignedError};

use crate::Patience;
use crate::url::{ParseRemoteUrlError, RemoteUrl};

/// Options of a remote.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The cache directory, created if missing. The default is `remote/` in this user's cache. If that is not writable,
    /// fetched content is kept in memory or in a temporary directory for the lifetime of the layer.
    pub cache: Option<PathBuf>,
    /// Timeouts and retries.
    pub patience: Patience,
    /// Whether the previous release of a tag must be known for comparison. `PRECAST_REMOTE_HISTORY=required` has
    /// the same effect for all remotes.
    pub require_history: bool,
    /// The observer of events while a release is opened. Later events of the layer go to the observers of that layer.
    pub observer: Observer,
}

/// An error from opening a URL as a layer. An unreachable remote is not an error, since it may be reachable later.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenRemoteError {
    /// The text does not name a remote.
    #[error(transparent)]
    RemoteUrl(#[from] ParseRemoteUrlError),
    /// The program was built without the required feature.
    #[error("cannot use `{place}`: this program was built without the feature `{feature}` of precast-remote")]
    Feature {
        /// The place.
        place: String,
        /// The feature.
        feature: &'static str,
    },
    /// The transport rejects a setting of the URL or the environment.
    #[error("cannot use `{place}`: {why}")]
    Transport {
        /// The place.
        place: String,
        /// The message of the transport.
        why: String,
    },
    /// The URL names a registry, which is not a directory of files.
    #[error("`{place}` is neither a bucket nor a web server")]
    NotFiles {
        /// The place.
        place: String,
    },
    /// A password would be sent unencrypted.
    #[error(
        "credentials for `{place}` would be sent unencrypted\nhint: use `https://`, or set `PRECAST_ALLOW_HTTP=true` \
         to send them nevertheless"
    )]
    Exposed {
        /// The place.
        place: String,
    },
    /// The previous release of a tag is required but unknown.
    #[error(
        "cannot compare `{place}` with its previous target: {why}\nhint: set `PRECAST_CACHE` to the absolute path of \
         a directory for the history, or use a digest"
    )]
    NoHistory {
        /// The place.
        place: String,
        /// The reason.
        why: String,
    },
    /// The store for fetched content cannot be created.
    #[error("cannot store data from `{place}`")]
    Cache {
        /// The place.
        place: String,
        /// The error of the directory.
        source: CreateError,
    },
    /// The cache directory is not writable.
    #[error("cannot store data from `{place}` in `{}`", path.display())]
    Kept {
        /// The place.
        place: String,
        /// The directory.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A release cannot be fetched.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// A release cannot be stored, or required signatures are missing.
    #[error("cannot use the release from `{place}`")]
    Release {
        /// The place.
        place: String,
        /// The cause.
        source: OpenSignedError,
    },
}

/// Opens the layer that a URL names. A keyring is required because a server, or any machine that can impersonate
/// it, can send arbitrary content.
///
/// # Errors
///
/// The URL does not name a remote, fetched content cannot be cached, or a release cannot be fetched or lacks required
/// signatures. A store that is unreachable now is not an error: the layer then serves only the content fetched before.
pub fn open(url: &str, keyring: Arc<Keyring>, options: &Options) -> Result<Layer, OpenRemoteError> {
    let place: RemoteUrl = url.parse()?;
    match &place {
        #[cfg(feature = "files")]
        RemoteUrl::Http { .. } | RemoteUrl::S3 { .. } => {
            let source = Arc::new(crate::Files::open(&place, options.patience)?);
            let (store, temporary) = crate::cache::store(&place, options)?;
            let remote = precast_store::remote::Remote::new(source, store.trusting(keyring));
            Ok(Layer::from(temporary.into_iter().fold(remote, |remote, directory| remote.keeping(directory))))
        }
        #[cfg(feature = "oci")]
        RemoteUrl::Oci { .. } => crate::oci::layer(&place, &keyring, options),
        #[cfg(not(all(feature = "files", feature = "oci")))]
        _ => {
            let feature = if matches!(place, RemoteUrl::Oci { .. }) { "oci" } else { "files" };
            Err(OpenRemoteError::Feature { place: place.to_string(), feature })
        }
    }
}

/// Compares a release with the previous release of its tag. The content of a digest never
/// changes, so a digest is not compared.
///
/// # Errors
///
/// The previous release is unknown, and `options` requires it.
#[cfg(feature = "oci")]
pub fn compare(
    place: &RemoteUrl,
    signed: crate::oci::Signed,
    options: &Options,
) -> Result<crate::oci::Compared, OpenRemoteError> {
    crate::oci::Compared::new(place, signed, options)
}
